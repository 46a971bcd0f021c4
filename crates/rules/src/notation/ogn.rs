//! Files and positions of Aualé and of its engine Aalina: the Oware Game Notation (OGN), and the board in one line that
//! they call FEN.
//!
//! Both programs play Oware with six pits and four seeds by the rules called abapa. That is `oware/standard`, so a file
//! belongs to it whatever its variant is called, and no other game is written. Where they differ from us in form:
//!
//! - The result is the score, such as `28-20`, or `*`. In a game that the rules have not ended the higher score wins.
//!   It has no more seeds than the game.
//! - A captured count at the end of the game has the swept seeds in it. Counts are passed over.
//! - There may be variations in parentheses, and marks after moves: `!` and `?`, any run of them, and `$` with a number.
//!   They are passed over, as comments are.
//! - Nobody can agree on the end; such a game is written with its result and without the agreement.
//! - Neither form tells the plies before the start, nor that a board which the rules would play on is over. A file does
//!   not tell why a game ended.

use std::fmt::Write;

use super::{
    BoardProblem, DetailError, ParseBoardError, Problem, ReadError, Record, VALUE_MAX,
    board_text::{BoardText, Counts},
    movetext::{self, Dialect, Line},
    record::{as_written, with_names_of},
    scan::{self, Fault, Source, Tags, decode},
};
use crate::{AnyOptions, AnyPosition, Move, Side, Variant, oware};

/// A file: the game, and what else it tells.
///
/// ```
/// use mancala_rules::notation::{RecordResult, ogn::{Detail, Ogn}};
///
/// let text = r#"[Variant "Oware Abapa"]
/// [Event "A friendly game"]
/// [Site "?"]
/// [Date "2014.05.11"]
/// [Round "?"]
/// [South "Ana"]
/// [North "Aalina"]
/// [Result "25-21"]
/// [FEN "0-0-0-0-0-2-1-1-0-1-0-0-21-22-S"]
///
/// 1. F+4 { two pits } 25-22
/// "#;
/// assert_eq!(
///     Ogn::parse(text.as_bytes()).unwrap_err().to_string(),
///     "line 8, column 10: the game is over with 25 seeds for South and 22 for North",
/// );
/// let file = Ogn::parse(text.replace("25-21", "25-22").as_bytes())?;
/// assert_eq!(file.detail(Detail::Date), Some("2014.05.11"));
/// assert_eq!(file.record.result(), RecordResult::South);
/// assert_eq!(file.record.options().preset(), "standard");
/// assert_eq!(file.to_text().as_deref(), Some(text.replace("25-21", "25-22").replace("{ two pits } ", "").as_str()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ogn {
    /// The game.
    pub record: Record,
    /// Those that are known, each of which a tag can hold.
    details: [Option<String>; Detail::ALL.len()],
}

worded_enum! {
    /// What a file tells of a game besides who played it and how. The words are the names of the tags.
    pub enum Detail {
        /// The tournament or match.
        Event = "Event",
        /// Where it was played.
        Site = "Site",
        /// When, such as `2014.05.11`; not checked.
        Date = "Date",
        /// The round of the event.
        Round = "Round",
    }
}

/// What Aualé writes as the variant.
const ABAPA: &str = "Oware Abapa";

/// The tags that are read. Aualé writes South and North; White and Black are those of files that were made from chess.
const TAGS: [&str; 11] =
    ["Variant", "Event", "Site", "Date", "Round", "South", "North", "White", "Black", "Result", "FEN"];

impl Ogn {
    /// The file of a game of which nothing else is told.
    #[must_use]
    pub const fn new(record: Record) -> Self {
        Self { record, details: [const { None }; Detail::ALL.len()] }
    }

    /// The same with a detail. An empty text and `?` stand for one that is not known.
    ///
    /// # Errors
    ///
    /// A text that is too long or holds a line break or the like.
    pub fn with_detail(mut self, detail: Detail, text: &str) -> Result<Self, DetailError> {
        if scan::is_longer(text, VALUE_MAX) {
            return Err(DetailError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(DetailError::ControlCharacter);
        }
        self.details[detail as usize] = Some(text.to_owned()).filter(|text| !scan::is_unknown(text));
        Ok(self)
    }

    /// A detail, if it is known.
    #[must_use]
    pub fn detail(&self, detail: Detail) -> Option<&str> {
        self.details[detail as usize].as_deref()
    }

    /// Reads a file. The variant may be missing, or be `Oware Abapa`, `Abapa` or `Oware`.
    ///
    /// # Errors
    ///
    /// The first place at which the file is not of this form, or the game not one by the rules of `oware/standard`.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = decode(bytes)?;
        read(text).map_err(|fault| fault.locate(text))
    }

    /// Writes a file in the form of Aualé; nothing for games that it does not play, or that begin with a board of which
    /// there is no FEN.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        let record = &self.record;
        if !is_abapa(&record.options()) {
            return None;
        }
        let result = match (record.last().outcome(), record.result()) {
            (Some(outcome), _) => format!("{}-{}", outcome.score.south, outcome.score.north),
            (None, result) => result.word().to_owned(),
        };
        let mut text = String::new();
        let players = [("South", record.name(Side::South)), ("North", record.name(Side::North))];
        let details = Detail::ALL.map(|detail| (detail.word(), self.detail(detail)));
        let tags = [("Variant", Some(ABAPA))].into_iter().chain(details).chain(players);
        for (name, value) in tags.chain([("Result", Some(result.as_str()))]) {
            scan::write_tag(&mut text, name, value.unwrap_or("?")).ok()?;
        }
        if !record.begins_with_opening() {
            scan::write_tag(&mut text, "FEN", &write_fen(record.start())?).ok()?;
        }
        text.push('\n');
        let moves: Vec<Move> = record.moves().iter().copied().filter(|&m| m != Move::Agree).collect();
        movetext::write_numbered(&mut text, record.start(), &moves, &result).ok()?;
        Some(text)
    }
}

fn read(text: &str) -> Result<Ogn, Fault> {
    let mut source = Source::new(text);
    let tags = scan::tags(&mut source, &TAGS)?;
    if let Some(tag) = tags.text("Variant")
        && ![ABAPA, "Abapa", "Oware"].iter().any(|name| name.eq_ignore_ascii_case(&tag.value))
    {
        return Err(Fault::new(tag.value_at, Problem::NotAbapa));
    }
    let options = abapa();
    let start = match tags.text("FEN") {
        None => AnyPosition::opening(&options),
        Some(tag) => read_fen(&options, &tag.value).map_err(|error| {
            let before = tag.value.char_indices().nth(error.column - 1);
            let offset = before.map_or(tag.value.len(), |(offset, _)| offset);
            Fault::new(tag.value_at + offset, error.problem)
        })?,
    };
    let start = as_written(&start).map_err(|error| Fault::new(source.at(), error))?;
    let mut line = Line::new(start.clone(), Dialect::Ogn);
    line.read(&mut source)?;
    let record = Record::read_from(start, line, &tags)?;
    let (south, north) = (first(&tags, ["South", "White"]), first(&tags, ["North", "Black"]));
    let record = with_names_of(record, south, north)?;
    // The same checks as those of `with_detail` have been made when the tags were read.
    let details = Detail::ALL.map(|detail| tags.text(detail.word()).map(|tag| tag.value.clone()));
    Ok(Ogn { record, details })
}

fn first<'t, 'a>(tags: &'t Tags<'a>, names: [&str; 2]) -> Option<&'t scan::Tag<'a>> {
    names.into_iter().find_map(|name| tags.text(name))
}

/// The options by which Aualé plays.
fn abapa() -> AnyOptions {
    AnyOptions::Oware(oware::Preset::Standard.options())
}

/// Whether a game is played by the rules of Aualé, whatever preset they are taken from. That people may agree on the end
/// changes no move.
fn is_abapa(options: &AnyOptions) -> bool {
    let rules = |options: &AnyOptions| {
        let mut values = options.values();
        values.retain(|(name, _)| *name != "agree_end");
        values
    };
    options.variant() == Variant::Oware && rules(options) == rules(&abapa())
}

/// Reads a board in one line: the seeds of `A` to `F` and `a` to `f`, the stores of South and North, the side to move.
/// `options` are those of any Oware with six pits a side.
///
/// ```
/// use mancala_rules::{AnyOptions, Variant, notation::ogn};
///
/// let options = AnyOptions::parse(Variant::Oware, "standard", "")?;
/// let position = ogn::read_fen(&options, "4-4-0-5-5-5-5-4-4-4-4-4-0-0-N")?;
/// assert_eq!(position.to_string(), "4,4,0,5,5,5/5,4,4,4,4,4 0-0 N - 0 1S");
/// assert_eq!(ogn::write_fen(&position).as_deref(), Some("4-4-0-5-5-5-5-4-4-4-4-4-0-0-N"));
///
/// let refused = ogn::read_fen(&options, "4-4-0-5-5-5-5-4-4-4-4-4-0-N").unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "column 27: expected a number of seeds from 0 to 288, without sign or leading zero",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Another form, or a board that these options do not have.
pub fn read_fen(options: &AnyOptions, text: &str) -> Result<AnyPosition, ParseBoardError> {
    let mut board = BoardText::new(text);
    if !is_of_six_pits(&AnyPosition::opening(options)) {
        return Err(board.error(BoardProblem::OtherGame("Oware with six pits a side")));
    }
    let mut next = || {
        let seeds = board.seeds()?;
        board.mark('-', "a dash")?;
        Ok(seeds)
    };
    let mut counts = Counts::default();
    for side in Side::ALL {
        for _ in 0..PITS {
            counts.rows[side].push(next()?);
        }
    }
    for side in Side::ALL {
        counts.stores[side] = next()?;
    }
    let mut turn = Side::South;
    if board.mark('N', "").is_ok() {
        turn = Side::North;
    } else {
        board.mark('S', "the side to move, `S` or `N`")?;
    }
    board.end()?;
    counts.position(options, turn)
}

/// Writes a position of Oware with six pits a side; of another there is no such line. Nor is there one of a board that
/// would be read as another: with the game over though the rules would play on, or with another number of seeds than the
/// options have. The plies before it are not written.
///
/// ```
/// use mancala_rules::{AnyOptions, AnyPosition, Variant, notation::ogn};
///
/// let options = AnyOptions::parse(Variant::Oware, "standard", "")?;
/// let running = AnyPosition::parse(&options, "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 5 1S")?;
/// assert_eq!(ogn::write_fen(&running).as_deref(), Some("4-4-4-4-4-4-4-4-4-4-4-4-0-0-S"));
/// let over = AnyPosition::parse(&options, "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S o 5 1S")?;
/// assert_eq!(ogn::write_fen(&over), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn write_fen(position: &AnyPosition) -> Option<String> {
    if !is_of_six_pits(position) {
        return None;
    }
    let text = line_of(position);
    let read = read_fen(&position.options(), &text).ok()?;
    let is_kept = line_of(&read) == text && read.outcome().is_some() == position.outcome().is_some();
    is_kept.then_some(text)
}

/// Board and side to move, and nothing else of a position.
fn line_of(position: &AnyPosition) -> String {
    let board = position.board();
    let mut text = String::new();
    let stores = Side::ALL.map(|side| board.store(side));
    for seeds in Side::ALL.into_iter().flat_map(|side| board.pits(side)).chain(&stores) {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{seeds}-");
    }
    text.push(position.turn().letter());
    text
}

/// Pits a side of the board that this form is for.
const PITS: u8 = 6;

fn is_of_six_pits(position: &AnyPosition) -> bool {
    matches!(position, AnyPosition::Oware(position, _) if position.board().pits_per_side() == PITS)
}
