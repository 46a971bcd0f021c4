//! The writers: tasks through which all appends of a process go, in groups.
//!
//! The expensive part of an append is the commit's write to disk, and that takes no longer for many appends than for
//! one. So a writer gathers the appends that arrive while its last statement is in flight, and sends them as the next
//! group. If none is in flight, none waits.

use std::{
    collections::HashSet,
    fmt, iter, mem,
    panic::AssertUnwindSafe,
    slice,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use mancala_domain::{Change, Event, Game, Slot};
use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    announcer::Announcer,
    append::{self, Append, Appended},
};
use crate::{
    connection::{Database, DbError, DedicatedConnection, statement},
    readiness::{self, NotReady},
};

/// How many appends a group has at most. Twice as many are no cheaper each, and make the first one wait longer.
const GROUP_MAX: usize = 64;

/// How long an append may be queued. If it takes longer, the database is overloaded or down.
const WAIT: Duration = Duration::from_secs(3);

/// How many checks wait for a writer at most. A process makes one at a time.
const CHECKS_MAX: usize = 4;

/// All writers of a process. Each one owns the games whose ids fall to it. So the appends to one game follow each other
/// and never wait for the row's lock.
pub struct Writers {
    queues: Vec<mpsc::Sender<Queued>>,
    /// For each writer, the requests to check its connection.
    checks: Vec<mpsc::Sender<Check>>,
    /// The number of checks so far, by which the checks go to the writers one after the other.
    checked: AtomicUsize,
    busy: Arc<AtomicUsize>,
    announcer: Arc<Announcer>,
    on_group: Arc<GroupObserver>,
}

/// Called with the number of appends of each group, before its statement is sent. It is set once.
type GroupObserver = OnceLock<Box<dyn Fn(usize) + Send + Sync>>;

/// The tasks of the writers.
#[derive(Debug)]
pub struct WriterTasks {
    tasks: Vec<JoinHandle<()>>,
    ending: CancellationToken,
}

/// An append in the queue.
struct Queued {
    append: Append,
    since: Instant,
    reply: AppendReply,
}

/// Where the caller of an append waits for its result.
type AppendReply = oneshot::Sender<Result<Appended, DbError>>;

/// Where the caller of a check waits for its result.
type Check = oneshot::Sender<Result<(), NotReady>>;

/// An append in the group that is being stored.
type QueuedAppend = (Append, AppendReply);

impl Writers {
    /// How many appends are queued for a writer at most, unless there is a reason: more than a second's work.
    pub const QUEUE_MAX: usize = 4096;

    /// Starts `count` writers on the present runtime, each with a dedicated connection that it opens on first use.
    /// Appends that arrive while `queue_max` are queued for a writer are refused.
    pub fn start(database: impl Into<Database>, count: u32, queue_max: usize) -> (Self, WriterTasks) {
        let database = database.into();
        let (busy, ending) = (Arc::<AtomicUsize>::default(), CancellationToken::new());
        let (announcer, on_group) = (Arc::<Announcer>::default(), Arc::<GroupObserver>::default());
        let (mut checks, mut queues, mut tasks) = (vec![], vec![], vec![]);
        for _ in 0..count.max(1) {
            let (queue, queued) = mpsc::channel(queue_max);
            let (check, asked) = mpsc::channel(CHECKS_MAX);
            let connection = DedicatedConnection::new(database.clone());
            let writer = Writer {
                connection,
                locked: HashSet::new(),
                busy: busy.clone(),
                announcer: announcer.clone(),
                on_group: on_group.clone(),
            };
            tasks.push(tokio::spawn(writer.run(queued, asked, ending.clone())));
            queues.push(queue);
            checks.push(check);
        }
        let checked = AtomicUsize::default();
        let writers = Self { queues, checks, checked, busy, announcer, on_group };
        (writers, WriterTasks { tasks, ending })
    }

    /// Calls `observer` with every change that is stored from now on. There is one observer, the first.
    pub fn observe(&self, observer: impl Fn(Change) + Send + Sync + 'static) {
        self.announcer.observe(observer);
    }

    /// The announcer, for transactions that append to games without a writer.
    pub fn announcer(&self) -> &Announcer {
        &self.announcer
    }

    /// Calls `observer` with the number of appends of each group from now on. There is one observer, the first.
    pub fn observe_groups(&self, observer: impl Fn(usize) + Send + Sync + 'static) {
        let _ = self.on_group.set(Box::new(observer));
    }

    /// Notified when an append has queued a row of `webhook_event`.
    pub fn webhook_events(&self) -> Arc<Notify> {
        self.announcer.webhook_events()
    }

    /// Notified when the computer is to move in a game.
    pub fn computer_turns(&self) -> Arc<Notify> {
        self.announcer.computer_turns()
    }

    /// How many writers have a statement in flight.
    pub fn busy(&self) -> usize {
        self.busy.load(Ordering::Relaxed)
    }

    /// How many appends all queues together hold at most.
    pub fn queue_max(&self) -> usize {
        self.queues.iter().map(mpsc::Sender::max_capacity).sum()
    }

    /// How many appends are queued.
    pub fn queued(&self) -> usize {
        self.queues.iter().map(|queue| queue.max_capacity() - queue.capacity()).sum()
    }

    /// Checks on the connection of one writer, between two groups, that a move can be stored. Opens the connection if there
    /// is none.
    pub async fn check(&self) -> Result<(), NotReady> {
        let check = &self.checks[self.checked.fetch_add(1, Ordering::Relaxed) % self.checks.len()];
        let (reply, replied) = oneshot::channel();
        check.try_send(reply).map_err(|_| DbError::QueueFull)?;
        // A writer whose connection no longer answers replies later.
        match timeout(WAIT, replied).await {
            Ok(Ok(checked)) => checked,
            _ => Err(DbError::silent().into()),
        }
    }

    /// Queues an append and waits for its result. It is stored even if the caller stops waiting.
    pub(crate) async fn append(&self, append: Append) -> Result<Appended, DbError> {
        // The bits before the slot are random: the games of one player go through all writers.
        let queue = &self.queues[(append.game().as_u128() >> Slot::BITS) as usize % self.queues.len()];
        let (reply, replied) = oneshot::channel();
        queue.try_send(Queued { append, since: Instant::now(), reply }).map_err(|_| DbError::QueueFull)?;
        // A writer replies to all appends that it has taken. If it panics, their result is unknown.
        replied.await.unwrap_or_else(|_| Err(DbError::silent()))
    }
}

impl WriterTasks {
    /// Closes the queues, and waits until every queued append is stored or has failed.
    pub async fn end(self) {
        self.ending.cancel();
        for task in self.tasks {
            // A writer that panicked has logged it.
            let _ = task.await;
        }
    }
}

/// Appends events to a game's log and updates its row to their fold, in one statement with optimistic locking. Either
/// all of it is stored, durably, or nothing. `next` is the game after the events; the row must still be at the version
/// before them.
///
/// The append completes or fails as a whole even if the caller stops waiting.
pub async fn append(writers: &Writers, next: &Game, events: &[Event]) -> Result<Appended, DbError> {
    writers.append(Append::of(next, events)).instrument(statement("update game insert event")).await
}

/// A writer: a task that stores queued appends over a connection of its own.
struct Writer {
    connection: DedicatedConnection,
    /// Games whose rows another transaction had locked at the last attempt. The next append checks the lock instead of
    /// waiting for it.
    locked: HashSet<Uuid>,
    busy: Arc<AtomicUsize>,
    announcer: Arc<Announcer>,
    on_group: Arc<GroupObserver>,
}

impl Writer {
    /// Runs until it is ended or all handles are dropped, and all queued appends have their replies.
    async fn run(
        mut self,
        mut queue: mpsc::Receiver<Queued>,
        mut checks: mpsc::Receiver<Check>,
        ending: CancellationToken,
    ) {
        let mut backlog = Vec::with_capacity(GROUP_MAX);
        loop {
            // The check comes first, because under load the queue is never empty.
            if let Ok(check) = checks.try_recv() {
                self.check(check).await;
            }
            let room = GROUP_MAX - backlog.len();
            if backlog.is_empty() {
                tokio::select! {
                    biased;
                    taken = queue.recv_many(&mut backlog, room) => if taken == 0 { return },
                    Some(check) = checks.recv() => {
                        self.check(check).await;
                        continue;
                    }
                    () = ending.cancelled(), if !queue.is_closed() => {
                        queue.close();
                        continue;
                    }
                }
            } else {
                backlog.extend(iter::from_fn(|| queue.try_recv().ok()).take(room));
            }
            self.busy.fetch_add(1, Ordering::Relaxed);
            let group = take_group(&mut backlog);
            // A panic fails this group, whose callers then read the state of their games, and none after it.
            let stored = AssertUnwindSafe(self.write(group)).catch_unwind().await.unwrap_or_default();
            refuse_superseded(&mut backlog, &stored);
            self.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Checks the connection, unless the caller has stopped waiting.
    async fn check(&mut self, reply: Check) {
        if reply.is_closed() {
            return;
        }
        let mut checked = self.check_once().await;
        // The connection may have been lost long before, or the database was set back. Only a check on a new connection decides.
        if let Err(NotReady { cause: Some(DbError::ConnectionLost(_)), .. }) = checked {
            checked = self.check_once().await;
        }
        let _ = reply.send(checked);
    }

    async fn check_once(&mut self) -> Result<(), NotReady> {
        let mut checked = Ok(());
        let run = self.connection.run(async |connection| {
            checked = readiness::check(connection).await;
            match &checked {
                // The connection is kept or closed because of it.
                Err(NotReady { cause: Some(error), .. }) => Err(error.clone()),
                _ => Ok(()),
            }
        });
        let run = run.await;
        checked.and_then(|()| run.map_err(NotReady::from))
    }

    /// Stores a group, and replies to its callers. If the statement fails for a reason that one append may have, the
    /// others are stored without it. Returns the games that were stored by the first statement.
    async fn write(&mut self, group: Vec<Queued>) -> HashSet<Uuid> {
        let (late, group): (Vec<_>, Vec<_>) = group.into_iter().partition(|queued| queued.since.elapsed() > WAIT);
        let pending = |queued: Vec<Queued>| queued.into_iter().map(|queued| (queued.append, queued.reply)).collect();
        reply_to_all(pending(late), &Err(DbError::unreachable()));
        let pending = self.refuse_locked(pending(group)).await;
        if pending.is_empty() {
            return HashSet::new();
        }
        if let Some(observe) = self.on_group.get() {
            observe(pending.len());
        }
        match self.store(&pending).await {
            Err(error) if pending.len() > 1 && error.may_be_caused_by_one_row() => {
                self.write_split(pending, error).await;
                HashSet::new()
            }
            stored => {
                if matches!(stored, Err(DbError::Busy(_))) {
                    self.locked = pending.iter().map(|(append, _)| append.game()).collect();
                }
                reply_to_all(pending, &stored);
                stored.unwrap_or_default()
            }
        }
    }

    /// Fails the appends whose games' rows were locked before and still are, without waiting for the locks.
    async fn refuse_locked(&mut self, group: Vec<QueuedAppend>) -> Vec<QueuedAppend> {
        if !group.iter().any(|(append, _)| self.locked.contains(&append.game())) {
            return group;
        }
        let Ok(unlocked) = self.unlocked(&group).await else { return group };
        let (free, locked) = group.into_iter().partition(|(append, _)| unlocked.contains(&append.game()));
        self.locked.retain(|game| !unlocked.contains(game));
        reply_to_all(locked, &Err(DbError::locked()));
        free
    }

    /// Stores what can be stored of a group that failed. If the reason was a lock, the appends whose rows are still
    /// locked fail at once. The lock may be held for longer, and the others must not wait for it again. If the
    /// statement fails once more, each append is tried alone.
    async fn write_split(&mut self, group: Vec<QueuedAppend>, failure: DbError) {
        let unlocked = match failure {
            DbError::Busy(_) => self.unlocked(&group).await.ok(),
            _ => None,
        };
        let group = match unlocked {
            None => group,
            Some(unlocked) => {
                let (free, locked): (Vec<_>, Vec<_>) =
                    group.into_iter().partition(|(append, _)| unlocked.contains(&append.game()));
                self.locked = locked.iter().map(|(append, _)| append.game()).collect();
                reply_to_all(locked, &Err(failure));
                match self.store(&free).await {
                    Err(error) if error.may_be_caused_by_one_row() => free,
                    stored => return reply_to_all(free, &stored),
                }
            }
        };
        let begun = Instant::now();
        for one in group {
            let is_late = begun.elapsed() > WAIT;
            let stored = if is_late { Err(DbError::unreachable()) } else { self.store(slice::from_ref(&one)).await };
            reply_to_all(vec![one], &stored);
        }
    }

    async fn store(&mut self, group: &[QueuedAppend]) -> Result<HashSet<Uuid>, DbError> {
        let group: Vec<_> = group.iter().map(|(append, _)| append).collect();
        let stored = self.connection.run(async |connection| append::store(connection, &group).await).await?;
        self.announcer.appended(group, &stored);
        Ok(stored.games)
    }

    async fn unlocked(&mut self, group: &[QueuedAppend]) -> Result<HashSet<Uuid>, DbError> {
        let games: Vec<_> = group.iter().map(|(append, _)| append.game()).collect();
        self.connection.run(async |connection| append::unlocked(connection, &games).await).await
    }
}

/// Takes the next group from the queued appends: the first one of each game, in the order of their ids. Further appends
/// of a game wait for the result of the first.
fn take_group(backlog: &mut Vec<Queued>) -> Vec<Queued> {
    // A stable sort: the appends of one game stay in the order of their arrival.
    backlog.sort_by_key(|queued| queued.append.game());
    let mut group: Vec<Queued> = Vec::with_capacity(backlog.len());
    for queued in mem::take(backlog) {
        let is_first = group.last().is_none_or(|last| last.append.game() != queued.append.game());
        if is_first { &mut group } else { &mut *backlog }.push(queued);
    }
    group
}

/// Refuses queued appends to games that have just got one. They were decided on an older version, so they are conflicts without
/// a statement.
fn refuse_superseded(backlog: &mut Vec<Queued>, stored: &HashSet<Uuid>) {
    // The backlog was queued before these appends were stored, so its decisions do not know their results.
    for queued in backlog.extract_if(.., |queued| stored.contains(&queued.append.game())) {
        let _ = queued.reply.send(Ok(Appended::Conflict));
    }
}

/// Sends the result to all callers of a group. A caller that is gone needs no reply.
fn reply_to_all(group: Vec<QueuedAppend>, stored: &Result<HashSet<Uuid>, DbError>) {
    for (append, reply) in group {
        let appended = |stored: &HashSet<Uuid>| {
            if stored.contains(&append.game()) { Appended::Stored } else { Appended::Conflict }
        };
        let _ = reply.send(stored.as_ref().map(appended).map_err(Clone::clone));
    }
}

/// The options of a database may hold its password.
impl fmt::Debug for Writers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writers").field("writers", &self.queues.len()).finish_non_exhaustive()
    }
}
