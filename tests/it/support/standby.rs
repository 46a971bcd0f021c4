//! A standby of a test's cluster: a second PostgreSQL that replays the log of the first one. It knows nothing of the server.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, Uid, chown},
};
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, postgres::PgConnectOptions};

use crate::support::{clock::until_async, cluster::superuser_of, programs::programs};

/// A running standby. It ends with its value.
pub struct Standby {
    postgres: Child,
    folder: PathBuf,
    options: PgConnectOptions,
}

impl Standby {
    /// Copies the cluster of a database into a folder of this name, and follows its log from there.
    pub async fn of(primary: &PgConnectOptions, name: &str) -> Self {
        Self::copy(primary, name, &["-R"]).await
    }

    /// The same, but it follows nothing: as if a backup of this moment had been restored.
    pub async fn restored(primary: &PgConnectOptions, name: &str) -> Self {
        Self::copy(primary, name, &[]).await
    }

    async fn copy(primary: &PgConnectOptions, name: &str, how: &[&str]) -> Self {
        // Its host is the folder of its socket.
        let socket = primary.get_host().to_owned();
        let mut superuser = superuser_of(primary).connect().await.expect("PostgreSQL runs");
        let data: String = sqlx::query_scalar("select current_setting('data_directory')")
            .fetch_one(&mut superuser)
            .await
            .expect("the setting can be read");
        // PostgreSQL's user owns the data of both.
        let owner = fs::metadata(&data).expect("the data of the primary");
        let folder = Path::new("/tmp").join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for the standby");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("the folder is the test's");
        chown(&folder, Some(Uid::from_raw(owner.uid())), None).expect("the folder is the test's");
        let as_owner = |program: &str| {
            let mut command = Command::new(programs().join(program));
            command.uid(owner.uid()).gid(owner.gid()).current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        let copy = folder.join("data");
        let port = primary.get_port().to_string();
        let mut backup = as_owner("pg_basebackup");
        backup
            .arg("-D")
            .arg(&copy)
            .arg("-h")
            .arg(&socket)
            .args(["-p", &port, "-U", "postgres", "-X", "stream", "-c", "fast"])
            .args(how);
        assert!(backup.status().expect("pg_basebackup runs").success(), "the cluster is copied");
        let mut postgres = as_owner("postgres");
        postgres.arg("-D").arg(&copy).arg("-k").arg(&folder).args([
            "-p",
            &port,
            "-c",
            "listen_addresses=",
            "-c",
            "fsync=off",
            // The number of connections must be the primary's.
            "-c",
            "max_connections=400",
        ]);
        let postgres = postgres.spawn().expect("postgres runs");
        let options = primary.clone().host(folder.to_str().expect("the path is text"));
        let standby = Self { postgres, folder, options };
        standby.until_it_answers().await;
        standby
    }

    /// How its copy of the database is connected to.
    pub fn options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    /// Runs a statement as its superuser.
    pub async fn execute(&self, sql: &str) {
        let mut superuser = superuser_of(&self.options).connect().await.expect("the standby runs");
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut superuser).await.expect("the statement is right");
    }

    /// Stops the processes of connections that have read something other than the position of the log; how many.
    pub async fn freeze_readers(&self) -> usize {
        let readers = self.readers().await;
        for pid in &readers {
            kill(Pid::from_raw(*pid), Signal::SIGSTOP).expect("the process is the standby's");
        }
        readers.len()
    }

    /// Ends these connections; how many.
    pub async fn end_readers(&self) -> usize {
        let readers = self.readers().await;
        for pid in &readers {
            self.execute(&format!("select pg_terminate_backend({pid})")).await;
        }
        readers.len()
    }

    async fn readers(&self) -> Vec<i32> {
        let mut superuser = superuser_of(&self.options).connect().await.expect("the standby runs");
        sqlx::query_scalar(
            "select pid from pg_stat_activity where application_name like 'mancala-server %' and query not like '%replay_lsn%'",
        )
        .fetch_all(&mut superuser)
        .await
        .expect("the statement is right")
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        let pid = Pid::from_raw(i32::try_from(self.postgres.id()).expect("a process id"));
        // An immediate shutdown ends the children, too.
        let _ = kill(pid, Signal::SIGQUIT);
        let _ = nix::sys::signal::killpg(pid, Signal::SIGCONT);
        let _ = self.postgres.wait();
    }

    async fn until_it_answers(&self) {
        until_async("the standby answers", async || self.connect().await.is_some()).await;
    }

    async fn connect(&self) -> Option<PgConnection> {
        superuser_of(&self.options).connect().await.ok()
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
