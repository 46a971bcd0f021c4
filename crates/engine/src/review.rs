//! The value of a played move, and its loss. Knows nothing of how a line is searched, nor the names for losses.

use mancala_rules::{AnyPosition, IllegalMove, Move, Side};

use crate::{
    engine::Engine,
    explore::Candidate,
    form::Task,
    games::{has_endgames, known},
    limits::Limits,
    root::{Breadth, Root},
    search::Search,
    signal::Signal,
    table::Table,
    tree::Tree,
    value::{Evaluation, POINTS_PER_SEED},
};

/// The review of one ply of a played game.
///
/// Values are margins for the player who sits at South's side before this ply, as the [crate](crate) defines them. That
/// includes `after`, also if the ply is a swap.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The side that moved.
    pub side: Side,
    /// The side at which the player who moved sat at the start of the game: the other side after a swap.
    pub seat: Side,
    /// The value of the position before the ply, which is that of its best move.
    pub before: Evaluation,
    /// The value after the ply, by best play from then on.
    pub after: Evaluation,
    /// The best move, and best play after it as far as the table still holds it. Never empty, unless the ply is an
    /// agreed end.
    pub line: Vec<Move>,
    /// How much worse `after` is than `before` for the side that moved, in hundredths of a seed. Never negative, and 0
    /// for the best move.
    pub loss: i32,
    /// Whether `before` and `after` are both exact, and therefore the loss.
    pub is_exact: bool,
    /// Whether the ply was the only legal move, or an agreed end. Then it does not reflect on the player who moved.
    pub is_forced: bool,
    /// How many positions were visited.
    pub nodes: u64,
}

/// Why a ply could not be reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReviewError {
    /// The move is illegal in the position.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
    /// The [`Signal`] stopped the review before it was complete.
    #[error("the review was stopped")]
    Stopped,
}

impl Review {
    /// The review with a better value of the position after the ply, for the player at South's side before the ply.
    ///
    /// A caller that reviews a game from its end has that value from the review of the next ply.
    #[must_use]
    pub fn knowing(self, after: Evaluation) -> Self {
        let better = after.points_for(self.side) - self.before.points_for(self.side);
        // The best move is worth at least as much as the played one.
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

/// How many positions a review visits for the best move of a ply, where nothing is known of endgames.
const NODES: u64 = 200_000;

impl Engine {
    /// How many positions the review of a ply of this game should visit: some seconds for a game of usual length.
    #[must_use]
    pub fn review_nodes(&self, position: &AnyPosition) -> u64 {
        let known = known(position.variant()).nodes_with_endgames;
        known.filter(|_| self.endgames.is_some() && has_endgames(position)).unwrap_or(NODES)
    }

    /// Reviews one ply of a played game: the position before it, and the move that was played.
    ///
    /// Review a game from its last ply to its first, with one engine: its table entries of later positions serve for
    /// the earlier ones. `limits` bound the search of the best move; the played move, if it is another one, has as much
    /// again.
    ///
    /// ```
    /// use mancala_engine::{Engine, Limits, Signal};
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// // With four pits of three seeds, B is worth 6 seeds for South and A is worth -6.
    /// let options = AnyOptions::parse(Variant::Kalah, "standard", "pits=4;seeds=3")?;
    /// let opening = AnyPosition::opening(&options);
    /// let review = Engine::new(1).review(&opening, "A".parse()?, Limits::nodes(500_000), &Signal::new())?;
    /// assert!(review.is_exact);
    /// assert_eq!(review.loss, 1200);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

/// The task of comparing a played move with the best one.
struct Judge<'a> {
    played: Move,
    limits: Limits,
    stop: &'a Signal,
}

/// The result of [`Judge`].
struct Judged {
    before: Evaluation,
    /// `None` if no search considers the move, as with an agreed end.
    played: Option<Evaluation>,
    line: Vec<Move>,
    nodes: u64,
    is_stopped: bool,
}

impl Task for Judge<'_> {
    type Output = Judged;

    fn signal(&self) -> &Signal {
        self.stop
    }

    fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Judged {
        let Limits { nodes, depth } = self.limits;
        let turn = tree.turn(&start);
        let mut root = Root::new(Search::new(tree, table, self.stop, nodes), start);
        root.deepen_within(depth, Breadth::Best);
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
            is_stopped: root.search.is_stop_requested(),
        }
    }
}
