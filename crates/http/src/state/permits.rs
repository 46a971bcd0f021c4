//! Semaphores for work of which a process does only a few at once. A request that waits for too long is refused with 503.

use std::time::Duration;

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::answer::problem::Problem;

/// Acquires a permit; after `timeout_after` without one, fails with 503 and the detail `busy`.
pub async fn acquire(
    permits: &'static Semaphore,
    timeout_after: Duration,
    busy: &'static str,
) -> Result<SemaphorePermit<'static>, Problem> {
    let permit = timeout(timeout_after, permits.acquire()).await;
    permit.map_err(|_| Problem::busy(busy))?.map_err(Problem::internal)
}
