//! The search of a game in its general form, for games without a packed one. Knows what the value of a position depends
//! on, and no other rule.

use std::hash::{DefaultHasher, Hash, Hasher};

use mancala_rules::{AnyPosition, Line, Move, MoveList, PITS_MAX, Side};

use crate::{
    child::Child,
    estimate::Weights,
    limits::PLIES_MAX,
    mix::mix,
    table::Key,
    tree::{MarginRange, Tree},
    value::Bounds,
};

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

impl General {
    /// The game that a position belongs to.
    pub fn new(position: &AnyPosition, weights: Weights) -> Self {
        Self { weights, total: position.total().into(), plies_max: position.plies_max(), line: Line::to(position) }
    }

    /// The position that a search starts from.
    pub fn start(position: &AnyPosition) -> AnyPosition {
        position.afresh()
    }

    /// The margin by the stores alone, from the view of the side to move. With four rows there are none, and the winner
    /// has all seeds; so it has where points decide a match.
    fn margin(position: &AnyPosition) -> i32 {
        let (board, turn) = (position.board(), position.turn());
        let points_decide = || position.round().is_some_and(|round| round.points.is_some());
        match position.outcome() {
            Some(outcome) if !counts_seeds(position) || points_decide() => {
                let all = i32::from(position.total());
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
    fn row(position: &AnyPosition, side: Side) -> i32 {
        position.board().pits(side).iter().map(|&seeds| i32::from(seeds)).sum()
    }
}

impl Tree for General {
    /// Tables are made and read in packed form.
    const HAS_ENDGAMES: bool = false;

    const ORDERS_BY_ESTIMATES: bool = false;

    const REDUCES_LATER_MOVES: bool = false;

    const TABLE_DEPTH: u8 = 0;

    type Position = AnyPosition;
    type Move = Move;
    type Moves = MoveList;
    // On the heap: the stack would not hold those of a whole line.
    type Children = Vec<Child<AnyPosition, Move>>;

    fn moves(&self, position: &AnyPosition) -> MoveList {
        position.legal_moves()
    }

    fn play(&self, before: &AnyPosition, m: Move) -> AnyPosition {
        self.line.play(before, m)
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

    fn enter(&mut self, position: &AnyPosition) {
        self.line.enter(position);
    }

    fn leave(&mut self) {
        self.line.leave();
    }

    fn turn(&self, position: &AnyPosition) -> Side {
        position.turn()
    }

    /// Never extended here: this form is too slow to search far ahead.
    fn is_extra(&self, _: &AnyPosition) -> bool {
        false
    }

    /// Between the rounds of a match seeds go back into play, so that only the total bounds the margin.
    fn margin_range(&self, position: &AnyPosition) -> MarginRange {
        if position.outcome().is_some() {
            MarginRange { margin: Self::margin(position), reach: 0 }
        } else if !counts_seeds(position) || position.round().is_some() {
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

    fn floor(&self, position: &AnyPosition, _: i32) -> i32 {
        self.margin_range(position).bounds().low
    }

    fn has_endgame(&self, _: &AnyPosition) -> bool {
        false
    }

    fn endgame(&self, _: &AnyPosition) -> Option<Bounds> {
        None
    }

    fn endgame_by_strategy(&self, _: &AnyPosition) -> Option<Bounds> {
        None
    }

    /// Everything but the history, and but the ply number where no rule depends on it.
    fn key(&self, position: &AnyPosition) -> Key {
        let is_sound = !self.line.has_history(position);
        let [tag, place] = [0_u64, 1].map(|seed| {
            let mut hasher = DefaultHasher::new();
            (seed, self.late_ply(position)).hash(&mut hasher);
            position.hash_essence(&mut hasher);
            mix(hasher.finish())
        });
        Key { tag, place, is_sound }
    }

    fn estimate(&self, position: &AnyPosition) -> i32 {
        if !counts_seeds(position) {
            return self.weights.points_of_four_rows(position);
        }
        let turn = position.turn();
        self.weights.points(Self::margin(position), Self::row(position, turn), Self::row(position, !turn))
            + self.weights.points_of_tuzdyks(position)
    }
}

/// Whether seeds in stores decide, and not only who has won (R31).
fn counts_seeds(position: &AnyPosition) -> bool {
    position.variant().rows_per_side() == 1
}
