//! Bao as a game: what every game implements, by the parts of this folder.

use std::hash::{Hash, Hasher};

use super::{Endless, Options, Position, action::Rest, captures::is_working_house, legal::Words, refusals};
use crate::{
    AnyBoard, Effect, EndReason, Game, GameSpec, History, House, IllegalMove, Move, MoveList, Outcome,
    ParsePositionError, Pending, Pit, Side, Total,
    effect::EffectSink,
    four_row::{
        self, Board,
        frame::{End, Frame},
        setup::{Content, Flags, HOUSE},
    },
};

impl Game for Position {
    type Options = Options;

    const SPEC: GameSpec = GameSpec {
        title: "Bao",
        aliases: &["Bao la Kiswahili", "Bawo"],
        rules: include_str!("bao.md"),
        rows_per_side: 2,
        refusals: &[four_row::refusals::ALL, refusals::ALL],
        can_block: true,
        ..GameSpec::PLAIN
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
    fn parse(options: Options, text: &str, _: Total) -> Result<Self, ParsePositionError> {
        let Content { board, turn, flags, plies } = Content::of(text)?;
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

    fn hash_essence(&self, hasher: &mut impl Hasher) {
        (self.frame.board, self.frame.turn, self.frame.is_over(), self.choice).hash(hasher);
    }

    fn options(&self) -> Options {
        self.options
    }

    fn blocked(&self) -> Option<Pit> {
        self.frame.board.blocked()
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
