//! The computer's moves: found for the games in which it is to move, and played as a player's are.
//!
//! A turn waits in the database until it is over. Whoever dies while thinking leaves it to others, and of any number who think about
//! the same turn one plays: an append is stored only at the version that it was decided on.

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

/// How long until somebody else thinks about a turn: more than thinking and storing may take.
const TAKEN_FOR: time::Duration = time::Duration::seconds(6);

/// How long the computer thinks at most; then it plays the best that it has found. Levels are bounded by what they look at, which takes
/// less on a machine that is not overloaded.
const THINKING_MAX: Duration = Duration::from_secs(2);

/// How long between two looks for turns that other processes have left.
const PAUSE: Duration = Duration::from_secs(1);

/// How long until a game is tried again that cannot be read: somebody may have mended it.
const PUT_OFF: time::Duration = time::Duration::minutes(10);

/// Memory for what an engine has seen, in MiB.
const TABLE_MIB: usize = 16;

/// Plays until it is told to stop. It thinks on threads that it makes, of the caller's priority: see [`super::be_nice`].
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
            tracing::warn!("the computer plays nothing until the database answers again: {error}");
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

/// Plays the next turn; says whether there was one.
async fn play_next(
    pool: &PgPool,
    writers: &Writers,
    metrics: &Metrics,
    engine: Engine,
    stopping: &CancellationToken,
) -> (Result<bool, DbError>, Engine) {
    match computer_turns::count_waiting(pool).await {
        Ok(count) => metrics.computer_turns_wait(count),
        Err(error) => return (Err(error), engine),
    }
    let turn = match computer_turns::take(pool, now(), now() + TAKEN_FOR).await {
        Ok(Some(turn)) => turn,
        Ok(None) => return (Ok(false), engine),
        Err(error) => return (Err(error), engine),
    };
    let (played, engine) = play(pool, writers, turn, engine, stopping).await;
    let ended = match played {
        // It stays for whoever plays next, by another process or after the next start.
        Ok(Played::Stopped) => computer_turns::release(pool, turn).await,
        Ok(Played::Moved) => {
            // The database's clock may be ahead.
            metrics.computer_played(Duration::try_from(now() - turn.since).unwrap_or_default());
            computer_turns::end(pool, turn).await
        }
        Ok(Played::Over) => computer_turns::end(pool, turn).await,
        // With this game alone something is wrong.
        Err(error) if error.is_data_error() => {
            tracing::error!(game.id = %turn.game.0, "the computer cannot play a game, and tries again later: {error}");
            computer_turns::put_off(pool, turn, now() + PUT_OFF).await
        }
        Err(error) => {
            // If it cannot be left to others now, it is once its time is over.
            let _ = computer_turns::release(pool, turn).await;
            Err(error)
        }
    };
    (ended.map(|()| true), engine)
}

/// What became of a turn.
enum Played {
    /// It was played.
    Moved,
    /// There is nothing to play any more.
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
) -> (Result<Played, DbError>, Engine) {
    let game = match games::find_whole(pool, turn.game).await {
        Ok(Some(seated)) => seated.game,
        Ok(None) => return (Ok(Played::Over), engine),
        Err(error) => return (Err(error), engine),
    };
    // Time that has run out is another job's matter.
    if game.version() != turn.version || !game.due(now()).is_empty() {
        return (Ok(Played::Over), engine);
    }
    let Some(level) = game.computer_to_move() else { return (Ok(Played::Over), engine) };
    let (chosen, engine) = think(&game, level, writers, engine, stopping).await;
    if stopping.is_cancelled() {
        return (Ok(Played::Stopped), engine);
    }
    let Some(chosen) = chosen else { return (Ok(Played::Over), engine) };
    (append(writers, game, level.player(), chosen).await, engine)
}

/// Chooses a move, on a thread of its own; when the time is over, or the server stops, at once.
async fn think(
    game: &Game,
    level: domain::Level,
    writers: &Writers,
    mut engine: Engine,
    stopping: &CancellationToken,
) -> (Option<Move>, Engine) {
    let position = game.position().clone();
    // Should thinking fail, the game still goes on.
    let any = position.legal_moves().first().copied();
    // The same turn has the same lot, whoever thinks about it.
    let seed = game.id().0.as_u64_pair().1 ^ u64::from(game.version());
    let level = Level::try_from(level.number()).expect("a level of games is one of the engine's");
    let stop = Arc::new(Signal::new());
    let raised = stop.clone();
    let thinking = spawn_blocking(move || {
        engine.forget();
        let chosen = engine.choose(&position, level, seed, &raised);
        (chosen, engine)
    });
    match until(thinking, &stop, writers, stopping).await {
        Ok(thought) => thought,
        Err(error) => {
            tracing::error!(game.id = %game.id().0, "the computer could not think, and plays anything: {error}");
            (any, Engine::new(TABLE_MIB))
        }
    }
}

/// Waits for what thinks; has it come to an end when its time is over, or the server stops.
async fn until<T>(
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

async fn append(writers: &Writers, mut game: Game, player: domain::PlayerId, chosen: Move) -> Result<Played, DbError> {
    let action = Action::Play { ply: game.ply() + 1, word: &chosen.to_string() };
    let context = Context::new(now(), || GameId(Uuid::now_v7()));
    let events = match game.decide(&Command { player, if_version: None, action }, &context) {
        Ok(decision) => decision.events,
        Err(refusal) => {
            tracing::error!(game.id = %game.id().0, "the computer's move {chosen} is refused: {refusal:?}");
            return Ok(Played::Over);
        }
    };
    if events.iter().any(|event| game.apply(event).is_err()) {
        return Ok(Played::Over);
    }
    match games::append(writers, &game, &events).await? {
        Appended::Stored => Ok(Played::Moved),
        // Whoever was faster has left a turn of their own, if there is one.
        Appended::Conflict | Appended::KeyUsed => Ok(Played::Over),
    }
}
