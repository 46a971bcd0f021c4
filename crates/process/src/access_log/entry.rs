//! The content of a line, and its two forms. A line has no query string, header of credentials, name or body.

use std::{fmt::Write, net::IpAddr, time::Duration};

use serde::Serialize;
use time::{OffsetDateTime, format_description::BorrowedFormatItem, macros::format_description};
use uuid::Uuid;

use super::settings::Format;
use crate::clock;

/// The status of a request whose client closed the connection before the answer began. No answer has it: nginx logs the same.
pub const CLIENT_CLOSED: u16 = 499;

/// The time in the combined form.
const CLF_TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[day]/[month repr:short]/[year]:[hour]:[minute]:[second] +0000");

/// Writing to a string does not fail.
const ALWAYS: &str = "writing to a string does not fail";

/// An answered request.
#[derive(Clone, Debug)]
pub struct AccessLogEntry {
    /// When the request's head was read.
    pub time: OffsetDateTime,
    /// The client, as trusted proxies name it.
    pub client: IpAddr,
    /// The player of a valid token.
    pub player: Option<Uuid>,
    pub method: &'static str,
    /// The pattern of the path.
    pub route: &'static str,
    /// The game that the path names, or that the request has made.
    pub game: Option<Uuid>,
    pub protocol: &'static str,
    pub status: u16,
    /// The code of a failure.
    pub code: Option<&'static str>,
    /// The bytes of the body that were handed to the connection.
    pub bytes: u64,
    /// The time until the last of these bytes.
    pub took: Duration,
    pub request_id: Option<Uuid>,
    pub trace_id: Option<u128>,
    /// The client's word, cut off.
    pub user_agent: Option<String>,
}

/// The JSON form.
#[derive(Serialize)]
struct Json<'a> {
    timestamp: &'a str,
    client: IpAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<Uuid>,
    method: &'a str,
    route: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<Uuid>,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    bytes: u64,
    ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<&'a str>,
}

impl AccessLogEntry {
    /// Adds the line to `text`, with its end.
    pub fn write(&self, format: Format, text: &mut String) {
        match format {
            Format::Json => self.write_json(text),
            Format::Combined => self.write_combined(text),
        }
        text.push('\n');
    }

    fn milliseconds(&self) -> f64 {
        // In whole microseconds: the rest is noise.
        (self.took.as_secs_f64() * 1e6).round() / 1e3
    }

    fn trace(&self) -> Option<String> {
        self.trace_id.map(|id| format!("{id:032x}"))
    }

    fn write_json(&self, text: &mut String) {
        let json = Json {
            timestamp: &clock::text(self.time),
            client: self.client,
            player: self.player,
            method: self.method,
            route: self.route,
            game: self.game,
            status: self.status,
            code: self.code,
            bytes: self.bytes,
            ms: self.milliseconds(),
            request_id: self.request_id,
            trace_id: self.trace(),
            user_agent: self.user_agent.as_deref(),
        };
        text.push_str(&serde_json::to_string(&json).expect("the entry has only texts and numbers"));
    }

    /// The combined form of Apache and nginx, and after it: milliseconds, request id, trace id, game, code. The referrer is never logged.
    fn write_combined(&self, text: &mut String) {
        let Self { client, method, route, protocol, status, bytes, .. } = self;
        let time = self.time.format(CLF_TIME).expect("all parts of the time are there");
        let or_dash = |id: Option<String>| id.unwrap_or_else(|| "-".to_owned());
        let player = or_dash(self.player.map(|id| id.to_string()));
        let agent = or_dash(self.user_agent.as_deref().map(quoted));
        let (request, trace) = (or_dash(self.request_id.map(|id| id.to_string())), or_dash(self.trace()));
        let (game, code) = (or_dash(self.game.map(|id| id.to_string())), self.code.unwrap_or("-"));
        let ms = self.milliseconds();
        let line = format_args!(
            r#"{client} - {player} [{time}] "{method} {route} {protocol}" {status} {bytes} "-" "{agent}" {ms:.3} {request} {trace} {game} {code}"#
        );
        text.write_fmt(line).expect(ALWAYS);
    }
}

/// A client's text between quotation marks: what could end the field or the line is escaped, as Apache does.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => write!(quoted, "\\x{:02x}", u32::from(letter)).expect(ALWAYS),
            letter => quoted.push(letter),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    fn entry() -> AccessLogEntry {
        AccessLogEntry {
            time: datetime!(2026-11-03 07:08:09.010 UTC),
            client: "2001:db8::7".parse().expect("an address"),
            player: Some(Uuid::from_u128(0x17)),
            method: "POST",
            route: "/v1/games/{game_id}/moves",
            game: Some(Uuid::from_u128(0x1a)),
            protocol: "HTTP/1.1",
            status: 409,
            code: Some("stale_ply"),
            bytes: 812,
            took: Duration::from_nanos(1_234_567),
            request_id: Some(Uuid::from_u128(0x18)),
            trace_id: Some(0x19),
            user_agent: Some("a \"game\"\n\\".to_owned()),
        }
    }

    fn line(entry: &AccessLogEntry, format: Format) -> String {
        let mut text = String::new();
        entry.write(format, &mut text);
        text
    }

    #[test]
    fn the_json_form_is_one_object_a_line() {
        assert_eq!(
            line(&entry(), Format::Json),
            concat!(
                r#"{"timestamp":"2026-11-03T07:08:09.010Z","client":"2001:db8::7","player":"00000000-0000-0000-0000-000000000017","#,
                r#""method":"POST","route":"/v1/games/{game_id}/moves","game":"00000000-0000-0000-0000-00000000001a","status":409,"code":"stale_ply","bytes":812,"ms":1.235,"#,
                r#""request_id":"00000000-0000-0000-0000-000000000018","trace_id":"00000000000000000000000000000019","#,
                r#""user_agent":"a \"game\"\n\\"}"#,
                "\n"
            )
        );
    }

    #[test]
    fn the_combined_form_is_one_line_whatever_the_client_calls_itself() {
        assert_eq!(
            line(&entry(), Format::Combined),
            concat!(
                r#"2001:db8::7 - 00000000-0000-0000-0000-000000000017 [03/Nov/2026:07:08:09 +0000] "#,
                r#""POST /v1/games/{game_id}/moves HTTP/1.1" 409 812 "-" "a \"game\"\x0a\\" 1.235 "#,
                "00000000-0000-0000-0000-000000000018 00000000000000000000000000000019 ",
                "00000000-0000-0000-0000-00000000001a stale_ply\n"
            )
        );
        let bare = AccessLogEntry { player: None, request_id: None, trace_id: None, user_agent: None, ..entry() };
        let bare = AccessLogEntry { game: None, code: None, ..bare };
        assert!(line(&bare, Format::Combined).ends_with("\"-\" \"-\" 1.235 - - - -\n"));
    }
}
