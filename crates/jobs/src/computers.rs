//! The computer's moves: the job takes a turn, lets the engine choose a move, and appends it as a player's move is appended.
//!
//! The turns wait in a queue in the database, with a lease. If a process dies while it thinks, another one takes the turn when
//! the lease expires. If two processes think about one turn, optimistic locking stores one move.
//!
//! The more turns wait, the less time each of them has: then the computer plays the best move that it has found so far.

use std::{future::Future, sync::Arc, time::Duration};

use sqlx::PgPool;
use tokio::{
    task::{JoinError, spawn_blocking},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::rounds::Rounds;
use mancala_db::{
    DbError, Writers,
    games::{
        self, Appended,
        computer_turns::{self, ComputerTurn, Queued, Waits},
    },
};
use mancala_domain as domain;
use mancala_domain::{Action, Command, Game};
use mancala_engine::{Engine, Level, Signal};
use mancala_process::{clock::now, metrics::Metrics, pace::keep_pace, repeats};
use mancala_rules::Move;

/// The lease of a turn: longer than thinking and storing take.
const LEASE: time::Duration = time::Duration::seconds(6);

/// How long a turn may wait and be thought about in total. The turns of a round share this time, and so do the turns of one account or
/// network. A level is bounded by its number of positions, which takes less time unless the machine is overloaded.
const WAIT_MAX: Duration = Duration::from_millis(1500);

/// The least rest of [`WAIT_MAX`] for a turn that has waited for nearly all of it, or longer, as after an outage of a server. So a round
/// may take a little longer.
const OVERDUE: Duration = Duration::from_millis(100);

/// The shortest time of a search: some thousand positions.
const THINKING_MIN: Duration = Duration::from_millis(10);

/// The pause between two polls for turns that other processes left.
const PAUSE: Duration = Duration::from_secs(1);

/// The pause before a game that cannot be read is retried: an operator may have repaired it.
const PUT_OFF: time::Duration = time::Duration::minutes(10);

/// The size of an engine's transposition table, in MiB.
const TABLE_MIB: usize = 16;

/// Plays until `stopping` is cancelled. The engine's threads inherit the caller's priority: see [`mancala_process::priority`].
pub async fn run(pool: PgPool, writers: Arc<Writers>, metrics: Arc<Metrics>, stopping: CancellationToken) {
    let (turns, mut engine) = (writers.computer_turns(), Engine::new(TABLE_MIB));
    let rounds = Rounds::new(&metrics, "computer", "the computer makes no moves", "the computer makes moves again");
    while !stopping.is_cancelled() {
        let (outcome, kept) = play_next(&pool, &writers, &metrics, engine, &stopping).await;
        engine = kept;
        if rounds.note(outcome) != Some(true) {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = turns.notified() => {}
                () = sleep(PAUSE) => {}
            }
        }
    }
}

/// Plays the next turn; `false` if the queue is empty.
async fn play_next(
    pool: &PgPool,
    writers: &Writers,
    metrics: &Metrics,
    engine: Engine,
    stopping: &CancellationToken,
) -> (Result<bool, DbError>, Engine) {
    match computer_turns::count_waiting(pool).await {
        Ok(Queued { turns, oldest_s }) => metrics.set_computer_turns_waiting(turns, oldest_s),
        Err(error) => return (Err(error), engine),
    }
    let turn = match computer_turns::take(pool, now(), now() + LEASE).await {
        Ok(Some(turn)) => turn,
        Ok(None) => return (Ok(false), engine),
        Err(error) => return (Err(error), engine),
    };
    let (played, engine) = play(pool, writers, turn, engine, stopping).await;
    let ended = match played {
        // Another process takes the turn, or this one after its next start.
        Ok(TurnOutcome::Stopped) => computer_turns::release(pool, turn).await,
        Ok(TurnOutcome::Moved) => {
            // The difference is negative if the database's clock is ahead.
            metrics.computer_moved(Duration::try_from(now() - turn.since).unwrap_or_default());
            computer_turns::end(pool, turn).await
        }
        Ok(TurnOutcome::Over) => computer_turns::end(pool, turn).await,
        // Only this game is broken: the job continues with the next one.
        Err(error) if error.is_data_error() => {
            if let Some(line) = repeats::admit("games that the computer cannot play", &error.to_string()) {
                tracing::error!(left_out = line.left_out, game.id = %turn.game.0, "the computer cannot play a game and retries it later: {error}");
            }
            computer_turns::put_off(pool, turn, now() + PUT_OFF).await
        }
        Err(error) => {
            // If the release fails, the lease expires.
            let _ = computer_turns::release(pool, turn).await;
            Err(error)
        }
    };
    (ended.map(|()| true), engine)
}

/// The outcome of a turn.
enum TurnOutcome {
    /// The computer's move was stored.
    Moved,
    /// The turn is over without a move of this process.
    Over,
    /// The server stops.
    Stopped,
}

async fn play(
    pool: &PgPool,
    writers: &Writers,
    turn: ComputerTurn,
    engine: Engine,
    stopping: &CancellationToken,
) -> (Result<TurnOutcome, DbError>, Engine) {
    let game = match games::find_whole(pool, turn.game).await {
        Ok(Some(seated)) => seated.game,
        Ok(None) => return (Ok(TurnOutcome::Over), engine),
        Err(error) => return (Err(error), engine),
    };
    // The job for deadlines settles a game whose time has run out.
    if game.version() != turn.version || !game.due(now()).is_empty() {
        return (Ok(TurnOutcome::Over), engine);
    }
    let Some(level) = game.computer_to_move() else { return (Ok(TurnOutcome::Over), engine) };
    let time = match computer_turns::waits(pool, turn).await {
        Ok(waits) => thinking_time(&waits),
        Err(error) => return (Err(error), engine),
    };
    let (chosen, engine) = think(&game, level, time, writers, engine, stopping).await;
    if stopping.is_cancelled() {
        return (Ok(TurnOutcome::Stopped), engine);
    }
    let Some(chosen) = chosen else { return (Ok(TurnOutcome::Over), engine) };
    (append(writers, game, level.player(), chosen).await, engine)
}

/// How long a turn may be thought about. With this limit, the other turns of its round wait little longer than [`WAIT_MAX`], and so do
/// those of the same account or network.
fn thinking_time(waits: &Waits) -> Duration {
    let share = |waited: &[Duration]| {
        let left = |waited: &Duration| WAIT_MAX.saturating_sub(*waited).max(OVERDUE);
        (1..).zip(waited).map(|(place, waited)| left(waited) / place).min().unwrap_or(WAIT_MAX)
    };
    share(&waits.of_round).min(share(&waits.of_place)).max(THINKING_MIN)
}

/// Chooses a move on a thread of its own. The search ends early when its time is over or the server stops.
async fn think(
    game: &Game,
    level: domain::Level,
    time: Duration,
    writers: &Writers,
    mut engine: Engine,
    stopping: &CancellationToken,
) -> (Option<Move>, Engine) {
    let position = game.position().clone();
    // If the search panics, the computer plays any legal move.
    let fallback = position.legal_moves().first().copied();
    // The seed depends on the turn alone, so that every process chooses the same move.
    let seed = game.id().0.as_u64_pair().1 ^ u64::from(game.version());
    let level = Level::try_from(level.number()).expect("the engine has every level of the domain");
    let stop = Arc::new(Signal::new());
    let signal = stop.clone();
    let thinking = spawn_blocking(move || {
        engine.forget();
        let chosen = engine.choose(&position, level, seed, &signal);
        (chosen, engine)
    });
    match search_until(thinking, &stop, time, writers, stopping).await {
        Ok(thought) => thought,
        Err(error) => {
            tracing::error!(game.id = %game.id().0, "the engine failed, and the computer plays the first legal move: {error}");
            (fallback, Engine::new(TABLE_MIB))
        }
    }
}

/// Waits for a search; stops it when its time is over or the server stops.
async fn search_until<T>(
    thinking: impl Future<Output = Result<T, JoinError>> + Unpin,
    stop: &Signal,
    time: Duration,
    writers: &Writers,
    stopping: &CancellationToken,
) -> Result<T, JoinError> {
    let mut thinking = thinking;
    let first = tokio::select! {
        thought = timeout(time, &mut thinking) => thought.ok(),
        () = stopping.cancelled() => None,
        never = keep_pace(|| writers.busy() > 0, || stop.rest(), || stop.go_on()) => match never {},
    };
    if let Some(thought) = first {
        return thought;
    }
    stop.stop();
    thinking.await
}

async fn append(
    writers: &Writers,
    mut game: Game,
    player: domain::PlayerId,
    chosen: Move,
) -> Result<TurnOutcome, DbError> {
    let action = Action::Play { ply: game.ply() + 1, word: &chosen.to_string(), recorded: &[] };
    let events = match game.decide(&Command { player, if_version: None, action }, now()) {
        Ok(decision) => decision.events,
        Err(refusal) => {
            tracing::error!(game.id = %game.id().0, "the computer's move {chosen} is refused: {refusal:?}");
            return Ok(TurnOutcome::Over);
        }
    };
    if events.iter().any(|event| game.apply(event).is_err()) {
        return Ok(TurnOutcome::Over);
    }
    match games::append(writers, &game, &events).await? {
        Appended::Stored => Ok(TurnOutcome::Moved),
        // The change that was stored first has queued the next turn, if there is one.
        Appended::Conflict | Appended::KeyUsed => Ok(TurnOutcome::Over),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn time(of_round: &[u64], of_place: &[u64]) -> Duration {
        let waited = |list: &[u64]| list.iter().copied().map(ms).collect();
        thinking_time(&Waits { of_round: waited(of_round), of_place: waited(of_place) })
    }

    #[test]
    fn a_lone_turn_has_all_the_time_and_many_share_it() {
        assert_eq!(time(&[0], &[0]), WAIT_MAX);
        assert_eq!(time(&[0; 5], &[0]), WAIT_MAX / 5);
        assert_eq!(time(&[0; 2], &[0; 30]), WAIT_MAX / 30, "a network with many turns has less time for each");
        assert_eq!(time(&[0; 30], &[0]), WAIT_MAX / 30);
        assert_eq!(time(&[0; 500], &[0]), THINKING_MIN);
        assert_eq!(time(&[], &[]), WAIT_MAX);
    }

    #[test]
    fn the_turns_of_a_round_are_over_in_time_whatever_their_number() {
        for count in [2_usize, 10, 60, 100] {
            let mut waited = ms(0);
            for queued in (1..=count).rev() {
                let passed = u64::try_from(waited.as_millis()).expect("a short time");
                waited += time(&vec![passed; queued], &[passed]);
            }
            assert!(waited <= WAIT_MAX + 2 * OVERDUE, "{count} turns took {waited:?}");
        }
    }

    #[test]
    fn an_overdue_turn_leaves_time_to_think_for_those_after_it() {
        assert_eq!(time(&[60_000], &[60_000]), OVERDUE);
        assert_eq!(time(&[60_000, 0], &[60_000]), OVERDUE);
        assert_eq!(time(&[60_000; 10], &[60_000]), OVERDUE / 10);
    }
}
