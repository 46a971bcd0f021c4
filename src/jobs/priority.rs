//! The priority of a job's thread.

/// The lowest priority, so that the engine takes no processor time from moves.
#[cfg(target_os = "linux")]
const NICE: i32 = 19;

/// Lowers the priority of the calling thread, and of the threads that it starts later.
pub fn lower() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::warn!("the priority of a background thread cannot be lowered: {error}");
    }
}
