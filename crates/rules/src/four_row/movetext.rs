//! A line of moves as turn words, such as `1. AUEU fv 2. DU- …` (R21). Knows how moves are written one after another and
//! plays them by the rules. Knows nothing of tags, names and options.

use std::fmt;

use super::{AnyPosition, IllegalMove, Move, MoveList, ParseMoveError, Pit, moves::parse_direction};
use crate::{
    Side,
    notation::{BYTE_ORDER_MARK, Location, RECORD_MOVES_MAX, RecordResult, TEXT_MAX},
};

/// Reads the moves of a game that goes on from `start`, without tags and with or without a result.
///
/// The reader skips numbers, counts of captured seeds and comments. Any blanks, or none, may separate moves; only a
/// number needs one before it, because `A7` is a move.
///
/// ```
/// use mancala_rules::four_row::{AnyOptions, AnyPosition, Variant, read_moves, write_moves};
///
/// let opening = AnyPosition::opening(&AnyOptions::parse(Variant::Bao, "standard", "")?);
/// let moves = read_moves(&opening, "1.FV{the usual}fu+1 2. DV")?;
/// assert_eq!(write_moves(&moves), "FV fu DV");
///
/// let refused = read_moves(&opening, "FV\nfu C").unwrap_err();
/// assert_eq!(refused.to_string(), "line 2, column 4: move 3 cannot be C: wrong_form; legal are DU, DV");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The first place that is not a part of a line of moves, or has an illegal move or a wrong result.
pub fn read_moves(start: &AnyPosition, text: &str) -> Result<Vec<Move>, ReadMovesError> {
    let mut line = Line { text, at: 0, moves: Vec::new(), last: *start, is_ended: false };
    let read = if text.len() > TEXT_MAX { Err(MovesProblem::TextTooLong) } else { line.read() };
    match read {
        Ok(()) => Ok(line.moves),
        Err(problem) => Err(ReadMovesError { location: Location::of(text, line.at), problem }),
    }
}

/// Writes moves as turn words, separated by blanks.
#[must_use]
pub fn write_moves(moves: &[Move]) -> String {
    let mut text = String::new();
    let mut previous = None;
    for &m in moves {
        if previous.is_some_and(|previous| !runs_on(previous, m)) {
            text.push(' ');
        }
        match m {
            Move::Sow { .. } | Move::Place { .. } => text.push_str(&m.to_string()),
            Move::Pass => text.push('-'),
            Move::Swap => text.push_str("><"),
            Move::Agree => text.push('='),
        }
        previous = Some(m);
    }
    text
}

/// Whether a move belongs to the same turn as the one before it: a side acts again only inside a turn, and a stop ends it.
fn runs_on(previous: Move, m: Move) -> bool {
    match (side(previous), side(m)) {
        (Some(before), Some(side)) => before == side,
        (Some(_), None) => m == Move::Pass,
        (None, _) => false,
    }
}

fn side(m: Move) -> Option<Side> {
    match m {
        Move::Sow { pit, .. } | Move::Place { pit, .. } => Some(pit.side()),
        Move::Pass | Move::Swap | Move::Agree => None,
    }
}

/// A text of moves that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {problem}")]
pub struct ReadMovesError {
    /// Where the problem is.
    pub location: Location,
    /// What the problem is.
    #[source]
    pub problem: MovesProblem,
}

/// What is wrong in a text of moves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MovesProblem {
    /// The text is longer than any game.
    #[error("a text of more than {TEXT_MAX} bytes is not read")]
    TextTooLong,
    /// A comment has no end.
    #[error("the comment that begins here has no closing `}}`")]
    UnclosedRemark,
    /// The rules forbid a move.
    #[error(transparent)]
    Illegal(Box<IllegalPly>),
    /// A number that follows a pit's letter is not one that a move can name.
    #[error(transparent)]
    Move(ParseMoveError),
    /// A number is neither the number of a turn nor a result.
    #[error("expected a dot after the number of a turn, or a result: 1-0, 0-1, 1/2-1/2 or *")]
    Number,
    /// A plus has no number.
    #[error("expected the number of captured seeds after `+`")]
    Captured,
    /// A character that has no meaning here.
    #[error("{0:?} is no move; expected a pit's letter, `-`, a number with a dot, a comment or the result")]
    Unexpected(char),
    /// The result is not that of the finished game.
    #[error("the result of this game is {0}")]
    Result(RecordResult),
    /// Text other than comments follows the result.
    #[error("nothing but comments may follow the result")]
    AfterResult,
    /// The text has too many moves.
    #[error("more than {RECORD_MOVES_MAX} moves are not read")]
    TooManyMoves,
}

/// A move that the rules forbid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("move {ply} cannot be {m}: {reason}{}", Legal(.legal))]
pub struct IllegalPly {
    /// Which move of the line it is, from 1.
    pub ply: usize,
    /// The move.
    pub m: Move,
    /// Why the rules forbid it.
    pub reason: IllegalMove,
    /// The legal moves instead; empty if the game is over.
    pub legal: MoveList,
}

/// Shows the legal moves as a part of a sentence.
struct Legal<'a>(&'a MoveList);

impl fmt::Display for Legal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, m) in self.0.iter().enumerate() {
            let joint = if i == 0 { "; legal are" } else { "," };
            write!(f, "{joint} {m}")?;
        }
        Ok(())
    }
}

/// A line of moves that is being read and played. Every step moves forward, so every loop ends with the text.
struct Line<'a> {
    text: &'a str,
    /// How many bytes have been read; where the problem is, if there is one.
    at: usize,
    moves: Vec<Move>,
    /// The position after the moves.
    last: AnyPosition,
    /// The result has been read.
    is_ended: bool,
}

impl<'a> Line<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// How long the part is that begins here and whose characters satisfy `is_one`.
    fn length(&self, is_one: impl Fn(char) -> bool) -> usize {
        let rest = self.rest();
        rest.find(|c| !is_one(c)).unwrap_or(rest.len())
    }

    fn take(&mut self, length: usize) -> &'a str {
        let taken = self.rest().get(..length).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    fn eat(&mut self, token: &str) -> bool {
        let comes = self.rest().starts_with(token);
        if comes {
            self.at += token.len();
        }
        comes
    }

    fn read(&mut self) -> Result<(), MovesProblem> {
        let mark = BYTE_ORDER_MARK;
        self.eat(mark.encode_utf8(&mut [0; 4]));
        loop {
            self.take(self.length(char::is_whitespace));
            let Some(c) = self.rest().chars().next() else { return Ok(()) };
            match c {
                '{' => self.skip_remark()?,
                _ if self.is_ended => return Err(MovesProblem::AfterResult),
                '0'..='9' | '*' => self.read_number()?,
                '+' => self.skip_captured()?,
                _ => self.read_move(c)?,
            }
        }
    }

    /// Skips a comment; comments do not nest.
    fn skip_remark(&mut self) -> Result<(), MovesProblem> {
        let end = self.rest().find('}').ok_or(MovesProblem::UnclosedRemark)?;
        self.take(end + 1);
        Ok(())
    }

    /// Skips `+3`. The rules determine how many seeds were captured.
    fn skip_captured(&mut self) -> Result<(), MovesProblem> {
        self.take(1);
        let digits = self.length(|c| c.is_ascii_digit());
        if self.take(digits).is_empty() { Err(MovesProblem::Captured) } else { Ok(()) }
    }

    /// The number of a turn, or the result.
    fn read_number(&mut self) -> Result<(), MovesProblem> {
        let digits = self.length(|c| c.is_ascii_digit());
        if digits > 0 && self.rest()[digits..].starts_with('.') {
            self.take(digits);
            self.take(self.length(|c| c == '.'));
            return Ok(());
        }
        let length = self.length(|c| c.is_ascii_digit() || matches!(c, '-' | '/' | '*'));
        let result: RecordResult =
            self.rest().get(..length).unwrap_or_default().parse().map_err(|_| MovesProblem::Number)?;
        if let Some(outcome) = self.last.outcome() {
            let played = match outcome.winner {
                Some(Side::South) => RecordResult::South,
                Some(Side::North) => RecordResult::North,
                None => RecordResult::Draw,
            };
            if played != result {
                return Err(MovesProblem::Result(played));
            }
        }
        self.take(length);
        self.is_ended = true;
        Ok(())
    }

    /// Reads and plays one move, which begins with `c`. If it is refused, the place stays at its beginning.
    fn read_move(&mut self, c: char) -> Result<(), MovesProblem> {
        let at = self.at;
        let m = if self.eat("-") {
            Move::Pass
        } else if self.eat("><") {
            Move::Swap
        } else if self.eat("=") {
            Move::Agree
        } else {
            self.read_word(c)?
        };
        let after = std::mem::replace(&mut self.at, at);
        if self.moves.len() >= RECORD_MOVES_MAX {
            return Err(MovesProblem::TooManyMoves);
        }
        let illegal = |reason| {
            let legal = self.last.legal_moves();
            MovesProblem::Illegal(Box::new(IllegalPly { ply: self.moves.len() + 1, m, reason, legal }))
        };
        self.last = self.last.play(m).map_err(illegal)?.0;
        self.moves.push(m);
        self.at = after;
        Ok(())
    }

    /// Reads a pit's letter with its direction or number.
    fn read_word(&mut self, c: char) -> Result<Move, MovesProblem> {
        let pit: Pit = c.encode_utf8(&mut [0; 4]).parse().map_err(|_| MovesProblem::Unexpected(c))?;
        let after = &self.rest()[1..];
        let is_direction = after.get(..1).is_some_and(|letter| parse_direction(letter, pit.side()).is_some());
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let length = if is_direction { 2 } else { 1 + digits };
        let word = self.rest().get(..length).unwrap_or_default();
        let m = word.parse().map_err(MovesProblem::Move)?;
        self.take(length);
        Ok(m)
    }
}
