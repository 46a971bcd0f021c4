//! The search itself: alpha-beta with a transposition table and null windows. Knows no game.
//!
//! Each position has two values. One is what looking ahead by so many plies has found, which may be an estimate. The
//! other is an interval that the true value is proven to lie in: it begins as what the seeds still in pits can change,
//! and follows from the intervals of the moves alone, never from an estimate. So a value is exact where that interval is
//! a single number, whatever was cut off, forgotten or guessed on the way.

use arrayvec::ArrayVec;
use mancala_rules::MOVES_MAX;

use crate::{
    limits::PLIES_MAX,
    signal::Signal,
    slot::Slot,
    table::{Key, Kind, Known, Table},
    tree::{Tree, same_person},
    value::{Bounds, POINTS_PER_SEED, Value},
};

/// After so many positions the search looks whether it is to stop: less than a millisecond where rules are fast.
const NODES_BETWEEN_LOOKS: u64 = 1024;

/// More than any value in points, and less than overflows when it is negated.
pub(crate) const INFINITE: i32 = i32::MAX / 2;

/// Is added to the order of a move that gives an extra move: more than any gain. Otherwise gains come first, and among
/// equal ones the pits next to the store, which leave the most for later moves. Solving Kalah takes ten times as long if
/// either is left out, or replaced by what is best on a shallower search or was best elsewhere.
const EXTRA_MOVE_FIRST: i32 = 1000;

/// From this depth on, what is remembered of all moves is looked up before one is searched: nearer to the leaves, waiting
/// for the memory takes longer than what it saves.
const LOOK_UP_DEPTH: u8 = 3;

/// A search under way.
pub(crate) struct Search<'a, T> {
    pub tree: T,
    pub table: &'a mut Table,
    stop: &'a Signal,
    /// Positions looked at so far.
    pub nodes: u64,
    nodes_max: u64,
    /// Whether it was told to stop or has looked at enough. What is returned from then on means nothing.
    pub is_stopped: bool,
}

/// How far to look, and for what: values of `alpha` and less are all alike, and so are those of `beta` and more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub alpha: i32,
    pub beta: i32,
    /// How many plies to look ahead.
    pub depth: u8,
    /// How many plies were looked ahead already.
    pub ply: u16,
}

impl Window {
    /// The window for a move that is played.
    const fn after_move(self, alpha: i32, beta: i32, same_person: bool) -> Self {
        let (alpha, beta) = if same_person { (alpha, beta) } else { (-beta, -alpha) };
        Self { alpha, beta, depth: self.depth.saturating_sub(1), ply: self.ply + 1 }
    }
}

/// A move, and the position after it.
#[derive(Clone, Debug)]
pub(crate) struct Child<P> {
    pub slot: Slot,
    pub position: P,
    pub key: Key,
    pub same_person: bool,
    /// Proven of the move, as the person sees it who plays it.
    pub bounds: Bounds,
    /// What is searched first has more.
    order: i32,
}

impl<P> Child<P> {
    /// What is searched first has less.
    pub const fn rank(&self) -> i32 {
        -self.order
    }
}

/// The moves of a position.
pub(crate) type Children<P> = ArrayVec<Child<P>, MOVES_MAX>;

impl<'a, T: Tree> Search<'a, T> {
    pub fn new(tree: T, table: &'a mut Table, stop: &'a Signal, nodes_max: u64) -> Self {
        Self { tree, table, stop, nodes: 0, nodes_max, is_stopped: false }
    }

    /// Lets a search that has looked at enough look at so many positions more.
    pub fn go_on(&mut self, nodes: u64) {
        self.nodes_max = self.nodes.saturating_add(nodes);
        self.is_stopped = self.is_told_to_stop();
    }

    /// Whether somebody has raised the flag.
    pub fn is_told_to_stop(&self) -> bool {
        self.stop.is_stop()
    }

    /// The value of a move, within a window as the person sees it who plays it.
    pub fn child_value(&mut self, child: &Child<T::Position>, alpha: i32, beta: i32, window: Window) -> Value {
        let window = window.after_move(alpha, beta, child.same_person);
        self.value(&child.position, child.key, window).seen(child.same_person)
    }

    /// The value of a position, as [`Kind`] tells by the window.
    fn value(&mut self, position: &T::Position, key: Key, mut window: Window) -> Value {
        self.count();
        let standing = self.tree.standing(position);
        let mut bounds = standing.bounds();
        let offset = standing.margin * POINTS_PER_SEED;
        if let Some(value) = decided(bounds, window) {
            return value;
        }
        if self.is_stopped {
            return Value { points: 0, bounds };
        }
        let known = self.table.find(key);
        if let Some(known) = known {
            if key.is_sound {
                bounds = bounds.and(known.bounds.shifted(standing.margin));
            }
            let points = bounds.clamp(known.estimate + offset);
            let fits = match known.kind {
                Kind::Exact => true,
                Kind::AtLeast => points >= window.beta,
                Kind::AtMost => points <= window.alpha,
            };
            if known.depth >= window.depth && fits {
                return Value { points, bounds };
            }
        }
        if let Some(value) = decided(bounds, window) {
            return value;
        }
        if window.depth == 0 {
            if window.ply >= PLIES_MAX || !self.tree.is_extra(position) {
                return Value { points: bounds.clamp(self.tree.estimate(position)), bounds };
            }
            window.depth = 1;
        }
        let nodes_before = self.nodes;
        let (value, slot) = self.best(position, bounds, window, known.map_or(Slot::NONE, |known| known.slot));
        if !self.is_stopped {
            let kind = match value.points {
                points if points >= window.beta => Kind::AtLeast,
                points if points <= window.alpha => Kind::AtMost,
                _ => Kind::Exact,
            };
            let proven = if key.is_sound { value.bounds } else { standing.bounds() };
            let known = Known {
                bounds: proven.shifted(-standing.margin),
                estimate: value.points - offset,
                kind,
                depth: window.depth,
                slot,
            };
            self.table.store(key, known, self.nodes - nodes_before);
        }
        value
    }

    /// The value of the best move and that move; none if no move is better than `alpha`.
    fn best(&mut self, position: &T::Position, bounds: Bounds, window: Window, first: Slot) -> (Value, Slot) {
        if window.depth == 1 {
            return self.best_by_estimate(position, bounds, window);
        }
        let mut children = self.children(position, first, window.depth);
        let before = bounds.and(best_bounds(&children));
        if let Some(value) = decided(before, window) {
            return (value, Slot::NONE);
        }
        children.sort_unstable_by_key(Child::rank);
        self.tree.enter(position);
        let (mut best, mut slot, mut alpha) = (-INFINITE, Slot::NONE, window.alpha);
        for index in 0..children.len() {
            let child = &children[index];
            let most = child.bounds.high * POINTS_PER_SEED;
            if index > 0 && most <= alpha {
                best = best.max(most);
                continue;
            }
            let mut value = if index == 0 {
                self.child_value(child, alpha, window.beta, window)
            } else {
                self.child_value(child, alpha, alpha + 1, window)
            };
            if index > 0 && value.points > alpha && value.points < window.beta && !self.is_stopped {
                value = self.child_value(child, alpha, window.beta, window);
            }
            if self.is_stopped {
                break;
            }
            children[index].bounds = children[index].bounds.and(value.bounds);
            best = best.max(value.points);
            if value.points > alpha {
                (alpha, slot) = (value.points, children[index].slot);
            }
            if alpha >= window.beta {
                break;
            }
        }
        self.tree.leave();
        let bounds = before.and(best_bounds(&children));
        (Value { points: bounds.clamp(best), bounds }, slot)
    }

    /// The same where the moves are not looked beyond, unless they give an extra move.
    fn best_by_estimate(&mut self, position: &T::Position, bounds: Bounds, window: Window) -> (Value, Slot) {
        let (mut best, mut slot, mut alpha) = (-INFINITE, Slot::NONE, window.alpha);
        let (mut low, mut high) = (bounds.low, -INFINITE);
        for next in self.tree.slots(position) {
            let after = self.tree.play(position, next);
            let same_person = same_person(&self.tree, position, next, &after);
            let value = if window.ply < PLIES_MAX && self.tree.is_extra(&after) {
                self.tree.enter(position);
                let key = self.tree.key(&after);
                let value = self.value(&after, key, window.after_move(alpha, window.beta, same_person));
                self.tree.leave();
                value
            } else {
                self.count();
                let bounds = self.tree.standing(&after).bounds();
                Value { points: bounds.clamp(self.tree.estimate(&after)), bounds }
            };
            let value = value.seen(same_person);
            (low, high) = (low.max(value.bounds.low), high.max(value.bounds.high));
            best = best.max(value.points);
            if value.points > alpha {
                (alpha, slot) = (value.points, next);
            }
            if alpha >= window.beta || self.is_stopped {
                high = bounds.high;
                break;
            }
        }
        let bounds = bounds.and(Bounds { low, high });
        (Value { points: bounds.clamp(best), bounds }, slot)
    }

    /// The moves of a position that is looked ahead from by so many plies, with what is proven of them already.
    pub fn children(&mut self, position: &T::Position, first: Slot, depth: u8) -> Children<T::Position> {
        let margin = self.tree.standing(position).margin;
        let slots = self.tree.slots(position);
        let played: ArrayVec<_, MOVES_MAX> =
            slots.into_iter().map(|slot| (slot, self.tree.play(position, slot))).collect();
        self.tree.enter(position);
        let mut children = Children::new();
        for (slot, after) in played {
            let same_person = same_person(&self.tree, position, slot, &after);
            let standing = self.tree.standing(&after);
            let key = self.tree.key(&after);
            let (gain, bounds) = if same_person {
                (standing.margin - margin, standing.bounds())
            } else {
                (-standing.margin - margin, standing.bounds().turned())
            };
            let extra = if same_person { EXTRA_MOVE_FIRST } else { 0 };
            let order = if slot == first { i32::MAX } else { extra + gain + i32::from(slot.0) };
            children.push(Child { slot, position: after, key, same_person, bounds, order });
        }
        self.tree.leave();
        if depth >= LOOK_UP_DEPTH {
            // In a loop of its own, so that the processor waits for the memory of all moves at once: half the time.
            for child in &mut children {
                let bounds = self.known_bounds(&child.position, child.key);
                child.bounds = if child.same_person { bounds } else { bounds.turned() };
            }
        }
        children
    }

    /// What is proven of a position so far, as the person sees it who is to move.
    pub fn known_bounds(&self, position: &T::Position, key: Key) -> Bounds {
        let standing = self.tree.standing(position);
        let known = self.table.find(key).filter(|_| key.is_sound && standing.reach > 0);
        let bounds = standing.bounds();
        known.map_or(bounds, |known| bounds.and(known.bounds.shifted(standing.margin)))
    }

    /// Counts a position, and looks now and then whether to stop.
    #[inline]
    fn count(&mut self) {
        self.nodes += 1;
        if self.nodes >= self.nodes_max
            || self.nodes.is_multiple_of(NODES_BETWEEN_LOOKS) && self.stop.is_stop_after_rest()
        {
            self.is_stopped = true;
        }
    }
}

/// What is proven of a position by what is proven of its moves.
pub(crate) fn best_bounds<P>(children: &[Child<P>]) -> Bounds {
    children.iter().fold(Bounds { low: -INFINITE, high: -INFINITE }, |best, child| Bounds {
        low: best.low.max(child.bounds.low),
        high: best.high.max(child.bounds.high),
    })
}

/// The value where what is proven is all that the window asks for.
fn decided(bounds: Bounds, window: Window) -> Option<Value> {
    let (least, most) = (bounds.low * POINTS_PER_SEED, bounds.high * POINTS_PER_SEED);
    if least >= window.beta || bounds.is_exact() {
        Some(Value { points: least, bounds })
    } else if most <= window.alpha {
        Some(Value { points: most, bounds })
    } else {
        None
    }
}
