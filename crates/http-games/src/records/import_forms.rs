//! Reads a game to import, in any form in which games are exported, into the domain's `Import`. Knows no request and no rules of play.

use std::collections::BTreeMap;

use mancala_domain::{
    BySeat, Import, ImportRejection, ImportedPly, PlyAction, Reason, ReservedNames, Start, TextLocation,
};
use mancala_rules::{
    AnyOptions, AnyPosition, BySide, Move, Side, Variant,
    notation::{
        Location, NAME_MAX, Problem as Unreadable, ReadError, Record, UnknownTermination,
        ogn::{Detail, Ogn},
    },
};
use mancala_wire::view::{options::OptionValueView, wire::Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use time::{Date, Month, OffsetDateTime, format_description::well_known::Rfc3339, macros::datetime};
use utoipa::ToSchema;

use crate::variants::catalog::STANDARD;

/// The form of the games in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON, a game per line.
    JsonLines,
    /// Consecutive text records, or files of Aualé.
    Text,
}

/// Why a game is not imported, and the location of the reason: from 1, within the game's own text.
#[derive(Clone, Debug)]
pub struct Refused {
    pub line: usize,
    pub column: Option<usize>,
    pub detail: String,
}

impl From<ImportRejection> for Refused {
    fn from(ImportRejection { location, error }: ImportRejection) -> Self {
        Self::at(location, error.to_string())
    }
}

impl From<String> for Refused {
    fn from(detail: String) -> Self {
        Self::at(None, detail)
    }
}

impl Refused {
    fn at(location: Option<TextLocation>, detail: String) -> Self {
        Self {
            line: location.map_or(1, |location| location.line),
            column: location.map(|location| location.column),
            detail,
        }
    }
}

/// The earliest time of a game: UUIDs hold no earlier one.
const EARLIEST: OffsetDateTime = datetime!(1970-01-01 00:00 UTC);

/// Reads one game, and what of it counts as unknown. A game without a date was played `now`. Its players get no reserved names.
pub fn read_game(form: Form, bytes: &[u8], now: OffsetDateTime, reserved: &ReservedNames) -> Result<ReadGame, Refused> {
    let (import, warning) = match form {
        Form::JsonLines => read_json(bytes, now),
        Form::Text => read_text(bytes, now),
    }?;
    let BySeat { first, second } = import.names;
    let names = BySeat { first: reserved.imported(first, NAME_MAX), second: reserved.imported(second, NAME_MAX) };
    Ok((Import { names, ..import }, warning))
}

/// A game to import. The warning names the reason to end, if this server does not know it.
pub type ReadGame = (Import, Option<Refused>);

/// How many characters of an unknown reason a warning repeats.
const REASON_SHOWN_MAX: usize = 100;

fn unknown_reason(location: TextLocation, reason: &str) -> Refused {
    let shown: String = reason.chars().take(REASON_SHOWN_MAX).collect();
    Refused::at(Some(location), format!("`{shown}` is no known reason to end, and counts as unknown"))
}

fn read_text(bytes: &[u8], now: OffsetDateTime) -> Result<ReadGame, Refused> {
    match Record::read(bytes) {
        Ok((record, unknown)) => {
            let warning = unknown.map(|UnknownTermination { location: Location { line, column }, text }| {
                unknown_reason(TextLocation { line, column }, &text)
            });
            Ok((Import::of_record(&record, now), warning))
        }
        // Only files of Aualé leave the variant out, or name it differently.
        Err(ReadError { problem: Unreadable::NoVariant | Unreadable::Variant(_), .. }) if !has_own_tags(bytes) => {
            let ogn = Ogn::parse(bytes).map_err(|error| refused(&error))?;
            let at = ogn.detail(Detail::Date).and_then(midnight).filter(|at| (EARLIEST..now).contains(at));
            Ok((Import::of_record(&ogn.record, at.unwrap_or(now)), None))
        }
        Err(error) => Err(refused(&error)),
    }
}

/// Whether the text has a tag that only this server's records have.
fn has_own_tags(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    ["[Preset", "[Options", "[Start"].iter().any(|tag| text.contains(tag))
}

fn refused(error: &ReadError) -> Refused {
    let ReadError { location, problem } = error;
    Refused { line: location.line, column: Some(location.column), detail: problem.to_string() }
}

/// The beginning of a day such as `2014.05.11`.
fn midnight(date: &str) -> Option<OffsetDateTime> {
    let mut parts = date.split('.');
    let (year, month, day) =
        (parts.next()?.parse().ok()?, parts.next()?.parse::<u8>().ok()?, parts.next()?.parse().ok()?);
    let date = Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()?;
    Some(date.midnight().assume_utc())
}

/// A game to import: an exported game, of which these fields are read. All others are ignored.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ImportGame)]
pub struct GameText<'a> {
    game: TermsText,
    /// Every ply, from the first.
    // Unparsed, because only raw text keeps the location of each.
    #[serde(borrow)]
    #[schema(value_type = Vec<PlyText>)]
    moves: Vec<&'a RawValue>,
}

/// How the game was played.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ImportTerms)]
struct TermsText {
    #[schema(example = "kalah")]
    variant: String,
    /// `standard` unless given.
    #[serde(default)]
    preset: Option<String>,
    /// The options that differ from the preset.
    #[serde(default)]
    options: BTreeMap<String, OptionValueView>,
    #[serde(default)]
    start: Option<StartText>,
    #[serde(default)]
    seats: Option<SeatsText>,
    #[serde(default)]
    result: Option<ResultText>,
    /// Whether it was practice against the computer: then it counts in no figure and in no explorer.
    #[serde(default)]
    practice: Option<bool>,
    #[serde(default)]
    #[schema(value_type = Option<Timestamp>)]
    created_at: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<Timestamp>)]
    started_at: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<Timestamp>)]
    finished_at: Option<String>,
}

/// Where the game begins, if not with the opening of its options.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ImportPosition)]
struct StartText {
    /// In text notation.
    #[schema(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: String,
}

/// The players' sides at the end of the game.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(as = ImportSeats)]
struct SeatsText {
    #[serde(default)]
    south: Option<NameText>,
    #[serde(default)]
    north: Option<NameText>,
}

/// A player.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ImportPlayer)]
struct NameText {
    #[schema(example = "Ana")]
    name: String,
    /// Read in place of `name`.
    #[serde(default)]
    display_name: Option<String>,
}

impl NameText {
    fn shown(self) -> String {
        self.display_name.unwrap_or(self.name)
    }
}

/// How the game ended.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ImportResult)]
struct ResultText {
    /// `south` or `north`; null on a draw.
    winner: Option<String>,
    /// Why it ended, as the result of a game says it. A word that is not known counts as `unknown`.
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    score: Option<ScoreText>,
}

/// The seeds in the stores at the end.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[schema(as = ImportScore)]
struct ScoreText {
    south: u16,
    north: u16,
}

/// A ply of a game to import.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ImportMove)]
struct PlyText {
    /// Its number, from 1 and without gaps.
    #[serde(default)]
    #[schema(minimum = 1)]
    ply: Option<u32>,
    /// In text notation, or `takeback`.
    #[serde(rename = "move")]
    #[schema(example = "D")]
    mv: String,
    /// When it was played; unless given, when the one before it was.
    #[serde(default)]
    #[schema(value_type = Option<Timestamp>)]
    at: Option<String>,
    /// The position after it, which must be that of the replay.
    #[serde(default)]
    position: Option<String>,
    #[serde(default)]
    effects: Vec<EffectText>,
    #[serde(skip)]
    location: Option<TextLocation>,
}

/// An effect of a ply: only that of a takeback is read.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ImportEffect)]
struct EffectText {
    /// In a takeback, the ply after which the game went on.
    #[serde(default)]
    #[schema(minimum = 0)]
    to_ply: Option<u32>,
}

fn read_json(bytes: &[u8], now: OffsetDateTime) -> Result<ReadGame, Refused> {
    let beginning = TextLocation { line: 1, column: 1 };
    let GameText { game, moves } = serde_json::from_slice(bytes).map_err(|error| unreadable(beginning, &error))?;
    let reason = game.result.as_ref().and_then(|result| result.reason.as_deref());
    let unknown = reason.filter(|reason| reason.parse::<Reason>().is_err());
    let warning = unknown.map(|reason| unknown_reason(beginning, reason));
    Ok((game.import(read_plies(bytes, &moves)?, now)?, warning))
}

/// The plies of a game, each with the location where it begins in the game's text.
fn read_plies(text: &[u8], plies: &[&RawValue]) -> Result<Vec<PlyText>, Refused> {
    let (mut location, mut read) = (TextLocation { line: 1, column: 1 }, 0);
    let ply = |raw: &&RawValue| {
        let begins = raw.get().as_ptr().addr() - text.as_ptr().addr();
        for c in String::from_utf8_lossy(&text[read..begins]).chars() {
            location = match c {
                '\n' => TextLocation { line: location.line + 1, column: 1 },
                _ => TextLocation { column: location.column + 1, ..location },
            };
        }
        read = begins;
        let ply: PlyText = serde_json::from_str(raw.get()).map_err(|error| unreadable(location, &error))?;
        Ok(PlyText { location: Some(location), ..ply })
    };
    plies.iter().map(ply).collect()
}

/// Why a text that begins at a location is invalid JSON, or has another form.
fn unreadable(begins: TextLocation, error: &serde_json::Error) -> Refused {
    let message = error.to_string();
    let detail = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason).to_owned();
    let line = begins.line + error.line().max(1) - 1;
    let column = if line == begins.line { begins.column + error.column() - 1 } else { error.column() };
    Refused { line, column: Some(column), detail }
}

impl TermsText {
    fn import(self, moves: Vec<PlyText>, now: OffsetDateTime) -> Result<Import, Refused> {
        let Self { variant, preset, options, start, seats, result, practice, created_at, started_at, finished_at } =
            self;
        let variant: Variant = variant.parse().map_err(|error| format!("game.variant: {error}"))?;
        let options: Vec<_> = options.into_iter().map(|(name, value)| (name, value.into())).collect();
        let options = AnyOptions::recorded(variant, preset.as_deref().unwrap_or(STANDARD), &options)
            .map_err(|error| format!("game.options: {error}"))?;
        let start = match start {
            Some(StartText { position }) => {
                let position = AnyPosition::parse(&options, &position);
                Some(Start { position: position.map_err(|error| format!("game.start.position: {error}"))?, from: None })
            }
            None => None,
        };
        let begun_at = moment("game.started_at", started_at.or(created_at).as_deref(), now)?;
        if begun_at < EARLIEST || begun_at > now {
            return Err("game.started_at: the game began before 1970, or in the future".to_owned().into());
        }
        let was_swapped = start.as_ref().is_some_and(|start| start.position.swapped());
        let is_swapped = is_swapped(&moves, was_swapped);
        let mut at = begun_at;
        let mut plies = Vec::with_capacity(moves.len());
        for (ply, text) in (1..).zip(moves) {
            let location = text.location;
            let here = |detail| Refused::at(location, detail);
            at = moment(&format!("moves, ply {ply}, at"), text.at.as_deref(), at).map_err(here)?;
            plies.push(text.imported(ply, at).map_err(here)?);
        }
        Ok(Import {
            options,
            start,
            names: names(seats.unwrap_or_default(), is_swapped)?,
            begun_at,
            plies,
            ended_at: finished_at.map(|at| moment("game.finished_at", Some(&at), begun_at)).transpose()?,
            score: result
                .as_ref()
                .and_then(|result| result.score)
                .map(|ScoreText { south, north }| BySide { south, north }),
            ending: result.map(ResultText::ending).transpose()?,
            is_practice: practice.unwrap_or_default(),
        })
    }
}

impl PlyText {
    fn imported(self, ply: u32, at: OffsetDateTime) -> Result<ImportedPly, String> {
        if self.ply.is_some_and(|number| number != ply) {
            return Err(format!("ply {ply} is missing: plies are numbered from 1, without gaps"));
        }
        let mv = if self.mv == TAKEBACK {
            let to_ply = self.effects.iter().find_map(|effect| effect.to_ply);
            let to_ply = to_ply.ok_or_else(|| format!("ply {ply}: a takeback needs `to_ply`"))?;
            PlyAction::Takeback { to_ply, increments: BySeat::default() }
        } else {
            let mv = self.mv.parse::<Move>();
            PlyAction::Move(mv.map_err(|error| format!("ply {ply}: {error}"))?)
        };
        Ok(ImportedPly { mv, at, position: self.position, location: self.location })
    }
}

/// The history's word for a ply that takes others back.
const TAKEBACK: &str = "takeback";

impl ResultText {
    fn ending(self) -> Result<(Option<Side>, Option<Reason>), String> {
        let winner = self.winner.map(|side| side.parse::<Side>()).transpose();
        let reason = self.reason.and_then(|reason| reason.parse::<Reason>().ok());
        Ok((
            winner.map_err(|error| format!("game.result.winner: {error}"))?,
            reason.filter(|reason| *reason != Reason::Unknown),
        ))
    }
}

/// Whether the players have swapped sides at the end of the game.
fn is_swapped(moves: &[PlyText], at_first: bool) -> bool {
    let mut swapped = vec![at_first];
    for ply in moves {
        let before = swapped.last().copied().unwrap_or(at_first);
        let back = ply.effects.iter().find_map(|effect| effect.to_ply);
        let back = back.and_then(|to_ply| swapped.get(usize::try_from(to_ply).ok()?).copied());
        swapped.push(match ply.mv.as_str() {
            "swap" => !before,
            TAKEBACK => back.unwrap_or(before),
            _ => before,
        });
    }
    swapped.last().copied().unwrap_or(at_first)
}

fn names(seats: SeatsText, is_swapped: bool) -> Result<BySeat<String>, String> {
    let name = |seat: Option<NameText>| match seat.map(NameText::shown) {
        None => Ok("?".to_owned()),
        Some(name) if name.trim().is_empty() => Ok("?".to_owned()),
        Some(name) if name.chars().count() > NAME_MAX || name.chars().any(char::is_control) => {
            Err(format!("game.seats: a name has at most {NAME_MAX} characters, and no control characters"))
        }
        Some(name) => Ok(name),
    };
    let (south, north) = (name(seats.south)?, name(seats.north)?);
    Ok(if is_swapped { BySeat { first: north, second: south } } else { BySeat { first: south, second: north } })
}

fn moment(field: &str, text: Option<&str>, default: OffsetDateTime) -> Result<OffsetDateTime, String> {
    let moment = text.map(|text| OffsetDateTime::parse(text, &Rfc3339)).transpose();
    Ok(moment
        .map_err(|_| format!("{field}: a time is written by RFC 3339, as in 2026-11-21T20:15:00.000Z"))?
        .unwrap_or(default))
}
