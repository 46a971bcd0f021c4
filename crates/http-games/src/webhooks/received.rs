//! What an endpoint receives, for the OpenAPI document. `message` writes it.
//!
//! Only schemas: the messages of a game are written without them, because a queue holds their text.
#![expect(dead_code, reason = "the types describe messages")]

use mancala_db::webhooks::deliveries::{CHALLENGE, PING};
use mancala_domain::NoticeKind;
use mancala_wire::view::{
    game::StatusWord,
    wire::{SideWord, Timestamp},
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        Content, Object, OpenApi, Paths, Ref, RefOr, Required, ResponseBuilder, Schema, Type,
        path::{HttpMethod, Operation, OperationBuilder, ParameterBuilder, ParameterIn},
        request_body::RequestBodyBuilder,
    },
};
use uuid::Uuid;

/// A message about a game of the player, in the form of Standard Webhooks.
#[derive(ToSchema)]
struct GameMessage {
    /// Why it was sent. Clients ignore values that they do not know.
    #[schema(rename = "type", example = "game.your_turn")]
    kind: String,
    /// The time of the event.
    timestamp: Timestamp,
    data: GameMessageData,
}

/// An event of a game: enough to notify the player. The game itself has the rest.
#[derive(ToSchema)]
struct GameMessageData {
    game_id: Uuid,
    /// The event's `seq`, which is the game's `version` after it; in a reminder of a deadline, that of the last event.
    #[schema(minimum = 1, example = 5)]
    seq: u32,
    /// The player who is notified.
    player_id: Uuid,
    /// The player's present side; null for a player of no side, or of both.
    #[schema(required = true)]
    side: Option<SideWord>,
    #[schema(example = "kalah")]
    variant: String,
    /// `true` for practice against the computer, and otherwise absent.
    #[schema(nullable = false)]
    practice: Option<bool>,
    status: StatusWord,
    /// The number of the last ply.
    #[schema(minimum = 0, example = 3)]
    ply: u32,
    /// The side to move.
    #[schema(required = true)]
    turn: Option<SideWord>,
    /// When the time of the side to move ends.
    #[schema(required = true)]
    deadline: Option<Timestamp>,
    /// What happened; null in a reminder of a deadline.
    #[schema(required = true)]
    event: Option<MessageEvent>,
}

/// As in the game's events, but with the ids of players only. Clients ignore types that they do not know.
// `complete` takes its fields from the schema of events.
#[derive(ToSchema)]
struct MessageEvent {}

/// A player, without a name: it may be erased before the message is delivered.
#[derive(ToSchema)]
struct MessagePlayer {
    id: Uuid,
}

/// A test, which the player requested.
#[derive(ToSchema)]
struct PingMessage {
    #[schema(rename = "type", example = "webhook.ping")]
    kind: String,
    timestamp: Timestamp,
    data: PingMessageData,
}

/// The webhook that is tested.
#[derive(ToSchema)]
struct PingMessageData {
    webhook_id: Uuid,
}

/// Asks whether the endpoint wants messages. It answers with the same challenge.
#[derive(ToSchema)]
struct ChallengeMessage {
    #[schema(rename = "type", example = "webhook.challenge")]
    kind: String,
    timestamp: Timestamp,
    data: ChallengeMessageData,
}

/// The webhook that is verified, and its challenge.
#[derive(ToSchema)]
struct ChallengeMessageData {
    webhook_id: Uuid,
    #[schema(example = "3q2-7wAAAAEvXhPn")]
    challenge: String,
}

/// The answer to a challenge.
#[derive(ToSchema)]
struct ChallengeAnswer {
    /// The challenge of the message.
    #[schema(example = "3q2-7wAAAAEvXhPn")]
    challenge: String,
}

/// Adds what endpoints receive to a derived document.
pub fn add(document: &mut OpenApi) {
    let schemas = &mut document.components.get_or_insert_default().schemas;
    let mut derived = vec![];
    GameMessage::schemas(&mut derived);
    PingMessage::schemas(&mut derived);
    ChallengeMessage::schemas(&mut derived);
    derived.extend([
        (GameMessage::name().into_owned(), GameMessage::schema()),
        (PingMessage::name().into_owned(), PingMessage::schema()),
        (ChallengeMessage::name().into_owned(), ChallengeMessage::schema()),
        (ChallengeAnswer::name().into_owned(), ChallengeAnswer::schema()),
        (MessagePlayer::name().into_owned(), MessagePlayer::schema()),
    ]);
    for (name, schema) in derived {
        // What answers have as well is complete already.
        schemas.entry(name).or_insert(schema);
    }
    let mut messages = Paths::new();
    for kind in NoticeKind::ALL.map(NoticeKind::as_str) {
        messages.add_path_operation(kind, vec![HttpMethod::Post], receive(kind, &GameMessage::name(), false));
    }
    messages.add_path_operation(PING, vec![HttpMethod::Post], receive(PING, &PingMessage::name(), false));
    messages.add_path_operation(CHALLENGE, vec![HttpMethod::Post], receive(CHALLENGE, &ChallengeMessage::name(), true));
    document.webhooks = Some(messages);
}

/// Completes the event in a message, after the document is complete.
pub fn complete(document: &mut OpenApi) {
    let schemas = &mut document.components.get_or_insert_default().schemas;
    let event = message_event(schemas.get("Event"), schemas.get("MessageEvent"));
    schemas.insert("MessageEvent".to_owned(), event.into());
}

/// The schema of events, with the ids of players only.
fn message_event(event: Option<&RefOr<Schema>>, about: Option<&RefOr<Schema>>) -> Object {
    let (Some(RefOr::T(Schema::Object(event))), Some(RefOr::T(Schema::Object(about)))) = (event, about) else {
        panic!("events and those of messages are objects of the document");
    };
    let mut event = event.clone();
    let table = event.description.as_deref().and_then(|text| text.split_once("\n\n")).map_or("", |(_, table)| table);
    event.description = Some(format!("{}\n\n{table}", about.description.as_deref().unwrap_or_default()));
    let player = Ref::from_schema_name(MessagePlayer::name());
    event.properties.insert("player".to_owned(), RefOr::Ref(player));
    event
}

/// The request that the endpoint receives, and its answer.
fn receive(kind: &str, schema: &str, is_challenge: bool) -> Operation {
    let header = |name: &str, description: &str| {
        let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Header).required(Required::True);
        parameter.description(Some(description)).schema(Some(Object::with_type(Type::String))).build()
    };
    let content = Content::new(Some(Ref::from_schema_name(schema)));
    let body = RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True)).build();
    let mut taken = ResponseBuilder::new().description("Taken");
    if is_challenge {
        let content = Content::new(Some(Ref::from_schema_name(ChallengeAnswer::name())));
        taken = ResponseBuilder::new().description("The endpoint wants messages").content("application/json", content);
    }
    OperationBuilder::new()
        .tag("messages")
        .operation_id(Some(format!("receive_{}", kind.replace('.', "_"))))
        .summary(Some(format!("A message of type `{kind}`")))
        .description(Some("Sent to the `url` of a webhook, signed by the scheme of Standard Webhooks."))
        .parameter(header("webhook-id", "The same in each attempt: drop duplicates by it"))
        .parameter(header("webhook-timestamp", "The time of the attempt, in seconds since 1970"))
        .parameter(header("webhook-signature", "`v1,` and Base64, for each secret that is valid"))
        .request_body(Some(body))
        .response("2XX", taken)
        .response("410", ResponseBuilder::new().description("No more messages are wanted: the webhook is disabled"))
        .response("default", ResponseBuilder::new().description("Not taken: the server tries again"))
        .build()
}
