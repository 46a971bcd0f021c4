//! Analyses of games that players requested, one after the other.
//!
//! The requests wait in a queue in the database until the analysis is stored and the game's log has its event. If a process
//! dies, another one takes the request when the lease expires. A stored analysis is not repeated.
//!
//! While requests of others wait, a game is analysed in slices. After each, the judged plies are stored with the request, which moves into
//! the next round. A later worker continues there. Every ply is judged with the same bounds in any case.

use std::{
    sync::{Arc, LazyLock, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use sqlx::PgPool;
use tokio::{task::spawn_blocking, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{deadlines::settle_game, rounds::Rounds};
use mancala_db::{
    DbError, Writers,
    games::{self, Appended},
    study::analyses::{self, PartialAnalysis},
};
use mancala_domain::{
    ANALYSIS_EDITION, Analysis, Class, Event, Fact, Game, GameId, JudgedPly, Moved, PLIES_ANALYSED_MAX, PlyAction,
    Value, seat_at,
};
use mancala_engine::{Endgames, Engine, Evaluation, Limits, Review, ReviewError, Signal};
use mancala_process::{
    clock::now,
    metrics::{AnalysisOutcome, Metrics},
    pace::keep_pace,
    repeats,
};
use mancala_rules::{AnyPosition, Move};

/// The lease of a request: many times the interval between two renewals.
const LEASE: time::Duration = time::Duration::seconds(30);

/// The interval between two renewals of the lease.
const RENEWAL: Duration = Duration::from_secs(1);

/// How long the game of an account is analysed before requests of others come first: a game of usual length in one slice.
const SLICE: Duration = Duration::from_secs(6);

/// How long a guest's game is analysed before requests of others come first. Guests are free, so a person may have many.
const GUEST_SLICE: Duration = Duration::from_secs(2);

/// The pause between two polls of the queue.
const PAUSE: Duration = Duration::from_millis(500);

/// The size of the engine's transposition table, in MiB, allocated while it analyses.
const TABLE_MIB: usize = 64;

/// The most positions searched for all plies together: a long game takes no longer than a few games of usual length.
const GAME_NODES_MAX: u64 = 20_000_000;

/// Proven values of positions with few seeds. The table for a set of options is made when such a game is first analysed. The threads of a
/// process share the tables.
static ENDGAMES: LazyLock<Arc<Endgames>> = LazyLock::new(Arc::default);

/// How many moves of a line are stored: later ones are guesses.
const LINE_MAX: usize = 16;

/// How many plies have their positions, with histories, in memory at a time.
const CHUNK_PLIES: usize = 100;

/// How often the append of the event is tried, with version conflicts in between.
const ATTEMPTS_MAX: u32 = 8;

/// Runs until `stopping` is cancelled, on threads that inherit the caller's priority.
pub async fn run(pool: PgPool, writers: Arc<Writers>, metrics: Arc<Metrics>, stopping: CancellationToken) {
    let rounds = Rounds::new(&metrics, "analyses", "no game is analysed", "games are analysed again");
    while !stopping.is_cancelled() {
        if rounds.run(analyse_next(&pool, &writers, &metrics, &stopping)).await != Some(true) {
            stopping.run_until_cancelled(sleep(PAUSE)).await;
        }
    }
}

/// Analyses the next game; `false` if the queue is empty.
async fn analyse_next(
    pool: &PgPool,
    writers: &Writers,
    metrics: &Metrics,
    stopping: &CancellationToken,
) -> Result<bool, DbError> {
    metrics.set_analyses_waiting(analyses::count_waiting(pool).await?);
    let Some(game) = analyses::take(pool, now(), now() + LEASE).await? else { return Ok(false) };
    let outcome = match analyse(pool, writers, game, stopping).await {
        Err(error) if error.is_data_error() => Ok(JobOutcome::Failed(error.to_string())),
        outcome => outcome,
    };
    match outcome {
        Ok(JobOutcome::Over(ply)) => {
            metrics.analysis_ended(AnalysisOutcome::Done);
            analyses::end(pool, game, ply).await?;
        }
        Ok(JobOutcome::GaveWay) => analyses::give_way(pool, game).await?,
        // Another process takes the request, or this one after its next start.
        Ok(JobOutcome::Stopped) => analyses::release(pool, game).await?,
        // The lease expires, and the request is retried a few times.
        Ok(JobOutcome::Failed(cause)) => {
            metrics.analysis_ended(AnalysisOutcome::Failed);
            if let Some(line) = repeats::admit("games that cannot be analysed", &cause) {
                tracing::error!(left_out = line.left_out, game.id = %game.0, "a game could not be analysed: {cause}");
            }
        }
        Err(error) => {
            // If the release fails, the lease expires.
            let _ = analyses::release(pool, game).await;
            return Err(error);
        }
    }
    Ok(true)
}

/// The outcome of a request.
enum JobOutcome {
    /// The analysis is stored up to this ply, or there is nothing to analyse.
    Over(u32),
    /// Requests of others come first.
    GaveWay,
    /// The server stops, or the lease was lost.
    Stopped,
    /// The analysis failed with this cause.
    Failed(String),
}

async fn analyse(
    pool: &PgPool,
    writers: &Writers,
    id: GameId,
    stopping: &CancellationToken,
) -> Result<JobOutcome, DbError> {
    let log = games::log(pool, id).await?;
    if log.is_empty() {
        // The game was deleted.
        return Ok(JobOutcome::Over(u32::MAX));
    }
    let game = match Game::replay(id, &log) {
        Ok(game) => game,
        Err(error) => return Ok(JobOutcome::Failed(error.to_string())),
    };
    let stored = analyses::find(pool, id).await?.analysis;
    if !stored.is_some_and(|stored| stored.is_up_to_date(&game)) {
        let plies = match judge(pool, writers, &game, &log, stopping).await? {
            Ok(plies) => plies,
            Err(outcome) => return Ok(outcome),
        };
        analyses::store(pool, id, &Analysis { ply: game.ply(), edition: ANALYSIS_EDITION, at: now(), plies }).await?;
    }
    // A process that had lost its lease may have stored its own analysis first.
    match analyses::find(pool, id).await?.analysis {
        Some(analysis) => append_event(pool, writers, id, &analysis).await,
        None => Ok(JobOutcome::Stopped),
    }
}

/// Appends the event of the analysis to the game's log, unless the log has it.
async fn append_event(
    pool: &PgPool,
    writers: &Writers,
    id: GameId,
    analysis: &Analysis,
) -> Result<JobOutcome, DbError> {
    for _ in 0..ATTEMPTS_MAX {
        let Some(seated) = games::find_whole(pool, id).await? else { return Ok(JobOutcome::Over(u32::MAX)) };
        let mut game = seated.game;
        if game.analysed_at().is_some_and(|logged| logged >= analysis.at) {
            return Ok(JobOutcome::Over(analysis.ply));
        }
        // Events of elapsed time come first.
        if !game.due(now()).is_empty() {
            settle_game(pool, writers, id, now()).await?;
            continue;
        }
        let events = game.analysed(analysis.at);
        if let Err(error) = events.iter().try_for_each(|event| game.apply(event)) {
            return Ok(JobOutcome::Failed(error.to_string()));
        }
        match games::append(writers, &game, &events).await? {
            Appended::Stored | Appended::KeyUsed => return Ok(JobOutcome::Over(analysis.ply)),
            // The game has changed: reload and retry.
            Appended::Conflict => {}
        }
    }
    Ok(JobOutcome::Stopped)
}

/// Judges the plies of a game on a thread of its own. Meanwhile it stores the progress and renews the lease.
async fn judge(
    pool: &PgPool,
    writers: &Writers,
    game: &Game,
    log: &[Event],
    stopping: &CancellationToken,
) -> Result<Result<Vec<JudgedPly>, JobOutcome>, DbError> {
    let moved = |event: &Event| match &event.fact {
        Fact::Moved(moved) => Some(moved.clone()),
        _ => None,
    };
    let plies: Vec<_> = log.iter().filter_map(moved).collect();
    let (start, id) = (game.terms().opening(), game.id());
    let (judged, stop) = (Arc::new(Judged::from_part(pool, game).await?), Arc::<Signal>::default());
    let slice = if analyses::is_of_guest(pool, id).await? { GUEST_SLICE } else { SLICE };
    let (begun, done_before) = (Instant::now(), judged.lock().done);
    let (mut gives_way, mut is_leased) = (false, true);
    let (filled, raised) = (judged.clone(), stop.clone());
    let mut judging = spawn_blocking(move || judge_all(&start, &plies, &filled, &raised));
    let ended = loop {
        tokio::select! {
            ended = &mut judging => break ended,
            () = stopping.cancelled(), if !stop.is_stop() => stop.stop(),
            () = sleep(RENEWAL) => {}
            never = keep_pace(|| writers.busy() > 0, || stop.rest(), || stop.go_on()) => match never {},
        }
        let done = judged.lock().done;
        // If the lease is lost or cannot be renewed, another process continues, and this result is dropped.
        if !matches!(analyses::advance(pool, id, done, now() + LEASE).await, Ok(true)) {
            is_leased = false;
            stop.stop();
        } else if begun.elapsed() >= slice && done > done_before && !stop.is_stop() {
            gives_way = analyses::do_others_wait(pool, id).await.unwrap_or(false);
            if gives_way {
                stop.stop();
            }
        }
    };
    match ended {
        Ok(Ok(())) => Ok(Ok(judged.in_order())),
        Ok(Err(ReviewError::Stopped)) => {
            let part = judged.lock().clone();
            if is_leased && part.done > done_before {
                analyses::keep(pool, id, &part).await?;
            }
            Ok(Err(if gives_way { JobOutcome::GaveWay } else { JobOutcome::Stopped }))
        }
        Ok(Err(error @ ReviewError::Illegal(_))) => Ok(Err(JobOutcome::Failed(error.to_string()))),
        Err(error) => Ok(Err(JobOutcome::Failed(error.to_string()))),
    }
}

/// The judged plies of a game, the last one first, which the engine's thread adds.
struct Judged(Mutex<PartialAnalysis>);

impl Judged {
    /// The plies that an earlier slice has judged, if the game has not gone on since.
    async fn from_part(pool: &PgPool, game: &Game) -> Result<Self, DbError> {
        let fits = |part: &PartialAnalysis| part.ply == game.ply() && part.edition == ANALYSIS_EDITION;
        let none = PartialAnalysis { ply: game.ply(), edition: ANALYSIS_EDITION, ..PartialAnalysis::default() };
        Ok(Self(Mutex::new(analyses::partial(pool, game.id()).await?.filter(fits).unwrap_or(none))))
    }

    fn lock(&self) -> MutexGuard<'_, PartialAnalysis> {
        self.0.lock().expect("nothing panics while it holds the plies")
    }

    /// How many plies are done, and the proven value of the position before the last of them, if there is one.
    fn progress(&self, plies: &[Moved]) -> (usize, Option<Value>) {
        let part = self.lock();
        let done = (part.done as usize).min(plies.len());
        let latest = plies.get(plies.len() - done).map(|ply| ply.ply);
        let judged = part.plies.last().filter(|judged| Some(judged.number) == latest);
        (done, judged.map(|judged| judged.best).filter(|best| best.is_exact))
    }

    /// Adds the next ply; a taken back one has no judgement.
    fn add(&self, ply: Option<JudgedPly>) {
        let mut part = self.lock();
        part.plies.extend(ply);
        part.done += 1;
    }

    fn in_order(&self) -> Vec<JudgedPly> {
        self.lock().plies.iter().rev().cloned().collect()
    }
}

/// Judges the last plies of a game, from last to first: the engine's table of later positions speeds up the earlier ones. It
/// begins after the plies that are judged already.
fn judge_all(start: &AnyPosition, plies: &[Moved], judged: &Judged, stop: &Signal) -> Result<(), ReviewError> {
    let count = plies.len().min(PLIES_ANALYSED_MAX as usize);
    let mut engine = Engine::new(TABLE_MIB).with_endgames(Arc::clone(&ENDGAMES));
    let nodes = (GAME_NODES_MAX / u64::try_from(count.max(1)).unwrap_or(u64::MAX)).min(engine.review_nodes(start));
    // `proven` is the proven value of the position after a ply, if there is one.
    let (mut done, mut proven) = judged.progress(plies);
    let mut left = count.saturating_sub(done);
    for (position, plies) in chunks(start, plies).into_iter().rev() {
        if done >= plies.len() {
            done -= plies.len();
            continue;
        }
        let befores = positions(position, plies);
        for (position, ply) in befores.iter().zip(plies).rev().skip(done).take(left) {
            let ply = match ply.mv {
                PlyAction::Move(mv) => {
                    let review = engine.review(position, mv, Limits::nodes(nodes), stop)?;
                    Some(judged_ply(position, mv, ply, review, proven))
                }
                PlyAction::Takeback { .. } => None,
            };
            proven = ply.as_ref().map(|ply| ply.best).filter(|best| best.is_exact);
            judged.add(ply);
        }
        left = left.saturating_sub(befores.len() - done);
        done = 0;
    }
    Ok(())
}

/// The plies in chunks, each with the position before its first ply.
fn chunks<'a>(start: &AnyPosition, plies: &'a [Moved]) -> Vec<(AnyPosition, &'a [Moved])> {
    let mut position = start.clone();
    let chunk = |plies: &'a [Moved]| {
        let first = position.clone();
        for ply in plies {
            follow(&mut position, ply);
        }
        (first, plies)
    };
    plies.chunks(CHUNK_PLIES).map(chunk).collect()
}

/// The position before each ply.
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

/// `proven` is the exact value of the position after the ply, if it is known.
fn judged_ply(before: &AnyPosition, mv: Move, ply: &Moved, review: Review, proven: Option<Value>) -> JudgedPly {
    let value = |value: Evaluation| Value { points: value.points, is_exact: value.is_exact };
    // A swap exchanges the players' sides.
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
