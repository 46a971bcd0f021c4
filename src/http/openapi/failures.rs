//! An example of each failure, to which the responses refer.

use mancala_http::answer::code::Code;
use serde_json::{Value, json};
use utoipa::openapi::{
    RefOr,
    example::{Example, ExampleBuilder},
};

/// The examples of all codes, by the code.
pub(super) fn examples() -> impl Iterator<Item = (String, RefOr<Example>)> {
    Code::ALL.iter().map(|code| {
        let example = ExampleBuilder::new().summary(code.title()).value(Some(body(*code))).build();
        (code.as_str().to_owned(), RefOr::T(example))
    })
}

/// The body of a failure with this code.
fn body(code: Code) -> Value {
    let mut body = json!({
        "type": format!("/problems/{}", code.as_str()),
        "title": code.title(),
        "status": code.status().as_u16(),
        "detail": detail(code),
        "code": code.as_str(),
        "request_id": "0199f0a2-7c1e-7b3a-9d54-3f6c1b2a8e70",
    });
    match code {
        Code::ValidationFailed => {
            let detail = "unknown field `colour`, there are no fields";
            body["errors"] = json!([{"pointer": "?colour", "detail": detail, "code": "unknown_field"}]);
        }
        Code::IllegalMove => {
            body["reason"] = json!("empty_pit");
            body["legal_moves"] = json!(["A", "B", "D"]);
        }
        Code::TooManyInvitations => body["retry_at"] = json!("2026-12-01T00:00:00.000Z"),
        Code::PlayerSuspended => {
            body["suspension"] = json!({
                "reason": "Insults in names.", "since": "2026-11-24T00:00:00.000Z", "until": "2026-12-01T00:00:00.000Z",
            });
        }
        _ => {}
    }
    body
}

/// The detail of an example failure, in the server's words.
const fn detail(code: Code) -> &'static str {
    match code {
        Code::MalformedRequest => "the body breaks off or cannot be read",
        Code::ValidationFailed => "?colour: unknown field `colour`, there are no fields",
        Code::Unauthenticated => "this call needs an access token",
        Code::InvalidToken => "the access token is not valid, or no longer",
        Code::RefreshTokenReused => "a later refresh token of this sign-in was used already",
        Code::InvalidCredentials => "no account has this name and this password",
        Code::SignInRefused => "the session was used before",
        Code::RecentSignInRequired => "send the account's password as current_password, or sign in again first",
        Code::Forbidden => "the caller may not do this",
        Code::PlayerSuspended => "the player is suspended until 2026-12-01T00:00:00.000Z",
        Code::NotSeated => "the caller does not sit in this game",
        Code::NotFound => "there is no such game, or it is a private game of others",
        Code::MethodNotAllowed => "this address does not know the method",
        Code::NotAcceptable => "answers are application/json",
        Code::PayloadTooLarge => "a body of this call has at most 4 KiB",
        Code::UnsupportedMediaType => "a body is sent as application/json",
        Code::NameTaken => "an account has this name, or one that reads alike",
        Code::IdentityTaken => "the caller has another identity of this issuer: unlink it first",
        Code::LastWayIn => "without it the caller could not sign in: set a password or link another identity first",
        Code::SeatTaken => "the seat is taken",
        Code::OwnGame => "the caller has created this game: another player joins it",
        Code::GameNotStarted => "the game waits for an opponent",
        Code::GameOver => "the game is over",
        Code::NotYourTurn => "it is the opponent's turn",
        Code::StalePly => "the next ply is 7",
        Code::IllegalMove => "pit C is empty",
        Code::NoSuchOffer => "there is no such offer, or the caller cannot answer it",
        Code::OfferPending => "the opponent asks to take back a turn: that is answered first",
        Code::OfferNotPossible => "no time runs in this game",
        Code::TooManyGames => "a player has at most 1000 games that are not over",
        Code::TooManyOpenGames => "a guest or a new account has at most 3 open public games",
        Code::NoRecord => "OGN is for Oware by the rules of Aualé, from an opening that it can express; use `text`",
        Code::GameNotOver => {
            "the engine gives no help during play: only games that are over, or that the caller plays alone, are analysed"
        }
        Code::TooManyAnalyses => "the player has at most 20 analyses in the queue: retry when one of them is done",
        Code::TooManyWebhooks => "a player has at most 10 webhooks",
        Code::PushNotOffered => "this server sends no push notifications to devices of the kind `web`",
        Code::TooManyDevices => "a player has at most 10 devices: remove one",
        Code::TooManyNotes => "a player has at most 10000 notes",
        Code::TooManyBlocks => "a player blocks at most 1000 others",
        Code::TooManyMutes => "a player mutes at most 1000 others",
        Code::TooManyFriends => "at most 100 requests of a player wait: withdraw one",
        Code::TooManyInvitations => "a player invites the same other one at most 20 times within 24 hours",
        Code::TooManyImports => {
            "of 5000 imported games and 250000 plies, 2 games and 900 plies are left; nothing was imported"
        }
        Code::WebhookDisabled => "the webhook is disabled: enable it first",
        Code::WebhookNotVerified => "the endpoint has not answered its challenge yet",
        Code::EmailNotConfigured => "this server sends no mail: its operator has named no SMTP server",
        Code::InvalidLink => "the link is not valid, or no longer: ask for another one",
        Code::PreconditionFailed => "the game is at version 8",
        Code::IdempotencyKeyReused => "this key was used for another request; a new request needs a new key",
        Code::RateLimited => "too many calls; the next one may come in 3 s",
        Code::Internal => "the server failed",
        Code::Unavailable => "the database is away or busy; try again",
        Code::IssuerUnavailable => "the issuer does not answer as it should; try again",
    }
}
