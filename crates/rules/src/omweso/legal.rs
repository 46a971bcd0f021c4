//! Which words are legal in a position of Omweso (R28 to R30), and why others are not (R32).

use super::{
    Position, Reverse,
    captures::{is_reverse_pit, lap_captures_downward},
    position::Phase,
    refusals,
};
use crate::{Direction, Game, IllegalMove, Move, Pit, four_row::refusals as shared};

impl Position {
    /// Whether the side to move, which does not arrange, has a legal move.
    pub(super) fn has_legal_sowing(&self) -> bool {
        self.words().any(|m| self.check(m).is_ok())
    }

    /// The words of the side to move once it has arranged its seeds.
    pub(super) fn words(&self) -> impl Iterator<Item = Move> {
        // A turn begins in no other pit.
        let is_inside = matches!(self.phase, Phase::Choice(_));
        let can_begin = move |&pit: &Pit| is_inside || self.frame.board.seeds(pit) > 1;
        Pit::all(self.frame.turn)
            .filter(can_begin)
            .flat_map(|pit| [Move::Sow(pit), Move::SowTo { pit, direction: Direction::Down }])
    }

    /// R28: the next pit gets from nothing to all that is left.
    pub(super) fn check_place(&self, pit: Pit, seeds: u16) -> Result<(), IllegalMove> {
        let Phase::Arranging(next) = self.phase else { return Err(IllegalMove::WrongForm) };
        if pit != next {
            Err(IllegalMove::Rule(&refusals::OUT_OF_ORDER, None))
        } else if seeds > self.frame.board.reserve(pit.side) {
            Err(IllegalMove::Rule(&refusals::TOO_MANY, None))
        } else {
            Ok(())
        }
    }

    /// R29, R30. At a choice both ways are open, because the choice is only there where downward captures.
    pub(super) fn check_sow(&self, pit: Pit, direction: Option<Direction>) -> Result<(), IllegalMove> {
        if direction == Some(Direction::Up) || matches!(self.phase, Phase::Arranging(_)) {
            return Err(IllegalMove::WrongForm);
        }
        if let Phase::Choice(choice) = self.phase {
            return if choice.pit == pit { Ok(()) } else { Err(IllegalMove::Rule(&shared::MUST_CONTINUE, None)) };
        }
        let board = self.frame.board;
        match (board.seeds(pit), direction) {
            (0, _) => Err(IllegalMove::EmptyPit(pit)),
            (1, _) => Err(IllegalMove::Rule(&shared::SINGLE_SEED, None)),
            (_, None) => Ok(()),
            _ if self.options.reverse == Reverse::None || !is_reverse_pit(pit) => {
                Err(IllegalMove::Rule(&refusals::NO_REVERSE, None))
            }
            _ if self.is_in_first_turn() || !lap_captures_downward(board, pit) => {
                Err(IllegalMove::Rule(&refusals::REVERSE_NO_CAPTURE, None))
            }
            _ => Ok(()),
        }
    }
}
