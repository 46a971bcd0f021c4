//! Passwords, hashed and compared by Argon2id on a thread of their own.
//!
//! One hash costs as much as hundreds of moves, on purpose. So hashes wait in a short queue for one thread that runs when
//! nobody else wants the processor, and whoever finds the queue full is told to come back.

use std::{fmt, io, sync::mpsc, thread};

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use tokio::sync::oneshot;

use super::error::{Code, Problem};
use crate::domain::Password;

/// How many hashes wait for their turn: a second or two of work, after which a client would give up.
const QUEUE_LENGTH_MAX: usize = 64;

/// The lowest priority (`nice`) of Linux: a quarter of a hundredth of what a thread of moves gets while both want to run.
#[cfg(target_os = "linux")]
const NICE: i32 = 19;

/// What the thread does next.
enum Task {
    Hash { password: Password, answer: oneshot::Sender<String> },
    Compare { password: Password, hash: Option<String>, answer: oneshot::Sender<bool> },
}

/// The thread that hashes, as long as somebody holds this.
pub struct Passwords {
    queue: mpsc::SyncSender<Task>,
}

impl Passwords {
    pub fn start() -> io::Result<Self> {
        let (queue, tasks) = mpsc::sync_channel(QUEUE_LENGTH_MAX);
        thread::Builder::new().name("passwords".to_owned()).spawn(move || work(&tasks))?;
        Ok(Self { queue })
    }

    /// A salted hash, as a PHC string.
    pub async fn hash(&self, password: Password) -> Result<String, Problem> {
        let (answer, hashed) = oneshot::channel();
        self.queue(Task::Hash { password, answer })?;
        hashed.await.map_err(Problem::internal)
    }

    /// Whether a password is the one of a hash. Without a hash it is not, which takes as long to find out: so nobody learns
    /// from the time which names are accounts.
    pub async fn compare(&self, password: Password, hash: Option<String>) -> Result<bool, Problem> {
        let (answer, compared) = oneshot::channel();
        self.queue(Task::Compare { password, hash, answer })?;
        compared.await.map_err(Problem::internal)
    }

    fn queue(&self, task: Task) -> Result<(), Problem> {
        self.queue.try_send(task).map_err(|error| match error {
            mpsc::TrySendError::Full(_) => Problem::new(Code::Unavailable, "too many sign-ins at once; try again"),
            mpsc::TrySendError::Disconnected(_) => Problem::internal("the thread that hashes passwords has ended"),
        })
    }
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passwords").finish_non_exhaustive()
    }
}

fn work(tasks: &mpsc::Receiver<Task>) {
    // Zero names the calling thread on Linux only; elsewhere it would be the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::warn!("passwords are hashed at the priority of everything else: {error}");
    }
    // What a password is compared with where there is no account: a hash of no password.
    let nobody = hash(&rand::random::<[u8; 16]>());
    for task in tasks {
        // Whoever asked may have gone.
        match task {
            Task::Hash { password, answer } => {
                let _ = answer.send(hash(password.as_bytes()));
            }
            Task::Compare { password, hash, answer } => {
                let hash = hash.as_ref().unwrap_or(&nobody);
                let _ = answer.send(argon2().verify_password(password.as_bytes(), hash.as_str()).is_ok());
            }
        }
    }
}

/// Argon2id with 19 MiB, two passes and one lane: what OWASP's Password Storage Cheat Sheet asks for.
fn argon2() -> Argon2<'static> {
    Argon2::default()
}

fn hash(password: &[u8]) -> String {
    let hashed = argon2().hash_password(password).expect("the parameters are valid and the system has random bytes");
    hashed.to_string()
}
