//! Game records (R12): the start of a game, all its moves and its end, as one readable text.
//!
//! A record holds only games that the rules allow: the reader plays every move. All it knows about the players is their names.

use std::{fmt, str::FromStr};

use super::{
    EndingError, Location, NAME_MAX, NameError, Problem, RECORD_MOVES_MAX, ReadError, RecordError, RecordResult,
    Termination,
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
    /// The first position as its string is read: without history, and without the reason of an end.
    start: AnyPosition,
    moves: Vec<Move>,
    /// The position after the moves.
    last: AnyPosition,
    result: RecordResult,
    termination: Option<Termination>,
    is_practice: bool,
}

impl Record {
    /// The record of these moves from `start`. If the rules end the game, it has their result and reason; otherwise it
    /// is unfinished. Positions before the start do not count (R12).
    ///
    /// # Errors
    ///
    /// A move is not legal, there are more than [`RECORD_MOVES_MAX`], or `start` is a made-up position with another
    /// number of seeds than its options.
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
        Self { names: BySide::default(), start, moves, last, result, termination, is_practice: false }
    }

    /// The same record with the names of the players of South and North at the start. Under the pie rule they may
    /// change seats later (R7). An empty name and `?` mean that the name is not known.
    ///
    /// # Errors
    ///
    /// A name is longer than [`NAME_MAX`] characters or has a control character, such as a line break.
    pub fn with_names(mut self, south: &str, north: &str) -> Result<Self, NameError> {
        self.names = BySide { south: check_name(south)?, north: check_name(north)? };
        Ok(self)
    }

    /// The same record, marked as practice or not: a player took moves back or was helped, as against a computer.
    #[must_use]
    pub const fn practised(mut self, is_practice: bool) -> Self {
        self.is_practice = is_practice;
        self
    }

    /// The same record with another end: for a game that the players ended, and not the rules.
    ///
    /// # Errors
    ///
    /// The rules have ended the game with another result or reason, or result and termination contradict each other.
    pub fn ended(mut self, result: RecordResult, termination: Option<Termination>) -> Result<Self, EndingError> {
        check_result(&self.last, result)?;
        self.termination = check_termination(&self.last, result, termination)?;
        self.result = result;
        Ok(self)
    }

    /// Reads a record from any bytes.
    ///
    /// # Errors
    ///
    /// The first place at which the bytes are not a record, as for [`str::parse`], or are not UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        Self::read(bytes).map(|(record, _)| record)
    }

    /// Reads a record from any bytes, and its `Termination` if that names no known reason: `Normal`, or a sentence. The
    /// record then has the reason of the rules, or none.
    ///
    /// # Errors
    ///
    /// As [`Record::from_bytes`].
    pub fn read(bytes: &[u8]) -> Result<(Self, Option<UnknownTermination>), ReadError> {
        let text = decode(bytes)?;
        read(text).map_err(|fault| fault.locate(text))
    }

    /// The options of the game, with its variant and preset.
    #[must_use]
    pub fn options(&self) -> AnyOptions {
        self.start.options()
    }

    /// The name of the player of this side at the start; `None` if it is not known.
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

    /// Which side won, or that it is a draw or unfinished.
    #[must_use]
    pub const fn result(&self) -> RecordResult {
        self.result
    }

    /// Why the game ended; `None` if it has not ended or the reason is not known.
    #[must_use]
    pub const fn termination(&self) -> Option<Termination> {
        self.termination
    }

    /// Whether the game is marked as practice.
    #[must_use]
    pub const fn is_practice(&self) -> bool {
        self.is_practice
    }

    /// Whether the game begins with the opening of its options.
    #[must_use]
    pub fn begins_with_opening(&self) -> bool {
        as_written(&AnyPosition::opening(&self.options())).as_ref() == Ok(&self.start)
    }

    /// The record of a line that was read, after checking the end that the tags and the line name.
    pub(super) fn read_from(start: AnyPosition, line: Line, tags: &Tags<'_>) -> Result<Self, Fault> {
        line.check_result()?;
        let written = match tags.text("Result") {
            None => line.result,
            Some(tag) => {
                let tagged = line.read_result(&tag.value, tag.value_at)?;
                line.check(&tagged)?;
                line.result.map_or(Ok(()), |after| tagged.check_same(&after))?;
                Some(tagged)
            }
        };
        let mut record = Self::played(start, line.moves, line.last);
        if let Some(written) = written {
            record.result = written.result;
        }
        if let Some(tag) = tags.text("Termination")
            && let Ok(termination) = tag.value.parse()
        {
            record.termination = check_termination(&record.last, record.result, Some(termination))
                .map_err(|error| Fault::new(tag.value_at, error))?;
        }
        Ok(record)
    }
}

/// The canonical form (R12). First come the tags in order, one on each line, without those that have no value. After an
/// empty line come the moves with the numbers of turns and of captured seeds, and the result. Lines have at most 79
/// characters unless a turn is longer.
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
        if self.is_practice {
            scan::write_tag(f, "Practice", PRACTICE)?;
        }
        f.write_str("\n")?;
        movetext::write_numbered(f, &self.start, &self.moves, self.result.word())
    }
}

/// Reads a record leniently. Tags may come in any order before the moves, and unknown ones are skipped. The preset is
/// `standard` unless another is named. Moves are read as by [`read_moves`](super::read_moves).
impl FromStr for Record {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Self, ReadError> {
        Self::from_bytes(text.as_bytes())
    }
}

/// The tags of a record, in the order in which they are written.
const TAGS: [&str; 9] =
    ["Variant", "Preset", "Options", "South", "North", "Start", "Result", "Termination", "Practice"];

/// The value of the tag that marks practice. Other values mean nothing: other programs may use the tag otherwise.
const PRACTICE: &str = "true";

/// A `Termination` that names no known reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTermination {
    /// The place of its value.
    pub location: Location,
    /// Its value.
    pub text: String,
}

fn read(text: &str) -> Result<(Record, Option<UnknownTermination>), Fault> {
    let mut source = Source::new(text);
    let tags = scan::tags(&mut source, &TAGS)?;
    let start = read_start(&tags, source.at())?;
    let mut line = Line::new(start.clone(), Dialect::Record);
    line.read(&mut source)?;
    let is_practice = tags.text("Practice").is_some_and(|tag| tag.value == PRACTICE);
    let record = Record::read_from(start, line, &tags)?.practised(is_practice);
    let unknown = tags
        .text("Termination")
        .filter(|tag| !scan::is_unknown(&tag.value) && tag.value.parse::<Termination>().is_err());
    let unknown =
        unknown.map(|tag| UnknownTermination { location: Location::of(text, tag.value_at), text: tag.value.clone() });
    Ok((with_names_of(record, tags.text("South"), tags.text("North"))?, unknown))
}

/// The position that the tags say the game begins with; `end` is where they end.
fn read_start(tags: &Tags<'_>, end: usize) -> Result<AnyPosition, Fault> {
    let tag = tags.find("Variant").ok_or_else(|| Fault::new(end, Problem::NoVariant))?;
    let variant: Variant = tag.value.parse().map_err(|error| Fault::new(tag.value_at, Problem::Variant(error)))?;
    let (preset, options) = (tags.text("Preset"), tags.text("Options"));
    // First the preset alone, so that its error has the place of its tag.
    let name = preset.map_or("standard", |tag| &tag.value);
    let mut chosen = AnyOptions::parse_recorded(variant, name, "")
        .map_err(|error| Fault::new(preset.map_or(tag.value_at, |tag| tag.value_at), error))?;
    if let Some(tag) = options {
        chosen =
            AnyOptions::parse_recorded(variant, name, &tag.value).map_err(|error| Fault::new(tag.value_at, error))?;
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

/// The position as its own text is read: without its history.
pub(super) fn as_written(position: &AnyPosition) -> Result<AnyPosition, ParsePositionError> {
    AnyPosition::parse(&position.options(), &position.to_string())
}
