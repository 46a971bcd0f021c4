//! The search for the best move, and for the values of all moves. Knows no rule, and nothing of how a line is searched.

use mancala_rules::{AnyPosition, Move, Side};

use crate::{
    engine::Engine,
    form::Task,
    limits::Limits,
    root::{Breadth, Ranked, Root},
    search::Search,
    signal::Signal,
    table::Table,
    tree::Tree,
    value::Evaluation,
};

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The value of the position.
    pub value: Evaluation,
    /// The best move, and best play after it as far as the table still holds it. Never empty.
    pub line: Vec<Move>,
    /// The last depth that the search completed, in plies; 0 if it completed none, and the moves are only estimated.
    pub depth: u8,
    /// How many positions were visited.
    pub nodes: u64,
    /// Whether the [`Signal`] ended it. The result is then that of the last completed depth.
    pub is_stopped: bool,
}

impl Found {
    /// The best move, which begins [`line`](Self::line).
    #[must_use]
    pub fn best(&self) -> Move {
        self.line[0]
    }
}

/// A legal move and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The value of the position if this move is played.
    pub value: Evaluation,
    /// The move, and best play after it as far as the table still holds it. Never empty.
    pub line: Vec<Move>,
}

impl Candidate {
    /// The move, which begins [`line`](Self::line).
    #[must_use]
    pub fn m(&self) -> Move {
        self.line[0]
    }

    pub(crate) fn of(ranked: Ranked, turn: Side) -> Self {
        Self { value: Evaluation::of(ranked.value, turn), line: ranked.line }
    }
}

impl Engine {
    /// The value of a position and its best move. `None` if the game is over.
    ///
    /// Deepens iteratively until the value is exact, a limit is reached, or `stop` ends it. There is an answer in any
    /// case.
    pub fn search(&mut self, position: &AnyPosition, limits: Limits, stop: &Signal) -> Option<Found> {
        self.explore(position, limits, Breadth::Best, stop).map(|(found, _)| found)
    }

    /// The value of every legal move, best first; empty if the game is over. `limits` bound all moves together.
    pub fn candidates(&mut self, position: &AnyPosition, limits: Limits, stop: &Signal) -> Vec<Candidate> {
        self.explore(position, limits, Breadth::Every, stop).map(|(_, candidates)| candidates).unwrap_or_default()
    }

    pub(crate) fn explore(
        &mut self,
        position: &AnyPosition,
        limits: Limits,
        breadth: Breadth,
        stop: &Signal,
    ) -> Option<(Found, Vec<Candidate>)> {
        self.run(position, Explore { limits, breadth, stop })
    }
}

/// The task of searching the moves of a position within limits.
pub(crate) struct Explore<'a> {
    pub limits: Limits,
    pub breadth: Breadth,
    pub stop: &'a Signal,
}

impl Task for Explore<'_> {
    type Output = (Found, Vec<Candidate>);

    fn signal(&self) -> &Signal {
        self.stop
    }

    fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Self::Output {
        let turn = tree.turn(&start);
        let mut root = Root::new(Search::new(tree, table, self.stop, self.limits.nodes), start);
        root.deepen(self.limits.depth, self.breadth);
        let value = Evaluation::of(root.value(), turn);
        let candidates: Vec<_> = root.ranking().into_iter().map(|ranked| Candidate::of(ranked, turn)).collect();
        let found = Found {
            value,
            line: candidates.first().map(|best| best.line.clone()).unwrap_or_default(),
            depth: root.depth,
            nodes: root.search.nodes,
            is_stopped: root.search.is_stop_requested(),
        };
        (found, candidates)
    }
}
