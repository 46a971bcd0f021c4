//! The leftovers of a killed run: processes that still work on the database, and a file that names one of them.
//!
//! PostgreSQL refuses to start if that file names a living process, even an unrelated one or a zombie. So this module
//! ends the real leftovers and removes the file. Does not know how a server is started.

use std::io;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::child;
use crate::cluster::Cluster;
use crate::error::{EmbeddedError, at};
use crate::file_system::remove_file_if_there;
use crate::processes::{self, FAST_STOP_MAX};

/// Leftover processes got a signal to stop when their server or postmaster died, and end within milliseconds. One that
/// is busy or stuck is killed after this time, which loses nothing that was committed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Ends the processes that still work on this database. We hold its lock, so they are orphans of a killed run.
pub(crate) fn stop(cluster: &Cluster) -> Result<(), EmbeddedError> {
    let data = &cluster.data;
    if cfg!(not(target_os = "linux")) {
        return stop_with_pg_ctl(cluster).map_err(at("stop the processes on", data));
    }
    let left = processes::working_on(data);
    if !left.is_empty() {
        tracing::info!("waiting for {} processes of an earlier run on {} to end", left.len(), data.display());
        processes::end(data, PATIENCE)?;
    }
    remove_file_if_there(&data.join("postmaster.pid"))
}

/// Without `/proc`, PostgreSQL's own tool finds the processes. It fails if there is nothing to stop, which is the usual
/// case.
fn stop_with_pg_ctl(cluster: &Cluster) -> io::Result<()> {
    let mut pg_ctl = cluster.command("pg_ctl", Signal::SIGKILL);
    pg_ctl.arg("-D").arg(&cluster.data).args(["-m", "fast", "-w", "stop"]);
    child::run(&mut pg_ctl, FAST_STOP_MAX).map(drop)
}
