//! The priority of a thread whose work can wait: the engine, hashes of passwords, whole games.

/// The lowest priority (`nice`) of Linux. Its weight in the scheduler is 15, that of a thread of moves 1,024.
#[cfg(target_os = "linux")]
const NICE: i32 = 19;

/// Lowers the priority of the calling thread, and of the threads that it starts later.
pub fn lower() {
    // Zero is the calling thread on Linux only; elsewhere it would be the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::warn!("the priority of a background thread cannot be lowered: {error}");
    }
}
