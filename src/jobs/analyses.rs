//! Analyses of games that somebody has asked for, one after the other.
//!
//! A request waits in the database until its analysis is stored and the game's log says so. Whoever dies over it leaves it to others;
//! an analysis that is stored already is not made again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use sqlx::{PgPool, postgres::PgConnectOptions};
use tokio::{task::spawn_blocking, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{deadlines::settle_game, pace::keep_pace};
use crate::{
    clock::now,
    db::{
        self, DbError, Writers,
        games::{self, Appended},
        study::analyses,
    },
    domain::{
        ANALYSIS_EDITION, Analysis, Class, Event, Fact, Game, GameId, JudgedPly, Moved, PLIES_ANALYSED_MAX, PlyAction,
        Value, seat_at,
    },
    engine::{Engine, Evaluation, Limits, Review, ReviewError, Signal},
    metrics::{AnalysisOutcome, Metrics},
    rules::{AnyPosition, Move},
};

/// How long until somebody else works on a game: several times as long as between two signs of life.
const TAKEN_FOR: time::Duration = time::Duration::seconds(30);

/// How long between two signs of life.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// How long between two looks for requests.
const PAUSE: Duration = Duration::from_millis(500);

/// Memory for what the engine has seen, in MiB, as long as it works.
const TABLE_MIB: usize = 64;

/// Positions that are looked at for the best move of a ply at most, and as many for the move that was played: some seconds for a game.
const PLY_NODES_MAX: u64 = 200_000;

/// The same of all plies together: a long game takes no longer than a few of usual length.
const GAME_NODES_MAX: u64 = 20_000_000;

/// How many moves of a line are kept: further ahead they are guesses.
const LINE_MAX: usize = 16;

/// Plies whose positions are in memory at once, each with its history.
const PLIES_AT_ONCE: usize = 100;

/// How often the log is read again to which somebody else was appending.
const APPENDS_MAX: u32 = 8;

/// Works until it is told to stop, on threads of the caller's priority.
pub async fn run(
    database: PgConnectOptions,
    writers: Arc<Writers>,
    metrics: Arc<Metrics>,
    stopping: CancellationToken,
) {
    let pool = db::pool(database, 1);
    let mut failing = false;
    while !stopping.is_cancelled() {
        let outcome = analyse_next(&pool, &writers, &metrics, &stopping).await;
        if let (Err(error), false) = (&outcome, failing) {
            tracing::warn!("no game is analysed until the database answers again: {error}");
        }
        failing = outcome.is_err();
        if !matches!(outcome, Ok(true)) {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = sleep(PAUSE) => {}
            }
        }
    }
}

/// Analyses the game that is next; says whether there was one.
async fn analyse_next(
    pool: &PgPool,
    writers: &Writers,
    metrics: &Metrics,
    stopping: &CancellationToken,
) -> Result<bool, DbError> {
    metrics.analyses_wait(analyses::count_waiting(pool).await?);
    let Some(game) = analyses::take(pool, now(), now() + TAKEN_FOR).await? else { return Ok(false) };
    let outcome = match analyse(pool, writers, game, stopping).await {
        Err(error) if error.is_data_error() => Ok(Outcome::Failed(error.to_string())),
        outcome => outcome,
    };
    match outcome {
        Ok(Outcome::Over(ply)) => {
            metrics.analysis_ended(AnalysisOutcome::Done);
            analyses::end(pool, game, ply).await?;
        }
        // It is taken again, by another process or after the next start.
        Ok(Outcome::Stopped) => analyses::release(pool, game).await?,
        // Its time runs out, and then somebody else may be luckier, a few times.
        Ok(Outcome::Failed(cause)) => {
            metrics.analysis_ended(AnalysisOutcome::Failed);
            tracing::error!(game.id = %game.0, "a game could not be analysed: {cause}");
        }
        Err(error) => {
            // If it cannot be left to others now, it is once its time is over.
            let _ = analyses::release(pool, game).await;
            return Err(error);
        }
    }
    Ok(true)
}

/// What became of a request.
enum Outcome {
    /// The analysis of the game as far as this ply is there, or nothing is to be analysed.
    Over(u32),
    /// The server stops, or nobody waits for it any more.
    Stopped,
    /// For this reason.
    Failed(String),
}

async fn analyse(
    pool: &PgPool,
    writers: &Writers,
    id: GameId,
    stopping: &CancellationToken,
) -> Result<Outcome, DbError> {
    let log = games::log(pool, id).await?;
    let game = match Game::replay(id, &log) {
        Ok(game) => game,
        Err(error) => return Ok(Outcome::Failed(error.to_string())),
    };
    let known = analyses::find(pool, id).await?.analysis;
    if !known.is_some_and(|known| known.is_up_to_date(&game)) {
        let plies = match judge(pool, writers, &game, &log, stopping).await? {
            Ok(plies) => plies,
            Err(outcome) => return Ok(outcome),
        };
        analyses::store(pool, id, &Analysis { ply: game.ply(), edition: ANALYSIS_EDITION, at: now(), plies }).await?;
    }
    // Somebody who was taken for dead may have stored another one before.
    match analyses::find(pool, id).await?.analysis {
        Some(analysis) => tell(pool, writers, id, &analysis).await,
        None => Ok(Outcome::Stopped),
    }
}

/// Has the game's log say that its analysis is there, if it does not yet.
async fn tell(pool: &PgPool, writers: &Writers, id: GameId, analysis: &Analysis) -> Result<Outcome, DbError> {
    for _ in 0..APPENDS_MAX {
        let Some(seated) = games::find_whole(pool, id).await? else { return Ok(Outcome::Over(u32::MAX)) };
        let mut game = seated.game;
        if game.analysed_at().is_some_and(|told| told >= analysis.at) {
            return Ok(Outcome::Over(analysis.ply));
        }
        // What the passing of time has led to comes first.
        if !game.due(now()).is_empty() {
            settle_game(pool, writers, id, now()).await?;
            continue;
        }
        let events = game.analysed(analysis.at);
        if let Err(error) = events.iter().try_for_each(|event| game.apply(event)) {
            return Ok(Outcome::Failed(error.to_string()));
        }
        match games::append(writers, &game, &events).await? {
            Appended::Stored | Appended::KeyUsed => return Ok(Outcome::Over(analysis.ply)),
            // Somebody plays on.
            Appended::Conflict => {}
        }
    }
    Ok(Outcome::Stopped)
}

/// Judges the plies of a game on a thread of its own, and says meanwhile how far it is.
async fn judge(
    pool: &PgPool,
    writers: &Writers,
    game: &Game,
    log: &[Event],
    stopping: &CancellationToken,
) -> Result<Result<Vec<JudgedPly>, Outcome>, DbError> {
    let moved = |event: &Event| match &event.fact {
        Fact::Moved(moved) => Some(moved.clone()),
        _ => None,
    };
    let plies: Vec<_> = log.iter().filter_map(moved).collect();
    let (start, done, stop) = (game.terms().opening(), Arc::<AtomicU32>::default(), Arc::<Signal>::default());
    let (counted, raised) = (done.clone(), stop.clone());
    let mut judging = spawn_blocking(move || judge_all(&start, &plies, &counted, &raised));
    loop {
        let judged = tokio::select! {
            judged = &mut judging => Some(judged),
            () = stopping.cancelled(), if !stop.is_stop() => {
                stop.stop();
                None
            }
            () = sleep(SIGN_OF_LIFE) => None,
            never = keep_pace(&stop, writers) => match never {},
        };
        match judged {
            Some(Ok(Ok(plies))) => return Ok(Ok(plies)),
            Some(Ok(Err(ReviewError::Stopped))) => return Ok(Err(Outcome::Stopped)),
            Some(Ok(Err(error @ ReviewError::Illegal(_)))) => {
                return Ok(Err(Outcome::Failed(error.to_string())));
            }
            Some(Err(error)) => return Ok(Err(Outcome::Failed(error.to_string()))),
            None => match analyses::advance(pool, game.id(), done.load(Ordering::Relaxed), now() + TAKEN_FOR).await {
                Ok(true) => {}
                // Whoever is lost to the database is taken for dead; what was thought is not worth more than a new start.
                Ok(false) | Err(_) => stop.stop(),
            },
        }
    }
}

/// Judges the last plies of a game from its last one on: what the engine has seen of later positions serves for the earlier ones.
fn judge_all(
    start: &AnyPosition,
    plies: &[Moved],
    done: &AtomicU32,
    stop: &Signal,
) -> Result<Vec<JudgedPly>, ReviewError> {
    let count = plies.len().min(PLIES_ANALYSED_MAX as usize);
    let nodes = (GAME_NODES_MAX / u64::try_from(count.max(1)).unwrap_or(u64::MAX)).min(PLY_NODES_MAX);
    let (chunks, mut engine, mut judged) = (chunks(start, plies), Engine::new(TABLE_MIB), vec![]);
    // What the position after a ply is worth, if it is proven.
    let mut proven: Option<Value> = None;
    let mut left = count;
    for (position, plies) in chunks.into_iter().rev() {
        let befores = positions(position, plies);
        for (position, ply) in befores.iter().zip(plies).rev().take(left) {
            proven = match ply.mv {
                PlyAction::Move(mv) => {
                    let review = engine.review(position, mv, Limits::nodes(nodes), stop)?;
                    let ply = judged_ply(position, mv, ply, review, proven);
                    let before = Some(ply.best).filter(|best| best.is_exact);
                    judged.push(ply);
                    before
                }
                PlyAction::Takeback { .. } => None,
            };
            done.fetch_add(1, Ordering::Relaxed);
        }
        left = left.saturating_sub(befores.len());
    }
    judged.reverse();
    Ok(judged)
}

/// Some plies at a time, with the position before the first of them.
fn chunks<'a>(start: &AnyPosition, plies: &'a [Moved]) -> Vec<(AnyPosition, &'a [Moved])> {
    let mut position = start.clone();
    let chunk = |plies: &'a [Moved]| {
        let first = position.clone();
        for ply in plies {
            follow(&mut position, ply);
        }
        (first, plies)
    };
    plies.chunks(PLIES_AT_ONCE).map(chunk).collect()
}

/// The positions before each of some plies.
fn positions(first: AnyPosition, plies: &[Moved]) -> Vec<AnyPosition> {
    let mut position = first;
    let before = |ply| {
        let before = position.clone();
        follow(&mut position, ply);
        before
    };
    plies.iter().map(before).collect()
}

/// The position after a ply, with its history.
fn follow(position: &mut AnyPosition, ply: &Moved) {
    match ply.mv {
        PlyAction::Move(_) => position.follow(ply.position.clone()),
        PlyAction::Takeback { .. } => *position = ply.position.afresh(),
    }
}

/// `proven` is what the position after it is worth, if that is known.
fn judged_ply(before: &AnyPosition, mv: Move, ply: &Moved, review: Review, proven: Option<Value>) -> JudgedPly {
    let value = |value: Evaluation| Value { points: value.points, is_exact: value.is_exact };
    // A swap exchanges who sits at South's side.
    let is_swap = before.swapped() != ply.position.swapped();
    let seen_there = |value: Value| if is_swap { value.for_other_side() } else { value };
    let proven = proven.map(seen_there).map(|value| Evaluation { points: value.points, is_exact: true });
    let review = match proven {
        Some(after) => review.knowing(after),
        None => review,
    };
    JudgedPly {
        number: ply.ply,
        side: review.side,
        seat: seat_at(before, review.side),
        mv,
        best: value(review.before),
        line: review.line.into_iter().take(LINE_MAX).collect(),
        value: seen_there(value(review.after)),
        loss: review.loss,
        class: if review.is_forced { Class::Forced } else { Class::of(review.loss) },
    }
}
