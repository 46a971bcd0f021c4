//! A position of Bao: its parts, and its text. `action` plays moves, and `legal` finds the legal ones.

use std::fmt;

use super::{Options, Takasia, captures::is_working_house};
use crate::{
    EndReason, Outcome, Side,
    four_row::{
        Board, Direction, Effect, House, IllegalMove, Move, ParsePositionError, Pending, Pit,
        board::SEEDS,
        frame::{End, Frame},
        setup::{Captures, Flags, HOUSE, OpenChoice, Running, Setup},
    },
};

/// A position of Bao with its options.
///
/// ```
/// use mancala_rules::four_row::bao;
///
/// let opening = bao::Position::opening(bao::Preset::Standard.options());
/// let (position, _) = opening.play("FU".parse()?)?;
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
    /// The opening (R24).
    #[must_use]
    pub fn opening(options: Options) -> Self {
        let mut board = Board::default();
        for side in Side::ALL {
            for pit in Pit::all(side) {
                let seeds = match pit.index() {
                    _ if !options.has_house() => 2,
                    HOUSE => options.house_seeds.into(),
                    5 | 6 => 2,
                    _ => 0,
                };
                board.drop(pit, seeds);
            }
            board.set_reserve(side, options.reserve());
            board.set_house(side, options.has_house());
        }
        Self { options, frame: Frame::opening(board), choice: None }
    }

    /// The options of the game.
    #[must_use]
    pub const fn options(&self) -> Options {
        self.options
    }

    /// The seeds and marks of the board.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.frame.board
    }

    /// The house of a side; `None` if the options leave houses out (R24).
    #[must_use]
    pub fn house_of(&self, side: Side) -> Option<House> {
        let board = self.board();
        let house = match (board.owns_house(side), is_working_house(board, Self::house(side))) {
            (false, _) => House::Lost,
            (true, true) => House::Working,
            (true, false) => House::Idle,
        };
        self.options.has_house().then_some(house)
    }

    /// The side to move; once the game is over, the side that R31 names.
    #[must_use]
    pub const fn turn(&self) -> Side {
        self.frame.turn
    }

    /// How many actions were played so far.
    #[must_use]
    pub const fn plies(&self) -> u32 {
        self.frame.plies
    }

    /// The same position, as if no action had been played.
    pub(in crate::four_row) const fn without_plies(mut self) -> Self {
        self.frame.plies = 0;
        self
    }

    /// The result, once the game is over (R31).
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.frame.outcome()
    }

    /// The house at which the mover may stop or go on; the seeds lie in it (R25).
    #[must_use]
    pub fn pending(&self) -> Option<Pending> {
        self.choice.map(|_| Pending { pit: Self::house(self.frame.turn), hand: 0 })
    }

    /// Plays a move. Returns the position after it, and its effects in order.
    ///
    /// # Errors
    ///
    /// The move is not legal here.
    pub fn play(&self, m: Move) -> Result<(Self, Vec<Effect>), IllegalMove> {
        self.check(m)?;
        let (mut next, mut effects) = (*self, Vec::new());
        next.act(m, &mut effects);
        Ok((next, effects))
    }

    /// Plays a legal move in place. Any other move does not panic, but leaves a position that no game has.
    pub fn play_unchecked(&mut self, m: Move) {
        self.act(m, &mut ());
    }

    /// The position of a position text (R22), ended where the rules end it (R31).
    pub(in crate::four_row) fn from_setup(options: Options, setup: &Setup) -> Result<Self, ParsePositionError> {
        let &Setup { board, turn, flags, plies } = setup;
        let frame = Frame { board, turn, plies, end: None };
        let mut position = Self { options, frame, choice: None };
        position.check_board(flags)?;
        match flags {
            Flags::Over(winner) => position.frame.end = Some(End { winner, reason: None }),
            Flags::Running(flags) => {
                position.choice = position.read_choice(flags)?;
                position.end_if_over();
            }
        }
        Ok(position)
    }

    /// R22: the seeds and marks that a game with these options can have.
    fn check_board(&self, flags: Flags) -> Result<(), ParsePositionError> {
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
            return Err(ParsePositionError::House);
        }
        let Some(pit) = board.blocked() else { return Ok(()) };
        let row = match self.options.takasia {
            Takasia::Off => false,
            Takasia::Block => pit.side() == self.frame.turn,
            Takasia::Take => true,
        };
        let is_second_stage = Side::ALL.iter().all(|&side| board.reserve(side) == 0);
        let is_choice = matches!(flags, Flags::Running(Running { choice: Some(_), .. }));
        let can_be = row && is_second_stage && pit.is_front() && board.seeds(pit) > 0 && !is_over && !is_choice;
        if can_be { Ok(()) } else { Err(ParsePositionError::Blocked) }
    }

    /// R22: the flags that a running game of Bao can have.
    fn read_choice(&self, flags: Running) -> Result<Option<Direction>, ParsePositionError> {
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
            Some(_) => Err(ParsePositionError::Choice),
        }
    }

    /// R31, for a position that no move led to. The side to move is checked first.
    fn end_if_over(&mut self) {
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
    pub(super) const fn house(side: Side) -> Pit {
        Pit::at(side, HOUSE)
    }

    /// The head in which a catch that is sown in this direction begins: `A` upward, `H` downward (R24).
    pub(super) const fn kichwa(side: Side, direction: Direction) -> Pit {
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
                    pit: Self::house(turn),
                    hand: None,
                    direction: Some(direction),
                }),
                ..Running::default()
            }),
        };
        Setup { board, turn, flags, plies }.fmt(f)
    }
}
