//! The search itself: alpha-beta with a transposition table and null windows (principal variation search). Knows no
//! rule.
//!
//! Each position has two values. The first is the result of searching a number of plies ahead, which may be an estimate. The other is an
//! interval that the true value is proven to lie in. The interval begins as the change that the seeds in pits can still make. After that it
//! follows from the intervals of the moves alone, never from an estimate. So a value is exact where that interval is a single number,
//! whatever was cut off, evicted or estimated on the way.

use crate::{
    child::Child,
    limits::{DEPTH_MAX, PLIES_MAX},
    signal::Signal,
    table::{BoundKind, Entry, Key, MovePlace, Table},
    tree::{Tree, same_player},
    value::{Bounds, POINTS_PER_SEED, Value},
};

/// How many positions the search visits between two polls of its signal: less than a millisecond in packed form.
const NODES_BETWEEN_POLLS: u64 = 1024;

/// More than any value in points, and less than overflows when it is negated.
pub(crate) const INFINITE: i32 = i32::MAX / 2;

/// Added to the order of a move that gives an extra move: more than any gain. After those, moves are ordered by gain,
/// and among equal gains by nearness to the store, which leaves the most for later moves. Solving Kalah takes ten times
/// as long if either is left out. It also does if the best move of a shallower search or of another position replaces
/// one of them.
const EXTRA_MOVE_FIRST: i32 = 1000;

/// From this depth on, the table entries of all moves are looked up before a move is searched. Nearer to the leaves,
/// the memory access takes longer than it saves.
const LOOK_UP_DEPTH: u8 = 3;

/// From this depth on, a search that reduces later moves looks ahead by one ply less for the second move, and by two for others.
const REDUCED_DEPTH: u8 = 3;

/// How far the wanted margin may be from the least one, for a look at what the next moves bank. The distance is in
/// seeds, each of which counts twice. Where it is farther, they seldom suffice.
const FLOOR_REACH: i32 = 32;

/// A running search.
pub(crate) struct Search<'a, T> {
    pub tree: T,
    pub table: &'a mut Table,
    stop: &'a Signal,
    /// Positions visited so far.
    pub nodes: u64,
    nodes_max: u64,
    /// Whether the search counts the seeds that the next moves bank. A proof then takes fewer positions; a bounded search visits fewer,
    /// because each takes longer.
    banks: bool,
    /// Whether a stop was requested or `nodes_max` is reached. Values returned from then on are invalid.
    pub is_stopped: bool,
}

/// How deep to search, and for which values: those up to `alpha` are equivalent, and so are those from `beta` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub alpha: i32,
    pub beta: i32,
    /// How many plies to look ahead.
    pub depth: u8,
    /// How many plies the search is below the root.
    pub ply: u16,
}

impl Window {
    /// Every value, as deep as there is.
    pub const WIDEST: Self = Self { alpha: -INFINITE, beta: INFINITE, depth: DEPTH_MAX, ply: 0 };

    /// The window for the position after a move.
    const fn after_move(self, alpha: i32, beta: i32, same_player: bool) -> Self {
        let (alpha, beta) = if same_player { (alpha, beta) } else { (-beta, -alpha) };
        Self { alpha, beta, depth: self.depth.saturating_sub(1), ply: self.ply + 1 }
    }
}

impl<'a, T: Tree> Search<'a, T> {
    /// A search that visits at most `nodes_max` positions.
    pub fn new(tree: T, table: &'a mut Table, stop: &'a Signal, nodes_max: u64) -> Self {
        Self { tree, table, stop, nodes: 0, nodes_max, banks: false, is_stopped: false }
    }

    /// A search for a proof that visits at most `nodes_max` positions.
    pub fn proof(tree: T, table: &'a mut Table, stop: &'a Signal, nodes_max: u64) -> Self {
        let banks = tree.has_floor();
        Self { banks, ..Self::new(tree, table, stop, nodes_max) }
    }

    /// Lets a search that has reached its bound visit `nodes` more positions.
    pub fn go_on(&mut self, nodes: u64) {
        self.nodes_max = self.nodes.saturating_add(nodes);
        self.is_stopped = self.is_stop_requested();
    }

    /// How many positions the search may still visit.
    pub fn nodes_left(&self) -> u64 {
        self.nodes_max.saturating_sub(self.nodes)
    }

    /// Whether the signal requests a stop.
    pub fn is_stop_requested(&self) -> bool {
        self.stop.is_stop()
    }

    /// The value of a move, within a window from the view of the player who plays it.
    pub fn child_value(&mut self, child: &Child<T::Position, T::Move>, alpha: i32, beta: i32, window: Window) -> Value {
        let window = window.after_move(alpha, beta, child.same_player);
        self.value(&child.position, child.key, window).seen(child.same_player)
    }

    /// The value of a position: exact within the window, else a bound of it, as [`BoundKind`] defines.
    fn value(&mut self, position: &T::Position, key: Key, mut window: Window) -> Value {
        self.count();
        let margin_range = self.tree.margin_range(position);
        let mut bounds = margin_range.bounds();
        let offset = margin_range.margin * POINTS_PER_SEED;
        if let Some(value) = decided(bounds, window) {
            return value;
        }
        if self.is_stopped {
            return Value { points: 0, bounds };
        }
        if let Some(known) = self.endgame(position) {
            bounds = bounds.and(known);
            if let Some(value) = decided(bounds, window) {
                return value;
            }
        }
        let uses_table = window.depth >= T::TABLE_DEPTH;
        let entry = if uses_table { self.table.find(key) } else { None };
        if let Some(entry) = entry {
            if key.is_sound {
                bounds = bounds.and(entry.bounds.shifted(margin_range.margin));
            }
            let points = bounds.clamp(entry.estimate + offset);
            let fits = match entry.kind {
                BoundKind::Exact => true,
                BoundKind::AtLeast => points >= window.beta,
                BoundKind::AtMost => points <= window.alpha,
            };
            if entry.depth >= window.depth && fits {
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
        let first = entry.map_or(MovePlace::NONE, |entry| entry.best);
        let (value, best) = self.best(position, bounds, window, first);
        if !self.is_stopped && uses_table {
            let kind = match value.points {
                points if points >= window.beta => BoundKind::AtLeast,
                points if points <= window.alpha => BoundKind::AtMost,
                _ => BoundKind::Exact,
            };
            let proven = if key.is_sound { value.bounds } else { margin_range.bounds() };
            let entry = Entry {
                bounds: proven.shifted(-margin_range.margin),
                estimate: value.points - offset,
                kind,
                depth: window.depth,
                best,
            };
            self.table.store(key, entry, self.nodes - nodes_before);
        }
        value
    }

    /// The value of the best move and that move; none if no move is better than `alpha`.
    fn best(&mut self, position: &T::Position, bounds: Bounds, window: Window, first: MovePlace) -> (Value, MovePlace) {
        if window.depth == 1 {
            return self.best_by_estimate(position, bounds, window);
        }
        let mut children = self.children(position, first, window.depth);
        if self.banks || T::HAS_ENDGAMES {
            self.narrow(position, &mut children, window);
        }
        let before = bounds.and(best_bounds(&children));
        if let Some(value) = decided(before, window) {
            return (value, MovePlace::NONE);
        }
        children.sort_unstable_by_key(Child::rank);
        self.tree.enter(position);
        let (mut best, mut place, mut alpha) = (-INFINITE, MovePlace::NONE, window.alpha);
        for (index, child) in children.iter_mut().enumerate() {
            let most = child.bounds.high * POINTS_PER_SEED;
            if index > 0 && most <= alpha {
                best = best.max(most);
                continue;
            }
            let mut value = if index == 0 {
                self.child_value(child, alpha, window.beta, window)
            } else {
                self.later_value(child, index, alpha, window)
            };
            if index > 0 && value.points > alpha && value.points < window.beta && !self.is_stopped {
                value = self.child_value(child, alpha, window.beta, window);
            }
            if self.is_stopped {
                break;
            }
            child.bounds = child.bounds.and(value.bounds);
            best = best.max(value.points);
            if value.points > alpha {
                (alpha, place) = (value.points, child.place);
            }
            if alpha >= window.beta {
                break;
            }
        }
        self.tree.leave();
        let bounds = before.and(best_bounds(&children));
        (Value { points: bounds.clamp(best), bounds }, place)
    }

    /// Whether a move after the first is better than `alpha`. Where the order is good, later moves seldom are. So a
    /// search that is less deep comes first. Only a move that seems better is searched to the whole depth.
    fn later_value(&mut self, child: &Child<T::Position, T::Move>, index: usize, alpha: i32, window: Window) -> Value {
        if T::REDUCES_LATER_MOVES && window.depth >= REDUCED_DEPTH {
            let less = if index == 1 { 1 } else { 2 };
            let value = self.child_value(child, alpha, alpha + 1, Window { depth: window.depth - less, ..window });
            if value.points <= alpha || self.is_stopped {
                return value;
            }
        }
        self.child_value(child, alpha, alpha + 1, window)
    }

    /// The same by the estimates of the moves, without searching further unless a move gives an extra move.
    fn best_by_estimate(&mut self, position: &T::Position, bounds: Bounds, window: Window) -> (Value, MovePlace) {
        let (mut best, mut place, mut alpha) = (-INFINITE, MovePlace::NONE, window.alpha);
        let (mut low, mut high) = (bounds.low, -INFINITE);
        for (index, next) in self.tree.moves(position).into_iter().enumerate() {
            let after = self.tree.play(position, next);
            let same_player = same_player(&self.tree, position, next, &after);
            let value = if window.ply < PLIES_MAX && self.tree.is_extra(&after) {
                self.tree.enter(position);
                let key = self.tree.key(&after);
                let value = self.value(&after, key, window.after_move(alpha, window.beta, same_player));
                self.tree.leave();
                value
            } else {
                self.count();
                let bounds =
                    self.endgame_after(position, &after).unwrap_or_else(|| self.tree.margin_range(&after).bounds());
                Value { points: bounds.clamp(self.tree.estimate(&after)), bounds }
            };
            let value = value.seen(same_player);
            (low, high) = (low.max(value.bounds.low), high.max(value.bounds.high));
            best = best.max(value.points);
            if value.points > alpha {
                (alpha, place) = (value.points, MovePlace::of(index));
            }
            if alpha >= window.beta || self.is_stopped {
                high = bounds.high;
                break;
            }
        }
        let bounds = bounds.and(Bounds { low, high });
        (Value { points: bounds.clamp(best), bounds }, place)
    }

    /// The moves of a position that is searched to a depth, with their proven bounds so far.
    #[inline(never)]
    pub fn children(&mut self, position: &T::Position, first: MovePlace, depth: u8) -> T::Children {
        let margin = self.tree.margin_range(position).margin;
        let child = |(index, m)| {
            let place = MovePlace::of(index);
            let after = self.tree.play(position, m);
            let same_player = same_player(&self.tree, position, m, &after);
            let margin_range = self.tree.margin_range(&after);
            let (gain, bounds) = if same_player {
                (margin_range.margin - margin, margin_range.bounds())
            } else {
                (-margin_range.margin - margin, margin_range.bounds().turned())
            };
            let extra = if same_player { EXTRA_MOVE_FIRST } else { 0 };
            let order =
                if place == first && first != MovePlace::NONE { i32::MAX } else { extra + gain + T::nearness(m) };
            Child { m, place, position: after, key: Key::default(), same_player, bounds, order }
        };
        let moves = self.tree.moves(position).into_iter();
        let mut children: T::Children = moves.enumerate().map(child).collect();
        if depth > T::TABLE_DEPTH {
            self.tree.enter(position);
            for child in children.iter_mut() {
                child.key = self.tree.key(&child.position);
            }
            self.tree.leave();
        }
        if depth >= LOOK_UP_DEPTH {
            // In a loop of its own, so that the memory accesses of all moves overlap, which halves the time.
            for child in children.iter_mut() {
                let range = self.tree.margin_range(&child.position);
                let entry = self.table.find(child.key).filter(|_| range.reach > 0);
                let bounds = range.bounds();
                let proven = entry
                    .filter(|_| child.key.is_sound)
                    .map_or(bounds, |entry| bounds.and(entry.bounds.shifted(range.margin)));
                child.bounds = if child.same_player { proven } else { proven.turned() };
                if T::ORDERS_BY_ESTIMATES && child.order != i32::MAX {
                    // The value of the move at a lower depth, or else the estimate after it.
                    let found = entry.map(|entry| entry.estimate + range.margin * POINTS_PER_SEED);
                    let points = found.unwrap_or_else(|| self.tree.estimate(&child.position));
                    child.order = (if child.same_player { points } else { -points }) + T::nearness(child.m);
                }
            }
        }
        children
    }

    /// Narrows the proven bounds of moves by those of a table. Also narrows them by what the player to move after each
    /// has for certain, where that can decide the move for the window. In a function of its own, as most searches never
    /// call it.
    #[inline(never)]
    fn narrow(&mut self, position: &T::Position, children: &mut [Child<T::Position, T::Move>], window: Window) {
        for child in children.iter_mut().filter(|child| !child.bounds.is_exact()) {
            let seen = |bounds: Bounds| if child.same_player { bounds } else { bounds.turned() };
            if let Some(known) = self.endgame_after(position, &child.position) {
                child.bounds = child.bounds.and(seen(known));
                continue;
            }
            if !self.banks {
                continue;
            }
            let (bounds, beta) =
                (seen(child.bounds), window.after_move(window.alpha, window.beta, child.same_player).beta);
            let wanted = beta.div_euclid(POINTS_PER_SEED) + i32::from(beta.rem_euclid(POINTS_PER_SEED) > 0);
            if bounds.low < wanted && bounds.high >= wanted && wanted - bounds.low <= FLOOR_REACH {
                let low = self.tree.floor(&child.position, wanted).max(bounds.low);
                child.bounds = seen(Bounds { low, ..bounds });
            }
        }
    }

    /// The proven bounds of a position that are known without a search. The position before it must have been entered.
    #[inline]
    pub fn endgame(&self, position: &T::Position) -> Option<Bounds> {
        if T::HAS_ENDGAMES { self.tree.endgame(position) } else { None }
    }

    /// The proven bounds of a position after a move of this one, which has not been entered.
    #[inline]
    pub fn endgame_after(&mut self, before: &T::Position, position: &T::Position) -> Option<Bounds> {
        if !T::HAS_ENDGAMES || !self.tree.has_endgame(position) {
            return None;
        }
        self.tree.enter(before);
        let known = self.tree.endgame(position);
        self.tree.leave();
        known
    }

    /// The proven bounds of a position so far, from the view of the player to move.
    pub fn proven_bounds(&self, position: &T::Position, key: Key) -> Bounds {
        let margin_range = self.tree.margin_range(position);
        let entry = self.table.find(key).filter(|_| key.is_sound && margin_range.reach > 0);
        let bounds = margin_range.bounds();
        entry.map_or(bounds, |entry| bounds.and(entry.bounds.shifted(margin_range.margin)))
    }

    /// The same, with those that are known without a search.
    pub fn known_bounds(&self, position: &T::Position, key: Key) -> Bounds {
        let bounds = self.proven_bounds(position, key);
        self.endgame(position).map_or(bounds, |known| bounds.and(known))
    }

    /// Counts a position, and polls the signal every [`NODES_BETWEEN_POLLS`] positions.
    #[inline]
    fn count(&mut self) {
        self.nodes += 1;
        if self.nodes >= self.nodes_max
            || self.nodes.is_multiple_of(NODES_BETWEEN_POLLS) && self.stop.is_stop_after_rest()
        {
            self.is_stopped = true;
        }
    }
}

/// The proven bounds of a position, by those of its moves.
pub(crate) fn best_bounds<P, M>(children: &[Child<P, M>]) -> Bounds {
    children.iter().fold(Bounds { low: -INFINITE, high: -INFINITE }, |best, child| Bounds {
        low: best.low.max(child.bounds.low),
        high: best.high.max(child.bounds.high),
    })
}

/// The value, where the proven bounds already decide it for the window.
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
