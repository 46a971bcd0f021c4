//! The PostgreSQL of a test run, and how a test gets a database of its own. It knows nothing of the server.

use std::{
    env,
    path::PathBuf,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use mancala_server::{
    db::migrations,
    embedded::{self, Durability, Embedded, Settings},
};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};

/// The start of the name of every test's database. A new run drops the databases that an earlier, killed run left behind.
const PREFIX: &str = "test_";

/// A PostgreSQL of this run. Its data may be lost, so it does not wait for the disk.
pub struct Cluster {
    embedded: Embedded,
}

impl Cluster {
    /// The cluster that nearly all tests share.
    pub fn shared() -> &'static Self {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        CLUSTER.get_or_init(|| Self::start("postgres"))
    }

    /// A cluster for one test alone, in a folder of this name. `TEST_CLUSTERS` is where that lies, if not in the target folder.
    pub fn start(folder: &str) -> Self {
        let clusters = env::var_os("TEST_CLUSTERS").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from);
        let folder = clusters.join(folder);
        let settings = Settings { folder, durability: Durability::Ephemeral };
        let cluster = Self { embedded: Embedded::start(&settings).expect("the tests need a PostgreSQL") };
        let owner = embedded::connect_options(&cluster.embedded);
        blocking(async move {
            let mut superuser = superuser_of(&owner).connect().await.expect("PostgreSQL has just started");
            let old: Vec<String> = sqlx::query_scalar("select datname::text from pg_database where datname like $1")
                .bind(format!("{PREFIX}%"))
                .fetch_all(&mut superuser)
                .await
                .expect("databases can be listed");
            for name in old {
                execute(&mut superuser, format!("drop database {name} with (force)")).await;
            }
            let mut connection = owner.connect().await.expect("PostgreSQL has just started");
            execute(&mut connection, format!("create database {PREFIX}template")).await;
            connection.close().await.expect("the connection closes");
            migrations::run(owner.database(&format!("{PREFIX}template"))).await.expect("migrations apply");
        });
        cluster
    }

    /// Creates a database with the schema for one test, and returns how its owner connects to it.
    pub async fn create_database(&self) -> PgConnectOptions {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let database = format!("{PREFIX}{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let maintenance = embedded::connect_options(&self.embedded);
        let mut connection = maintenance.connect().await.expect("PostgreSQL runs");
        execute(&mut connection, format!("create database {database} template {PREFIX}template strategy file_copy"))
            .await;
        connection.close().await.expect("the connection closes");
        maintenance.database(&database)
    }
}

/// Drops a test's database, and ends the connections to it.
pub fn drop_database(options: &PgConnectOptions) {
    let (database, superuser) = (options.get_database().expect("a name").to_owned(), superuser_of(options));
    blocking(async move {
        let mut connection = superuser.connect().await.expect("PostgreSQL runs");
        execute(&mut connection, format!("drop database {database} with (force)")).await;
    });
}

/// The embedded PostgreSQL's own superuser, who may do more than the owner of the tests' databases.
pub fn superuser_of(owner: &PgConnectOptions) -> PgConnectOptions {
    owner.clone().username("postgres").database("postgres")
}

async fn execute(connection: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.expect("the statement is right");
}

/// Runs a future to its end on a thread of its own, so that it can be called from inside a runtime.
pub fn blocking<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    thread::spawn(move || runtime().block_on(future)).join().expect("the thread ends well")
}
