//! Turns: work that a process does for a few at once. Whoever would wait for too long is told to come back.

use std::time::Duration;

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::http::answer::problem::Problem;

/// Waits for a place; 503 and `busy` if there is none for so long.
pub async fn turn(
    places: &'static Semaphore,
    at_most: Duration,
    busy: &'static str,
) -> Result<SemaphorePermit<'static>, Problem> {
    let place = timeout(at_most, places.acquire()).await;
    place.map_err(|_| Problem::busy(busy))?.map_err(Problem::internal)
}
