//! The connections of `serve`, fitted to what the database gives.

use std::time::{Duration, Instant};

use mancala_server::{
    connection_plan::{ConnectionPlan, Demand, Supply, TooFew},
    db::{Database, connection::openable},
};
use tokio::time::sleep;

/// The pause between two attempts to open the connections.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// How long the jobs wait at the start if there are fewer connections than the least, so that moves get theirs first.
const JOBS_DELAY: Duration = Duration::from_secs(5);

/// The plan, or a smaller one if the database gives fewer connections; and how long the jobs wait. The log has either plan.
pub async fn fitted(
    demand: Demand,
    plan: ConnectionPlan,
    database: &Database,
    wait: Duration,
) -> (ConnectionPlan, Duration) {
    let (wanted, begun) = (plan.total(), Instant::now());
    let free = loop {
        match openable(database, wanted).await {
            Ok(free) => break free,
            // A failover, for example.
            Err(error) if begun.elapsed() < wait => {
                tracing::warn!("the connections to the database cannot be opened yet: {error}");
            }
            // The plan holds, and its parts wait for connections.
            Err(_) => break wanted,
        }
        sleep(RETRY_PAUSE).await;
    };
    if free >= wanted {
        log(&plan, "connections to the database are planned");
        return (plan, Duration::ZERO);
    }
    match ConnectionPlan::of(demand, Some(share(demand, free))) {
        Ok(smaller) => {
            tracing::warn!(
                free,
                wanted,
                "degraded: the database has fewer free connections than the server needs at full load; reads and jobs wait \
                 longer until a restart with more (max_connections, or a lower --db-connections)"
            );
            log(&smaller, "connections to the database are planned");
            (ConnectionPlan { supply: Supply::Reduced, ..smaller }, Duration::ZERO)
        }
        Err(TooFew { least }) => {
            // Where connections become free, moves go on. Until then they are answered 503.
            let smallest = ConnectionPlan::of(demand, Some(least)).unwrap_or(plan);
            tracing::warn!(
                free,
                least,
                "degraded: the database has fewer free connections than the server needs; requests and jobs that get none fail \
                 until there are more (max_connections)"
            );
            log(&smallest, "connections to the database are planned");
            (ConnectionPlan { supply: Supply::Scarce, ..smallest }, JOBS_DELAY)
        }
    }
}

/// How many free connections a server takes if they are too few. If it can, it leaves enough for another server to start. Without them,
/// neither that server nor a command of the operator could connect.
fn share(demand: Demand, free: u32) -> u32 {
    match ConnectionPlan::of(demand, Some(0)) {
        Err(TooFew { least }) if free >= 2 * least => free - least,
        _ => free,
    }
}

fn log(plan: &ConnectionPlan, message: &'static str) {
    let ConnectionPlan { writers, workers, reads_each, has_listener, heavy, housekeeping, has_standby, jobs, .. } =
        plan;
    tracing::info!(
        total = plan.total(),
        writers,
        workers,
        reads_each,
        has_listener,
        heavy,
        housekeeping,
        has_standby,
        jobs = ?jobs,
        "{message}"
    );
}
