//! Passwords, hashed and compared by Argon2id on a thread of their own.
//!
//! A hash costs as much as hundreds of moves, on purpose. So hashes wait in a short queue for one thread of the lowest
//! priority. If the queue is full, a request is refused with 503 and `Retry-After`.

use std::{fmt, io, sync::Arc, thread, time::Instant};

use argon2::{
    ARGON2ID_IDENT, Argon2, Block, Params, PasswordHash, Version,
    password_hash::phc::{Output, Salt},
};
use tokio::sync::oneshot;

pub use super::places::Asker;
use super::places::{Full, Places};
use mancala_domain::Password;
use mancala_process::priority;

use crate::answer::problem::Problem;

/// Random bytes that make equal passwords different hashes (RFC 9106, section 3.1).
const SALT_BYTES: usize = 16;

/// A task in the thread's queue.
enum Task {
    Hash { password: Password, answer: oneshot::Sender<String> },
    Compare { password: Password, hash: Option<String>, answer: oneshot::Sender<bool> },
}

/// The queue of the thread that hashes. The thread ends when this is dropped.
pub struct Passwords {
    places: Arc<Places<Task>>,
}

impl Passwords {
    pub fn start() -> io::Result<Self> {
        let places = Arc::new(Places::new());
        let tasks = places.clone();
        thread::Builder::new().name("passwords".to_owned()).spawn(move || work(&tasks))?;
        Ok(Self { places })
    }

    /// A salted hash, as a PHC string.
    pub async fn hash(&self, password: Password, asker: Asker) -> Result<String, Problem> {
        let (answer, hashed) = oneshot::channel();
        self.queue(Task::Hash { password, answer }, asker)?;
        hashed.await.map_err(Problem::internal)
    }

    /// Whether a password matches a hash. Without a hash it does not, which takes as long to compute. So the time does not
    /// reveal which names are accounts.
    pub async fn compare(&self, password: Password, hash: Option<String>, asker: Asker) -> Result<bool, Problem> {
        let (answer, compared) = oneshot::channel();
        self.queue(Task::Compare { password, hash, answer }, asker)?;
        compared.await.map_err(Problem::internal)
    }

    fn queue(&self, task: Task, asker: Asker) -> Result<(), Problem> {
        self.places.enter(task, asker).map_err(|Full(wait)| {
            let seconds = wait.as_secs() + 1;
            let detail = format!("too many sign-ins at once; try again in {seconds} s");
            Problem::busy(detail).retry_after(seconds)
        })
    }
}

impl Drop for Passwords {
    fn drop(&mut self) {
        self.places.close();
    }
}

/// Closes the queue when the thread ends, even by a panic, so that no request waits for it.
struct Closing<'a>(&'a Places<Task>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passwords").finish_non_exhaustive()
    }
}

fn work(tasks: &Places<Task>) {
    let _closing = Closing(tasks);
    priority::lower();
    // Allocates its memory when it is first needed; a server with guests only never needs it.
    let mut hasher = None;
    while let Some(task) = tasks.next() {
        let hasher = hasher.get_or_insert_with(Hasher::new);
        let begun = Instant::now();
        match task {
            // Tasks whose request has ended are skipped.
            Task::Hash { answer, .. } if answer.is_closed() => continue,
            Task::Compare { answer, .. } if answer.is_closed() => continue,
            Task::Hash { password, answer } => {
                let _ = answer.send(hasher.hash(password.as_bytes()));
            }
            Task::Compare { password, hash, answer } => {
                let _ = answer.send(hasher.compare(password.as_bytes(), hash.as_deref()));
            }
        }
        tasks.took(begun.elapsed());
    }
}

/// Argon2id with 19 MiB, two passes and one lane, as OWASP's Password Storage Cheat Sheet recommends, and its memory. The memory
/// is reused, because memory allocated for each hash would not all be returned to the system.
struct Hasher {
    argon2: Argon2<'static>,
    memory: Vec<Block>,
    /// Compared with the password if there is no account: the hash of random bytes.
    dummy_hash: String,
}

impl Hasher {
    fn new() -> Self {
        let argon2 = Argon2::default();
        let memory = vec![Block::default(); argon2.params().block_count()];
        let mut hasher = Self { argon2, memory, dummy_hash: String::new() };
        hasher.dummy_hash = hasher.hash(&rand::random::<[u8; SALT_BYTES]>());
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

    /// Whether a password matches a hash. All our hashes have the same parameters.
    fn compare(&mut self, password: &[u8], hash: Option<&str>) -> bool {
        match PasswordHash::new(hash.unwrap_or(&self.dummy_hash)) {
            // Outputs are compared in constant time.
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
