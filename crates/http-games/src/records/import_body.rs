//! The body of an import: how it is received, and how it is split into games. `import_forms` reads each game.

use std::{fmt, time::Duration};

use actix_web::{HttpRequest, http::header, web::Payload};
use futures_util::StreamExt;
use mancala_http::{
    answer::{code::Code, problem::Problem},
    request::extract::check_plain,
    state::uploads::Upload,
};
use mancala_rules::notation::{BYTE_ORDER_MARK, Splitter};
use serde::{
    Deserializer as _,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use super::import_forms::Form;

/// The maximum number of games in one request.
pub const GAMES_MAX: usize = 1000;

/// The largest body, in bytes. It holds several thousand records, or some hundred games as JSON.
pub const IMPORT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The lowest rate at which a body must arrive after [`RATE_GRACE`], in bytes a second: that of a slow connection.
const RATE_MIN: u64 = 10 * 1024;

/// How long a client may take before the lowest rate applies, and how long it may fall behind.
const RATE_GRACE: Duration = Duration::from_secs(5);

/// How long a body may take at most: the largest one over a connection of half a megabit a second.
const BODY_TIMEOUT: Duration = Duration::from_mins(2);

/// The form of a body, by its `Content-Type`.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Json,
    JsonLines,
    Text,
}

impl Kind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Json => "json",
            Kind::JsonLines => "lines",
            Kind::Text => "text",
        }
    }

    /// The form that a request declares.
    pub fn of(request: &HttpRequest) -> Result<Self, Problem> {
        let declared = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = declared.and_then(|text| text.split(';').next()).unwrap_or_default();
        let kind = match essence.trim().to_ascii_lowercase().as_str() {
            "application/json" => Kind::Json,
            "application/x-ndjson" => Kind::JsonLines,
            "text/plain" => Kind::Text,
            _ => {
                let detail = "games are sent as text/plain, application/x-ndjson or application/json";
                return Err(Problem::new(Code::UnsupportedMediaType, detail));
            }
        };
        check_plain(request)?;
        Ok(kind)
    }
}

/// Receives a body whole. It must arrive at a lowest rate, and within the bounds of all uploads.
pub async fn receive(mut payload: Payload, upload: &mut Upload) -> Result<Vec<u8>, Problem> {
    let begun = Instant::now();
    let mut body = vec![];
    loop {
        let expected =
            Duration::from_millis(u64::try_from(body.len()).unwrap_or(u64::MAX).saturating_mul(1000) / RATE_MIN);
        let deadline = begun + (RATE_GRACE + expected).min(BODY_TIMEOUT);
        let late = |_| Problem::new(Code::MalformedRequest, "the body did not arrive in time");
        let Some(chunk) = timeout_at(deadline, payload.next()).await.map_err(late)? else { return Ok(body) };
        let broken = |_| Problem::new(Code::MalformedRequest, "the body is cut off or cannot be read");
        let chunk = chunk.map_err(broken)?;
        if body.len() + chunk.len() > IMPORT_BYTES_MAX {
            return Err(Problem::new(Code::PayloadTooLarge, "games to import have at most 8 MiB in all"));
        }
        upload.add(chunk.len())?;
        body.extend_from_slice(&chunk);
    }
}

/// A game of a body, not parsed yet.
pub struct GameSource {
    /// The line with which it begins, from 1; in a JSON list, its number.
    pub line: usize,
    /// The number of lines before it, by which the lines of its errors are shifted.
    pub lines_before: usize,
    pub form: Form,
    pub text: String,
}

/// Splits a body into games. It takes as long as the body is large.
pub fn split(kind: Kind, body: Vec<u8>) -> Result<Vec<GameSource>, Problem> {
    let text = String::from_utf8(body).map_err(|error| {
        let detail = format!("the body is not UTF-8 from byte {} on", error.utf8_error().valid_up_to());
        Problem::new(Code::MalformedRequest, detail)
    })?;
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    let games = match kind {
        Kind::Json => split_json(text)?,
        Kind::JsonLines => {
            let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
            lines.map(|(line, text)| json_source(line, line - 1, text)).take(GAMES_MAX + 1).collect()
        }
        Kind::Text => split_records(text),
    };
    if games.is_empty() || games.len() > GAMES_MAX {
        return Err(Problem::invalid_as(
            "wrong_length",
            "",
            format!("from 1 to {GAMES_MAX} games are imported at once"),
        ));
    }
    Ok(games)
}

fn json_source(line: usize, lines_before: usize, text: &str) -> GameSource {
    GameSource { line, lines_before, form: Form::JsonLines, text: text.to_owned() }
}

/// Splits a JSON body into its games: a single game, or a list.
fn split_json(text: &str) -> Result<Vec<GameSource>, Problem> {
    if !text.trim_start().starts_with('[') {
        return Ok(vec![json_source(1, 0, text)]);
    }
    let mut json_text = serde_json::Deserializer::from_str(text);
    let list = json_text.deserialize_seq(ListVisitor).and_then(|list| json_text.end().map(|()| list));
    let list = list.map_err(|error| Problem::new(Code::MalformedRequest, format!("the body is not JSON: {error}")))?;
    Ok((1..).zip(list).map(|(line, game)| json_source(line, 0, game.get())).collect())
}

/// Reads `GAMES_MAX` + 1 items of a list, and ignores the rest.
struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of games")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut games = vec![];
        while games.len() <= GAMES_MAX
            && let Some(game) = seq.next_element()?
        {
            games.push(game);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(games)
    }
}

fn split_records(text: &str) -> Vec<GameSource> {
    let mut splitter = Splitter::default();
    let mut games: Vec<GameSource> = vec![];
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        if games.len() > GAMES_MAX {
            break;
        }
        let begins = splitter.begins_record(content);
        match games.last_mut() {
            Some(last) if !begins => last.text.push_str(content),
            None if content.trim().is_empty() => {}
            _ => games.push(GameSource { line, lines_before: line - 1, form: Form::Text, text: content.to_owned() }),
        }
    }
    games
}
