//! Tokens of issuers that the operator trusts for an app, exchanged for access tokens of the app's players (RFC 8693). It needs no key of
//! the app, so the client of a user calls it. Knows no player that is of no app.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, http::header, post, web::Data};
use mancala_http::app_caller::disabled;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{players::new_player, subject_token::SubjectToken, tokens::issue};
use mancala_db::{
    apps::{
        issuers::{self, KeySource, TrustedIssuer},
        players::Inserted,
    },
    players::OwnPlayer,
};
use mancala_domain::{ExternalId, PlayerName};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, InvalidToken, RateLimited, Unavailable},
        problem::Problem,
    },
    layers::limits,
    request::{
        body::MEDIUM_BODY,
        extract::{NoQuery, Query, some_text, some_word, word},
        form::FormOrJson,
        names::parse_name,
    },
    state::{AppState, tokens::ACCESS_TOKEN_LIFETIME},
};
use mancala_outbound::jose::KeySet;
use mancala_process::{
    clock::now,
    metrics::{Grant, TokenKind},
};
use mancala_wire::view::wire::PlayerView;

/// How many times a player is looked up and stored, if other calls create and erase it at the same time.
const ATTEMPTS_MAX: u32 = 4;

/// What is issued.
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// Exchange a token of an app's own sign-in
///
/// For clients of an app, without its key (RFC 8693). The operator of this server names the issuers that it trusts for the app. The JWT of
/// such an issuer becomes an access token of the app's player whose `external_id` is the claim `sub`. The first exchange creates the
/// player. A form (`application/x-www-form-urlencoded`), as clients of OAuth send it, is accepted as well. Failures have the form of all
/// others, and no member `error`.
///
/// - `invalid_token`: the subject token is refused, and the detail says why
/// - `forbidden`: the app is disabled
/// - `rate_limited`: too many calls of this address, or the app has created too many players
/// - `unavailable`: the database is away or busy, or the issuer's keys could not be fetched
#[utoipa::path(
    tag = "apps",
    operation_id = "exchange_token",
    request_body(content = ExchangeToken, example = json!({"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "subject_token": "eyJhbGciOiJSUzI1NiIs…", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt"})),
    responses(
        (status = 200, description = "The player, and a token to play with", body = ExchangedToken),
        Failures<(InvalidToken, Forbidden, RateLimited, Unavailable)>,
    ),
    security(())
)]
#[post("/apps/tokens")]
pub async fn exchange_token(
    state: Data<AppState>,
    _: Query<NoQuery>,
    body: FormOrJson<ExchangeToken, MEDIUM_BODY>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let refuse = |detail: String| {
        state.metrics.token_refused(TokenKind::Subject);
        Problem::new(Code::InvalidToken, detail)
    };
    let token = SubjectToken::read(&body.0.subject_token).map_err(|error| refuse(error.to_string()))?;
    let trusted = find_trusted(&state, &token).await?.ok_or_else(|| refuse(UNTRUSTED.to_owned()))?;
    let keys = find_keys(&state, &trusted, &token).await?;
    token.verify(&keys, now()).map_err(|error| refuse(error.to_string()))?;
    if trusted.is_disabled {
        return Err(disabled());
    }
    let id = token.subject.parse().map_err(|error| refuse(format!("the subject token's sub: {error}")))?;
    let own = find_or_create(&state, &trusted, &id, token.name.as_deref(), &request).await?;
    let own = own.ok_or_else(|| refuse(UNTRUSTED.to_owned()))?;
    let token = ExchangedToken {
        access_token: issue(&state, (trusted.app, &id), &own, Grant::Exchange).await?,
        issued_token_type: ACCESS_TOKEN,
        token_type: "Bearer",
        expires_in: ACCESS_TOKEN_LIFETIME.whole_seconds(),
        external_id: id.to_string(),
        player: PlayerView::from(&own.player),
    };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(token))
}

/// The detail of the refusal if no app takes a token.
const UNTRUSTED: &str = "no app of this server, or more than one, trusts the subject token's issuer for its audience";

/// Finds the app that trusts the token's issuer for its audience; `None` unless exactly one app does.
async fn find_trusted(state: &AppState, token: &SubjectToken<'_>) -> Result<Option<TrustedIssuer>, Problem> {
    let mut found = issuers::find(&state.db, &token.issuer, &token.audiences).await?;
    Ok(found.pop().filter(|last| found.iter().all(|other| other.app == last.app)))
}

/// The keys of an issuer. They may lack the token's.
async fn find_keys(
    state: &AppState,
    trusted: &TrustedIssuer,
    token: &SubjectToken<'_>,
) -> Result<Arc<KeySet>, Problem> {
    match &trusted.keys {
        KeySource::Stored(text) => {
            let keys = KeySet::parse(text.as_bytes()).map(Arc::new);
            keys.ok_or_else(|| Problem::internal("the stored keys of a trusted issuer cannot be read"))
        }
        KeySource::Url(url) => state.key_sets.find(url, |keys| token.is_of(keys)).await.map_err(|none| {
            let detail = "the keys of the subject token's issuer cannot be fetched now; try again";
            Problem::busy(detail).retry_after(none.retry_after_s)
        }),
    }
}

/// The player of the token's subject, new or not; `None` if the app does not trust the issuer any more.
async fn find_or_create(
    state: &AppState,
    trusted: &TrustedIssuer,
    id: &ExternalId,
    name: Option<&str>,
    request: &HttpRequest,
) -> Result<Option<OwnPlayer>, Problem> {
    let mut is_counted = false;
    for _ in 0..ATTEMPTS_MAX {
        if let Some(own) = issuers::find_player(&state.db, trusted, id).await? {
            return Ok(Some(own));
        }
        if !is_counted {
            limits::count_app_player(request, trusted.app, trusted.quotas.players_per_day)?;
            is_counted = true;
        }
        // A name that players may not have is no reason to keep its bearer out: the app can give another one.
        let name = name.and_then(|name| parse_name(name, &state.reserved_names).ok());
        let new = new_player(id, name.unwrap_or_else(|| PlayerName::for_guest(rand::random())));
        match issuers::insert_player(&state.db, trusted, &new).await? {
            // The next round finds it, or the one of a concurrent call.
            Inserted::Stored | Inserted::Exists => {}
            Inserted::NoApp => return Ok(None),
        }
    }
    Err(Problem::busy("too many changes of this player at once; try again"))
}

/// The token to exchange.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "most fields have one value, which is checked as they are read")]
pub struct ExchangeToken {
    #[serde(deserialize_with = "word")]
    grant_type: ExchangeGrant,
    /// The JWT that the app's own sign-in has issued, with `iss`, `aud`, `sub` and `exp`, signed by `RS256`, `PS256`, `ES256` or `EdDSA`.
    #[schema(max_length = 8192, example = "eyJhbGciOiJSUzI1NiIs…")]
    subject_token: String,
    #[serde(deserialize_with = "word")]
    subject_token_type: SubjectTokenType,
    /// What is to be issued: an access token, also if this is left out.
    #[serde(default, deserialize_with = "some_word")]
    #[schema(nullable = false)]
    requested_token_type: Option<RequestedTokenType>,
    /// Some clients of OAuth always send one. It is not read.
    #[serde(default, deserialize_with = "some_text")]
    #[schema(nullable = false)]
    client_id: Option<String>,
}

/// The grant of a token exchange.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
enum ExchangeGrant {
    #[serde(rename = "urn:ietf:params:oauth:grant-type:token-exchange")]
    TokenExchange,
}

/// What the subject token is.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
enum SubjectTokenType {
    #[serde(rename = "urn:ietf:params:oauth:token-type:jwt")]
    Jwt,
    #[serde(rename = "urn:ietf:params:oauth:token-type:id_token")]
    IdToken,
}

/// What is issued for it.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
enum RequestedTokenType {
    #[serde(rename = "urn:ietf:params:oauth:token-type:access_token")]
    AccessToken,
}

/// An access token of a player of an app, in the form of RFC 8693.
#[derive(Serialize, ToSchema)]
struct ExchangedToken {
    /// Goes into the header: `Authorization: Bearer <access_token>`. There is no refresh token: exchange a token of the app again.
    access_token: String,
    #[schema(example = "urn:ietf:params:oauth:token-type:access_token")]
    issued_token_type: &'static str,
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// Seconds until the access token expires.
    #[schema(example = 900)]
    expires_in: i64,
    /// The app's id of the player: the claim `sub`.
    #[schema(example = "user-4711")]
    external_id: String,
    player: PlayerView,
}
