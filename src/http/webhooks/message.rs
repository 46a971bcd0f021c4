//! What an endpoint is sent: a notice as JSON. It has no names, which may be erased while it is on its way.

use serde::Serialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    db::{
        games::SeatedGame,
        webhooks::{deliveries::PING, queue::MessageContent},
    },
    domain::{Event, Previous},
    http::view::{
        event::view,
        wire::{ALWAYS_JSON, SideWord, Timestamp},
    },
    rules::Side,
};

/// A notice, in the form of Standard Webhooks.
#[derive(Serialize)]
struct NoticeView<T> {
    #[serde(rename = "type")]
    kind: &'static str,
    /// When it happened.
    timestamp: Timestamp,
    data: T,
}

/// What happened in a game: enough to tell the player of it; the rest the game itself shows.
#[derive(Serialize)]
struct HappenedView {
    game_id: Uuid,
    /// The event's: the game's `version` after it; of a notice that time runs out the last one's.
    seq: u32,
    /// Who is told.
    player_id: Uuid,
    /// At which side of the board that player sits now; null for who does not sit there, or at both.
    side: Option<SideWord>,
    variant: String,
    status: &'static str,
    /// The number of the last ply.
    ply: u32,
    /// The side to move.
    turn: Option<SideWord>,
    /// When the side to move runs out of time.
    deadline: Option<Timestamp>,
    /// As the game's events show it, but that of players it has the id only; null if nothing happened but that time goes by.
    event: Option<Value>,
}

/// What is sent to tell of something.
pub fn write_notice(told: &MessageContent<'_>) -> Result<String, String> {
    let MessageContent { notice, at, happened, seated } = *told;
    let game = &seated.game;
    let event = happened.map(|(event, previous)| event_without_names(seated, event, previous)).transpose()?;
    let mut sides = [Side::South, Side::North].into_iter().filter(|side| game.player_at(*side) == Some(notice.player));
    let data = HappenedView {
        game_id: game.id().0,
        seq: notice.seq,
        player_id: notice.player.0,
        side: match (sides.next(), sides.next()) {
            (Some(side), None) => Some(side.into()),
            _ => None,
        },
        variant: game.terms().options.variant().to_string(),
        status: game.status().as_str(),
        ply: game.ply(),
        turn: game.turn().map(SideWord::from),
        deadline: game.time().deadline.map(Timestamp),
        event,
    };
    serde_json::to_string(&NoticeView { kind: notice.kind.as_str(), timestamp: Timestamp(at), data })
        .map_err(|error| error.to_string())
}

fn event_without_names(seated: &SeatedGame, event: &Event, previous: &Previous) -> Result<Value, String> {
    let shown = view(seated, event, &mut previous.clone()).map_err(|problem| problem.to_string())?;
    let mut json = serde_json::to_value(&shown).map_err(|error| error.to_string())?;
    if let Some(player) = json.get_mut("player") {
        *player = json!({ "id": player["id"] });
    }
    Ok(json)
}

/// What is sent as a test.
pub fn ping(webhook: Uuid, now: OffsetDateTime) -> String {
    let notice = NoticeView { kind: PING, timestamp: Timestamp(now), data: json!({ "webhook_id": webhook }) };
    serde_json::to_string(&notice).expect(ALWAYS_JSON)
}
