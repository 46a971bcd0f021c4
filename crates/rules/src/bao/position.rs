//! A position of Bao: its parts, and its text. `action` plays moves, `legal` finds the legal ones, and `game` joins them.

use std::fmt;

use super::{Options, Takasia, captures::is_working_house};
use crate::{
    Direction, EndReason, ParsePositionError, Pit, Side,
    four_row::{
        Board, SEEDS,
        frame::{End, Frame},
        required,
        setup::{Captures, Content, Flags, HOUSE, OpenChoice, Running},
    },
};

/// A position of Bao with its options.
///
/// ```
/// use mancala_rules::{Game, History, bao};
///
/// let opening = bao::Position::opening(bao::Preset::Standard.options());
/// let (position, _) = opening.play("FU".parse()?, &History::default())?;
/// assert_eq!(
///     position.to_string(),
///     "0,0,0,0,6n,0,3,1,1,0,0,0,0,0,0,0/0,0,0,0,6n,2,2,0,0,0,0,0,0,0,0,0 21-22 N - 1 1S",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub(super) options: Options,
    pub(super) frame: Frame,
    /// The mover may stop at its house or go on in this direction (R25).
    pub(super) choice: Option<Direction>,
}

impl Position {
    /// The seeds and marks of the board.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.frame.board
    }

    /// R22: the seeds and marks that a game with these options can have.
    pub(super) fn check_board(&self, flags: Flags) -> Result<(), ParsePositionError> {
        let board = &self.frame.board;
        if board.total() != SEEDS {
            return Err(ParsePositionError::SeedTotal { expected: SEEDS, found: board.total() });
        }
        let is_over = matches!(flags, Flags::Over(_));
        let max = self.options.reserve();
        if !is_over && Side::ALL.iter().any(|&side| board.reserve(side) > max) {
            return Err(ParsePositionError::Reserve { max });
        }
        if !self.options.has_house() && Side::ALL.iter().any(|&side| board.owns_house(side)) {
            return Err(ParsePositionError::Rule(required::HOUSE));
        }
        let Some(pit) = board.blocked() else { return Ok(()) };
        let row = match self.options.takasia {
            Takasia::Off => false,
            Takasia::Block => pit.side == self.frame.turn,
            Takasia::Take => true,
        };
        let is_second_stage = Side::ALL.iter().all(|&side| board.reserve(side) == 0);
        let is_choice = matches!(flags, Flags::Running(Running { choice: Some(_), .. }));
        let can_be = row && is_second_stage && pit.is_front() && board.seeds(pit) > 0 && !is_over && !is_choice;
        if can_be { Ok(()) } else { Err(ParsePositionError::Rule(required::BLOCKED)) }
    }

    /// R22: the flags that a running game of Bao can have.
    pub(super) fn read_choice(&self, flags: Running) -> Result<Option<Direction>, ParsePositionError> {
        let Running { arranging, choice, captures, captured, first_turns } = flags;
        let Captures { any, at_a, at_h } = captures;
        let foreign = [
            (arranging.is_some(), 's'),
            (any, 'c'),
            (at_a, 'x'),
            (at_h, 'y'),
            (captured.south, 'K'),
            (captured.north, 'k'),
            (first_turns.south, 'F'),
            (first_turns.north, 'f'),
        ];
        if let Some(&(_, flag)) = foreign.iter().find(|(is_up, _)| *is_up) {
            return Err(ParsePositionError::FlagByOptions { flag });
        }
        let board = &self.frame.board;
        match choice {
            None => Ok(None),
            Some(OpenChoice { pit, hand: None, direction: Some(direction) })
                if is_working_house(board, pit) && pit.facing().is_some_and(|facing| board.seeds(facing) == 0) =>
            {
                Ok(Some(direction))
            }
            Some(_) => Err(ParsePositionError::Rule(required::CHOICE)),
        }
    }

    /// R31, for a position that no move led to. The side to move is checked first.
    pub(super) fn end_if_over(&mut self) {
        let turn = self.frame.turn;
        let lost = [turn, !turn].into_iter().find(|&side| self.frame.board.front_is_empty(side));
        if let Some(side) = lost {
            self.frame.finish(EndReason::FrontEmpty, Some(!side), 0, &mut ());
        } else if !self.has_legal_move() {
            self.frame.finish(EndReason::NoMove, Some(!turn), 0, &mut ());
        } else if self.is_at_ply_limit() {
            self.frame.finish(EndReason::PlyLimit, None, 0, &mut ());
        }
        if self.frame.is_over() {
            self.choice = None;
        }
    }

    pub(super) fn is_at_ply_limit(&self) -> bool {
        self.frame.plies >= self.options.max_plies.into()
    }

    /// Whether the side to move is in its first stage (R24).
    pub(super) fn is_first_stage(&self) -> bool {
        self.frame.board.reserve(self.frame.turn) > 0
    }

    /// `E` of a side (R24).
    pub(super) fn house_of(side: Side) -> Pit {
        Pit::at(side, HOUSE)
    }

    /// The head in which a catch that is sown in this direction begins: `A` upward, `H` downward (R24).
    pub(super) fn kichwa(side: Side, direction: Direction) -> Pit {
        match direction {
            Direction::Up => Pit::at(side, 0),
            Direction::Down => Pit::at(side, 7),
        }
    }
}

/// The position text (R22).
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Frame { board, turn, plies, end } = self.frame;
        let flags = match end {
            Some(End { winner, .. }) => Flags::Over(winner),
            None => Flags::Running(Running {
                choice: self.choice.map(|direction| OpenChoice {
                    pit: Self::house_of(turn),
                    hand: None,
                    direction: Some(direction),
                }),
                ..Running::default()
            }),
        };
        Content { board, turn, flags, plies }.fmt(f)
    }
}
