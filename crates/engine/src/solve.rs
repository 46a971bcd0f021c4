//! Solving: the exact value of every move, by proof alone. Knows no rule, and nothing of how a line is searched.

use mancala_rules::{AnyPosition, Move, Side};

use crate::{
    engine::Engine,
    form::{Task, nodes_within},
    limits::Limits,
    progress::Progress,
    root::{Breadth, Root},
    search::Search,
    signal::Signal,
    table::Table,
    tree::Tree,
};

/// The exact values of a position and of its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// South's seeds less North's at the end, after best play by both, as the [crate](crate) defines values.
    pub value: i32,
    /// Each legal move with its value, in the order of the rules.
    pub moves: Vec<(Move, i32)>,
    /// How many positions were visited for all of this.
    pub nodes: u64,
    /// How many of them were visited until `value` was proven; the others are for the values of the other moves.
    pub nodes_of_value: u64,
}

/// How many positions are searched for estimates of all moves, at which the proofs begin. They are few beside a proof that
/// takes seconds.
const SCOUT_NODES: u64 = 100_000;

/// The table of that search, in MiB.
const SCOUT_TABLE_MIB: usize = 2;

impl Engine {
    /// Solves a position: proves its exact value and that of each of its moves. Calls `progress` after each null-window
    /// search.
    ///
    /// `None` if the game is over, if `stop` ended it, or if lines are longer than the engine's bound of 200 plies, as
    /// they may be in Oware.
    ///
    /// The time is not predictable: Kalah with six pits of three seeds takes seconds, with four seeds minutes, and with
    /// five seeds far longer than is practical. A larger table makes it faster.
    ///
    /// ```
    /// use mancala_engine::{Engine, Signal};
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Kalah, "standard", "pits=2;seeds=2")?;
    /// let opening = AnyPosition::opening(&options);
    /// let solution = Engine::new(1).solve(&opening, &Signal::new(), |_| {}).expect("the board is small");
    /// assert_eq!(solution.value, -2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve(&mut self, position: &AnyPosition, stop: &Signal, progress: impl FnMut(Progress)) -> Option<Solution> {
        let scout = Limits::nodes(nodes_within(position, SCOUT_NODES));
        let (found, candidates) = Self::new(SCOUT_TABLE_MIB).explore(position, scout, Breadth::Every, stop)?;
        let turn = position.turn();
        let expected = candidates.iter().map(|candidate| (candidate.m(), candidate.value.points_for(turn))).collect();
        let proof = self.run(position, Prove { expected, stop, progress })??;
        let moves = proof.moves;
        let values = moves.iter().map(|&(_, value)| value);
        let value = match position.turn() {
            Side::South => values.max(),
            Side::North => values.min(),
        };
        let value_of = |m: Move| moves.iter().find(|(listed, _)| *listed == m).copied();
        let moves = position.legal_moves().into_iter().filter_map(value_of).collect();
        Some(Solution {
            value: value?,
            moves,
            nodes: found.nodes + proof.nodes,
            nodes_of_value: found.nodes + proof.nodes_of_value,
        })
    }
}

/// The task of proving the value of every move.
struct Prove<'a, P> {
    /// Estimates of the moves, in points from the view of the side to move.
    expected: Vec<(Move, i32)>,
    stop: &'a Signal,
    progress: P,
}

/// The result of [`Prove`].
struct Proof {
    moves: Vec<(Move, i32)>,
    nodes: u64,
    nodes_of_value: u64,
}

impl<P: FnMut(Progress)> Task for Prove<'_, P> {
    type Output = Option<Proof>;

    fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Self::Output {
        let turn = tree.turn(&start);
        let mut root = Root::new(Search::proof(tree, table, self.stop), start);
        for (m, points) in self.expected {
            root.expect(m, points);
        }
        let nodes_of_value = root.prove(self.progress)?;
        let seen = |seeds: i32| if turn == Side::South { seeds } else { -seeds };
        let moves = root.proven().map(|(m, bounds)| (m, seen(bounds.low))).collect();
        Some(Proof { moves, nodes: root.search.nodes, nodes_of_value })
    }
}
