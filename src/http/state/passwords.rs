//! Passwords, hashed and compared by Argon2id on a thread of their own.
//!
//! One hash costs as much as hundreds of moves, on purpose. So hashes wait in a short queue for one thread that runs when
//! nobody else wants the processor, and whoever finds the queue full is told to come back.

use std::{fmt, io, sync::mpsc, thread};

use argon2::{
    ARGON2ID_IDENT, Argon2, Block, Params, PasswordHash, Version,
    password_hash::phc::{Output, Salt},
};
use tokio::sync::oneshot;

use crate::{
    domain::Password,
    http::answer::problem::{Code, Problem},
};

/// How many hashes wait for their turn: a second or two of work, after which a client would give up.
const QUEUE_LENGTH_MAX: usize = 64;

/// The lowest priority (`nice`) of Linux: a quarter of a hundredth of what a thread of moves gets while both want to run.
#[cfg(target_os = "linux")]
const NICE: i32 = 19;

/// Random bytes that make equal passwords different hashes (RFC 9106, section 3.1).
const SALT_BYTES: usize = 16;

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
    // Its memory is taken when it is first needed, by servers of guests never.
    let mut hasher = None;
    for task in tasks {
        let hasher = hasher.get_or_insert_with(Hasher::new);
        // Nobody waits for what whoever has gone asked.
        match task {
            Task::Hash { answer, .. } if answer.is_closed() => {}
            Task::Compare { answer, .. } if answer.is_closed() => {}
            Task::Hash { password, answer } => {
                let _ = answer.send(hasher.hash(password.as_bytes()));
            }
            Task::Compare { password, hash, answer } => {
                let _ = answer.send(hasher.compare(password.as_bytes(), hash.as_deref()));
            }
        }
    }
}

/// Argon2id with 19 MiB, two passes and one lane, which OWASP's Password Storage Cheat Sheet asks for, and the memory for it:
/// taken anew for each hash, it would not all be given back.
struct Hasher {
    argon2: Argon2<'static>,
    memory: Vec<Block>,
    /// What a password is compared with where there is no account: a hash of no password.
    nobody: String,
}

impl Hasher {
    fn new() -> Self {
        let argon2 = Argon2::default();
        let memory = vec![Block::default(); argon2.params().block_count()];
        let mut hasher = Self { argon2, memory, nobody: String::new() };
        hasher.nobody = hasher.hash(&rand::random::<[u8; SALT_BYTES]>());
        hasher
    }

    fn hash(&mut self, password: &[u8]) -> String {
        let salt = Salt::new(&rand::random::<[u8; SALT_BYTES]>()).expect("16 bytes are a salt");
        let params = self.argon2.params().try_into().expect("the parameters have a text");
        let hash = PasswordHash {
            algorithm: ARGON2ID_IDENT,
            version: Some(Version::default().into()),
            params,
            salt: Some(salt),
            hash: Some(self.output(password, &salt)),
        };
        hash.to_string()
    }

    /// Whether a password is the one of a hash, which has the parameters of all of ours.
    fn compare(&mut self, password: &[u8], hash: Option<&str>) -> bool {
        match PasswordHash::new(hash.unwrap_or(&self.nobody)) {
            // Outputs are compared in a time that does not depend on where they differ.
            Ok(PasswordHash { salt: Some(salt), hash: Some(expected), .. }) => self.output(password, &salt) == expected,
            _ => false,
        }
    }

    fn output(&mut self, password: &[u8], salt: &Salt) -> Output {
        let mut output = [0; Params::DEFAULT_OUTPUT_LEN];
        let hashed = self.argon2.hash_password_into_with_memory(password, salt, &mut output, &mut self.memory);
        hashed.expect("a password, a salt and the memory are within their bounds");
        Output::new(&output).expect("32 bytes are an output")
    }
}
