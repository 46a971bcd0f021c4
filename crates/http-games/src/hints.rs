//! Hints: the value of each move in a position, searched while a request waits. Knows the engine, but no game, no player and no request.

use std::{sync::Arc, time::Duration};

use mancala_db::Writers;
use mancala_domain::Value;
use mancala_engine::{Candidate, Engine, Signal};
use mancala_process::pace::keep_pace;
use mancala_rules::{AnyPosition, Move};
use thiserror::Error;
use tokio::{
    task::{JoinError, spawn_blocking},
    time::timeout,
};

/// The size of an engine's transposition table, in MiB, allocated for each search.
const TABLE_MIB: usize = 16;

/// How long a search may take, however busy the machine is. Its number of positions ends it within a second otherwise.
const SEARCH_MAX: Duration = Duration::from_secs(10);

/// How many moves of a line are kept: later ones are guesses.
const LINE_MAX: usize = 16;

/// The value of each move in a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Every legal move, best first.
    pub moves: Vec<HintedMove>,
    /// How many plies ahead all moves were compared.
    pub depth: u8,
}

/// The value of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HintedMove {
    /// The margin at the end by best play after the move: South's seeds less North's, as they sit before it.
    pub value: Value,
    /// How much worse that is for the side to move than the best move, in hundredths of a seed; 0 or more.
    pub loss: i32,
    /// The move, and the best play after it as far as the search knows it. Never empty.
    pub line: Vec<Move>,
}

/// The reason why there is no hint.
#[derive(Debug, Error)]
pub enum HintError {
    /// The machine is too busy.
    #[error("the search took too long")]
    TooSlow,
    /// The search panicked.
    #[error("the engine failed: {0}")]
    Failed(#[from] JoinError),
}

/// Searches a position on a blocking thread of the present runtime, which lowers the priority of its threads. The search rests
/// while `writers` store moves, and stops when the future is dropped. A position that is over has no moves. The same position has
/// the same hint.
pub async fn find(position: AnyPosition, writers: &Writers) -> Result<Hint, HintError> {
    let stopping = StopOnDrop(Arc::default());
    let signal = stopping.0.clone();
    let searched = position.clone();
    let search = spawn_blocking(move || Engine::new(TABLE_MIB).hint(&searched, &signal));
    let found = tokio::select! {
        found = timeout(SEARCH_MAX, search) => found.map_err(|_| HintError::TooSlow)??,
        never = keep_pace(|| writers.busy() > 0, || stopping.0.rest(), || stopping.0.go_on()) => match never {},
    };
    let Some(found) = found else { return Ok(Hint { moves: vec![], depth: 0 }) };
    let points_of = |candidate: &Candidate| candidate.value.points_for(position.turn());
    let best = found.candidates.iter().map(points_of).max().unwrap_or_default();
    let hinted = |candidate: &Candidate| HintedMove {
        value: Value { points: candidate.value.points, is_exact: candidate.value.is_exact },
        loss: best - points_of(candidate),
        line: candidate.line.iter().copied().take(LINE_MAX).collect(),
    };
    Ok(Hint { moves: found.candidates.iter().map(hinted).collect(), depth: found.depth })
}

/// Ends a search that no request waits for.
struct StopOnDrop(Arc<Signal>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
