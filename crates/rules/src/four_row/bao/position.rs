//! A position of Bao: its parts, and its text. `action` plays moves, and `legal` finds the legal ones.

use std::fmt;

use super::{Endless, Options, Takasia, action::Rest, captures::is_working_house, legal::Words};
use crate::{
    AnyBoard, Direction, Effect, EndReason, Game, GameSpec, History, House, IllegalMove, Move, MoveList, Outcome,
    ParsePositionError, Pending, Pit, Side,
    effect::EffectSink,
    four_row::{
        Board, ParsePositionError as Refused,
        board::SEEDS,
        frame::{End, Frame},
        pit::RingPit,
        refusals,
        setup::{Captures, Flags, HOUSE, OpenChoice, Running, Setup},
    },
};

/// A position of Bao with its options.
///
/// ```
/// use mancala_rules::{Game, History, four_row::bao};
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
    fn check_board(&self, flags: Flags) -> Result<(), ParsePositionError> {
        let board = &self.frame.board;
        if board.total() != SEEDS {
            return Err(ParsePositionError::SeedTotal { expected: SEEDS, found: board.total() });
        }
        let is_over = matches!(flags, Flags::Over(_));
        let max = self.options.reserve();
        if !is_over && Side::ALL.iter().any(|&side| board.reserve(side) > max) {
            return Err(Refused::Reserve { max }.into());
        }
        if !self.options.has_house() && Side::ALL.iter().any(|&side| board.owns_house(side)) {
            return Err(Refused::House.into());
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
        if can_be { Ok(()) } else { Err(Refused::Blocked.into()) }
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
            Some(_) => Err(Refused::Choice.into()),
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

impl Game for Position {
    type Options = Options;

    const SPEC: GameSpec = GameSpec {
        title: "Bao",
        aliases: &["Bao la Kiswahili", "Bawo"],
        rules: include_str!("bao.md"),
        rows_per_side: 2,
        refusals: refusals::ALL,
        can_block: true,
        ..GameSpec::TWO_ROWS
    };

    /// The opening (R24).
    fn opening(options: Options) -> Self {
        let mut board = Board::default();
        for side in Side::ALL {
            for pit in Pit::all(side) {
                let seeds = match pit.index {
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

    /// The position of a position text (R22), ended where the rules end it (R31).
    fn parse(options: Options, text: &str) -> Result<Self, ParsePositionError> {
        let Setup { board, turn, flags, plies } = Setup::of(text)?;
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

    /// Without the plies.
    fn essence(&self) -> Self {
        Self { frame: Frame { plies: 0, ..self.frame }, ..*self }
    }

    fn options(&self) -> Options {
        self.options
    }

    fn plies_max(&self) -> Option<u32> {
        Some(self.options.max_plies.into())
    }

    fn any_board(&self) -> AnyBoard {
        AnyBoard::FourRow(self.frame.board)
    }

    fn turn(&self) -> Side {
        self.frame.turn
    }

    fn plies(&self) -> u32 {
        self.frame.plies
    }

    fn outcome(&self) -> Option<Outcome> {
        self.frame.outcome()
    }

    /// The legal moves, in order (R21).
    fn legal_moves(&self) -> MoveList {
        let mut moves: MoveList = self.legal_words().map(|(pit, direction)| Move::SowTo { pit, direction }).collect();
        if self.choice.is_some() && !self.frame.is_over() {
            moves.push(Move::Pass);
        }
        moves
    }

    /// Checks a move in the order of R32.
    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        match m {
            _ if self.frame.is_over() => Err(IllegalMove::GameOver),
            Move::Pass if self.choice.is_some() => Ok(()),
            m => {
                self.frame.check_form(m)?;
                let Move::SowTo { pit, direction } = m else { return Err(IllegalMove::WrongForm) };
                Words::of(self).refusal(pit, direction).map_or(Ok(()), Err)
            }
        }
    }

    /// The one implementation of a move.
    fn act(&mut self, m: Move, _: &History, effects: &mut impl EffectSink) {
        self.frame.count_ply();
        let rest = self.sow(m, effects);
        let mover = self.frame.turn;
        match rest {
            Rest::Turn { may_block } => self.pass_turn(may_block, effects),
            Rest::Choice(direction) => {
                effects.record(Effect::ExtraTurn);
                if self.is_at_ply_limit() {
                    self.frame.finish(EndReason::PlyLimit, None, 0, effects);
                } else {
                    self.choice = Some(direction);
                }
            }
            Rest::Won { hand } => self.frame.finish(EndReason::FrontEmpty, Some(mover), hand, effects),
            Rest::Endless => {
                let winner = (self.options.endless == Endless::Lose).then_some(!mover);
                self.frame.finish(EndReason::EndlessMove, winner, 0, effects);
            }
        }
    }

    /// The house at which the mover may stop or go on; the seeds lie in it (R25).
    fn pending(&self) -> Option<Pending> {
        self.choice.map(|_| Pending { pit: Self::house_of(self.frame.turn), hand: 0 })
    }

    /// The house of a side; `None` if the options leave houses out (R24).
    fn house(&self, side: Side) -> Option<House> {
        let board = self.board();
        let house = match (board.owns_house(side), is_working_house(board, Self::house_of(side))) {
            (false, _) => House::Lost,
            (true, true) => House::Working,
            (true, false) => House::Idle,
        };
        self.options.has_house().then_some(house)
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
        Setup { board, turn, flags, plies }.fmt(f)
    }
}
