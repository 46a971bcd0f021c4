//! Solving: the exact value of every move, by proof alone. Knows no rule, and nothing of how a line is searched.

use std::sync::Arc;

use mancala_rules::{AnyPosition, Move, Side};

use crate::{
    endgames::Endgames,
    engine::Engine,
    explore::Candidate,
    form::Task,
    games::nodes_within,
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

/// How far a proof goes with exact values of positions of so many bytes, before it goes on with those of more seeds.
#[derive(Clone, Copy, Debug)]
struct Stage {
    endgame_bytes: usize,
    /// How many positions are searched for estimates of all moves, at which the proofs begin. They are few beside a proof that
    /// takes as long as the stage does.
    scout_nodes: u64,
    /// The table of that search, in MiB.
    scout_table_mib: usize,
    /// How many positions the value may take. Where it takes no more, the values of the other moves take a few times as many,
    /// which is less than the next stage.
    nodes: u64,
}

/// The first values are made in a fraction of a second, and are enough for small boards. The others take ten seconds: with six
/// pits they are those of up to 19 seeds. One seed more takes 85 MB more, and longer than the positions that it saves.
const STAGES: [Stage; 2] = [
    Stage { endgame_bytes: 3 << 20, scout_nodes: 100_000, scout_table_mib: 2, nodes: 2_500_000 },
    Stage { endgame_bytes: 136 << 20, scout_nodes: 1_000_000, scout_table_mib: 16, nodes: u64::MAX },
];

impl Engine {
    /// Solves a position: proves its exact value and that of each of its moves. Calls `progress` after each null-window
    /// search.
    ///
    /// `None` if the game is over, or if `stop` ended it. `None` also if lines are longer than the engine's bound of
    /// 200 plies, as they may be in Oware.
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
        self.solve_in(STAGES, position, stop, progress)
    }

    /// Solves a position in these stages. The last one has no bound.
    fn solve_in(
        &mut self,
        stages: [Stage; 2],
        position: &AnyPosition,
        stop: &Signal,
        mut progress: impl FnMut(Progress),
    ) -> Option<Solution> {
        let turn = position.turn();
        let (mut nodes, mut nodes_of_value) = (0, None);
        for Stage { endgame_bytes, scout_nodes, scout_table_mib, nodes: nodes_max } in stages {
            let endgames = Arc::new(Endgames::of_size(endgame_bytes));
            let scout = Limits::nodes(nodes_within(position, scout_nodes));
            let mut scouting = Self::new(scout_table_mib).with_endgames(Arc::clone(&endgames));
            let (found, candidates) = scouting.explore(position, scout, Breadth::Every, stop)?;
            nodes += found.nodes;
            let points_of = |candidate: &Candidate| (candidate.m(), candidate.value.points_for(turn));
            let expected: Vec<_> = candidates.iter().map(points_of).collect();
            let report = |done: Progress| progress(Progress { nodes: nodes + done.nodes, ..done });
            let prove = Prove { expected: &expected, nodes_max, stop, progress: report };
            let attempt = self.run_with(position, prove, Some(&endgames))?;
            nodes_of_value = nodes_of_value.or(attempt.nodes_of_value.map(|of_value| nodes + of_value));
            nodes += attempt.nodes;
            if let Some(proven) = attempt.moves {
                let value_of = |m: Move| proven.iter().find(|(listed, _)| *listed == m).copied();
                let moves: Vec<_> = position.legal_moves().into_iter().filter_map(value_of).collect();
                let values = moves.iter().map(|&(_, value)| value);
                let value = if turn == Side::South { values.max() } else { values.min() };
                return Some(Solution { value: value?, moves, nodes, nodes_of_value: nodes_of_value? });
            }
            if !attempt.is_bounded {
                return None;
            }
        }
        None
    }
}

/// The task of proving the value of every move.
struct Prove<'a, P> {
    /// Estimates of the moves, in points from the view of the side to move.
    expected: &'a [(Move, i32)],
    /// How many positions to visit at most for the value of the position, if there may be more exact values.
    nodes_max: u64,
    stop: &'a Signal,
    progress: P,
}

/// The result of [`Prove`].
struct Attempt {
    /// The value of each move, if all are proven.
    moves: Option<Vec<(Move, i32)>>,
    nodes: u64,
    /// How many of them were visited until the value of the position was proven, if it is.
    nodes_of_value: Option<u64>,
    /// Whether `nodes_max` ended it.
    is_bounded: bool,
}

impl<P: FnMut(Progress)> Task for Prove<'_, P> {
    type Output = Attempt;

    fn signal(&self) -> &Signal {
        self.stop
    }

    fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Attempt {
        let turn = tree.turn(&start);
        let nodes_max = if T::HAS_ENDGAMES { self.nodes_max } else { u64::MAX };
        let mut root = Root::new(Search::proof(tree, table, self.stop, nodes_max), start);
        for &(m, points) in self.expected {
            root.expect(m, points);
        }
        let (nodes_of_value, are_proven) = root.prove(self.progress);
        let seen = |seeds: i32| if turn == Side::South { seeds } else { -seeds };
        let moves = are_proven.then(|| root.proven().map(|(m, bounds)| (m, seen(bounds.low))).collect());
        let is_bounded = root.search.is_stopped && !root.search.is_stop_requested();
        Attempt { moves, nodes: root.search.nodes, nodes_of_value, is_bounded }
    }
}

#[cfg(test)]
mod tests {
    use mancala_rules::{AnyOptions, Variant};

    use super::*;

    #[test]
    fn a_proof_goes_on_with_more_exact_values() {
        let options = AnyOptions::parse(Variant::Kalah, "standard", "pits=4;seeds=3").expect("the options are valid");
        let (opening, stop) = (AnyPosition::opening(&options), Signal::new());
        let stage = |endgame_bytes, nodes| Stage { endgame_bytes, scout_nodes: 1_000, scout_table_mib: 1, nodes };
        let solve = |stages| {
            let mut reported = Vec::new();
            let mut engine = Engine::new(4);
            let solution = engine.solve_in(stages, &opening, &stop, |progress| reported.push(progress.nodes));
            assert!(reported.is_sorted());
            solution.expect("nothing stops it")
        };
        let [few, many] = [1 << 10, 1 << 18].map(|bytes| solve([stage(bytes, u64::MAX), stage(bytes, u64::MAX)]));
        let both = solve([stage(1 << 10, 5_000), stage(1 << 18, u64::MAX)]);
        // The bound is for the value: the other moves go on with the same exact values.
        let of_value = solve([stage(1 << 10, few.nodes_of_value), stage(1 << 18, u64::MAX)]);
        assert!(of_value == few && few.nodes > few.nodes_of_value + 2_000, "{of_value:?} {few:?}");
        for solution in [&few, &many, &both] {
            let values: Vec<_> = solution.moves.iter().map(|&(_, value)| value).collect();
            assert_eq!((solution.value, &values[..]), (6, &[-6, 6, 2, -2][..]));
            assert!(solution.nodes_of_value <= solution.nodes);
        }
        assert!(many.nodes < both.nodes && both.nodes < few.nodes, "{many:?} {both:?} {few:?}");
    }
}
