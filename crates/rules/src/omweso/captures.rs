//! Facts about a board of Omweso that need no playing: the pits that a lap captures, and whether a downward lap does. Knows no position.

use crate::{Direction, Pit, four_row::Board};

/// The pits that a lap captures whose last seed has fallen in `last`, which held seeds before. They are the front pit
/// facing it and the back pit behind that, if both hold seeds (R29).
pub(super) fn captured(board: &Board, last: Pit) -> Option<[Pit; 2]> {
    let front = last.facing()?;
    let pits = [front, front.behind()];
    pits.iter().all(|&pit| board.seeds(pit) > 0).then_some(pits)
}

/// Whether a pit is one of the four left pits, out of which a lap may go downward (R30).
pub(super) const fn is_reverse_pit(pit: Pit) -> bool {
    matches!(pit.index, 6..=9)
}

/// Whether the last of these seeds captures if they are sown downward from a pit, with the board as it is (R30).
pub(super) fn captures_downward(mut board: Board, from: Pit, hand: u16) -> bool {
    let last = board.sow(from, Direction::Down, hand, &mut ());
    hand > 0 && board.seeds(last) > 1 && captured(&board, last).is_some()
}

/// Whether the last seed captures if all seeds of a pit are sown downward.
pub(super) fn lap_captures_downward(mut board: Board, pit: Pit) -> bool {
    let hand = board.lift(pit);
    captures_downward(board, pit, hand)
}
