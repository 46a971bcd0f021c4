//! The search of a game in its general form, for games without a packed one. Knows what the value of a position depends
//! on, and no other rule.

use std::hash::{DefaultHasher, Hash, Hasher};

use mancala_rules::{AnyPosition, Line, Move, MoveList, OptionValue, PITS_MAX, Side, four_row};

use crate::{
    child::Child,
    estimate::Weights,
    limits::PLIES_MAX,
    mix::mix,
    table::Key,
    tree::{MarginRange, Tree},
    value::Bounds,
};

/// The value of a win in a game with four rows, in which seeds decide nothing: all seeds.
const ALL_SEEDS: i32 = four_row::SEEDS as i32;

/// Any game, through the types of the rules.
#[derive(Debug)]
pub(crate) struct General {
    weights: Weights,
    /// All seeds in the game.
    total: i32,
    /// The ply that ends the game with a draw; `None` in a game without that rule (R31).
    plies_max: Option<u32>,
    /// The positions before the one that is searched. They are no part of a position, which would copy them.
    line: Line,
}

/// A position, with state that its type does not expose.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    position: AnyPosition,
    /// Whether North may still swap, now or later.
    pie: bool,
}

impl General {
    /// The game that a position belongs to.
    pub fn new(position: &AnyPosition) -> Self {
        let options = position.options();
        let plies_max = options.values().into_iter().find_map(|(name, value)| match value {
            OptionValue::Integer(plies) if name == "max_plies" => u32::try_from(plies).ok(),
            _ => None,
        });
        Self { weights: Weights::of(&options), total: position.total().into(), plies_max, line: Line::to(position) }
    }

    /// The position that a search starts from.
    pub fn start(position: &AnyPosition) -> Position {
        // When South is to move, only the text notation says whether North may swap later: flag `p` of R12.
        let pie = position.to_string().split(' ').nth(3).is_some_and(|flags| flags.contains('p'));
        Position { position: position.afresh(), pie }
    }

    /// The margin by the stores alone, from the view of the side to move. With four rows there are none, and the winner
    /// has all seeds; so it has where points decide a match.
    fn margin(position: &Position) -> i32 {
        let (board, turn) = (position.position.board(), position.position.turn());
        match (&position.position, position.position.outcome()) {
            (AnyPosition::FourRow(_), Some(outcome)) => match outcome.winner {
                Some(side) if side == turn => ALL_SEEDS,
                Some(_) => -ALL_SEEDS,
                None => 0,
            },
            (any, Some(outcome)) if any.round().is_some_and(|round| round.points.is_some()) => {
                let all = i32::from(any.total());
                outcome.winner.map_or(0, |side| if side == turn { all } else { -all })
            }
            _ => i32::from(board.store(turn)) - i32::from(board.store(!turn)),
        }
    }

    /// The number of this position's ply, if the search may reach the ply that ends the game. Otherwise 0, so that positions that differ
    /// only in their ply share an entry.
    fn late_ply(&self, position: &AnyPosition) -> u32 {
        let plies = position.plies();
        self.plies_max.map_or(0, |max| if plies.saturating_add(PLIES_MAX.into()) >= max { plies } else { 0 })
    }

    /// Seeds in the pits of a side.
    fn row(position: &Position, side: Side) -> i32 {
        position.position.board().pits(side).iter().map(|&seeds| i32::from(seeds)).sum()
    }
}

impl Tree for General {
    /// Tables are made and read in packed form.
    const HAS_ENDGAMES: bool = false;

    const ORDERS_BY_ESTIMATES: bool = false;

    const REDUCES_LATER_MOVES: bool = false;

    const TABLE_DEPTH: u8 = 0;

    type Position = Position;
    type Move = Move;
    type Moves = MoveList;
    // On the heap: the stack would not hold those of a whole line.
    type Children = Vec<Child<Position, Move>>;

    fn moves(&self, position: &Position) -> MoveList {
        position.position.legal_moves()
    }

    fn play(&self, before: &Position, m: Move) -> Position {
        // North's first action ends its right to swap (R7).
        let pie = before.pie && before.position.turn() == Side::South;
        Position { position: self.line.play(&before.position, m), pie }
    }

    fn to_move(m: Move, _: Side) -> Move {
        m
    }

    /// The highest are moves without a pit, the lowest are declined captures.
    fn nearness(m: Move) -> i32 {
        match m {
            Move::Decline(_) => -1,
            _ => i32::try_from(m.pit().map_or(PITS_MAX, |pit| pit.index.into())).unwrap_or(0),
        }
    }

    fn is_swap(m: Move) -> bool {
        m == Move::Swap
    }

    fn enter(&mut self, position: &Position) {
        self.line.enter(&position.position);
    }

    fn leave(&mut self) {
        self.line.leave();
    }

    fn turn(&self, position: &Position) -> Side {
        position.position.turn()
    }

    /// Never extended here: this form is too slow to search far ahead.
    fn is_extra(&self, _: &Position) -> bool {
        false
    }

    /// Between the rounds of a match seeds go back into play, so that only the total bounds the margin.
    fn margin_range(&self, position: &Position) -> MarginRange {
        if position.position.outcome().is_some() {
            MarginRange { margin: Self::margin(position), reach: 0 }
        } else if matches!(position.position, AnyPosition::FourRow(_)) {
            MarginRange { margin: 0, reach: ALL_SEEDS }
        } else if position.position.round().is_some() {
            MarginRange { margin: 0, reach: self.total }
        } else {
            let reach = Side::ALL.into_iter().map(|side| Self::row(position, side)).sum();
            MarginRange { margin: Self::margin(position), reach }
        }
    }

    /// Never: this form is too slow to look ahead for it.
    fn has_floor(&self) -> bool {
        false
    }

    fn floor(&self, position: &Position, _: i32) -> i32 {
        self.margin_range(position).bounds().low
    }

    fn has_endgame(&self, _: &Position) -> bool {
        false
    }

    fn endgame(&self, _: &Position) -> Option<Bounds> {
        None
    }

    fn endgame_by_strategy(&self, _: &Position) -> Option<Bounds> {
        None
    }

    /// Everything but the history, and but the ply number where no rule depends on it.
    fn key(&self, position: &Position) -> Key {
        let Position { position, pie } = position;
        let is_sound = !self.line.has_history(position);
        let [tag, place] = if let AnyPosition::FourRow(four_row) = position {
            hashes((four_row.without_plies(), self.late_ply(position)))
        } else {
            let can_pass = position.legal_moves().contains(&Move::Pass);
            let phase = (position.round(), position.lockstep());
            hashes((position.board(), position.turn(), pie, can_pass, phase))
        };
        Key { tag, place, is_sound }
    }

    fn estimate(&self, position: &Position) -> i32 {
        if matches!(position.position, AnyPosition::FourRow(_)) {
            return self.weights.points_of_four_rows(&position.position);
        }
        let turn = position.position.turn();
        self.weights.points(Self::margin(position), Self::row(position, turn), Self::row(position, !turn))
            + self.weights.points_of_tuzdyks(&position.position)
    }
}

/// Two independent hashes of a value.
fn hashes(value: impl Hash) -> [u64; 2] {
    [0_u64, 1].map(|seed| {
        let mut hasher = DefaultHasher::new();
        (seed, &value).hash(&mut hasher);
        mix(hasher.finish())
    })
}
