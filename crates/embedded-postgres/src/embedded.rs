//! A running PostgreSQL as its user holds it. Knows the thread that supervises the server, and nothing of its work.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use crate::error::EmbeddedError;
use crate::settings::{DATABASE, Settings, USER};
use crate::stop::{self, StopOnDrop};
use crate::supervisor::supervise;

/// A running PostgreSQL server; dropping it stops the server.
///
/// While this value lives, the server is up or being restarted, unless the log says that the supervisor gave up.
pub struct Embedded {
    socket_folder: PathBuf,
    /// The process id of the current postmaster, or 0 while there is none.
    postmaster: Arc<AtomicU32>,
    /// `None` only while this value is dropped.
    stop: Option<StopOnDrop>,
    supervisor: Option<JoinHandle<()>>,
}

impl Embedded {
    /// Starts PostgreSQL and returns when it accepts connections; creates the database first if there is none.
    ///
    /// Blocks, for seconds if it creates the database: async code calls it where blocking is allowed.
    ///
    /// ```no_run
    /// use mancala_embedded_postgres::{Durability, Embedded, Settings};
    ///
    /// let postgres = Embedded::start(&Settings { folder: "data".into(), durability: Durability::Ephemeral })?;
    /// assert!(postgres.pid().is_some());
    /// # Ok::<(), mancala_embedded_postgres::EmbeddedError>(())
    /// ```
    ///
    /// # Errors
    /// Each error is one line that says what the operator can do about it.
    pub fn start(settings: &Settings) -> Result<Self, EmbeddedError> {
        let failed = |source| EmbeddedError::Io { doing: "supervise PostgreSQL".to_owned(), source };
        let (stop, stop_request) = stop::channel();
        let (report, reported) = mpsc::sync_channel(1);
        let postmaster = Arc::new(AtomicU32::new(0));
        let supervisor = {
            let (settings, postmaster) = (settings.clone(), Arc::clone(&postmaster));
            let run = move || supervise(&settings, &stop_request, &postmaster, &report);
            thread::Builder::new().name("postgres".to_owned()).spawn(run).map_err(failed)?
        };
        let socket_folder = reported.recv().map_err(|_| failed(io::Error::other("its thread panicked")))??;
        Ok(Self { socket_folder, postmaster, stop: Some(stop), supervisor: Some(supervisor) })
    }

    /// The folder of the Unix socket, which a client takes as its host.
    #[must_use]
    pub fn socket_folder(&self) -> &Path {
        &self.socket_folder
    }

    /// The role to connect as. It exists, needs no password, and owns [`Self::database`].
    #[must_use]
    pub fn user(&self) -> &str {
        USER
    }

    /// The database to connect to. It exists.
    #[must_use]
    pub fn database(&self) -> &str {
        DATABASE
    }

    /// The process id of the current postmaster; `None` while it is being restarted, or after the supervisor gave up.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        Some(self.postmaster.load(Ordering::Relaxed)).filter(|&pid| pid != 0)
    }

    /// Ends all connections and shuts PostgreSQL down in order; returns when it has ended. Blocks, as dropping does.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(supervisor) = self.supervisor.take()
            && supervisor.join().is_err()
        {
            tracing::error!("the thread that supervised PostgreSQL panicked");
        }
    }
}
