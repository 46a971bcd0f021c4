//! Searching for the best move, and for the values of all. Knows no game.

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

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The value of the position.
    pub value: Evaluation,
    /// The best move, and what follows by best play as far as it is remembered. Never empty.
    pub line: Vec<Move>,
    /// How many plies were looked ahead on every line; 0 if there was time for the moves alone.
    pub depth: u8,
    /// How many positions were looked at.
    pub nodes: u64,
    /// Whether it ended because the flag was raised. The rest is true nevertheless: of the last depth that was finished.
    pub is_stopped: bool,
}

impl Found {
    /// The best move.
    #[must_use]
    pub fn best(&self) -> Move {
        self.line[0]
    }
}

/// A legal move, and what it is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The value of the position if this move is played.
    pub value: Evaluation,
    /// The move, and what follows by best play as far as it is remembered. Never empty.
    pub line: Vec<Move>,
}

impl Candidate {
    /// The move.
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
    /// Looks deeper and deeper until the value is exact, a limit is reached, or somebody raises `stop`; there is an
    /// answer in any case.
    pub fn search(&mut self, position: &AnyPosition, limits: Limits, stop: &Signal) -> Option<Found> {
        self.explore(position, limits, Breadth::Best, stop).map(|(found, _)| found)
    }

    /// The value of every legal move, best first; none if the game is over. Limits are for all moves together.
    pub fn candidates(&mut self, position: &AnyPosition, limits: Limits, stop: &Signal) -> Vec<Candidate> {
        self.explore(position, limits, Breadth::Every, stop).map(|(_, candidates)| candidates).unwrap_or_default()
    }

    fn explore(
        &mut self,
        position: &AnyPosition,
        limits: Limits,
        breadth: Breadth,
        stop: &Signal,
    ) -> Option<(Found, Vec<Candidate>)> {
        self.run(position, Explore { limits, breadth, stop })
    }
}

/// To look at moves as deep as limits allow.
pub(crate) struct Explore<'a> {
    pub limits: Limits,
    pub breadth: Breadth,
    pub stop: &'a Signal,
}

impl Task for Explore<'_> {
    type Output = (Found, Vec<Candidate>);

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
            is_stopped: root.search.is_told_to_stop(),
        };
        (found, candidates)
    }
}
