//! Omweso as a game: what every game implements, by the parts of this folder.

use std::hash::{Hash, Hasher};

use super::{
    Options, Position, Setup as Start,
    position::{Choice, Phase},
    refusals,
};
use crate::{
    AnyBoard, BySide, Direction, Game, GameSpec, History, IllegalMove, Move, MoveList, Outcome, ParsePositionError,
    Pending, Pit, Side, Total,
    effect::EffectSink,
    four_row::{
        self, Board, SEEDS_PER_SIDE,
        frame::{End, Frame},
        setup::{Content, Flags},
    },
};

impl Game for Position {
    type Options = Options;

    const SPEC: GameSpec = GameSpec {
        title: "Omweso",
        aliases: &["Mweso", "Coro"],
        rules: include_str!("omweso.md"),
        rows_per_side: 2,
        is_drawn_from_the_right: true,
        refusals: &[four_row::refusals::ALL, refusals::ALL],
        ..GameSpec::PLAIN
    };

    /// The opening (R28).
    fn opening(options: Options) -> Self {
        let mut board = Board::default();
        for side in Side::ALL {
            match options.setup {
                Start::Outer => Pit::all(side).filter(|pit| !pit.is_front()).for_each(|pit| board.drop(pit, 4)),
                Start::Even => Pit::all(side).for_each(|pit| board.drop(pit, 2)),
                Start::Arrange => board.set_reserve(side, SEEDS_PER_SIDE),
            }
        }
        let phase = match options.setup {
            Start::Arrange => Phase::Arranging(Pit::at(Side::South, 0)),
            Start::Outer | Start::Even => Phase::Sowing,
        };
        let first_turns = if phase == Phase::Sowing { options.first_turns() } else { BySide::default() };
        Self { options, frame: Frame::opening(board), phase, captured: BySide::default(), first_turns }
    }

    /// The position of a position text (R22), ended where the rules end it (R31).
    fn parse(options: Options, text: &str, _: Total) -> Result<Self, ParsePositionError> {
        let Content { board, turn, flags, plies } = Content::of(text)?;
        let frame = Frame { board, turn, plies, end: None };
        let (phase, captured, first_turns) = (Phase::Sowing, BySide::default(), BySide::default());
        let mut position = Self { options, frame, phase, captured, first_turns };
        position.check_board(flags)?;
        match flags {
            Flags::Over(winner) => position.frame.end = Some(End { winner, reason: None }),
            Flags::Running(flags) => {
                position.read_flags(flags)?;
                position.end_if_over();
            }
        }
        Ok(position)
    }

    /// Without the plies.
    fn essence(&self) -> Self {
        Self { frame: Frame { plies: 0, ..self.frame }, ..*self }
    }

    fn hash_essence(&self, hasher: &mut impl Hasher) {
        let Frame { board, turn, .. } = self.frame;
        (board, turn, self.frame.is_over(), self.phase, self.captured, self.first_turns).hash(hasher);
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
        let is_legal = |m: &Move| self.check(*m).is_ok();
        match self.phase {
            Phase::Arranging(pit) => {
                // A reserve holds at most 32 seeds.
                let left = u8::try_from(self.frame.board.reserve(pit.side)).unwrap_or(u8::MAX);
                (0..=left).map(|seeds| Move::Place { pit, seeds }).filter(is_legal).collect()
            }
            Phase::Sowing | Phase::Choice(_) => self.words().filter(is_legal).collect(),
        }
    }

    /// Checks a move in the order of R32.
    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        match m {
            _ if self.frame.is_over() => Err(IllegalMove::GameOver),
            m => {
                self.frame.check_form(m)?;
                match m {
                    Move::Sow(pit) => self.check_sow(pit, None),
                    Move::SowTo { pit, direction } => self.check_sow(pit, Some(direction)),
                    Move::Place { pit, seeds } => self.check_place(pit, seeds.into()),
                    _ => Err(IllegalMove::WrongForm),
                }
            }
        }
    }

    /// The one implementation of a move.
    fn act(&mut self, m: Move, _: &History, effects: &mut impl EffectSink) {
        self.frame.count_ply();
        match (m, self.phase) {
            (Move::Place { seeds, .. }, Phase::Arranging(pit)) => self.arrange(pit, seeds.into(), effects),
            (Move::Sow(pit), Phase::Sowing | Phase::Choice(_)) if pit.side == self.frame.turn => {
                self.sow_out(pit, Direction::Up, effects);
            }
            (Move::SowTo { pit, direction }, Phase::Sowing | Phase::Choice(_)) if pit.side == self.frame.turn => {
                self.sow_out(pit, direction, effects);
            }
            // No such move is legal.
            _ => {}
        }
    }

    /// The pit from which the mover may continue in either direction, inside a turn (R30).
    fn pending(&self) -> Option<Pending> {
        match self.phase {
            Phase::Choice(Choice { pit, hand: Some(hand), .. }) => Some(Pending { pit, hand }),
            Phase::Choice(Choice { pit, hand: None, .. }) => Some(Pending { pit, hand: 0 }),
            Phase::Sowing | Phase::Arranging(_) => None,
        }
    }

    /// The next pit to be filled, while the side to move arranges its seeds (R28).
    fn arranging(&self) -> Option<Pit> {
        match self.phase {
            Phase::Arranging(pit) => Some(pit),
            Phase::Sowing | Phase::Choice(_) => None,
        }
    }
}
