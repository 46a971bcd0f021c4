//! The moves of the position that is asked about: iterative deepening, and proofs. Knows no rule.

use mancala_rules::Move;

use crate::{
    child::Child,
    limits::DEPTH_MAX,
    progress::Progress,
    search::{INFINITE, Search, Window, best_bounds},
    table::{Key, MovePlace},
    tree::{Tree, same_player},
    value::{Bounds, POINTS_PER_SEED, Value},
};

/// The most moves of a line of best play: more than players follow.
const LINE_MAX: usize = 40;

/// The half-width of the aspiration window around the value of the previous depth, in points.
const ASPIRATION: i32 = 150;

/// The least growth of the visited positions from one depth to the next, in halves. Few depths grow less.
const GROWTH_IN_HALVES: u64 = 3;

/// Which values of the moves are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breadth {
    /// The value of the best one; for the others, that they are not better.
    Best,
    /// The value of each.
    Every,
}

/// A position whose moves are compared.
pub(crate) struct Root<'a, T: Tree> {
    pub search: Search<'a, T>,
    position: T::Position,
    children: Vec<Child<T::Position, T::Move>>,
    /// The value of each child at the last completed depth, from the view of the player to move.
    values: Vec<Value>,
    /// The last completed depth.
    pub depth: u8,
}

/// A move of the position with its value.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub value: Value,
    /// The move, and best play after it.
    pub line: Vec<Move>,
}

impl<'a, T: Tree> Root<'a, T> {
    /// A position that is not over.
    pub fn new(mut search: Search<'a, T>, position: T::Position) -> Self {
        let mut children: Vec<_> = search.children(&position, MovePlace::NONE, DEPTH_MAX).into_iter().collect();
        children.sort_by_key(Child::rank);
        search.tree.enter(&position);
        if T::HAS_ENDGAMES {
            for child in &mut children {
                if let Some(known) = search.tree.endgame_by_strategy(&child.position) {
                    child.bounds = child.bounds.and(if child.same_player { known } else { known.turned() });
                }
            }
        }
        let estimate = |child: &Child<T::Position, T::Move>| {
            let points = search.tree.estimate(&child.position);
            let points = if child.same_player { points } else { -points };
            Value { points: child.bounds.clamp(points), bounds: child.bounds }
        };
        let values = children.iter().map(estimate).collect();
        Self { search, position, children, values, depth: 0 }
    }

    /// Deepens iteratively, until all wanted values are proven, `depth_max` is reached, or the search stops.
    pub fn deepen(&mut self, depth_max: u8, breadth: Breadth) {
        self.deepen_while(depth_max, breadth, |_, _| true);
    }

    /// The same, but does not begin a depth that it would probably not complete, as its result would be discarded.
    pub fn deepen_within(&mut self, depth_max: u8, breadth: Breadth) {
        self.deepen_while(depth_max, breadth, |left, last| {
            left.saturating_mul(2) >= last.saturating_mul(GROWTH_IN_HALVES)
        });
    }

    /// Deepens while `is_worthwhile`, given how many positions are left and how many the last depth took.
    fn deepen_while(&mut self, depth_max: u8, breadth: Breadth, is_worthwhile: impl Fn(u64, u64) -> bool) {
        let mut last = 0;
        for depth in 1..=depth_max.min(DEPTH_MAX) {
            if self.is_proven(breadth) || !is_worthwhile(self.search.nodes_left(), last) {
                return;
            }
            let before = self.search.nodes;
            let Some(values) = self.values_at(depth, breadth) else { return };
            self.values = values;
            self.depth = depth;
            self.sort();
            last = self.search.nodes - before;
        }
    }

    /// Whether all wanted values are exact.
    pub fn is_proven(&self, breadth: Breadth) -> bool {
        match breadth {
            Breadth::Best => self.bounds().is_exact(),
            Breadth::Every => self.children.iter().all(|child| child.bounds.is_exact()),
        }
    }

    /// The proven bounds of the position.
    pub fn bounds(&self) -> Bounds {
        best_bounds(&self.children)
    }

    /// The best move.
    pub fn best(&self) -> Option<Move> {
        let turn = self.search.tree.turn(&self.position);
        self.children.first().map(|child| T::to_move(child.m, turn))
    }

    /// The value of the position.
    pub fn value(&self) -> Value {
        let bounds = self.bounds();
        let points = self.values.iter().map(|value| value.points).max().unwrap_or(0);
        Value { points: bounds.clamp(points), bounds }
    }

    /// The moves with their values, best first.
    pub fn ranking(&mut self) -> Vec<Ranked> {
        self.sort();
        let ranked = |index: usize| {
            let (child, value) = (&self.children[index], self.values[index]);
            Value { points: child.bounds.clamp(value.points), bounds: child.bounds }
        };
        let ranked: Vec<_> = (0..self.children.len()).map(ranked).collect();
        (0..ranked.len()).map(|index| Ranked { value: ranked[index], line: self.line(index) }).collect()
    }

    /// Takes the estimated value of a move from another search, in points from the view of the player to move.
    pub fn expect(&mut self, m: Move, points: i32) {
        let turn = self.search.tree.turn(&self.position);
        for (child, value) in self.children.iter().zip(&mut self.values) {
            if T::to_move(child.m, turn) == m {
                value.points = points;
            }
        }
    }

    /// Proves the value of the position, without estimates. Each round of null-window searches asks whether a move is
    /// worth some margin or more. Returns whether the value is proven: not if the search stops, or where lines are
    /// longer than any depth.
    pub fn prove_best(&mut self, mut report: impl FnMut(u64)) -> bool {
        self.sort();
        let mut guess = self.value().points / POINTS_PER_SEED;
        while !self.bounds().is_exact() {
            let before = self.bounds();
            guess = guess.clamp(before.low + 1, before.high);
            for index in 0..self.children.len() {
                if self.children[index].bounds.high < guess {
                    continue;
                }
                self.ask(index, guess);
                report(self.search.nodes);
                if self.search.is_stopped {
                    return false;
                }
                if self.bounds().low >= guess {
                    break;
                }
            }
            let after = self.bounds();
            if after.low < guess && after.high >= guess {
                return false;
            }
            guess = if after.low >= guess { after.low + 1 } else { after.high };
        }
        true
    }

    /// Proves the exact value of each move, without estimates, that of the best move first; the bound of the search is
    /// for that alone. Calls `progress` after each null-window search. Returns how many positions were visited until
    /// the value of the position was proven, if it is. Also returns whether all values are proven: not where
    /// [`prove_best`](Self::prove_best) would not prove them.
    pub fn prove(&mut self, mut progress: impl FnMut(Progress)) -> (Option<u64>, bool) {
        let moves = self.children.len();
        if !self.prove_best(|nodes| progress(Progress { moves_solved: 0, moves, nodes })) {
            return (None, false);
        }
        let nodes_of_value = self.search.nodes;
        self.search.go_on(u64::MAX);
        let proves =
            |moves_solved| self.prove_child(moves_solved, |nodes| progress(Progress { moves_solved, moves, nodes }));
        (Some(nodes_of_value), (0..moves).all(proves))
    }

    /// The moves with their proven bounds.
    pub fn proven(&self) -> impl Iterator<Item = (Move, Bounds)> {
        let turn = self.search.tree.turn(&self.position);
        self.children.iter().map(move |child| (T::to_move(child.m, turn), child.bounds))
    }

    /// Narrows the proven bounds of a child until they are exact.
    fn prove_child(&mut self, index: usize, mut report: impl FnMut(u64)) -> bool {
        let mut guess = self.values[index].points / POINTS_PER_SEED;
        while !self.children[index].bounds.is_exact() {
            let before = self.children[index].bounds;
            guess = guess.clamp(before.low + 1, before.high);
            self.ask(index, guess);
            let after = self.children[index].bounds;
            if self.search.is_stopped || after.low < guess && after.high >= guess {
                return false;
            }
            guess = if after.low >= guess { after.low + 1 } else { after.high };
            report(self.search.nodes);
        }
        true
    }

    /// Asks whether a child is worth some margin or more, by a null window, and so excludes that margin or the one below.
    fn ask(&mut self, index: usize, margin: i32) {
        let beta = margin * POINTS_PER_SEED;
        let child = &self.children[index];
        let value = self.search.child_value(child, beta - 1, beta, Window { alpha: beta - 1, beta, ..Window::WIDEST });
        if !self.search.is_stopped {
            self.children[index].bounds = child.bounds.and(value.bounds);
        }
    }

    /// Finds the value of one move, within so many more positions. It searches to the depth that all moves were
    /// searched to, because only then can two estimates be compared. Where the best move is proven, it searches as deep
    /// as it can.
    pub fn settle(&mut self, m: Move, nodes: u64) {
        let turn = self.search.tree.turn(&self.position);
        let Some(index) = self.children.iter().position(|child| T::to_move(child.m, turn) == m) else { return };
        self.search.go_on(nodes);
        let depth_max = if self.is_proven(Breadth::Best) { DEPTH_MAX } else { self.depth.max(1) };
        for depth in 1..=depth_max {
            if self.children[index].bounds.is_exact() {
                return;
            }
            let child = &self.children[index];
            let window = Window { alpha: -INFINITE, beta: INFINITE, depth, ply: 0 };
            let value = self.search.child_value(child, -INFINITE, INFINITE, window);
            if self.search.is_stopped {
                return;
            }
            self.children[index].bounds = child.bounds.and(value.bounds);
            self.values[index] = value;
        }
    }

    /// The values at a depth; `None` if the search stopped before all were found.
    fn values_at(&mut self, depth: u8, breadth: Breadth) -> Option<Vec<Value>> {
        let window = Window { alpha: -INFINITE, beta: INFINITE, depth, ply: 0 };
        let mut values = Vec::with_capacity(self.children.len());
        let mut best = -INFINITE;
        for index in 0..self.children.len() {
            let expected = self.values[index].points;
            let child = &self.children[index];
            let value = if child.bounds.is_exact() {
                Value { points: child.bounds.low * POINTS_PER_SEED, bounds: child.bounds }
            } else if index == 0 || breadth == Breadth::Every {
                let (alpha, beta) = (expected - ASPIRATION, expected + ASPIRATION);
                let value = self.search.child_value(child, alpha, beta, window);
                if value.points > alpha && value.points < beta || self.search.is_stopped {
                    value
                } else {
                    self.search.child_value(child, -INFINITE, INFINITE, window)
                }
            } else {
                let value = self.search.child_value(child, best, best + 1, window);
                if value.points <= best || self.search.is_stopped {
                    value
                } else {
                    self.search.child_value(child, best, INFINITE, window)
                }
            };
            if self.search.is_stopped {
                return None;
            }
            self.children[index].bounds = self.children[index].bounds.and(value.bounds);
            best = best.max(value.points);
            values.push(value);
        }
        Some(values)
    }

    /// Sorts the moves best first; equal moves keep their order. A proven best move comes before one that is estimated
    /// as good.
    fn sort(&mut self) {
        let most = self.bounds().high;
        let mut both: Vec<_> = self.children.drain(..).zip(self.values.drain(..)).collect();
        both.sort_by_key(|(child, value)| (child.bounds.low < most, -child.bounds.clamp(value.points)));
        (self.children, self.values) = both.into_iter().unzip();
    }

    /// A move and best play after it, as far as the table still holds it, or exact values are known.
    fn line(&mut self, index: usize) -> Vec<Move> {
        let child = &self.children[index];
        let mut line = vec![T::to_move(child.m, self.search.tree.turn(&self.position))];
        let (mut position, mut key) = (child.position.clone(), child.key);
        let mut wanted = if child.same_player { child.bounds } else { child.bounds.turned() };
        let mut entered = 0;
        while line.len() < LINE_MAX {
            let Some(m) = self.best_known(&position, key) else { break };
            let tree = &mut self.search.tree;
            let next = tree.play(&position, m);
            let same_player = same_player(tree, &position, m, &next);
            tree.enter(&position);
            entered += 1;
            key = tree.key(&next);
            wanted = if same_player { wanted } else { wanted.turned() };
            // On a proven line the next move must be proven as well: an entry that replaced another may contradict it.
            if wanted.is_exact() && self.search.known_bounds(&next, key) != wanted {
                break;
            }
            line.push(T::to_move(m, self.search.tree.turn(&position)));
            position = next;
        }
        for _ in 0..entered {
            self.search.tree.leave();
        }
        line
    }

    /// The best move of a position that was searched or whose value is known. The position before it must have been entered.
    fn best_known(&mut self, position: &T::Position, key: Key) -> Option<T::Move> {
        if let Some(margin) = self.search.endgame(position).filter(|known| known.is_exact()) {
            let moves = self.search.tree.moves(position);
            let found = moves.into_iter().find(|&m| self.known_after(position, m) == margin);
            if found.is_some() {
                return found;
            }
        }
        let index = self.search.table.find(key)?.best.index()?;
        self.search.tree.moves(position).into_iter().nth(index)
    }

    /// The proven bounds of a move that are known without a search.
    fn known_after(&mut self, position: &T::Position, m: T::Move) -> Bounds {
        let next = self.search.tree.play(position, m);
        let range = self.search.tree.margin_range(&next).bounds();
        let known = self.search.endgame_after(position, &next).map_or(range, |known| range.and(known));
        if same_player(&self.search.tree, position, m, &next) { known } else { known.turned() }
    }
}
