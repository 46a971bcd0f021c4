//! The message that an endpoint receives, as JSON. It has no players' names, because they may be erased before it is delivered.

use mancala_db::{
    games::SeatedGame,
    webhooks::{
        deliveries::{CHALLENGE, PING},
        queue::MessageContent,
    },
};
use mancala_domain::{Event, Previous};
use mancala_rules::Side;
use mancala_wire::view::{
    event::view,
    wire::{ALWAYS_JSON, SideWord, Timestamp},
};
use serde::Serialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

/// A message, in the form of Standard Webhooks.
#[derive(Serialize)]
struct MessageView<T> {
    #[serde(rename = "type")]
    kind: &'static str,
    /// The time of the event.
    timestamp: Timestamp,
    data: T,
}

/// An event of a game: enough to notify the player. The game itself has the rest.
#[derive(Serialize)]
struct GameData {
    game_id: Uuid,
    /// The event's `seq`, which is the game's `version` after it; in a reminder of a deadline, that of the last event.
    seq: u32,
    /// The player who is notified.
    player_id: Uuid,
    /// The player's present side; null for a player of no side, or of both.
    side: Option<SideWord>,
    variant: String,
    /// `true` for practice against the computer, and otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    practice: Option<bool>,
    status: &'static str,
    /// The number of the last ply.
    ply: u32,
    /// The side to move.
    turn: Option<SideWord>,
    /// When the time of the side to move ends.
    deadline: Option<Timestamp>,
    /// As in the game's events, but with the ids of players only; null in a reminder of a deadline.
    event: Option<Value>,
}

/// Writes the message of a notice.
pub fn write_message(content: &MessageContent<'_>) -> Result<String, String> {
    let MessageContent { notice, at, happened, seated } = *content;
    let game = &seated.game;
    let event = happened.map(|(event, previous)| event_without_names(seated, event, previous)).transpose()?;
    let mut sides = [Side::South, Side::North].into_iter().filter(|side| game.player_at(*side) == Some(notice.player));
    let data = GameData {
        game_id: game.id().0,
        seq: notice.seq,
        player_id: notice.player.0,
        side: match (sides.next(), sides.next()) {
            (Some(side), None) => Some(side.into()),
            _ => None,
        },
        variant: game.terms().options.variant().to_string(),
        practice: game.terms().is_practice.then_some(true),
        status: game.status().as_str(),
        ply: game.ply(),
        turn: game.turn().map(SideWord::from),
        deadline: game.time().deadline.map(Timestamp),
        event,
    };
    serde_json::to_string(&MessageView { kind: notice.kind.as_str(), timestamp: Timestamp(at), data })
        .map_err(|error| error.to_string())
}

fn event_without_names(seated: &SeatedGame, event: &Event, previous: &Previous) -> Result<Value, String> {
    let view = view(seated, event, &mut previous.clone()).map_err(|problem| problem.to_string())?;
    let mut json = serde_json::to_value(&view).map_err(|error| error.to_string())?;
    if let Some(player) = json.get_mut("player") {
        *player = json!({ "id": player["id"] });
    }
    Ok(json)
}

/// Writes the message of a test.
pub fn ping(webhook: Uuid, now: OffsetDateTime) -> String {
    let message = MessageView { kind: PING, timestamp: Timestamp(now), data: json!({ "webhook_id": webhook }) };
    serde_json::to_string(&message).expect(ALWAYS_JSON)
}

/// Writes the message that asks an endpoint whether it wants notices.
pub fn challenge(webhook: Uuid, challenge: &str, now: OffsetDateTime) -> String {
    let data = json!({ "webhook_id": webhook, "challenge": challenge });
    let message = MessageView { kind: CHALLENGE, timestamp: Timestamp(now), data };
    serde_json::to_string(&message).expect(ALWAYS_JSON)
}
