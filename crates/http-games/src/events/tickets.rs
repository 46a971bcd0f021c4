//! Tickets for streams and pictures: a client that cannot send headers puts one into the address in place of a token.

use actix_web::{HttpRequest, HttpResponse, http::header, post, web::Data};
use mancala_db::players::refresh_tokens;
use mancala_domain::{GameId, PlayerId};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, NotFound},
        problem::Problem,
    },
    request::{
        auth,
        extract::{Body, NoQuery, Query},
        player,
    },
    state::{
        AppState,
        tokens::{Caller, Kind, Tokens},
    },
};
use mancala_process::{clock::now, metrics::TokenKind};
use mancala_wire::view::wire::Timestamp;
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::games::find::find_visible;

/// The lifetime of a ticket. A client whose stream is cut off reconnects with the same address.
const TICKET_LIFETIME: Duration = Duration::hours(1);

/// The type of a ticket and the suffix of its audience. Both differ from those of access tokens, so neither is accepted as the other.
const TYPE: &str = "stream-ticket+jwt";
const AUDIENCE: &str = "streams";

/// The claims of a ticket.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: Uuid,
    cv: i32,
    #[serde(default)]
    kind: Kind,
    /// The sign-in, with which the ticket ends. Tickets of tokens that name none have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sid: Option<Uuid>,
    /// The game whose events it admits to; `None` admits to those of all the player's games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    game: Option<Uuid>,
    iat: i64,
    exp: i64,
}

/// A ticket for one game's events, or for those of all the caller's games.
fn issue_ticket(
    tokens: &Tokens,
    caller: Caller,
    game: Option<GameId>,
    now: OffsetDateTime,
    expires_at: OffsetDateTime,
) -> String {
    let claims = Claims {
        iss: tokens.issuer().to_owned(),
        aud: tokens.audience_of(AUDIENCE),
        sub: caller.player.0,
        cv: caller.credentials_version,
        kind: Kind::of(caller),
        sid: caller.sign_in,
        game: game.map(|game| game.0),
        iat: now.unix_timestamp(),
        exp: expires_at.unix_timestamp(),
    };
    tokens.sign(TYPE, &claims)
}

/// The caller of a valid ticket for this game's events, or for those of all games; `None` if it is invalid or expired.
fn verify_ticket(tokens: &Tokens, ticket: &str, game: Option<GameId>, now: OffsetDateTime) -> Option<Caller> {
    let claims: Claims = tokens.verify_other(ticket.as_bytes(), TYPE, &tokens.audience_of(AUDIENCE), now)?;
    let (player, is_guest) = (PlayerId(claims.sub), claims.kind.is_guest());
    let caller = Caller {
        player,
        credentials_version: claims.cv,
        is_guest,
        is_new: false,
        sign_in: claims.sid,
        auth_time: None,
    };
    (claims.game == game.map(|game| game.0)).then_some(caller)
}

/// The caller who reads, by token or by a ticket. The ticket is for the events of a game, or with `None` of all the
/// caller's games. A ticket lives longer than a token, so the database confirms its player, credentials and sign-in.
pub async fn admit(
    state: &AppState,
    request: &HttpRequest,
    ticket: Option<&str>,
    tickets: &[Option<GameId>],
) -> Result<Option<Caller>, Problem> {
    let Some(ticket) = ticket else { return auth::reader(request) };
    if request.headers().contains_key(header::AUTHORIZATION) {
        return Err(Problem::invalid("?ticket", "excludes an access token: send one of them"));
    }
    let refused = |problem| {
        state.metrics.token_refused(TokenKind::Ticket);
        problem
    };
    let invalid = || refused(Problem::new(Code::InvalidToken, "the ticket is invalid here, or has expired"));
    let now = now();
    let caller =
        tickets.iter().find_map(|game| verify_ticket(&state.tokens, ticket, *game, now)).ok_or_else(invalid)?;
    match player::find(state, caller).await {
        Ok(_) if !has_sign_in(state, caller).await? => {
            Err(refused(Problem::new(Code::InvalidToken, "the sign-in by which the ticket was made has ended")))
        }
        Ok(_) => Ok(Some(caller)),
        Err(problem) if problem.code() == Code::InvalidToken => Err(refused(problem)),
        Err(problem) => Err(problem),
    }
}

/// Whether the sign-in of a ticket is still in force, if the ticket names one.
async fn has_sign_in(state: &AppState, caller: Caller) -> Result<bool, Problem> {
    match caller.sign_in {
        Some(family) => Ok(refresh_tokens::is_active(&state.db, caller.player, family).await?),
        None => Ok(true),
    }
}

/// Get a ticket for a stream or for pictures
///
/// For clients that cannot send headers, like a browser's `EventSource` and `<img>`.
/// `GET /v1/games/{id}/events?ticket=…` and `GET /v1/me/events?ticket=…` accept the ticket in place of the token. It is
/// valid for an hour, any number of times, and no longer than its sign-in. It opens that stream, and the pictures of that
/// game or of all the caller's games.
///
/// - `not_found`: no such game, or a private one of others
#[utoipa::path(
    tag = "events",
    operation_id = "create_stream_ticket",
    request_body(content = CreateStreamTicket, example = json!({})),
    responses(
        (status = 201, description = "The ticket", body = StreamTicketView),
        Failures<NotFound>,
    ),
    security(("bearer" = []))
)]
#[post("/me/stream-tickets")]
pub async fn create_stream_ticket(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    body: Body<CreateStreamTicket>,
) -> Result<HttpResponse, Problem> {
    let game = body.0.game_id.map(GameId);
    player::find(&state, caller).await?;
    if let Some(game) = game {
        find_visible(&state, game, Some(caller.player)).await?;
    }
    let now = now();
    let expires_at = now + TICKET_LIFETIME;
    let ticket = issue_ticket(&state.tokens, caller, game, now, expires_at);
    let view = StreamTicketView { ticket, game_id: body.0.game_id, expires_at: Timestamp(expires_at) };
    Ok(HttpResponse::Created().insert_header((header::CACHE_CONTROL, "no-store")).json(view))
}

/// What the ticket admits to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateStreamTicket {
    /// The game whose events and pictures the ticket admits to. Unless given, those of all the caller's games.
    game_id: Option<Uuid>,
}

/// A ticket.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StreamTicket)]
struct StreamTicketView {
    /// Put it into the address: `?ticket=<ticket>`. A client that has it can read what the caller can
    /// read of this game, or of all the caller's games.
    ticket: String,
    #[schema(required = true)]
    game_id: Option<Uuid>,
    expires_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use mancala_http::state::tokens::{PublicKey, new_key};

    const GAME: GameId = GameId(Uuid::from_u128(1));

    fn caller() -> Caller {
        Caller {
            player: PlayerId(Uuid::from_u128(2)),
            credentials_version: 3,
            is_guest: false,
            is_new: false,
            sign_in: Some(Uuid::from_u128(4)),
            auth_time: None,
        }
    }

    fn tokens(key: &str) -> Tokens {
        Tokens::from_pem(key, "issuer", "audience").expect("a key")
    }

    #[test]
    fn a_ticket_is_valid_for_its_game_until_it_expires() {
        let (tokens, now) = (tokens(&new_key()), now());
        let ticket = issue_ticket(&tokens, caller(), Some(GAME), now, now + TICKET_LIFETIME);
        assert_eq!(verify_ticket(&tokens, &ticket, Some(GAME), now), Some(caller()));
        assert_eq!(verify_ticket(&tokens, &ticket, Some(GameId(Uuid::from_u128(9))), now), None);
        assert_eq!(verify_ticket(&tokens, &ticket, None, now), None);
        let of_all = issue_ticket(&tokens, caller(), None, now, now + TICKET_LIFETIME);
        assert_eq!(verify_ticket(&tokens, &of_all, None, now), Some(caller()));
        assert_eq!(verify_ticket(&tokens, &of_all, Some(GAME), now), None);
        let expired = issue_ticket(&tokens, caller(), Some(GAME), now - TICKET_LIFETIME, now - Duration::seconds(61));
        assert_eq!(verify_ticket(&tokens, &expired, Some(GAME), now), None);
        let early = now + Duration::seconds(61);
        let early = issue_ticket(&tokens, caller(), Some(GAME), early, early + TICKET_LIFETIME);
        assert_eq!(verify_ticket(&tokens, &early, Some(GAME), now), None);
    }

    #[test]
    fn tickets_and_access_tokens_are_not_interchangeable() {
        let (tokens, now) = (tokens(&new_key()), now());
        let ticket = issue_ticket(&tokens, caller(), Some(GAME), now, now + TICKET_LIFETIME);
        assert_eq!(tokens.verify(ticket.as_bytes(), now), None);
        let token = tokens.issue(caller(), now);
        assert_eq!(verify_ticket(&tokens, &token, Some(GAME), now), None);
    }

    #[test]
    fn only_tickets_of_accepted_keys_are_valid() {
        let (old, new) = (new_key(), new_key());
        let now = now();
        let ticket = issue_ticket(&tokens(&old), caller(), Some(GAME), now, now + TICKET_LIFETIME);
        assert_eq!(verify_ticket(&tokens(&new), &ticket, Some(GAME), now), None);
        let public = PublicKey::from_pem(&PublicKey::pem_of(&old).expect("a key")).expect("a public key");
        assert_eq!(verify_ticket(&tokens(&new).accepting(&[public]), &ticket, Some(GAME), now), Some(caller()));
    }
}
