//! Heavy work: reading, replaying and drawing whole games.
//!
//! A heavy request costs as much as hundreds of moves. It runs on threads of its own with the lowest priority, on connections
//! of its own, so that a move never waits behind it. Each class has its own bound, and a caller's requests run one after the
//! other, so that no class and no caller takes all threads.

use std::{
    collections::HashMap,
    fmt, io,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard},
    thread,
    time::Duration,
};

use mancala_db::Reads;
use mancala_domain::PlayerId;
use mancala_process::priority;
use mancala_wire::live::Holder;
use tokio::{
    runtime::{Builder, Runtime},
    sync::{Semaphore, SemaphorePermit},
    task::JoinSet,
    time::timeout,
};
use tracing::Instrument;

use crate::answer::{code::Code, problem::Problem};

/// How many requests of one class run at once. All classes together share the threads and the connections.
const CLASS_MAX: usize = 2;

/// How many requests of a player run or wait. A page that shows the graphs of many games loads them at once.
const PLAYER_MAX: usize = 32;

/// How many requests of a network may run or wait: those of all its guests, new accounts and clients without a token. They run one after
/// the other, so that a network has one request in a round, whatever players its clients make.
const NETWORK_MAX: usize = 64;

/// How long a request waits until it may start.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// A kind of heavy work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeavyClass {
    Verification,
    Export,
    Picture,
    /// Making a PNG of a picture, which reads nothing.
    Pixels,
    /// Games of a list, or of a player, page by page.
    List,
    /// A search of the engine, on a blocking thread.
    Hint,
}

impl HeavyClass {
    const COUNT: usize = Self::Hint as usize + 1;
}

/// The player or the network whose requests run one after the other. With neither, a request waits only for its class.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    pub player: Option<PlayerId>,
    /// The network whose requests count together.
    pub network: Option<IpAddr>,
}

/// The threads, connections and permits of heavy work in a process.
pub struct Heavy {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    reads: Reads,
    classes: [Semaphore; HeavyClass::COUNT],
    callers: Mutex<HashMap<Holder, Arc<Semaphore>>>,
}

impl Heavy {
    /// How many requests of all classes run at once.
    pub const AT_ONCE_MAX: usize = CLASS_MAX * HeavyClass::COUNT;

    /// How many requests of all classes run now.
    pub fn running(&self) -> usize {
        self.classes.iter().map(|class| CLASS_MAX.saturating_sub(class.available_permits())).sum()
    }

    /// Starts the threads, with the pools that `open` makes.
    pub fn start(open: impl FnOnce() -> Reads) -> io::Result<Self> {
        // Half of the processors stay free even of work that other threads preempt.
        let threads = thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).clamp(1, 2));
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("heavy")
            .on_thread_start(priority::lower)
            .enable_all()
            .build()?;
        // The pool's own tasks run on these threads too.
        let reads = {
            let _entered = runtime.enter();
            open()
        };
        let classes = [const { Semaphore::const_new(CLASS_MAX) }; HeavyClass::COUNT];
        Ok(Self { runtime: Some(runtime), reads, classes, callers: Mutex::default() })
    }

    /// Does work of a class for a caller, after earlier requests of the caller and its network. The work ends with the request.
    pub async fn run<T, F>(
        &self,
        class: HeavyClass,
        turns: Turns,
        work: impl FnOnce(Reads) -> F + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Problem>> + Send,
    {
        let player = turns.player.map(|player| self.enter(Holder::Player(player))).transpose()?;
        let network = turns.network.map(|network| self.enter(Holder::Address(network))).transpose()?;
        let turn = async {
            let own = turn_of(player.as_ref()).await;
            (own, turn_of(network.as_ref()).await, self.classes[class as usize].acquire().await)
        };
        let _permits = timeout(WAIT_MAX, turn).await.map_err(|_| busy())?;
        let reads = self.reads.clone();
        let handle = self.runtime.as_ref().expect("it is in use").handle();
        // Dropping the set ends its task.
        let mut tasks = JoinSet::new();
        tasks.spawn_on(async move { work(reads).await }.in_current_span(), handle);
        tasks.join_next().await.expect("a task was started").map_err(Problem::internal)?
    }

    /// Takes a place among the requests of a player or a network; refused if all places are taken.
    fn enter(&self, caller: Holder) -> Result<CallerTurn<'_>, Problem> {
        let (max, whose) = match caller {
            Holder::Player(_) => (PLAYER_MAX, "a player has"),
            Holder::Address(_) => {
                (NETWORK_MAX, "guests, new accounts and clients without a token have, in one network,")
            }
        };
        let mut callers = self.lock();
        let turns = callers.entry(caller).or_insert_with(|| Arc::new(Semaphore::new(1)));
        // The map has one reference, and each place one.
        if Arc::strong_count(turns) > max {
            let detail = format!("{whose} at most {max} requests of this kind at once");
            return Err(Problem::new(Code::RateLimited, detail).retry_after(1));
        }
        Ok(CallerTurn { turns: turns.clone(), heavy: self, caller })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Holder, Arc<Semaphore>>> {
        self.callers.lock().expect("nothing panics while it holds the callers")
    }
}

/// Waits until a place is the first of its queue, if there is one.
async fn turn_of<'a>(place: Option<&'a CallerTurn<'_>>) -> Option<SemaphorePermit<'a>> {
    // The semaphores are never closed.
    place?.turns.acquire().await.ok()
}

fn busy() -> Problem {
    Problem::busy("too many whole games are read at once; try again")
}

impl fmt::Debug for Heavy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heavy").field("callers", &self.lock().len()).finish_non_exhaustive()
    }
}

impl Drop for Heavy {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // The last worker drops it, on a thread that must not block.
            runtime.shutdown_background();
        }
    }
}

/// A request's place among those of its caller.
struct CallerTurn<'a> {
    turns: Arc<Semaphore>,
    heavy: &'a Heavy,
    caller: Holder,
}

impl Drop for CallerTurn<'_> {
    fn drop(&mut self) {
        let mut callers = self.heavy.lock();
        // Two references are left: the map's and this one.
        if Arc::strong_count(&self.turns) == 2 {
            callers.remove(&self.caller);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use futures_util::future::join_all;

    use sqlx::postgres::PgConnectOptions;
    use uuid::Uuid;

    use super::*;
    use mancala_db as db;

    fn player(n: u8) -> PlayerId {
        PlayerId(Uuid::from_u128(n.into()))
    }

    fn turns(n: u8, network: Option<u8>) -> Turns {
        Turns { player: Some(player(n)), network: network.map(|network| [192, 0, 2, network].into()) }
    }

    fn heavy() -> Heavy {
        let open = || Reads::new(db::pool(PgConnectOptions::new(), 3), None);
        Heavy::start(open).expect("threads can be started")
    }

    #[actix_web::test]
    async fn requests_of_a_player_or_a_network_run_one_after_the_other() {
        let heavy = heavy();
        let running = Arc::new(AtomicUsize::new(0));
        let request = |caller| {
            let running = running.clone();
            heavy.run(HeavyClass::Export, caller, |_| async move {
                let before = running.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(before)
            })
        };
        let are_alone = |before: &[Result<usize, Problem>]| before.iter().all(|before| matches!(before, Ok(0)));
        let of_player = join_all((0..PLAYER_MAX).map(|_| request(turns(1, None)))).await;
        let of_network = join_all((0..60).map(|n| request(turns(n, Some(1))))).await;
        assert!(are_alone(&of_player) && are_alone(&of_network), "{of_player:?} {of_network:?}");
        assert!(
            !are_alone(&join_all((0..60).map(|n| request(turns(n, None)))).await),
            "others do not wait for each other"
        );
        assert!(heavy.lock().is_empty());
    }

    #[actix_web::test]
    async fn a_caller_with_too_many_requests_is_refused_and_no_other_one() {
        let heavy = heavy();
        for (one, other, max) in [
            (Holder::Player(player(1)), Holder::Player(player(2)), PLAYER_MAX),
            (Holder::Address([192, 0, 2, 1].into()), Holder::Address([192, 0, 2, 2].into()), NETWORK_MAX),
        ] {
            let places: Vec<_> = (0..max).map(|_| heavy.enter(one).expect("there is room")).collect();
            assert_eq!(heavy.enter(one).err().map(|problem| problem.code()), Some(Code::RateLimited));
            assert!(heavy.enter(other).is_ok());
            drop(places);
            assert!(heavy.enter(one).is_ok());
        }
    }

    #[actix_web::test]
    async fn work_ends_with_its_request() {
        let heavy = heavy();
        let alive = Arc::new(());
        let held = alive.clone();
        let request = heavy.run(HeavyClass::Export, turns(1, None), |_| async move {
            let outcome = pending::<Result<(), Problem>>().await;
            drop(held);
            outcome
        });
        assert!(timeout(Duration::from_millis(50), request).await.is_err());
        while Arc::strong_count(&alive) > 1 {
            tokio::task::yield_now().await;
        }
        assert!(heavy.run(HeavyClass::Export, turns(1, None), |_| async { Ok(()) }).await.is_ok());
    }
}
