//! The moves of the position that is asked about: looking deeper step by step, and proving. Knows no game.

use mancala_rules::Move;

use crate::{
    limits::DEPTH_MAX,
    progress::Progress,
    search::{Child, Children, INFINITE, Search, Window, best_bounds},
    slot::Slot,
    tree::{Tree, same_person},
    value::{Bounds, POINTS_PER_SEED, Value},
};

/// How many moves a line of best play has at most: more than people follow.
const LINE_MAX: usize = 40;

/// How far from the value of the depth before the next one is looked for first, in points.
const ASPIRATION: i32 = 150;

/// What is wanted of the moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breadth {
    /// The best one and its value. Of the others it is enough that they are not better.
    Best,
    /// The value of each.
    Every,
}

/// A position whose moves are compared.
pub(crate) struct Root<'a, T: Tree> {
    pub search: Search<'a, T>,
    position: T::Position,
    children: Children<T::Position>,
    /// What the last finished depth has found of each child, as the person sees it who is to move.
    values: Vec<Value>,
    /// That depth.
    pub depth: u8,
}

/// A move of the position, and what was found of it.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub value: Value,
    /// The move, and best play after it.
    pub line: Vec<Move>,
}

impl<'a, T: Tree> Root<'a, T> {
    /// A position that is not over.
    pub fn new(mut search: Search<'a, T>, position: T::Position) -> Self {
        let mut children = search.children(&position, Slot::NONE, DEPTH_MAX);
        children.sort_by_key(Child::rank);
        let estimate = |child: &Child<T::Position>| {
            let points = search.tree.estimate(&child.position);
            let points = if child.same_person { points } else { -points };
            Value { points: child.bounds.clamp(points), bounds: child.bounds }
        };
        let values = children.iter().map(estimate).collect();
        search.tree.enter(&position);
        Self { search, position, children, values, depth: 0 }
    }

    /// Looks deeper and deeper, until all that is wanted is proven, or `depth_max` is reached, or the search stops.
    pub fn deepen(&mut self, depth_max: u8, breadth: Breadth) {
        for depth in 1..=depth_max.min(DEPTH_MAX) {
            if self.is_proven(breadth) {
                return;
            }
            let Some(values) = self.values_at(depth, breadth) else { return };
            self.values = values;
            self.depth = depth;
            self.sort();
        }
    }

    /// Whether all that is wanted is exact.
    pub fn is_proven(&self, breadth: Breadth) -> bool {
        match breadth {
            Breadth::Best => self.bounds().is_exact(),
            Breadth::Every => self.children.iter().all(|child| child.bounds.is_exact()),
        }
    }

    /// Proven of the position.
    pub fn bounds(&self) -> Bounds {
        best_bounds(&self.children)
    }

    /// The best move.
    pub fn best(&self) -> Option<Move> {
        let turn = self.search.tree.turn(&self.position);
        self.children.first().map(|child| child.slot.to_move(turn))
    }

    /// The value of the position.
    pub fn value(&self) -> Value {
        let bounds = self.bounds();
        let points = self.values.iter().map(|value| value.points).max().unwrap_or(0);
        Value { points: bounds.clamp(points), bounds }
    }

    /// The moves, best first, as far as they are known.
    pub fn ranking(&mut self) -> Vec<Ranked> {
        self.sort();
        let ranked = |index: usize| {
            let (child, value) = (&self.children[index], self.values[index]);
            Value { points: child.bounds.clamp(value.points), bounds: child.bounds }
        };
        let ranked: Vec<_> = (0..self.children.len()).map(ranked).collect();
        (0..ranked.len()).map(|index| Ranked { value: ranked[index], line: self.line(index) }).collect()
    }

    /// Proves the exact value of each move, without estimates. `progress` is told after each question. Whether all are
    /// proven: not if the search stops, or where lines are longer than any depth.
    pub fn prove(&mut self, mut progress: impl FnMut(Progress)) -> bool {
        let moves = self.children.len();
        (0..moves).all(|moves_solved| {
            self.prove_child(moves_solved, |nodes| progress(Progress { moves_solved, moves, nodes }))
        })
    }

    /// The moves, and what is proven of them.
    pub fn proven(&self) -> impl Iterator<Item = (Move, Bounds)> {
        let turn = self.search.tree.turn(&self.position);
        self.children.iter().map(move |child| (child.slot.to_move(turn), child.bounds))
    }

    /// Narrows what is proven of a child until it is exact, by asking whether it is worth some margin or more: each
    /// answer takes that margin or the one below out of what is possible.
    fn prove_child(&mut self, index: usize, mut note: impl FnMut(u64)) -> bool {
        let mut guess = self.values[index].points / POINTS_PER_SEED;
        while !self.children[index].bounds.is_exact() {
            let child = &self.children[index];
            guess = guess.clamp(child.bounds.low + 1, child.bounds.high);
            let beta = guess * POINTS_PER_SEED;
            let window = Window { alpha: beta - 1, beta, depth: DEPTH_MAX, ply: 0 };
            let value = self.search.child_value(child, beta - 1, beta, window);
            if self.search.is_stopped {
                return false;
            }
            let bounds = child.bounds.and(value.bounds);
            if bounds.low < guess && bounds.high >= guess {
                return false;
            }
            guess = if bounds.low >= guess { bounds.low + 1 } else { bounds.high };
            self.children[index].bounds = bounds;
            note(self.search.nodes);
        }
        true
    }

    /// Finds the value of one move, with so many more positions to look at: by the depth that all moves were looked at, for only then can
    /// two estimates be compared; or, where the best move is proven and so there is nothing to compare, as far as it goes.
    pub fn settle(&mut self, m: Move, nodes: u64) {
        let turn = self.search.tree.turn(&self.position);
        let Some(index) = self.children.iter().position(|child| child.slot.to_move(turn) == m) else { return };
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

    /// What a depth has found; `None` if the search stopped before it was done.
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

    /// Best first; those that are alike stay as they are. What is proven to be best comes before what only looks as good.
    fn sort(&mut self) {
        let most = self.bounds().high;
        let mut both: Vec<_> = self.children.drain(..).zip(self.values.drain(..)).collect();
        both.sort_by_key(|(child, value)| (child.bounds.low < most, -child.bounds.clamp(value.points)));
        (self.children, self.values) = both.into_iter().unzip();
    }

    /// A move and what the table says is best play after it, as far as it is remembered.
    fn line(&mut self, index: usize) -> Vec<Move> {
        let child = &self.children[index];
        let mut line = vec![child.slot.to_move(self.search.tree.turn(&self.position))];
        let (mut position, mut key) = (child.position.clone(), child.key);
        let mut wanted = if child.same_person { child.bounds } else { child.bounds.turned() };
        let mut entered = 0;
        while line.len() < LINE_MAX {
            let Some(known) = self.search.table.find(key) else { break };
            let tree = &mut self.search.tree;
            if !tree.slots(&position).contains(&known.slot) {
                break;
            }
            let next = tree.play(&position, known.slot);
            let same_person = same_person(tree, &position, known.slot, &next);
            tree.enter(&position);
            entered += 1;
            key = tree.key(&next);
            wanted = if same_person { wanted } else { wanted.turned() };
            // On a proven line the next move must be proven as well: what was overwritten since may say another thing.
            if wanted.is_exact() && self.search.known_bounds(&next, key) != wanted {
                break;
            }
            line.push(known.slot.to_move(self.search.tree.turn(&position)));
            position = next;
        }
        for _ in 0..entered {
            self.search.tree.leave();
        }
        line
    }
}
