//! Files and positions of Aualé and of its engine Aalina: the Oware Game Notation (OGN), and the board in one line,
//! which they call FEN. Knows no other game than Oware.
//!
//! Both programs play Oware with six pits and four seeds by the rules called abapa. These rules are `oware/standard`, so every file is read
//! as that, even if its variant has another name, and no other game is written. The form differs from that of records:
//!
//! - The result is the score, such as `28-20`, or `*`. In a game that the rules have not ended, the higher score wins.
//!   A score has at most as many seeds as the game.
//! - The captured count of the last move includes the swept seeds. The reader skips all counts.
//! - There may be variations in parentheses, and marks after moves: any run of `!` and `?`, and `$` with a number. The
//!   reader skips them like comments.
//! - There is no agreed end; such a game is written with its result and without the agreement.
//! - Neither form holds the plies before the start, or that a game is over where the rules play on. A file does not say
//!   why a game ended.

use std::fmt::Write;

use super::{
    BoardProblem, DetailError, ParseBoardError, Problem, ReadError, Record, VALUE_MAX,
    board_text::{BoardText, Counts},
    movetext::{self, Dialect, Line},
    record::{as_written, with_names_of},
    scan::{self, Fault, Source, Tags, decode},
};
use crate::{AnyOptions, AnyPosition, Move, Side, Variant, oware};

/// A file: the game and its details.
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
    /// The known details, by the number of the [`Detail`]. A tag can hold each of them.
    details: [Option<String>; Detail::ALL.len()],
}

worded_enum! {
    /// The details that a file has besides the game and its players. The words are the names of the tags.
    pub enum Detail {
        /// The tournament or match.
        Event = "Event",
        /// Where it was played.
        Site = "Site",
        /// When it was played, such as `2014.05.11`; not checked.
        Date = "Date",
        /// The round of the event.
        Round = "Round",
    }
}

/// The variant that Aualé writes.
const ABAPA: &str = "Oware Abapa";

/// The tags that are read. Aualé writes `South` and `North`; `White` and `Black` come from tools made for chess.
const TAGS: [&str; 11] =
    ["Variant", "Event", "Site", "Date", "Round", "South", "North", "White", "Black", "Result", "FEN"];

impl Ogn {
    /// The file of a game, without details.
    #[must_use]
    pub const fn new(record: Record) -> Self {
        Self { record, details: [const { None }; Detail::ALL.len()] }
    }

    /// The same file with this detail. An empty text and `?` mean that it is not known.
    ///
    /// # Errors
    ///
    /// The text is longer than [`VALUE_MAX`] characters or has a control character, such as a line break.
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

    /// This detail; `None` if it is not known.
    #[must_use]
    pub fn detail(&self, detail: Detail) -> Option<&str> {
        self.details[detail as usize].as_deref()
    }

    /// Reads a file. The variant may be missing, or be `Oware Abapa`, `Abapa` or `Oware`.
    ///
    /// # Errors
    ///
    /// The first place at which the file does not have this form, or the game breaks the rules of `oware/standard`.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = decode(bytes)?;
        read(text).map_err(|fault| fault.locate(text))
    }

    /// Writes a file in the form of Aualé; `None` for games that Aualé does not play, and for games that begin with a
    /// board that [`write_fen`] does not write.
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
    // `scan::tags` has made the same checks as `with_detail`.
    let details = Detail::ALL.map(|detail| tags.text(detail.word()).map(|tag| tag.value.clone()));
    Ok(Ogn { record, details })
}

fn first<'t, 'a>(tags: &'t Tags<'a>, names: [&str; 2]) -> Option<&'t scan::Tag<'a>> {
    names.into_iter().find_map(|name| tags.text(name))
}

/// The options of Aualé.
fn abapa() -> AnyOptions {
    AnyOptions::Oware(oware::Preset::Standard.options())
}

/// Whether these options are the rules of Aualé, whatever their preset. The option `agree_end` is left out because it
/// changes no move.
fn is_abapa(options: &AnyOptions) -> bool {
    let rules = |options: &AnyOptions| {
        let mut values = options.values();
        values.retain(|(name, _)| *name != "agree_end");
        values
    };
    options.variant() == Variant::Oware && rules(options) == rules(&abapa())
}

/// Reads a board in one line: `A` to `F`, `a` to `f`, the stores of South and North, the side to move.
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
/// The text has another form, or no game with these options has this board.
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

/// Writes a position of Oware with six pits a side, without its plies.
///
/// `None` for another game or board, and for a position that would be read back as another one. That is a game that is
/// over where the rules play on, or a number of seeds other than that of the options.
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

/// The board of a position and its side to move.
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

/// Pits a side in this form.
const PITS: u8 = 6;

fn is_of_six_pits(position: &AnyPosition) -> bool {
    position.of_game::<oware::Position>().is_some_and(|position| position.board().pits_per_side() == PITS)
}
