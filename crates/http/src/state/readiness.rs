//! Readiness: whether a move can be read and stored, which each process checks at most once a second.

use std::{
    sync::{Arc, Mutex as StdMutex, PoisonError, Weak},
    time::{Duration, Instant},
};

use mancala_db::{
    Lookups, Writers,
    connection::LastUse,
    readiness::{Fault, NotReady, waits_for_standby},
};
use mancala_domain::GameId;
use mancala_process::{
    connection_plan::{ConnectionPlan, Supply},
    metrics::Metrics,
    outage::Outage,
};
use mancala_wire::live::Hub;
use sqlx::PgPool;
use tokio::{
    sync::Mutex,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::answer::{conversions::chain, problem::Problem, readiness_check::ReadinessCheck};

/// The log's lines about a server that is not ready.
const NOT_READY: &str = "not ready: moves cannot be stored, so /readyz is 503";
const READY_AGAIN: &str = "ready again: moves can be stored";

/// How long a result is cached. Load balancers probe every few seconds.
const CACHED_FOR: Duration = Duration::from_secs(1);

/// How long a part may be without a connection before its requests fail: the time for which requests wait for one.
const ABSENCE_MAX: Duration = Duration::from_secs(3);

/// How long another connection may take to say why a writer does not answer.
const ASK_TIMEOUT: Duration = Duration::from_secs(1);

/// The pause between two looks of the server at its own readiness.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// The pause between two checks of a worker's connections. Connections that were used in between are not checked.
const WATCH_PAUSE: Duration = Duration::from_secs(1);

/// The last check, cached for `CACHED_FOR`. Many probes thus cost one transaction a second.
#[derive(Debug)]
pub struct Readiness {
    writers: Arc<Writers>,
    hub: Arc<Hub>,
    plan: ConnectionPlan,
    metrics: Arc<Metrics>,
    draining: CancellationToken,
    workers: StdMutex<Vec<Weak<Worker>>>,
    last: Mutex<Option<LastCheck>>,
    /// The outage that the log reports. Failed probes are no failed requests, so they have no lines of their own.
    outage: Outage,
}

/// A worker's connections.
#[derive(Debug)]
pub struct Worker {
    pub db: PgPool,
    /// When the pool last had a connection to give.
    pub db_last_use: LastUse,
    pub lookups: Lookups,
}

/// A process that can store moves.
#[derive(Clone, Copy, Debug)]
pub struct IsReady {
    /// Whether the server has fewer connections to the database than it needs at full load.
    pub is_degraded: bool,
}

/// The time and the result of a check.
#[derive(Debug)]
struct LastCheck {
    ended_at: Instant,
    result: Result<IsReady, Problem>,
}

impl Readiness {
    /// Starts to check the readiness at intervals while the metrics are served, so that they are current without probes.
    pub fn start(
        writers: Arc<Writers>,
        hub: Arc<Hub>,
        plan: ConnectionPlan,
        metrics: Arc<Metrics>,
        draining: CancellationToken,
    ) -> Arc<Self> {
        let (workers, last) = (StdMutex::default(), Mutex::default());
        let outage = Outage::behind_database(NOT_READY, READY_AGAIN);
        let readiness = Arc::new(Self { writers, hub, plan, metrics, draining, workers, last, outage });
        actix_web::rt::spawn(keep_looking(Arc::downgrade(&readiness)));
        readiness
    }

    /// Watches a worker's connections as long as they are held. Call it on the worker's thread.
    pub fn follow(&self, worker: Worker) -> Arc<Worker> {
        let worker = Arc::new(worker);
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&worker));
        actix_web::rt::spawn(watch_lookups(Arc::downgrade(&worker)));
        actix_web::rt::spawn(watch_reads(Arc::downgrade(&worker)));
        worker
    }

    /// Whether this server takes moves, which the metrics then show.
    pub async fn check(&self) -> Result<IsReady, Problem> {
        let ready = if self.draining.is_cancelled() { Err(Problem::draining()) } else { self.cached().await };
        let failed = ready.as_ref().err().and_then(Problem::check);
        for (check, word) in ReadinessCheck::ALL {
            self.metrics.upkeep().set_ready(word, failed != Some(check));
        }
        self.metrics.upkeep().set_ready("all", ready.is_ok());
        ready
    }

    /// Whether a move can be read and stored. A probe that arrives during a check waits for its result.
    async fn cached(&self) -> Result<IsReady, Problem> {
        let mut last = self.last.lock().await;
        if let Some(LastCheck { ended_at, result }) = &*last
            && ended_at.elapsed() < CACHED_FOR
        {
            return result.clone();
        }
        let checked = self.look().await;
        self.metrics.watched().set_missing_rights(match &checked {
            Err(NotReady { fault: Fault::Rights, lacking, .. }) => lacking,
            _ => &[],
        });
        let result = checked.map_err(problem);
        match &result {
            Ok(_) => self.outage.works(),
            Err(problem) => self.outage.failed(&problem.with_cause()),
        }
        *last = Some(LastCheck { ended_at: Instant::now(), result: result.clone() });
        result
    }

    /// Checks the connection of a writer, and then that tokens, look-ups and reads have connections.
    async fn look(&self) -> Result<IsReady, NotReady> {
        let checked = self.writers.check().await;
        let workers: Vec<_> = {
            let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
            workers.retain(|worker| worker.strong_count() > 0);
            workers.iter().filter_map(Weak::upgrade).collect()
        };
        match checked {
            // A writer that waits for a commit gives no reply, so another connection finds out why.
            Err(NotReady { fault: Fault::Connection, .. }) if commits_wait(&workers).await => {
                return Err(Fault::SynchronousStandby.into());
            }
            checked => checked?,
        }
        let tokens = ("revoked credentials", self.hub.audience().revocations().age());
        let ages = workers
            .iter()
            .flat_map(|worker| [("look-ups", worker.lookups.last_use().age()), ("reads", worker.db_last_use.age())]);
        // The database answers on the writer's connection, so these get none.
        if let Some((part, _)) = ages.chain([tokens]).find(|(_, age)| *age > ABSENCE_MAX) {
            let lacking = vec![format!("a connection for {part}")];
            return Err(NotReady { lacking, ..Fault::Connections.into() });
        }
        let opens = |worker: &Arc<Worker>| worker.db.size() < self.plan.reads_each;
        Ok(IsReady { is_degraded: self.plan.supply != Supply::Full || workers.iter().any(opens) })
    }
}

/// Whether commits wait for a synchronous standby, as a worker's connection tells.
async fn commits_wait(workers: &[Arc<Worker>]) -> bool {
    match workers.first() {
        Some(worker) => matches!(timeout(ASK_TIMEOUT, waits_for_standby(&worker.db)).await, Ok(Ok(true))),
        None => false,
    }
}

/// Checks the readiness at intervals as long as the server runs.
async fn keep_looking(readiness: Weak<Readiness>) {
    while let Some(readiness) = readiness.upgrade() {
        if readiness.metrics.upkeep().are_served() {
            let _ = readiness.check().await;
        }
        drop(readiness);
        sleep(LOOK_PAUSE).await;
    }
}

/// Lets a worker's look-ups be of use, so that a connection that is missing is opened and one that is there counts.
async fn watch_lookups(worker: Weak<Worker>) {
    while let Some(worker) = worker.upgrade() {
        if worker.lookups.last_use().age() > WATCH_PAUSE {
            let _ = worker.lookups.fingerprint(GameId(uuid::Uuid::nil())).await;
        }
        drop(worker);
        sleep(WATCH_PAUSE).await;
    }
}

/// Uses a worker's connections for reads in the same way.
async fn watch_reads(worker: Weak<Worker>) {
    while let Some(worker) = worker.upgrade() {
        if worker.db_last_use.age() > WATCH_PAUSE {
            let _ = worker.db.acquire().await;
        }
        drop(worker);
        sleep(WATCH_PAUSE).await;
    }
}

/// The answer to a probe while the process cannot store moves.
fn problem(NotReady { fault, cause, lacking }: NotReady) -> Problem {
    let (check, detail) = match fault {
        Fault::Connection => (ReadinessCheck::Connection, "the database does not answer"),
        Fault::SynchronousStandby => {
            (ReadinessCheck::SynchronousStandby, "commits wait for a synchronous standby of the database")
        }
        Fault::Connections => (ReadinessCheck::Connections, "the database has no free connection"),
        Fault::Standby => (ReadinessCheck::Standby, "the database is a standby"),
        Fault::ReadOnly => (ReadinessCheck::ReadOnly, "the database is read-only"),
        Fault::Disk => (ReadinessCheck::Disk, "a disk of the database is full"),
        Fault::Io => (ReadinessCheck::Io, "the database cannot read or write its files"),
        Fault::Memory => (ReadinessCheck::Memory, "the database lacks memory"),
        Fault::Rights => (ReadinessCheck::Rights, "the database user lacks a right on a table"),
        Fault::Migrations => {
            (ReadinessCheck::Migrations, "the database lacks migrations: run `mancala-server migrate`")
        }
        Fault::Database => (ReadinessCheck::Database, "the database cannot store a move"),
    };
    let problem = Problem::unready(check, detail);
    match cause {
        Some(cause) => problem.because(chain(&cause)),
        None if lacking.is_empty() => problem,
        None => problem.because(format_args!("it lacks {}", lacking.join(", "))),
    }
}
