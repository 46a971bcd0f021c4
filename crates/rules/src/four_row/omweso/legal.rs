//! Which words are legal in a position of Omweso (R28 to R30), and why others are not (R32).

use super::{
    Position, Reverse,
    captures::{is_reverse_pit, lap_captures_downward},
    position::Phase,
};
use crate::four_row::{Direction, IllegalMove, Move, MoveList, Pit};

impl Position {
    /// The legal moves, in order (R21).
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        let is_legal = |m: &Move| self.check(*m).is_ok();
        match self.phase {
            Phase::Arranging(pit) => {
                // A reserve holds at most 32 seeds.
                let left = u8::try_from(self.frame.board.reserve(pit.side())).unwrap_or(u8::MAX);
                (0..=left).map(|seeds| Move::Place { pit, seeds }).filter(is_legal).collect()
            }
            Phase::Sowing | Phase::Choice(_) => self.words().filter(is_legal).collect(),
        }
    }

    /// Whether the side to move, which does not arrange, has a legal move.
    pub(super) fn has_legal_sowing(&self) -> bool {
        self.words().any(|m| self.check(m).is_ok())
    }

    /// Checks a move in the order of R32.
    pub(super) fn check(&self, m: Move) -> Result<(), IllegalMove> {
        match m {
            _ if self.frame.is_over() => Err(IllegalMove::GameOver),
            Move::Pass => Err(IllegalMove::NoPass),
            Move::Swap => Err(IllegalMove::NoSwap),
            Move::Agree => Err(IllegalMove::NoAgree),
            Move::Sow { pit, .. } | Move::Place { pit, .. } if pit.side() != self.frame.turn => {
                Err(IllegalMove::NotYourPit)
            }
            Move::Place { pit, seeds } => self.check_place(pit, seeds.into()),
            Move::Sow { pit, direction } => self.check_sow(pit, direction),
        }
    }

    /// The words of the side to move once it has arranged its seeds.
    fn words(&self) -> impl Iterator<Item = Move> {
        let ways = [None, Some(Direction::Down)];
        Pit::all(self.frame.turn).flat_map(move |pit| ways.map(|direction| Move::Sow { pit, direction }))
    }

    /// R28: the next pit gets from nothing to all that is left.
    fn check_place(&self, pit: Pit, seeds: u16) -> Result<(), IllegalMove> {
        let Phase::Arranging(next) = self.phase else { return Err(IllegalMove::WrongForm) };
        if pit != next {
            Err(IllegalMove::OutOfOrder)
        } else if seeds > self.frame.board.reserve(pit.side()) {
            Err(IllegalMove::TooMany)
        } else {
            Ok(())
        }
    }

    /// R29, R30. At a choice both ways are open, because the choice is only there where downward captures.
    fn check_sow(&self, pit: Pit, direction: Option<Direction>) -> Result<(), IllegalMove> {
        if direction == Some(Direction::Up) || matches!(self.phase, Phase::Arranging(_)) {
            return Err(IllegalMove::WrongForm);
        }
        if let Phase::Choice(choice) = self.phase {
            return if choice.pit == pit { Ok(()) } else { Err(IllegalMove::MustContinue) };
        }
        let board = self.frame.board;
        match (board.seeds(pit), direction) {
            (0, _) => Err(IllegalMove::EmptyPit),
            (1, _) => Err(IllegalMove::SingleSeed),
            (_, None) => Ok(()),
            _ if self.options.reverse == Reverse::None || !is_reverse_pit(pit) => Err(IllegalMove::NoReverse),
            _ if self.is_in_first_turn() || !lap_captures_downward(board, pit) => Err(IllegalMove::ReverseNoCapture),
            _ => Ok(()),
        }
    }
}
