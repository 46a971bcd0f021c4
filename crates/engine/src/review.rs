//! What a move was worth, and how much it lost. Knows nothing of searching, nor what to call a loss.

use mancala_rules::{AnyPosition, IllegalMove, Move, Side};

use crate::{
    engine::Engine,
    explore::Candidate,
    form::Task,
    limits::Limits,
    root::{Breadth, Root},
    search::Search,
    signal::Signal,
    table::Table,
    tree::Tree,
    value::{Evaluation, POINTS_PER_SEED},
};

/// What a ply of a played game was worth.
///
/// Values are South's seeds less North's at the end, of whom sits at South's side before this ply, as
/// [`engine`](super) says: also `after`, if the ply is a swap.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The side that moved.
    pub side: Side,
    /// The side at which whoever moved sat at the start of the game: another one after a swap.
    pub seat: Side,
    /// The value of the position before the ply, which is that of its best move.
    pub before: Evaluation,
    /// The value after the ply, by best play from there on.
    pub after: Evaluation,
    /// The best move, and what follows by best play as far as it is remembered. Never empty, save for an agreed end.
    pub line: Vec<Move>,
    /// By how much `after` is worse than `before` for whoever moved, in hundredths of a seed; never negative, and 0 for
    /// the best move.
    pub loss: i32,
    /// Whether `before` and `after` are both exact, and so the loss.
    pub is_exact: bool,
    /// There was no other move, or it was an end that both agreed to. It says nothing about whoever moved.
    pub is_forced: bool,
    /// How many positions were looked at.
    pub nodes: u64,
}

/// Why a ply could not be reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReviewError {
    /// The move cannot have been played.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
    /// Somebody raised the flag before it was done.
    #[error("the review was stopped")]
    Stopped,
}

impl Review {
    /// The same where it is known what the position after the ply is worth, to whom sits at South's side before it.
    #[must_use]
    pub fn knowing(self, after: Evaluation) -> Self {
        let better = after.points_for(self.side) - self.before.points_for(self.side);
        // The best move is worth what another one is proven to be, at least.
        let before = if better > 0 { Evaluation { is_exact: false, ..after } } else { self.before };
        let is_choice = !self.is_forced;
        Self {
            before,
            after,
            loss: if is_choice { (-better).max(0) } else { 0 },
            is_exact: before.is_exact && after.is_exact,
            ..self
        }
    }
}

impl Engine {
    /// Reviews one ply of a played game: the position before it, and the move that was played.
    ///
    /// Go from the last ply of a game to the first, with one engine: what it remembers of later positions serves for
    /// the earlier ones. `limits` are for the search of the best move; as much again is spent on the move played if that is
    /// another one.
    pub fn review(
        &mut self,
        position: &AnyPosition,
        played: Move,
        limits: Limits,
        stop: &Signal,
    ) -> Result<Review, ReviewError> {
        let (next, _) = position.play(played)?;
        let moves = position.legal_moves();
        let Some(judged) = self.run(position, Judge { played, limits, stop }) else {
            return Err(IllegalMove::GameOver.into());
        };
        if judged.is_stopped {
            return Err(ReviewError::Stopped);
        }
        let side = position.turn();
        let seat = if position.swapped() { !side } else { side };
        let after = judged.played.unwrap_or_else(|| {
            let store = |side| i32::from(next.board().store(side));
            let points = (store(Side::South) - store(Side::North)) * POINTS_PER_SEED;
            Evaluation { points, is_exact: true }
        });
        let is_choice = moves.len() > 1 && moves.contains(&played);
        let is_best = judged.line.first() == Some(&played);
        let loss = (judged.before.points_for(side) - after.points_for(side)).max(0);
        let loss = if is_choice && !is_best { loss } else { 0 };
        Ok(Review {
            side,
            seat,
            before: judged.before,
            after,
            line: judged.line,
            loss,
            is_exact: judged.before.is_exact && after.is_exact,
            is_forced: !is_choice,
            nodes: judged.nodes,
        })
    }
}

/// To compare a move with the best one.
struct Judge<'a> {
    played: Move,
    limits: Limits,
    stop: &'a Signal,
}

/// What became of it.
struct Judged {
    before: Evaluation,
    /// `None` if the move is not one of those that are searched.
    played: Option<Evaluation>,
    line: Vec<Move>,
    nodes: u64,
    is_stopped: bool,
}

impl Task for Judge<'_> {
    type Output = Judged;

    fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Judged {
        let Limits { nodes, depth } = self.limits;
        let turn = tree.turn(&start);
        let mut root = Root::new(Search::new(tree, table, self.stop, nodes), start);
        root.deepen(depth, Breadth::Best);
        if root.best() != Some(self.played) {
            root.settle(self.played, nodes);
        }
        let before = Evaluation::of(root.value(), turn);
        let candidates: Vec<_> = root.ranking().into_iter().map(|ranked| Candidate::of(ranked, turn)).collect();
        Judged {
            before,
            played: candidates.iter().find(|candidate| candidate.m() == self.played).map(|candidate| candidate.value),
            line: candidates.into_iter().next().map(|best| best.line).unwrap_or_default(),
            nodes: root.search.nodes,
            is_stopped: root.search.is_told_to_stop(),
        }
    }
}
