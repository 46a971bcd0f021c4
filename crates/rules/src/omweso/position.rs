//! A position of Omweso: its parts, and its text. `action` plays moves, `legal` finds the legal ones, and `game` joins them.

use std::fmt;

use super::{
    Options, Reverse, Setup as Start,
    captures::{captured, captures_downward, is_reverse_pit, lap_captures_downward},
};
use crate::{
    BySide, EndReason, Game, PITS_MAX, ParsePositionError, Pit, Side,
    effect::EffectSink,
    four_row::{
        Board, SEEDS, SEEDS_PER_SIDE,
        frame::{End, Frame},
        required,
        setup::{Captures, Content, Flags, OpenChoice, Running},
    },
};

/// A position of Omweso with its options.
///
/// ```
/// use mancala_rules::{Game, History, omweso};
///
/// let opening = omweso::Position::opening(omweso::Preset::Standard.options());
/// let (position, _) = opening.play("J".parse()?, &History::default())?;
/// assert_eq!(
///     position.to_string(),
///     "1,1,1,0,0,0,0,0,4,0,5,5,5,0,5,5/0,0,0,0,0,0,0,0,4,4,4,4,4,4,4,4 0-0 N - 1 1S",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub(super) options: Options,
    pub(super) frame: Frame,
    pub(super) phase: Phase,
    /// Whether each side has captured in some turn; only with `akakyala` (R31).
    pub(super) captured: BySide<bool>,
    /// Whether each side still has its first turn before it, in which it captures nothing. Used only without `first_turn_captures`, and
    /// once the seeds are arranged (R29).
    pub(super) first_turns: BySide<bool>,
}

/// The phase of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// The side begins a turn.
    Sowing,
    /// The side arranges its seeds; this is the next pit (R28).
    Arranging(Pit),
    /// The side is inside a turn (R30).
    Choice(Choice),
}

/// The seeds of a pit, or those in the hand, may be sown either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Choice {
    pub pit: Pit,
    /// Captured seeds; `None` if the seeds of the pit are sown.
    pub hand: Option<u16>,
    /// The captures of the turn.
    pub captures: Captures,
}

impl Position {
    /// The seeds.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.frame.board
    }

    /// R22: the seeds that a game with these options can have. Neither houses nor blocked pits are marked.
    pub(super) fn check_board(&self, flags: Flags) -> Result<(), ParsePositionError> {
        let board = &self.frame.board;
        if Side::ALL.iter().any(|&side| board.owns_house(side)) {
            return Err(ParsePositionError::Rule(required::HOUSE));
        }
        if board.blocked().is_some() {
            return Err(ParsePositionError::Rule(required::BLOCKED));
        }
        let (hand, is_over) = match flags {
            Flags::Running(Running { choice: Some(OpenChoice { hand: Some(hand), .. }), .. }) => (hand, false),
            Flags::Running(_) => (0, false),
            Flags::Over(_) => (0, true),
        };
        let found = board.total() + hand;
        if found != SEEDS {
            return Err(ParsePositionError::SeedTotal { expected: SEEDS, found });
        }
        let max = if self.options.setup == Start::Arrange { SEEDS_PER_SIDE } else { 0 };
        if !is_over && Side::ALL.iter().any(|&side| board.reserve(side) > max) {
            return Err(ParsePositionError::Reserve { max });
        }
        Ok(())
    }

    /// R22: the flags that a running game of Omweso can have.
    pub(super) fn read_flags(&mut self, flags: Running) -> Result<(), ParsePositionError> {
        let Running { arranging, choice, captures, captured, first_turns } = flags;
        let Options { akakyala, two_heads, first_turn_captures, .. } = self.options;
        let foreign = [
            (captures.any && !akakyala, 'c'),
            (captures.at_a && !two_heads, 'x'),
            (captures.at_h && !two_heads, 'y'),
            (captured.south && !akakyala, 'K'),
            (captured.north && !akakyala, 'k'),
            (first_turns.south && first_turn_captures, 'F'),
            (first_turns.north && first_turn_captures, 'f'),
        ];
        if let Some(&(_, flag)) = foreign.iter().find(|(is_refused, _)| *is_refused) {
            return Err(ParsePositionError::FlagByOptions { flag });
        }
        (self.captured, self.first_turns) = (captured, first_turns);
        // Nothing is captured before, and no choice is open. The side that does not move is never alone before its first turn.
        let are_alone = flags == Running { first_turns, ..Running::default() };
        if first_turns != BySide::default() && !(are_alone && self.is_in_first_turn()) {
            return Err(ParsePositionError::Rule(required::FIRST_TURN));
        }
        self.phase = match (arranging, choice) {
            (None, None) if captures == Captures::default() => Phase::Sowing,
            (Some(pit), None) if captures == Captures::default() && self.can_arrange(pit) => Phase::Arranging(pit),
            (None, Some(OpenChoice { pit, hand, direction: None })) => {
                let choice = Choice { pit, hand, captures };
                if !self.can_choose(choice) {
                    return Err(ParsePositionError::Rule(required::CHOICE));
                }
                Phase::Choice(choice)
            }
            (Some(_), _) => return Err(ParsePositionError::Rule(required::ARRANGING)),
            (None, _) => return Err(ParsePositionError::Rule(required::CHOICE)),
        };
        Ok(())
    }

    /// R22: whether the side to move can be at this pit while it arranges its seeds.
    fn can_arrange(&self, pit: Pit) -> bool {
        let board = &self.frame.board;
        let (side, other) = (pit.side, !pit.side);
        let others = match side {
            Side::South => SEEDS_PER_SIDE,
            Side::North => 0,
        };
        self.options.setup == Start::Arrange
            && usize::from(pit.index) + 1 < PITS_MAX
            && Pit::all(side).skip(pit.index.into()).all(|pit| board.seeds(pit) == 0)
            && board.score()[side] == SEEDS_PER_SIDE
            && board.reserve(side) > 0
            && board.reserve(other) == others
    }

    /// R22: whether a turn can stop at this choice.
    fn can_choose(&self, choice: Choice) -> bool {
        let Choice { pit, hand, captures } = choice;
        let board = self.frame.board;
        let Options { reverse, akakyala, .. } = self.options;
        let can_stop = match hand {
            Some(hand) => hand >= 2 && captures_downward(board, pit, hand),
            None => board.seeds(pit) >= 2 && captured(&board, pit).is_none() && lap_captures_downward(board, pit),
        };
        let has_captured = hand.is_some() || captures.at_a || captures.at_h;
        matches!(reverse, Reverse::Full | Reverse::Any)
            && is_reverse_pit(pit)
            && can_stop
            && (!captures.any || self.captured[pit.side])
            && (!akakyala || !has_captured || captures.any)
            && !(captures.at_a && captures.at_h)
    }

    /// R31, for a position that no move led to.
    pub(super) fn end_if_over(&mut self) {
        let turn = self.frame.turn;
        if self.phase == Phase::Sowing && !self.has_legal_sowing() {
            self.finish(EndReason::NoMove, Some(!turn), 0, &mut ());
        } else if self.is_at_ply_limit() {
            let hand = self.pending().map_or(0, |pending| pending.hand);
            self.finish(EndReason::PlyLimit, None, hand, &mut ());
        }
    }

    /// Ends the game, and resets the state that only a running game has.
    pub(super) fn finish(&mut self, reason: EndReason, winner: Option<Side>, hand: u16, effects: &mut impl EffectSink) {
        (self.phase, self.captured, self.first_turns) = (Phase::Sowing, BySide::default(), BySide::default());
        self.frame.finish(reason, winner, hand, effects);
    }

    /// Whether the side to move is in its first turn, and captures nothing in it (R29).
    pub(super) fn is_in_first_turn(&self) -> bool {
        self.first_turns[self.frame.turn]
    }

    pub(super) fn is_at_ply_limit(&self) -> bool {
        self.frame.plies >= self.options.max_plies.into()
    }
}

/// The position text (R22).
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Frame { board, turn, plies, end } = self.frame;
        let mut running = Running { captured: self.captured, first_turns: self.first_turns, ..Running::default() };
        match self.phase {
            Phase::Sowing => {}
            Phase::Arranging(pit) => running.arranging = Some(pit),
            Phase::Choice(Choice { pit, hand, captures }) => {
                running.choice = Some(OpenChoice { pit, hand, direction: None });
                running.captures = captures;
            }
        }
        let flags = end.map_or(Flags::Running(running), |End { winner, .. }| Flags::Over(winner));
        Content { board, turn, flags, plies }.fmt(f)
    }
}
