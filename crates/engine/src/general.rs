//! The search of a game in its general form, for games without a packed one. Knows what the value of a position depends
//! on, and no other rule.

use std::hash::{DefaultHasher, Hash, Hasher};

use mancala_rules::{AnyPosition, History, Move, Side};

use crate::{
    estimate::Weights,
    mix::mix,
    slot::{Slot, Slots},
    table::Key,
    tree::{MarginRange, Tree},
};

/// Any game, through the types of the rules.
#[derive(Debug)]
pub(crate) struct General {
    weights: Weights,
    /// All seeds in the game.
    total: i32,
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
        Self { weights: Weights::of(&position.options()), total: position.board().total().into() }
    }

    /// The position that a search starts from.
    pub fn start(position: &AnyPosition) -> Position {
        // When South is to move, only the text notation says whether North may swap later: flag `p` of R12.
        let pie = position.to_string().split(' ').nth(3).is_some_and(|flags| flags.contains('p'));
        Position { position: position.clone(), pie }
    }

    /// The margin by the stores alone, from the view of the side to move.
    fn margin(position: &Position) -> i32 {
        let (board, turn) = (position.position.board(), position.position.turn());
        i32::from(board.store(turn)) - i32::from(board.store(!turn))
    }

    /// Seeds in the pits of a side.
    fn row(position: &Position, side: Side) -> i32 {
        position.position.board().pits(side).iter().map(|&seeds| i32::from(seeds)).sum()
    }
}

impl Tree for General {
    type Position = Position;

    fn slots(&self, position: &Position) -> Slots {
        position.position.legal_moves().into_iter().map(Slot::of).collect()
    }

    fn play(&self, before: &Position, slot: Slot) -> Position {
        let mut position = before.position.clone();
        let turn = position.turn();
        position.play_unchecked(slot.to_move(turn));
        // North's first action ends its right to swap (R7).
        Position { position, pie: before.pie && turn == Side::South }
    }

    /// The history is part of the position.
    fn enter(&mut self, _: &Position) {}

    fn leave(&mut self) {}

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
        } else if position.position.round().is_some() {
            MarginRange { margin: 0, reach: self.total }
        } else {
            let reach = Side::ALL.into_iter().map(|side| Self::row(position, side)).sum();
            MarginRange { margin: Self::margin(position), reach }
        }
    }

    /// Everything but the history, and but the ply number, on which no rule depends.
    fn key(&self, position: &Position) -> Key {
        let Position { position, pie } = position;
        let can_pass = position.legal_moves().contains(&Move::Pass);
        let round = position.round().map(|round| (round.number, round.opener));
        let is_sound = position.history().is_none_or(History::is_empty);
        let [tag, place] = [0_u64, 1].map(|seed| {
            let mut hasher = DefaultHasher::new();
            (seed, position.board(), position.turn(), pie, can_pass, round).hash(&mut hasher);
            mix(hasher.finish())
        });
        Key { tag, place, is_sound }
    }

    fn estimate(&self, position: &Position) -> i32 {
        let turn = position.position.turn();
        self.weights.points(Self::margin(position), Self::row(position, turn), Self::row(position, !turn))
    }
}
