//! The computer's moves: the job takes a turn, lets the engine choose a move, and appends it as a player's move is appended.
//!
//! The turns wait in a queue in the database, with a lease. If a process dies while it thinks, another one takes the turn when
//! the lease expires. If two processes think about one turn, optimistic locking stores one move.

use std::{future::Future, sync::Arc, time::Duration};

use sqlx::{PgPool, postgres::PgConnectOptions};
use tokio::{
    task::{JoinError, spawn_blocking},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::pace::keep_pace;
use crate::{
    clock::now,
    db::{
        self, DbError, Writers,
        games::{
            self, Appended,
            computer_turns::{self, ComputerTurn},
        },
    },
    domain::{self, Action, Command, Context, Game, GameId},
    engine::{Engine, Level, Signal},
    metrics::Metrics,
    rules::Move,
};

/// The lease of a turn: longer than thinking and storing take.
const LEASE: time::Duration = time::Duration::seconds(6);

/// The longest time of a search; then the computer plays the best move so far. Levels are bounded by their number of positions,
/// which take less time unless the machine is overloaded.
const THINKING_MAX: Duration = Duration::from_secs(2);

/// The pause between two polls for turns that other processes left.
const PAUSE: Duration = Duration::from_secs(1);

/// The pause before a game that cannot be read is retried: an operator may have repaired it.
const PUT_OFF: time::Duration = time::Duration::minutes(10);

/// The size of an engine's transposition table, in MiB.
const TABLE_MIB: usize = 16;

/// Plays until `stopping` is cancelled. The engine's threads inherit the caller's priority: see [`crate::priority`].
pub async fn run(
    database: PgConnectOptions,
    writers: Arc<Writers>,
    metrics: Arc<Metrics>,
    stopping: CancellationToken,
) {
    let pool = db::pool(database, 1);
    let (turns, mut engine, mut failing) = (writers.computer_turns(), Engine::new(TABLE_MIB), false);
    while !stopping.is_cancelled() {
        let outcome = play_next(&pool, &writers, &metrics, engine, &stopping).await;
        engine = outcome.1;
        if let (Err(error), false) = (&outcome.0, failing) {
            tracing::warn!("the computer makes no moves until the database answers again: {error}");
        }
        failing = outcome.0.is_err();
        if !matches!(outcome.0, Ok(true)) {
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
        Ok(count) => metrics.set_computer_turns_waiting(count),
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
        // Only this game is broken: the job goes on with the next.
        Err(error) if error.is_data_error() => {
            tracing::error!(game.id = %turn.game.0, "the computer cannot play a game and retries it later: {error}");
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
    let (chosen, engine) = think(&game, level, writers, engine, stopping).await;
    if stopping.is_cancelled() {
        return (Ok(TurnOutcome::Stopped), engine);
    }
    let Some(chosen) = chosen else { return (Ok(TurnOutcome::Over), engine) };
    (append(writers, game, level.player(), chosen).await, engine)
}

/// Chooses a move on a thread of its own. The search ends early when its time is over or the server stops.
async fn think(
    game: &Game,
    level: domain::Level,
    writers: &Writers,
    mut engine: Engine,
    stopping: &CancellationToken,
) -> (Option<Move>, Engine) {
    let position = game.position().clone();
    // If the search panics, the game goes on with any move.
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
    match search_until(thinking, &stop, writers, stopping).await {
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
    writers: &Writers,
    stopping: &CancellationToken,
) -> Result<T, JoinError> {
    let mut thinking = thinking;
    let first = tokio::select! {
        thought = timeout(THINKING_MAX, &mut thinking) => thought.ok(),
        () = stopping.cancelled() => None,
        never = keep_pace(stop, writers) => match never {},
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
    let action = Action::Play { ply: game.ply() + 1, word: &chosen.to_string() };
    let context = Context::new(now(), || GameId(Uuid::now_v7()));
    let events = match game.decide(&Command { player, if_version: None, action }, &context) {
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
