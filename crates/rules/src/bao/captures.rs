//! Facts about a board of Bao that need no playing: working houses, captures of first laps, and the pit that takasia blocks. Knows no
//! position.

use super::Options;
use crate::{
    Direction, Pit, Side,
    four_row::{Board, setup::HOUSE},
};

/// The least number of seeds with which a house works (R24).
pub(super) const WORKING: u16 = 6;

/// Whether this pit is the house of its side, and still owned.
pub(super) fn is_house(board: &Board, pit: Pit) -> bool {
    pit.index == HOUSE && board.owns_house(pit.side)
}

/// Whether this pit is a house that is owned and holds enough seeds (R24).
pub(super) fn is_working_house(board: &Board, pit: Pit) -> bool {
    is_house(board, pit) && board.seeds(pit) >= WORKING
}

/// The pit across the board, if it holds seeds.
pub(super) fn facing_seeds(board: &Board, pit: Pit) -> Option<Pit> {
    pit.facing().filter(|&facing| board.seeds(facing) > 0)
}

/// The direction in which a catch at this pit must be sown; `None` where both are open (R24).
pub(super) const fn forced_direction(pit: Pit) -> Option<Direction> {
    match pit.index {
        0 | 1 => Some(Direction::Up),
        6 | 7 => Some(Direction::Down),
        _ => None,
    }
}

/// The most seeds with which a first lap can capture (R26).
const CAPTURING: u16 = 15;

/// The pit of the other side that the first lap out of a pit captures in the second stage (R26). So short a lap does not
/// come back to where it began, so each pit holds what it held before.
pub(super) fn first_capture(board: &Board, pit: Pit, direction: Direction) -> Option<Pit> {
    let seeds = board.seeds(pit);
    if !(2..=CAPTURING).contains(&seeds) {
        return None;
    }
    let last = pit.after(seeds, direction);
    if board.seeds(last) > 0 { facing_seeds(board, last) } else { None }
}

/// The captures of all words of a side in the second stage.
pub(super) fn first_captures(board: &Board, side: Side) -> impl Iterator<Item = Pit> {
    Pit::all(side).flat_map(move |pit| Direction::ALL.into_iter().filter_map(move |d| first_capture(board, pit, d)))
}

/// The pit that a takata of `mover` blocks, both reserves being empty and no pit being blocked (R27).
pub(super) fn pit_to_block(board: &Board, options: &Options, mover: Side) -> Option<Pit> {
    if first_captures(board, !mover).next().is_some() {
        return None;
    }
    let mut threatened = first_captures(board, mover);
    let pit = threatened.next()?;
    if threatened.any(|other| other != pit) {
        return None;
    }
    let others = Pit::front(!mover).filter(|&other| other != pit).map(|other| board.seeds(other));
    let most = others.max().unwrap_or(0);
    let seeds = board.seeds(pit);
    let spared =
        is_working_house(board, pit) || most == 0 || seeds >= 2 && most < 2 || seeds == 1 && !options.takasia_single;
    if spared { None } else { Some(pit) }
}
