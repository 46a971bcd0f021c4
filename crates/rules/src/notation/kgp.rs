//! Boards and moves of the Kalah Game Protocol (KGP), with which programs that play Kalah talk to a server. Knows no
//! message of the protocol but these.
//!
//! A board is `<n,s,n,…>`: pits a side, the stores of South and North, South's row, North's row, both in the order of
//! sowing. The side to move is always South, because the protocol shows the board from that side. Moves are numbers
//! from 1. The protocol leaves the rules to the server. The rules of its own server are close to `kalah/standard` with
//! `majority_end=true;majority_remaining=sweep`.

use std::fmt::Write;

use super::{
    ParseBoardError,
    board_text::{BoardProblem, BoardText, Counts},
};
use crate::{AnyOptions, AnyPosition, Move, Pit, ROW_MAX, Side, kalah};

/// Reads a board, with South to move and no plies played.
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
/// The text has another form, the options are not of Kalah, or they have another number of pits or seeds.
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

/// Writes a position of Kalah as the side to move sees it, without plies and the flags `e`, `p` and `w`.
///
/// `None` for another game, and for a position that would be read back as another one. That is a game that is over
/// where the rules play on, or a number of seeds other than that of the options.
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
    position.of_game::<kalah::Position>()?;
    let text = board_of(position);
    let read = read_board(&position.options(), &text).ok()?;
    let is_kept = board_of(&read) == text && read.outcome().is_some() == position.outcome().is_some();
    is_kept.then_some(text)
}

/// The board of a position as the side to move sees it.
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

/// Reads a move of `mover`: the number of a pit, from 1. It does not check whether the board has this pit or the move
/// is legal.
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
/// The text is not a number from 1 to 12.
pub fn read_move(mover: Side, text: &str) -> Result<Move, ParseBoardError> {
    let mut source = BoardText::new(text);
    let unknown = source.error(BoardProblem::Expected("the number of a pit, from 1 to 12"));
    let number = source.seeds().map_err(|_| unknown)?;
    source.end()?;
    let index = number.checked_sub(1).and_then(|index| u8::try_from(index).ok());
    let index = index.filter(|&index| usize::from(index) < ROW_MAX).ok_or(unknown)?;
    Ok(Move::Sow(Pit { side: mover, index }))
}

/// Writes a move as the number of its pit, from 1; `None` for other moves, which the protocol does not
/// have: a pass, a swap, and a sowing that declines its capture.
#[must_use]
pub fn write_move(m: Move) -> Option<String> {
    match m {
        Move::Sow(pit) => Some((u16::from(pit.index) + 1).to_string()),
        Move::Decline(_) | Move::SowTo { .. } | Move::Place { .. } | Move::Pass | Move::Swap | Move::Agree => None,
    }
}
