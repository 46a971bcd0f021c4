//! The search of a game in its packed form. Knows what the value of a position depends on, and no other rule.

use std::hash::{DefaultHasher, Hash, Hasher};

use arrayvec::ArrayVec;
use mancala_rules::{
    AnyPosition, HISTORY_MAX, Move, Pit, Side,
    packed::{Game, MOVES_MAX, Path, Pits, Position},
};

use crate::{
    child::Child,
    estimate::Weights,
    knowledge::{Knowledge, Unknown},
    known::Known,
    limits::PLIES_MAX,
    mix::mix,
    table::Key,
    tree::{MarginRange, Tree},
    value::Bounds,
};

/// A game in packed form, with the line of play to the current position of the search.
#[derive(Debug)]
pub(crate) struct Packed<G, E = Unknown> {
    game: G,
    pits: u8,
    depends_on: DependsOn,
    weights: Weights,
    /// See [`Known::extends`].
    extends: bool,
    endgames: E,
    path: Path,
    /// Whether a history of this length can drop positions during the search, so that keys are not sound.
    drops_history: bool,
    /// For each position of the path, where a history matters: the part of the next position's key that depends on it.
    lines: Vec<PackedLine>,
}

/// The state on which the rest of a game depends, beside the seeds in the pits and the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DependsOn {
    /// Nothing: the stores only add to the result.
    Pits,
    /// The stores, because one of them can end the game.
    Stores,
    /// The stores, and the positions since the last capture, because none may come too often.
    History,
}

/// The part of a line of play that keys depend on.
#[derive(Clone, Copy, Debug)]
struct PackedLine {
    /// Seeds in both stores: they change with every capture. `None` before the first position.
    banked: Option<u16>,
    /// A hash of the set of positions since the last capture, this one included.
    positions: u64,
}

/// With at most so many seeds in pits, the key of a position includes the positions before it. So proofs for it can be
/// stored. With more, such lines are seldom searched to the end, and one entry for a position by several lines is more
/// useful.
const PROVABLE_SEEDS: u8 = 9;

impl<G: Game> Packed<G> {
    /// The game of a position. `path` is its history in packed form.
    pub fn new(game: G, of: &AnyPosition, depends_on: DependsOn, path: Path, known: &Known) -> Self {
        let history = of.history().filter(|history| !history.is_empty());
        let positions = history.map_or(0, |history| {
            let mut hasher = DefaultHasher::new();
            history.hash(&mut hasher);
            hasher.finish()
        });
        Self {
            game,
            pits: of.board().pits_per_side(),
            depends_on,
            weights: known.weights,
            extends: known.extends,
            endgames: Unknown,
            path,
            drops_history: history.is_some_and(|history| history.len() + usize::from(PLIES_MAX) > HISTORY_MAX),
            lines: vec![PackedLine { banked: None, positions }],
        }
    }

    /// The same game with knowledge of positions with few seeds.
    pub fn with_endgame<E: Knowledge>(self, endgame: E) -> Packed<G, E> {
        let Self { game, pits, depends_on, weights, extends, endgames: Unknown, path, drops_history, lines } = self;
        Packed { game, pits, depends_on, weights, extends, endgames: endgame, path, drops_history, lines }
    }
}

impl<G: Game, E: Knowledge> Packed<G, E> {
    /// The seeds of each pit, side by side, and of the store where it matters, in unary: as many zeros and a one. A
    /// leading one makes it unique. `None` if it does not fit in 63 bits.
    #[inline]
    fn unary(&self, position: &Position) -> Option<u64> {
        let turn = position.turn();
        let store = if self.depends_on == DependsOn::Pits { None } else { Some(position.store(turn)) };
        let rows = u32::from(position.row_total(turn)) + u32::from(position.row_total(!turn));
        let places = 2 * u32::from(self.pits) + u32::from(store.is_some());
        if rows + u32::from(store.unwrap_or(0)) + places + 1 > 63 {
            return None;
        }
        let mut tag = 1_u64;
        for mut row in position.rows() {
            for _ in 0..self.pits {
                tag = tag << ((row & 0xff) + 1) | 1;
                row >>= 8;
            }
        }
        Some(store.map_or(tag, |store| tag << (store + 1) | 1))
    }

    /// The tag and the place of a position with more seeds: two hashes.
    #[cold]
    fn hashes(&self, position: &Position) -> (u64, u64) {
        let turn = position.turn();
        let (mut tag, mut place) = (0, 1);
        for side in [turn, !turn] {
            let row = (0..self.pits).fold(0, |row, index| row << 8 | u64::from(position.seeds(Pit { side, index })));
            let store = if self.depends_on == DependsOn::Pits { 0 } else { position.store(side) };
            let half = row << 8 | u64::from(store);
            tag = mix(tag ^ half);
            place = mix(place ^ half.rotate_left(32));
        }
        (tag | Self::HASHED, place)
    }

    /// The bit that marks a tag as a hash; no unary tag has it.
    const HASHED: u64 = 1 << 63;

    /// The line of play to a position with so many seeds in the stores; `None` if no position before it can recur.
    #[inline]
    fn line_to(&self, banked: u16) -> Option<&PackedLine> {
        let line = self.lines.last().filter(|line| line.banked.is_none_or(|before| before == banked))?;
        (line.positions != 0).then_some(line)
    }

    /// Seeds in both stores.
    #[inline]
    fn banked(position: &Position) -> u16 {
        u16::from(position.store(Side::South)) + u16::from(position.store(Side::North))
    }
}

impl<G: Game, E: Knowledge> Tree for Packed<G, E> {
    const HAS_ENDGAMES: bool = E::ARE_KNOWN;

    const ORDERS_BY_ESTIMATES: bool = E::ORDERS_BY_ESTIMATES;

    const REDUCES_LATER_MOVES: bool = E::REDUCES_LATER_MOVES;

    const TABLE_DEPTH: u8 = E::TABLE_DEPTH;

    type Position = Position;
    /// The index of a pit.
    type Move = u8;
    type Moves = Pits;
    type Children = ArrayVec<Child<Position, u8>, MOVES_MAX>;

    #[inline]
    fn moves(&self, position: &Position) -> Pits {
        self.game.legal_pits(position)
    }

    #[inline]
    fn play(&self, position: &Position, pit: u8) -> Position {
        self.game.play(position, pit, &self.path)
    }

    fn to_move(index: u8, side: Side) -> Move {
        Move::Sow(Pit { side, index })
    }

    #[inline]
    fn nearness(pit: u8) -> i32 {
        pit.into()
    }

    #[inline]
    fn is_swap(_: u8) -> bool {
        false
    }

    #[inline]
    fn enter(&mut self, position: &Position) {
        if self.depends_on == DependsOn::History {
            let banked = Self::banked(position);
            let (tag, place) = self.unary(position).map_or_else(|| self.hashes(position), |tag| (tag, mix(tag)));
            let before = self.line_to(banked).map_or(0, |line| line.positions);
            // A sum, so that the order of the positions does not matter.
            let positions = before.wrapping_add(mix(tag ^ place.rotate_left(17) ^ of_turn(position)));
            self.lines.push(PackedLine { banked: Some(banked), positions });
            self.path.push(position);
        }
    }

    #[inline]
    fn leave(&mut self) {
        if self.depends_on == DependsOn::History {
            self.lines.pop();
            self.path.pop();
        }
    }

    #[inline]
    fn turn(&self, position: &Position) -> Side {
        position.turn()
    }

    #[inline]
    fn is_extra(&self, position: &Position) -> bool {
        self.extends && position.is_extra()
    }

    #[inline]
    fn margin_range(&self, position: &Position) -> MarginRange {
        let turn = position.turn();
        let margin = i32::from(position.store(turn)) - i32::from(position.store(!turn));
        let rows = || i32::from(position.row_total(turn)) + i32::from(position.row_total(!turn));
        MarginRange { margin, reach: if position.is_over() { 0 } else { rows() } }
    }

    #[inline]
    fn has_floor(&self) -> bool {
        self.extends
    }

    /// Plays the extra moves that are nearest to the store, one after the other, then each move that is left.
    fn floor(&self, position: &Position, wanted: i32) -> i32 {
        let turn = position.turn();
        let least = |after: &Position| {
            let bounds = self.margin_range(after).bounds();
            if after.turn() == turn { bounds.low } else { -bounds.high }
        };
        let mut low = least(position);
        let mut last = *position;
        while let Some(pit) = self.game.extra_pit(&last) {
            last = self.game.play(&last, pit, &self.path);
            low = low.max(least(&last));
            if low >= wanted || last.is_over() {
                return low;
            }
        }
        let moves = self.game.legal_pits(&last).map(|pit| least(&self.game.play(&last, pit, &self.path)));
        moves.fold(low, i32::max)
    }

    #[inline]
    fn has_endgame(&self, position: &Position) -> bool {
        !position.is_over() && !self.drops_history && self.endgames.covers(position)
    }

    #[inline]
    fn endgame(&self, position: &Position) -> Option<Bounds> {
        let gain = if self.has_endgame(position) { self.endgames.gain(position, &self.path) } else { None };
        Some(gain?.shifted(self.margin_range(position).margin))
    }

    fn endgame_by_strategy(&self, position: &Position) -> Option<Bounds> {
        let is_known = self.has_endgame(position);
        let gain = if is_known { self.endgames.gain_by_strategy(position, &self.path) } else { None };
        Some(gain?.shifted(self.margin_range(position).margin))
    }

    #[inline]
    fn key(&self, position: &Position) -> Key {
        let (tag, place) = self.unary(position).map_or_else(|| self.hashes(position), |tag| (tag, mix(tag)));
        if self.depends_on != DependsOn::History {
            return Key { tag, place, is_sound: true };
        }
        let Some(line) = self.line_to(Self::banked(position)) else { return Key { tag, place, is_sound: true } };
        if self.drops_history || position.row_total(Side::South) + position.row_total(Side::North) > PROVABLE_SEEDS {
            return Key { tag, place, is_sound: false };
        }
        let positions = line.positions ^ of_turn(position);
        let (tag, place) = (mix(tag ^ positions), mix(place ^ positions.rotate_left(32)));
        Key { tag: tag | Self::HASHED, place, is_sound: true }
    }

    #[inline]
    fn estimate(&self, position: &Position) -> i32 {
        let turn = position.turn();
        let row = |side| i32::from(position.row_total(side));
        self.weights.points(self.margin_range(position).margin, row(turn), row(!turn))
    }
}

/// Distinguishes the sides. A tag does not, because a position is worth as much to North as its mirror image is to
/// South. That holds only if the positions before it are mirrored as well.
fn of_turn(position: &Position) -> u64 {
    match position.turn() {
        Side::South => 0,
        Side::North => mix(1),
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::{engine::Engine, games::known, signal::Signal};
    use mancala_rules::{AnyOptions, Variant, packed::Kalah};

    #[test]
    fn a_floor_is_a_margin_that_is_reached() {
        let (mut engine, mut higher) = (Engine::new(1), 0);
        for (seed, (preset, overrides)) in
            [("standard", "pits=4;seeds=2"), ("empty_capture", "pits=3;seeds=3"), ("bga", "pits=3")]
                .into_iter()
                .cycle()
                .take(60)
                .enumerate()
        {
            let options = AnyOptions::parse(Variant::Kalah, preset, overrides).expect("the options are valid");
            let mut any = AnyPosition::opening(&options);
            for ply in 0..seed / 3 {
                let moves = any.legal_moves();
                let Some(&m) = moves.get(seed.wrapping_mul(31).wrapping_add(ply * 7) % moves.len().max(1)) else {
                    break;
                };
                any.play_unchecked(m);
            }
            let Some(solution) = engine.solve(&any, &Signal::new(), |_| {}) else { continue };
            let position = any.of_game().expect("the game is Kalah");
            let game = Kalah::new(position).expect("the board is small");
            let start = game.pack(position).expect("it is of this game");
            let tree = Packed::new(game, &any, DependsOn::Stores, Path::default(), known(Variant::Kalah));
            let value = if any.turn() == Side::South { solution.value } else { -solution.value };
            let floor = tree.floor(&start, i32::MAX);
            assert!(floor <= value, "{floor} in {any}, which is worth {value}");
            higher += i32::from(floor > tree.margin_range(&start).bounds().low);
        }
        assert!(higher > 10, "{higher} floors say more than the stores");
    }
}
