//! A line of moves as turn words, such as `1. CF a 2. F+3 …` (R12, R21). Knows how moves are written one after another and
//! plays them by the rules. Knows nothing of tags, names and options.

use std::fmt::{self, Write};

use super::{
    IllegalPly, Problem, RECORD_MOVES_MAX, ReadError, RecordResult,
    ending::check_result,
    scan::{Fault, Source, decode},
};
use crate::{AnyPosition, BySide, Direction, Effect, Move, ParseMoveError, Pit, ROW_MAX, Side};

/// The longest line that is written, unless a single turn is longer.
const LINE_MAX: usize = 79;

/// Reads the moves of a game that goes on from `start`, without tags and with or without a result.
///
/// The reader skips numbers, counts of captured seeds and comments. Any blanks, or none, may separate moves. With four
/// rows a number needs a blank before it, because `A7` is a move there.
///
/// ```
/// use mancala_rules::{AnyOptions, AnyPosition, Variant, notation::{read_moves, write_moves}};
///
/// let options = AnyOptions::parse(Variant::Kalah, "bga", "pie=true")?;
/// let opening = AnyPosition::opening(&options);
/// let moves = read_moves(&opening, "1.C F{the usual}a 2. E+2f")?;
/// assert_eq!(write_moves(&moves), "CF a E f");
///
/// let refused = read_moves(&opening, "CF\n>< C").unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "line 2, column 4: move 4 cannot be C: pit C is not on the side to move; legal are a, b, c, d, e, f",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The first place that is not a part of a line of moves, or has an illegal move or a wrong result.
pub fn read_moves(start: &AnyPosition, text: &str) -> Result<Vec<Move>, ReadError> {
    let text = decode(text.as_bytes())?;
    let mut line = Line::new(start.clone(), Dialect::Record);
    line.read(&mut Source::new(text)).and_then(|()| line.check_result()).map_err(|fault| fault.locate(text))?;
    Ok(line.moves)
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
        push_move(&mut text, m);
        previous = Some(m);
    }
    text
}

/// Whether a move belongs to the same word as the one before it: letters of one side share a word, and a pass ends it.
fn runs_on(previous: Move, m: Move) -> bool {
    match (previous.pit(), m.pit()) {
        (Some(before), Some(pit)) => before.side == pit.side,
        (Some(_), None) => m == Move::Pass,
        (None, _) => false,
    }
}

fn push_move(word: &mut String, m: Move) {
    match m {
        Move::Sow(_) | Move::Decline(_) | Move::SowTo { .. } | Move::Place { .. } => word.push_str(&m.to_string()),
        Move::Pass => word.push('-'),
        Move::Swap => word.push_str("><"),
        Move::Agree => word.push('='),
    }
}

/// The form of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// A record of this project.
    Record,
    /// A file of Aualé: the result may be a score, and there may be variations in parentheses and marks on moves.
    Ogn,
}

/// A result in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenResult {
    pub at: usize,
    pub result: RecordResult,
    /// The seeds of each side, if the text gives a score.
    pub score: Option<BySide<u16>>,
}

impl WrittenResult {
    /// Checks the result `after` the moves against this one, which comes from a tag.
    pub fn check_same(&self, after: &Self) -> Result<(), Fault> {
        match (self.score, after.score) {
            (Some(BySide { south, north }), Some(score)) if score != (BySide { south, north }) => {
                Err(Fault::new(after.at, Problem::ScoreContradiction { south, north }))
            }
            _ if self.result != after.result => Err(Fault::new(after.at, Problem::Contradiction { tag: self.result })),
            _ => Ok(()),
        }
    }
}

/// Reads `28-20`, the score of a game that has `total` seeds.
fn read_score(text: &str, total: u16) -> Result<BySide<u16>, Problem> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = text.split_once('-').filter(|(south, north)| is_number(south) && is_number(north));
    let (south, north) = numbers.ok_or(Problem::ResultOrScore)?;
    let too_many = Problem::TooManySeeds { total };
    let (Ok(south), Ok(north)) = (south.parse::<u16>(), north.parse::<u16>()) else { return Err(too_many) };
    match south.checked_add(north) {
        Some(sum) if sum <= total => Ok(BySide { south, north }),
        _ => Err(too_many),
    }
}

/// A line of moves that is being read and played.
#[derive(Debug)]
pub(super) struct Line {
    pub moves: Vec<Move>,
    /// The position after the moves.
    pub last: AnyPosition,
    /// The result after the moves.
    pub result: Option<WrittenResult>,
    dialect: Dialect,
}

impl Line {
    pub const fn new(start: AnyPosition, dialect: Dialect) -> Self {
        Self { moves: Vec::new(), last: start, result: None, dialect }
    }

    /// Reads and plays to the end of the text.
    pub fn read(&mut self, source: &mut Source<'_>) -> Result<(), Fault> {
        loop {
            source.skip_blanks();
            let at = source.at();
            let Some(c) = source.peek() else { return Ok(()) };
            match c {
                '{' => source.skip_remark('}')?,
                '(' if self.dialect == Dialect::Ogn => source.skip_remark(')')?,
                _ if self.result.is_some() => return Err(Fault::new(at, Problem::AfterResult)),
                '0'..='9' | '*' => self.read_number(source)?,
                '+' => read_captured(source)?,
                '!' | '?' | '$' if self.dialect == Dialect::Ogn && !self.moves.is_empty() => skip_mark(source)?,
                '[' => return Err(Fault::new(at, Problem::MisplacedTag)),
                _ => {
                    let m = self.read_move(source, c)?;
                    self.play(m, at)?;
                }
            }
        }
    }

    /// Reads a move, which begins with `c`.
    fn read_move(&self, source: &mut Source<'_>, c: char) -> Result<Move, Fault> {
        let at = source.at();
        if source.eat("-") {
            return Ok(Move::Pass);
        } else if source.eat("><") {
            return Ok(Move::Swap);
        } else if source.eat("=") {
            return Ok(Move::Agree);
        }
        let unexpected = || Fault::new(at, Problem::Unexpected(c));
        let pit: Pit = c.encode_utf8(&mut [0; 4]).parse().map_err(|_| unexpected())?;
        source.bump();
        if self.last.options().variant().rows_per_side() == 1 {
            let is_of_a_row = usize::from(pit.index) < ROW_MAX;
            if !is_of_a_row {
                return Err(unexpected());
            }
            let declines = self.dialect == Dialect::Record && source.eat("~");
            return Ok(if declines { Move::Decline(pit) } else { Move::Sow(pit) });
        }
        let ways = Direction::ALL.map(|direction| Move::SowTo { pit, direction });
        if let Some(m) = ways.into_iter().find(|way| source.eat(&way.to_string()[1..])) {
            return Ok(m);
        }
        let digits = source.take_while(|c| c.is_ascii_digit());
        let unknown = |_| Fault::new(at, Problem::Move(ParseMoveError::TwoRows));
        format!("{c}{digits}").parse().map_err(unknown)
    }

    /// Plays a move that was read at `at`.
    fn play(&mut self, m: Move, at: usize) -> Result<(), Fault> {
        if self.moves.len() >= RECORD_MOVES_MAX {
            return Err(Fault::new(at, Problem::TooManyMoves));
        }
        play(&mut self.last, m, self.moves.len() + 1).map_err(|illegal| Fault::new(at, illegal))?;
        self.moves.push(m);
        Ok(())
    }

    /// Reads a result, or in a file of Aualé a score.
    pub fn read_result(&self, text: &str, at: usize) -> Result<WrittenResult, Fault> {
        match (text.parse(), self.dialect) {
            (Ok(result), _) => Ok(WrittenResult { at, result, score: None }),
            (Err(unknown), Dialect::Record) => Err(Fault::new(at, Problem::Result(unknown))),
            (Err(_), Dialect::Ogn) => {
                let score = read_score(text, self.last.total()).map_err(|problem| Fault::new(at, problem))?;
                Ok(WrittenResult { at, result: RecordResult::of(score), score: Some(score) })
            }
        }
    }

    /// The number of a turn, or the result.
    fn read_number(&mut self, source: &mut Source<'_>) -> Result<(), Fault> {
        let at = source.at();
        let text = source.take_while(|c| c.is_ascii_digit());
        if !text.is_empty() && source.eat(".") {
            source.take_while(|c| c == '.');
            return Ok(());
        }
        let mut text = text.to_owned();
        text.push_str(source.take_while(|c| c.is_ascii_digit() || matches!(c, '-' | '/' | '*')));
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Fault::new(source.at(), Problem::Number));
        }
        self.result = Some(self.read_result(&text, at)?);
        Ok(())
    }

    /// Checks the result after the moves, if there is one.
    pub fn check_result(&self) -> Result<(), Fault> {
        self.result.map_or(Ok(()), |written| self.check(&written))
    }

    /// Checks a written result against the outcome, if the rules have ended the game.
    pub fn check(&self, written: &WrittenResult) -> Result<(), Fault> {
        let Some(outcome) = self.last.outcome() else { return Ok(()) };
        let BySide { south, north } = outcome.score;
        if written.score.is_some_and(|score| score != outcome.score) {
            return Err(Fault::new(written.at, Problem::Score { south, north }));
        }
        check_result(&self.last, written.result).map_err(|error| Fault::new(written.at, error))
    }
}

/// Plays one move in place if it is legal; `ply` is its number in the line.
pub(super) fn play(position: &mut AnyPosition, m: Move, ply: usize) -> Result<(), IllegalPly> {
    let legal = position.legal_moves();
    if legal.contains(&m) {
        position.play_unchecked(m);
        return Ok(());
    }
    // An agreed end is never listed but may be legal.
    *position = position.play(m).map_err(|reason| IllegalPly { ply, m, reason, legal: legal.to_vec() })?.0;
    Ok(())
}

/// Skips `+3`. The rules determine how many seeds were captured.
fn read_captured(source: &mut Source<'_>) -> Result<(), Fault> {
    source.bump();
    let at = source.at();
    let digits = source.take_while(|c| c.is_ascii_digit());
    if digits.is_empty() { Err(Fault::new(at, Problem::Captured)) } else { Ok(()) }
}

/// Skips `!`, `??` or `$6`: marks that judge a move.
fn skip_mark(source: &mut Source<'_>) -> Result<(), Fault> {
    if !source.eat("$") {
        source.take_while(|c| matches!(c, '!' | '?'));
        return Ok(());
    }
    let at = source.at();
    let digits = source.take_while(|c| c.is_ascii_digit());
    if digits.is_empty() { Err(Fault::new(at, Problem::Mark)) } else { Ok(()) }
}

/// A turn, or a part of it that is a word of its own.
struct Word {
    text: String,
    side: Side,
    captured: u32,
}

/// Writes moves with the numbers of turns and the counts of captured seeds, then the result, in lines of at most
/// [`LINE_MAX`] characters. A number precedes each turn of the side that moves first.
pub(super) fn write_numbered(
    f: &mut impl fmt::Write,
    start: &AnyPosition,
    moves: &[Move],
    result: &str,
) -> fmt::Result {
    let mut lines = Lines { out: f, column: 0 };
    let (mut number, mut previous) = (0_usize, None);
    for word in words(start, moves) {
        if word.side == start.turn() && previous != Some(word.side) || previous.is_none() {
            number += 1;
            lines.write(&format!("{number}."))?;
        }
        previous = Some(word.side);
        match word.captured {
            0 => lines.write(&word.text)?,
            captured => lines.write(&format!("{}+{captured}", word.text))?,
        }
    }
    lines.write(result)?;
    lines.out.write_char('\n')
}

/// The turns of a game. The moves are legal from `start`.
fn words(start: &AnyPosition, moves: &[Move]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut position = start.clone();
    let mut previous = None;
    for &m in moves {
        let captured = captured(&position, m);
        let side = position.turn();
        // In a lockstep opening the hand of the side that chose before sows with this move (R10).
        if let Some(before) = words.last_mut().filter(|before| before.side != side) {
            before.captured += captured[!side];
        }
        position.play_unchecked(m);
        let word = match words.last_mut() {
            Some(word) if previous.is_some_and(|previous| runs_on(previous, m)) => word,
            _ => words.push_mut(Word { text: String::new(), side, captured: 0 }),
        };
        push_move(&mut word.text, m);
        word.captured += captured[side];
        previous = Some(m);
    }
    words
}

/// How many seeds each side captures by a move, whatever came before.
fn captured(position: &AnyPosition, m: Move) -> BySide<u32> {
    let played = position.afresh().play(m).map(|(_, effects)| effects);
    let mut captured = BySide { south: 0, north: 0 };
    for effect in played.unwrap_or_default() {
        match effect {
            Effect::Capture { seeds, to, .. } => captured[to] += u32::from(seeds),
            Effect::Take { seeds, .. } => captured[position.turn()] += u32::from(seeds),
            _ => {}
        }
    }
    captured
}

/// Joins words by blanks, and breaks the line where it would become too long.
struct Lines<'a, W> {
    out: &'a mut W,
    column: usize,
}

impl<W: Write> Lines<'_, W> {
    fn write(&mut self, word: &str) -> fmt::Result {
        match self.column {
            0 => {}
            column if column + 1 + word.len() > LINE_MAX => {
                self.out.write_char('\n')?;
                self.column = 0;
            }
            _ => {
                self.out.write_char(' ')?;
                self.column += 1;
            }
        }
        self.column += word.len();
        self.out.write_str(word)
    }
}
