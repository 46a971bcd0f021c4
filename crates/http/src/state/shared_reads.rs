//! Reads of a moment that several requests share. Knows no table, and no answer.
//!
//! While one read of a kind is under way, the requests that want the same form a group. The group's read starts after the last of them has
//! arrived, so it is as fresh for each as a read of its own.

use std::{
    cell::Cell,
    collections::HashMap,
    fmt,
    hash::Hash,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use mancala_db::DbError;
use tokio::{
    sync::{Mutex as Turn, OnceCell, OwnedMutexGuard},
    time::timeout,
};

/// How long a group waits for the read before it. Most reads take a millisecond; one that hangs must not hold up others.
const TURN_WAIT: Duration = Duration::from_millis(250);

/// How long a request waits for the read of its group. Then it reads for itself.
const GROUP_WAIT: Duration = TURN_WAIT.saturating_mul(2);

/// The reads of one thread that are under way or about to start, by what they read.
pub struct SharedReads<K, T>(Mutex<HashMap<K, ReadQueue<T>>>);

/// The groups of requests for the same read.
struct ReadQueue<T> {
    /// Held by the group that reads. One that reads for too long keeps its own, and the line gets another.
    turn: Arc<Turn<()>>,
    /// The group that others may still join: its read has not started.
    open: Option<Arc<Group<T>>>,
    /// How many requests are in it. The last one removes the line.
    requests: usize,
}

/// The read of a group, made by its first request. If that request is dropped earlier, the next one reads.
type Group<T> = OnceCell<Result<T, DbError>>;

impl<K: Clone + Eq + Hash, T: Clone> SharedReads<K, T> {
    /// Returns the result of a read that starts after this call. Reads with equal keys must read the same.
    ///
    /// The read's future is on the heap: it may be large, and most requests of a group only wait for it.
    pub async fn run(&self, key: K, read: impl AsyncFn() -> Result<T, DbError>) -> Result<T, DbError> {
        let (share, leads) = (Share::of(self, key), Cell::new(false));
        let group_read = || async {
            leads.set(true);
            let _turn = share.turn().await;
            share.close();
            Box::pin(read()).await
        };
        let mut shared = pin!(share.group.get_or_init(group_read));
        match timeout(GROUP_WAIT, &mut shared).await {
            Ok(shared) => shared.clone(),
            Err(_) if leads.get() => shared.await.clone(),
            Err(_) => Box::pin(read()).await,
        }
    }
}

impl<K, T> SharedReads<K, T> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, ReadQueue<T>>> {
        self.0.lock().expect("nothing panics while it holds the reads")
    }
}

impl<K, T> Default for SharedReads<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, T> fmt::Debug for SharedReads<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedReads").field(&self.lock().len()).finish()
    }
}

/// A request's share in the read of its group.
struct Share<'a, K: Eq + Hash, T> {
    reads: &'a SharedReads<K, T>,
    key: K,
    turn: Arc<Turn<()>>,
    group: Arc<Group<T>>,
}

impl<'a, K: Clone + Eq + Hash, T> Share<'a, K, T> {
    /// Joins the open group, or opens one.
    fn of(reads: &'a SharedReads<K, T>, key: K) -> Self {
        let mut lines = reads.lock();
        let line =
            lines.entry(key.clone()).or_insert_with(|| ReadQueue { turn: Arc::default(), open: None, requests: 0 });
        line.requests += 1;
        let (turn, group) = (line.turn.clone(), line.open.get_or_insert_default().clone());
        Self { reads, key, turn, group }
    }
}

impl<K: Eq + Hash, T> Share<'_, K, T> {
    /// Waits until the read before has ended. If that read hangs, this group stops waiting for it, and so do later groups.
    async fn turn(&self) -> Option<OwnedMutexGuard<()>> {
        if let Ok(turn) = timeout(TURN_WAIT, self.turn.clone().lock_owned()).await {
            return Some(turn);
        }
        let mut lines = self.reads.lock();
        let line = lines.get_mut(&self.key)?;
        if Arc::ptr_eq(&line.turn, &self.turn) {
            line.turn = Arc::default();
        }
        line.turn.clone().try_lock_owned().ok()
    }

    /// Closes the group: no other request can join it.
    fn close(&self) {
        if let Some(line) = self.reads.lock().get_mut(&self.key) {
            line.open.take_if(|open| Arc::ptr_eq(open, &self.group));
        }
    }
}

impl<K: Eq + Hash, T> Drop for Share<'_, K, T> {
    fn drop(&mut self) {
        let mut lines = self.reads.lock();
        if let Some(line) = lines.get_mut(&self.key) {
            line.requests -= 1;
            if line.requests == 0 {
                lines.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use futures_util::future::{join, join_all, join3};
    use tokio::{sync::Notify, task::yield_now};

    use super::*;

    #[actix_web::test]
    async fn requests_share_a_read_that_starts_after_they_came() {
        let (reads, now, reading) = (SharedReads::default(), Cell::new(0), Cell::new(0));
        let request = async |arrives: usize| {
            for _ in 0..arrives {
                yield_now().await;
            }
            let came = now.get();
            let read = async || {
                reading.set(reading.get() + 1);
                assert_eq!(reading.get() - 1, 0, "one read at a time");
                let seen = now.get();
                for _ in 0..5 {
                    yield_now().await;
                }
                reading.set(reading.get() - 1);
                Ok(seen)
            };
            let seen = reads.run("list", read).await.expect("it reads");
            assert!(seen >= came, "a read of {seen} for a request of {came}");
            seen
        };
        // A clock that advances with every step.
        let clock = async {
            for tick in 0..1000 {
                now.set(tick);
                yield_now().await;
            }
        };
        let (mut seen, ()) = join(join_all((0..60).map(request)), clock).await;
        seen.sort_unstable();
        seen.dedup();
        assert!((5..=30).contains(&seen.len()), "{seen:?}");
        assert!(reads.lock().is_empty());
    }

    #[actix_web::test]
    async fn a_request_that_ends_leaves_the_read_to_its_group() {
        let (reads, started, reads_made) = (Arc::new(SharedReads::default()), Notify::new(), Cell::new(0));
        let read = async || {
            reads_made.set(reads_made.get() + 1);
            started.notify_one();
            if reads_made.get() == 1 {
                std::future::pending::<()>().await;
            }
            Ok(reads_made.get())
        };
        let first = timeout(Duration::from_millis(20), reads.run("list", read));
        let second = async {
            started.notified().await;
            reads.run("list", read).await
        };
        let (first, second) = join(first, second).await;
        assert!(first.is_err(), "the first request ended");
        assert_eq!(second.expect("it reads"), 2);
        assert!(reads.lock().is_empty());
    }

    #[actix_web::test]
    async fn a_read_that_hangs_holds_up_each_request_for_a_moment_only() {
        let (reads, started) = (SharedReads::default(), Notify::new());
        let hangs = async || {
            started.notify_one();
            std::future::pending::<Result<u32, DbError>>().await
        };
        let read = async || {
            let begun = Instant::now();
            assert_eq!(reads.run("list", async || Ok(1)).await.expect("it reads"), 1);
            begun.elapsed()
        };
        let others = async {
            started.notified().await;
            let first = read().await;
            (first, read().await)
        };
        // This member came before the hanging read started, so it is in its group.
        let member = async {
            yield_now().await;
            read().await
        };
        let hanging = timeout(GROUP_WAIT * 4, reads.run("list", hangs));
        let (hanging, member, (first, second)) = join3(hanging, member, others).await;
        assert!(hanging.is_err());
        assert!(first < GROUP_WAIT && member < GROUP_WAIT * 2, "{first:?} {member:?}");
        assert!(second < TURN_WAIT / 2, "the second group waits again: {second:?}");
    }

    #[actix_web::test]
    async fn a_failure_is_that_of_the_whole_group_and_of_no_later_one() {
        let reads = SharedReads::<_, u32>::default();
        let fails = || reads.run("list", async || Err(DbError::QueueFull));
        let failures = join(fails(), fails()).await;
        assert!(matches!(failures, (Err(DbError::QueueFull), Err(DbError::QueueFull))), "{failures:?}");
        assert_eq!(reads.run("list", async || Ok(1)).await.expect("it reads"), 1);
    }
}
