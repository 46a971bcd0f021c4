//! Solving: the exact value of every move, by proof alone.

use mancala_rules::{AnyPosition, Move, Side};

use crate::{
    engine::Engine, form::Task, progress::Progress, root::Root, search::Search, signal::Signal, table::Table,
    tree::Tree,
};

/// The exact values of a position and of its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// South's seeds less North's at the end, after best play by both, as [`engine`](super) says.
    pub value: i32,
    /// The same of each legal move, in the order of the rules.
    pub moves: Vec<(Move, i32)>,
    /// How many positions were looked at.
    pub nodes: u64,
}

impl Engine {
    /// Solves a position: proves its exact value and that of each of its moves. `progress` is told after each question that
    /// is answered on the way.
    ///
    /// `None` if the game is over, if somebody raised `stop`, or if lines are longer than any that the engine looks at, as
    /// they may be in Oware.
    ///
    /// How long it takes cannot be told beforehand: Kalah with six pits of three seeds takes seconds, with four seeds
    /// minutes, and with five nobody waits for it. The more memory, the faster.
    pub fn solve(&mut self, position: &AnyPosition, stop: &Signal, progress: impl FnMut(Progress)) -> Option<Solution> {
        let (moves, nodes) = self.run(position, Prove { stop, progress })??;
        let values = moves.iter().map(|&(_, value)| value);
        let value = match position.turn() {
            Side::South => values.max(),
            Side::North => values.min(),
        };
        let value_of = |m: Move| moves.iter().find(|(listed, _)| *listed == m).copied();
        let moves = position.legal_moves().into_iter().filter_map(value_of).collect();
        Some(Solution { value: value?, moves, nodes })
    }
}

/// To prove the value of every move.
struct Prove<'a, P> {
    stop: &'a Signal,
    progress: P,
}

impl<P: FnMut(Progress)> Task for Prove<'_, P> {
    type Output = Option<(Vec<(Move, i32)>, u64)>;

    fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Self::Output {
        let turn = tree.turn(&start);
        let mut root = Root::new(Search::new(tree, table, self.stop, u64::MAX), start);
        if !root.prove(self.progress) {
            return None;
        }
        let seen = |seeds: i32| if turn == Side::South { seeds } else { -seeds };
        let moves = root.proven().map(|(m, bounds)| (m, seen(bounds.low))).collect();
        Some((moves, root.search.nodes))
    }
}
