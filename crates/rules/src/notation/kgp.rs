//! Boards and moves of the Kalah Game Protocol (KGP), by which programs that play Kalah talk to a server.
//!
//! A board is `<n,s,n,…>`: pits a side, the stores of South and North, South's row, North's row, both in the order of
//! sowing. The side to move is always South: whoever is asked for a move sees the board from there. Moves are numbers
//! from 1. The protocol leaves the rules to the server; those of its own server are near to `kalah/standard` with
//! `majority_end=true;majority_remaining=sweep`.

use std::fmt::Write;

use super::{
    ParseBoardError,
    board_text::{BoardProblem, BoardText, Counts},
};
use crate::{AnyOptions, AnyPosition, Move, PITS_MAX, Pit, Side};

/// Reads a board. South is to move, and nothing came before.
///
/// ```
/// use mancala_rules::{AnyOptions, Variant, notation::kgp};
///
/// let options = AnyOptions::parse(Variant::Kalah, "standard", "pits=3;seeds=3")?;
/// let position = kgp::read_board(&options, "<3,1,3,0,4,4,4,1,1>")?;
/// assert_eq!(position.to_string(), "0,4,4/4,1,1 1-3 S - 0 1S");
///
/// let refused = kgp::read_board(&options, "<3,1,3,0,4,4,4,1>").unwrap_err();
/// assert_eq!(refused.to_string(), "column 17: expected a comma and more seeds");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Another form, or a board that these options do not have: another number of pits or of seeds, or not of Kalah.
pub fn read_board(options: &AnyOptions, text: &str) -> Result<AnyPosition, ParseBoardError> {
    let mut board = BoardText::new(text);
    if !matches!(options, AnyOptions::Kalah(_)) {
        return Err(board.error(BoardProblem::OtherGame("Kalah")));
    }
    let expected = AnyPosition::opening(options).board().pits_per_side();
    board.mark('<', "`<`")?;
    let wrong_pits = board.error(BoardProblem::Pits { expected });
    if board.seeds()? != u16::from(expected) {
        return Err(wrong_pits);
    }
    let mut next = || {
        board.mark(',', "a comma and more seeds")?;
        board.seeds()
    };
    let mut counts = Counts::default();
    for side in Side::ALL {
        counts.stores[side] = next()?;
    }
    for side in Side::ALL {
        for _ in 0..expected {
            counts.rows[side].push(next()?);
        }
    }
    board.mark('>', "`>`")?;
    board.end()?;
    counts.position(options, Side::South)
}

/// Writes a position of Kalah as the side to move sees it; of another game there is no such board. Nor is there one of a
/// position that would be read as another: with the game over though the rules would play on, or with another number of
/// seeds than the options have. Plies and the flags `e`, `p` and `w` are not written.
///
/// ```
/// use mancala_rules::{AnyOptions, AnyPosition, Variant, notation::kgp};
///
/// let options = AnyOptions::parse(Variant::Kalah, "standard", "pits=3;seeds=3")?;
/// let (position, _) = AnyPosition::opening(&options).play("B".parse()?)?;
/// assert_eq!(position.to_string(), "3,0,4/4,3,3 1-0 N - 1 1S");
/// assert_eq!(kgp::write_board(&position).as_deref(), Some("<3,0,1,4,3,3,3,0,4>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn write_board(position: &AnyPosition) -> Option<String> {
    if !matches!(position, AnyPosition::Kalah(_)) {
        return None;
    }
    let text = board_of(position);
    let read = read_board(&position.options(), &text).ok()?;
    let is_kept = board_of(&read) == text && read.outcome().is_some() == position.outcome().is_some();
    is_kept.then_some(text)
}

/// The board as the side to move sees it, and nothing else of a position.
fn board_of(position: &AnyPosition) -> String {
    let (board, mover) = (position.board(), position.turn());
    let mut text = format!("<{},{},{}", board.pits_per_side(), board.store(mover), board.store(!mover));
    for seeds in [mover, !mover].into_iter().flat_map(|side| board.pits(side)) {
        // Writing to a `String` cannot fail.
        let _ = write!(text, ",{seeds}");
    }
    text.push('>');
    text
}

/// Reads a move of `mover`: the number of a pit, from 1. Whether the board has it, and whether the move is legal, the
/// rules say.
///
/// ```
/// use mancala_rules::{Side, notation::kgp};
///
/// assert_eq!(kgp::read_move(Side::North, "3")?, "c".parse()?);
/// assert_eq!(kgp::write_move("c".parse()?).as_deref(), Some("3"));
/// assert_eq!(kgp::write_move("pass".parse()?), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Anything but a number from 1 to 12.
pub fn read_move(mover: Side, text: &str) -> Result<Move, ParseBoardError> {
    let mut source = BoardText::new(text);
    let unknown = source.error(BoardProblem::Expected("the number of a pit, from 1 to 12"));
    let number = source.seeds().map_err(|_| unknown)?;
    source.end()?;
    let index = number.checked_sub(1).and_then(|index| u8::try_from(index).ok());
    let index = index.filter(|&index| usize::from(index) < PITS_MAX).ok_or(unknown)?;
    Ok(Move::Sow(Pit { side: mover, index }))
}

/// Writes a move as the number of its pit, from 1; the protocol knows no other moves.
#[must_use]
pub fn write_move(m: Move) -> Option<String> {
    match m {
        Move::Sow(pit) => Some((u16::from(pit.index) + 1).to_string()),
        Move::Pass | Move::Swap | Move::Agree => None,
    }
}
