//! Builds the explorer anew, beside the one that is in use: reads all games, loads the new tables, and exchanges them.
//!
//! Knows no statement. What it does can be interrupted anywhere: a later call goes on with it, or begins anew.

use std::{collections::VecDeque, num::NonZero, sync::Arc, thread};

use sqlx::PgPool;
use thiserror::Error;
use tokio::{
    sync::{Mutex, Semaphore},
    task::{JoinHandle, spawn_blocking},
};

use super::lasting::{Pace, Patience};
use mancala_db::{
    DbError,
    study::rebuild::{
        loading::{self, Part, Sorted},
        reading::{self, Batch, Listed, Read},
        state::Rebuild,
        swap,
    },
};
use mancala_domain::GameId;
use mancala_process::clock::now;

/// How many games one statement lists, and how many are read together: some 40,000 rows of the log at most.
const LISTED_AT_ONCE: i64 = 8_000;
const READ_AT_ONCE: u32 = 500;
const PLIES_AT_ONCE: u32 = 40_000;

/// Each game is read and loaded. Either is half of its work.
const PASSES: u64 = 2;

/// The most games that are loaded without a pause in between.
const LOADED_AT_ONCE: u32 = 500;

/// Why a rebuild ended before it was done.
#[derive(Debug, Error)]
pub enum RebuildError {
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
    /// Another process works on it now.
    #[error("another reindex has begun, so this one has ended")]
    TakenOver,
}

/// The progress since the last report.
#[derive(Debug)]
pub struct Advance {
    /// Games, each of which is reported when it was read, and again when it was loaded.
    pub half_games: u64,
    /// Games that cannot be counted.
    pub unreadable: Vec<(GameId, DbError)>,
}

/// Continues a rebuild until the new explorer is in use; returns how many games it counts. The database runs as many statements at once as
/// the pool has connections.
pub async fn rebuild(
    pool: &PgPool,
    patience: &Patience,
    pace: Pace,
    rebuild: &Rebuild,
    mut on_advance: impl FnMut(Advance),
) -> Result<u64, RebuildError> {
    let connections = pool.options().get_max_connections();
    let permits = Arc::new(Semaphore::new(usize::try_from(connections).unwrap_or(Semaphore::MAX_PERMITS)));
    let work = Work { pool: pool.clone(), patience: patience.clone(), pace, rebuild: rebuild.clone(), permits };
    let read = if rebuild.is_read { 0 } else { work.read_all(&mut on_advance).await? };
    let games = rebuild.read + read;
    if !rebuild.is_loaded {
        work.load_all(games, &mut on_advance).await?;
    }
    work.attempt(|| swap::prepare(pool, rebuild)).await?;
    work.attempt(|| swap::swap(pool, rebuild, now())).await?;
    Ok(games)
}

/// Data that the parts of a rebuild share.
#[derive(Clone)]
struct Work {
    pool: PgPool,
    patience: Patience,
    pace: Pace,
    rebuild: Rebuild,
    /// A permit for each connection, so that no part waits for a connection and fails.
    permits: Arc<Semaphore>,
}

impl Work {
    async fn retry<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, DbError>
    where
        F: Future<Output = Result<T, DbError>>,
    {
        let _permit = self.permits.acquire().await.expect("it is never closed");
        self.patience.retry(attempt).await
    }

    /// Retries a step that stores something, if the rebuild is still ours.
    async fn attempt<F>(&self, attempt: impl Fn() -> F) -> Result<(), RebuildError>
    where
        F: Future<Output = Result<Option<()>, DbError>>,
    {
        self.retry(attempt).await?.ok_or(RebuildError::TakenOver)
    }

    /// Reads all games that are not read yet, and returns how many can be counted.
    async fn read_all(&self, on_advance: &mut impl FnMut(Advance)) -> Result<u64, RebuildError> {
        let mut pace = self.pace;
        let (mut queue, mut reads, mut stores) = (Queue::new(self), VecDeque::new(), Stores::new(self));
        let (mut batch, mut games) = (Batch::default(), 0);
        let readers = thread::available_parallelism().map_or(1, NonZero::get);
        loop {
            while reads.len() < readers
                && let Some(some) = queue.next().await?
            {
                pace.take(some.len().div_ceil(2)).await;
                reads.push_back(self.read(some));
            }
            let Some((some, read)) = reads.pop_front() else { break };
            let read: Read = read.await.expect("reading games does not panic")?;
            let unreadable = read.unreadable.clone();
            games += (some.len() - unreadable.len()) as u64;
            on_advance(Advance { half_games: some.len() as u64, unreadable });
            if let Some(last) = some.last() {
                batch.add(read, last.game);
            }
            if batch.is_full() {
                stores.add(std::mem::take(&mut batch)).await?;
            }
        }
        stores.add(batch).await?;
        stores.finish().await?;
        self.attempt(|| reading::finish(&self.pool, &self.rebuild)).await?;
        Ok(games)
    }

    /// Begins to read games.
    fn read(&self, games: Vec<Listed>) -> (Vec<Listed>, JoinHandle<Result<Read, DbError>>) {
        let (work, ids) = (self.clone(), games.iter().map(|listed| listed.game.0).collect::<Vec<_>>());
        let read = async move { work.retry(|| reading::read(&work.pool, &ids)).await };
        (games, tokio::spawn(read))
    }

    /// Loads the visits of all games. While a part is loaded, the next one is fetched and sorted.
    async fn load_all(&self, games: u64, on_advance: &mut impl FnMut(Advance)) -> Result<(), RebuildError> {
        let parts = self.retry(|| loading::parts(&self.pool)).await?;
        let visits = parts.iter().map(|part| part.visits.unsigned_abs()).sum::<u64>().max(1);
        let lanes = [Lane::new(self.pace, games, visits), Lane::new(self.pace, games, visits)];
        let mut fetched = parts.first().map(|part| self.fetch(*part));
        let mut loaded = 0;
        for (n, part) in parts.iter().enumerate() {
            let Some(sorted) = fetched.take() else { break };
            let sorted = &sorted.await.expect("fetching visits does not panic")?;
            fetched = parts.get(n + 1).map(|part| self.fetch(*part));
            let [moves_lane, games_lane] = &lanes;
            let step = moves_lane.step;
            let (moves, played) = tokio::join!(
                self.attempt(|| loading::load_moves(&self.pool, &self.rebuild, sorted, step, |n| moves_lane.pause(n))),
                self.attempt(|| loading::load_games(&self.pool, &self.rebuild, sorted, step, |n| games_lane.pause(n))),
            );
            moves.and(played)?;
            let before = loaded * games / visits;
            loaded += part.visits.unsigned_abs();
            on_advance(Advance { half_games: loaded * games / visits - before, unreadable: vec![] });
        }
        Ok(())
    }

    /// Begins to fetch the visits of a part, and to sort them.
    fn fetch(&self, part: Part) -> JoinHandle<Result<Sorted, DbError>> {
        let work = self.clone();
        tokio::spawn(async move {
            let mut sorted = work.retry(|| loading::fetch(&work.pool, part)).await?;
            let sort = move || {
                sorted.sort();
                sorted
            };
            Ok(spawn_blocking(sort).await.expect("sorting does not panic"))
        })
    }
}

/// Games that are yet to be read.
struct Queue<'a> {
    work: &'a Work,
    listed: VecDeque<Listed>,
    last: Option<GameId>,
    is_listed: bool,
}

impl<'a> Queue<'a> {
    fn new(work: &'a Work) -> Self {
        Self { work, listed: VecDeque::new(), last: work.rebuild.last, is_listed: false }
    }

    /// The next games that are read together.
    async fn next(&mut self) -> Result<Option<Vec<Listed>>, DbError> {
        if self.listed.is_empty() && !self.is_listed {
            let Self { work, last, .. } = self;
            self.listed = work.retry(|| reading::list(&work.pool, *last, LISTED_AT_ONCE)).await?.into();
            self.last = self.listed.back().map(|listed| listed.game);
            self.is_listed = self.listed.is_empty();
        }
        let (most, mut plies) = (self.work.pace.batch(READ_AT_ONCE) as usize, 0);
        let fits = self.listed.iter().take(most).take_while(|listed| {
            plies += listed.plies;
            plies == listed.plies || plies <= PLIES_AT_ONCE
        });
        let some: Vec<_> = fits.copied().collect();
        self.listed.drain(..some.len());
        Ok((!some.is_empty()).then_some(some))
    }
}

/// Stores batches one after the other, while others are read.
struct Stores<'a> {
    work: &'a Work,
    number: i32,
    running: Option<JoinHandle<Result<(), RebuildError>>>,
}

impl<'a> Stores<'a> {
    fn new(work: &'a Work) -> Self {
        Self { work, number: work.rebuild.batches, running: None }
    }

    async fn add(&mut self, batch: Batch) -> Result<(), RebuildError> {
        self.finish().await?;
        let (work, number) = (self.work.clone(), self.number);
        self.number += 1;
        self.running = Some(tokio::spawn(async move {
            let sort = move || {
                let mut batch = batch;
                batch.sort();
                batch
            };
            let batch = spawn_blocking(sort).await.expect("sorting does not panic");
            work.attempt(|| batch.store(&work.pool, &work.rebuild, number)).await
        }));
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), RebuildError> {
        match self.running.take() {
            Some(running) => running.await.expect("storing visits does not panic"),
            None => Ok(()),
        }
    }
}

/// The pace of the visits that are loaded into a table.
struct Lane {
    pace: Mutex<Pace>,
    games: u64,
    visits: u64,
    /// After how many visits there may be a pause.
    step: usize,
}

impl Lane {
    fn new(pace: Pace, games: u64, visits: u64) -> Self {
        let step = u64::from(pace.batch(LOADED_AT_ONCE)) * visits / games.max(1);
        Self { pace: Mutex::new(pace), games, visits, step: usize::try_from(step).unwrap_or(usize::MAX).max(1) }
    }

    /// Keeps to the pace: visits count as the games that have as many on average.
    async fn pause(&self, visits: usize) {
        let games = (visits as u64 * self.games).div_ceil(self.visits * PASSES);
        self.pace.lock().await.take(usize::try_from(games).unwrap_or(usize::MAX)).await;
    }
}
