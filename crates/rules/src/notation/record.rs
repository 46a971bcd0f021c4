//! Game records (R12): what a game began with, every move of it, and how it ended, as one text that people can read.
//!
//! A record holds only games that the rules allow; what is read is played. It knows nothing of the people but names.

use std::{fmt, str::FromStr};

use super::{
    EndingError, NAME_MAX, NameError, Problem, RECORD_MOVES_MAX, ReadError, RecordError, RecordResult, Termination,
    ending::{check_result, check_termination},
    movetext::{self, Dialect, Line},
    scan::{self, Fault, Source, Tags, decode},
};
use crate::{AnyOptions, AnyPosition, BySide, Move, ParsePositionError, Side, Variant};

/// A game from its start to its last move.
///
/// ```
/// use mancala_rules::notation::{Record, RecordResult};
///
/// let text = r#"
///     [Variant "oware"] [Preset "standard"]
///     [South "ana"] [North "bo"] [Start "0,0,0,0,0,2/1,1,0,1,0,0 21-22 S - 0 1S"]
///     1. F {takes two pits, but not the third} a 2. A 1-0
/// "#;
/// let refused = text.parse::<Record>().unwrap_err();
/// assert_eq!(refused.to_string(), "line 4, column 46: move 2 cannot be a: the game is over");
///
/// let record: Record = text.replace("a 2. A", "").parse()?;
/// assert_eq!(record.result(), RecordResult::South);
/// assert_eq!(record.to_string(), r#"[Variant "oware"]
/// [Preset "standard"]
/// [South "ana"]
/// [North "bo"]
/// [Start "0,0,0,0,0,2/1,1,0,1,0,0 21-22 S - 0 1S"]
/// [Result "1-0"]
/// [Termination "majority"]
///
/// 1. F+4 1-0
/// "#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    names: BySide<Option<String>>,
    /// Without history, and without the reason of an end, as a position string has it.
    start: AnyPosition,
    moves: Vec<Move>,
    /// The position after the moves.
    last: AnyPosition,
    result: RecordResult,
    termination: Option<Termination>,
}

impl Record {
    /// The record of these moves, which begin at `start`: with the result and the reason that the rules give if they end
    /// the game, and otherwise as a game that goes on. Positions before the start do not count (R12).
    ///
    /// # Errors
    ///
    /// A move is not legal, there are more than [`RECORD_MOVES_MAX`], or `start` has another number of seeds than its
    /// options say, as made-up positions may.
    pub fn new(start: &AnyPosition, moves: Vec<Move>) -> Result<Self, RecordError> {
        let start = as_written(start)?;
        if moves.len() > RECORD_MOVES_MAX {
            return Err(RecordError::TooManyMoves);
        }
        let mut last = start.clone();
        for (ply, &m) in (1..).zip(&moves) {
            movetext::play(&mut last, m, ply)?;
        }
        Ok(Self::played(start, moves, last))
    }

    fn played(start: AnyPosition, moves: Vec<Move>, last: AnyPosition) -> Self {
        let outcome = last.outcome();
        let result = outcome.map_or(RecordResult::Unfinished, RecordResult::from);
        let termination = outcome.and_then(|outcome| outcome.reason).map(Termination::Rule);
        Self { names: BySide::default(), start, moves, last, result, termination }
    }

    /// The same with the names of those who sit South and North at the start. Under the pie rule they may change seats
    /// later (R7); the names tell where they began. An empty name and `?` stand for a name that is not known.
    ///
    /// # Errors
    ///
    /// A name that is too long or holds a line break or the like.
    pub fn with_names(mut self, south: &str, north: &str) -> Result<Self, NameError> {
        self.names = BySide { south: check_name(south)?, north: check_name(north)? };
        Ok(self)
    }

    /// The same with another end: for a game that the rules have not ended, but the people have.
    ///
    /// # Errors
    ///
    /// The rules have ended the game otherwise, or result and termination contradict each other.
    pub fn ended(mut self, result: RecordResult, termination: Option<Termination>) -> Result<Self, EndingError> {
        check_result(&self.last, result)?;
        self.termination = check_termination(&self.last, result, termination)?;
        self.result = result;
        Ok(self)
    }

    /// Reads a record from bytes, which need not be text.
    ///
    /// # Errors
    ///
    /// As of [`str::parse`], and for bytes that are not UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = decode(bytes)?;
        read(text).map_err(|fault| fault.locate(text))
    }

    /// The options that the game is played under; variant and preset are part of them.
    #[must_use]
    pub fn options(&self) -> AnyOptions {
        self.start.options()
    }

    /// The name of who sits on this side at the start, if it is known.
    #[must_use]
    pub fn name(&self, side: Side) -> Option<&str> {
        self.names[side].as_deref()
    }

    /// The position in which the game begins.
    #[must_use]
    pub const fn start(&self) -> &AnyPosition {
        &self.start
    }

    /// The moves, in order.
    #[must_use]
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The position after the moves.
    #[must_use]
    pub const fn last(&self) -> &AnyPosition {
        &self.last
    }

    /// Which side won, if the game is decided.
    #[must_use]
    pub const fn result(&self) -> RecordResult {
        self.result
    }

    /// Why the game ended, if it has ended and that is known.
    #[must_use]
    pub const fn termination(&self) -> Option<Termination> {
        self.termination
    }

    /// Whether the game begins with the opening of its options.
    #[must_use]
    pub fn begins_with_opening(&self) -> bool {
        as_written(&AnyPosition::opening(&self.options())).as_ref() == Ok(&self.start)
    }

    /// A game that was read, once the end that it is said to have is known to be right.
    pub(super) fn read_from(start: AnyPosition, line: Line, tags: &Tags<'_>) -> Result<Self, Fault> {
        line.check_result()?;
        let written = match tags.text("Result") {
            None => line.result,
            Some(tag) => {
                let told = line.read_result(&tag.value, tag.value_at)?;
                line.check(&told)?;
                line.result.map_or(Ok(()), |after| told.check_same(&after))?;
                Some(told)
            }
        };
        let mut record = Self::played(start, line.moves, line.last);
        if let Some(written) = written {
            record.result = written.result;
        }
        if let Some(tag) = tags.text("Termination") {
            let termination =
                tag.value.parse().map_err(|error| Fault::new(tag.value_at, Problem::Termination(error)))?;
            record.termination = check_termination(&record.last, record.result, Some(termination))
                .map_err(|error| Fault::new(tag.value_at, error))?;
        }
        Ok(record)
    }
}

/// The canonical form (R12): the tags one a line and in order, those of which there is nothing to say left out; an empty
/// line; the moves with the numbers of turns and of captured seeds, and the result, in lines of at most 79 characters
/// unless a turn is longer.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = self.options();
        scan::write_tag(f, "Variant", options.variant().word())?;
        scan::write_tag(f, "Preset", options.preset())?;
        let overrides = options.overrides();
        if !overrides.is_empty() {
            scan::write_tag(f, "Options", &overrides)?;
        }
        for (side, tag) in [(Side::South, "South"), (Side::North, "North")] {
            if let Some(name) = self.name(side) {
                scan::write_tag(f, tag, name)?;
            }
        }
        if !self.begins_with_opening() {
            scan::write_tag(f, "Start", &self.start.to_string())?;
        }
        scan::write_tag(f, "Result", self.result.word())?;
        if let Some(termination) = self.termination {
            scan::write_tag(f, "Termination", &termination.to_string())?;
        }
        f.write_str("\n")?;
        movetext::write_numbered(f, &self.start, &self.moves, self.result.word())
    }
}

/// Reads a record leniently: tags in any order and anywhere before the moves, unknown ones passed over, the preset
/// `standard` unless another is named; moves as [`read_moves`](super::read_moves) does.
impl FromStr for Record {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Self, ReadError> {
        Self::from_bytes(text.as_bytes())
    }
}

/// The tags of a record, in the order in which they are written.
const TAGS: [&str; 8] = ["Variant", "Preset", "Options", "South", "North", "Start", "Result", "Termination"];

fn read(text: &str) -> Result<Record, Fault> {
    let mut source = Source::new(text);
    let tags = scan::tags(&mut source, &TAGS)?;
    let start = read_start(&tags, source.at())?;
    let mut line = Line::new(start.clone(), Dialect::Record);
    line.read(&mut source)?;
    let record = Record::read_from(start, line, &tags)?;
    with_names_of(record, tags.text("South"), tags.text("North"))
}

/// The position that the tags say the game begins with; `end` is where they end.
fn read_start(tags: &Tags<'_>, end: usize) -> Result<AnyPosition, Fault> {
    let tag = tags.find("Variant").ok_or_else(|| Fault::new(end, Problem::NoVariant))?;
    let variant: Variant = tag.value.parse().map_err(|error| Fault::new(tag.value_at, Problem::Variant(error)))?;
    let (preset, options) = (tags.text("Preset"), tags.text("Options"));
    // First the preset alone, so that a fault is shown where it is.
    let name = preset.map_or("standard", |tag| &tag.value);
    let mut chosen = AnyOptions::parse(variant, name, "")
        .map_err(|error| Fault::new(preset.map_or(tag.value_at, |tag| tag.value_at), error))?;
    if let Some(tag) = options {
        chosen = AnyOptions::parse(variant, name, &tag.value).map_err(|error| Fault::new(tag.value_at, error))?;
    }
    match tags.text("Start") {
        None => as_written(&AnyPosition::opening(&chosen)).map_err(|error| Fault::new(end, error)),
        Some(tag) => AnyPosition::parse(&chosen, &tag.value)
            .and_then(|start| as_written(&start))
            .map_err(|error| Fault::new(tag.value_at, error)),
    }
}

/// Gives a record the names of two tags.
pub(super) fn with_names_of(
    mut record: Record,
    south: Option<&scan::Tag<'_>>,
    north: Option<&scan::Tag<'_>>,
) -> Result<Record, Fault> {
    for (side, tag) in [(Side::South, south), (Side::North, north)] {
        if let Some(tag) = tag {
            record.names[side] = check_name(&tag.value).map_err(|error| Fault::new(tag.value_at, error))?;
        }
    }
    Ok(record)
}

fn check_name(name: &str) -> Result<Option<String>, NameError> {
    if scan::is_longer(name, NAME_MAX) {
        Err(NameError::TooLong)
    } else if name.chars().any(char::is_control) {
        Err(NameError::ControlCharacter)
    } else {
        Ok(Some(name.to_owned()).filter(|name| !scan::is_unknown(name)))
    }
}

/// What is left of a position when it is written and read: nothing of what came before it.
pub(super) fn as_written(position: &AnyPosition) -> Result<AnyPosition, ParsePositionError> {
    AnyPosition::parse(&position.options(), &position.to_string())
}
