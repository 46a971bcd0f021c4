//! Tokens: a refresh token becomes a new pair, or is revoked; the keys that verify access tokens.

use actix_web::{HttpResponse, get, http::header, post, web::Data};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    AppState,
    auth::ACCESS_TOKEN_LIFETIME,
    error::{Code, Problem, ProblemBody},
    extract::{Body, NoQuery, Query},
    now,
    wire::PlayerView,
};
use crate::{
    db::refresh_tokens::{self, Hash},
    domain::Player,
};

/// How long a refresh token waits to be used: longer than the longest pause in a game that people still come back from.
const REFRESH_TOKEN_LIFETIME: Duration = Duration::days(180);

/// Random bytes of a refresh token.
const REFRESH_TOKEN_BYTES: usize = 32;

/// Get new tokens
///
/// A refresh token is used once, and its answer brings the next one. If that answer was lost, the same token may be sent
/// again. Once a later token of the same sign-in has been used, sending this one again revokes them all.
#[utoipa::path(
    tag = "players",
    operation_id = "create_token",
    request_body(content = CreateToken, example = json!({"grant_type": "refresh_token", "refresh_token": "ov6Z…"})),
    responses(
        (status = 200, description = "The new tokens", body = TokenSet),
        (status = 401, description = "`invalid_token`: unknown, expired, revoked, or used before", body = ProblemBody,
            content_type = "application/problem+json"),
    ),
    security(())
)]
#[post("/tokens")]
pub async fn create_token(
    state: Data<AppState>,
    _: Query<NoQuery>,
    body: Body<CreateToken>,
) -> Result<HttpResponse, Problem> {
    let CreateToken::RefreshToken { refresh_token } = &body.0;
    let (now, successor) = (now(), new_refresh_token());
    let expires_at = now + REFRESH_TOKEN_LIFETIME;
    let rotated = refresh_tokens::rotate(&state.db, &hash(refresh_token), &hash(&successor), now, expires_at).await?;
    let player =
        rotated.ok_or_else(|| Problem::new(Code::InvalidToken, "the refresh token is not valid, or no longer"))?;
    let tokens = TokenSet::new(&state, &player, successor, now);
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(tokens))
}

/// Revoke a refresh token
///
/// And all others of the same sign-in (RFC 7009). It is 200 whether or not the token was known.
#[utoipa::path(
    tag = "players",
    operation_id = "revoke_token",
    request_body(content = RevokeToken, example = json!({"token": "ov6Z…"})),
    responses((status = 200, description = "The token is good for nothing now")),
    security(())
)]
#[post("/tokens/revoke")]
pub async fn revoke_token(
    state: Data<AppState>,
    _: Query<NoQuery>,
    body: Body<RevokeToken>,
) -> Result<HttpResponse, Problem> {
    refresh_tokens::revoke(&state.db, &hash(&body.0.token), now()).await?;
    Ok(HttpResponse::Ok().finish())
}

/// Get the keys that verify access tokens
///
/// As a JSON Web Key Set (RFC 7517), for services that take the same tokens.
#[utoipa::path(
    tag = "operation",
    operation_id = "get_jwks",
    responses((status = 200, description = "The public keys", body = Object, example = json!({"keys": [{"kty": "OKP",
        "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "alg": "EdDSA", "use": "sig",
        "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"}]}))),
    security(())
)]
#[get("/.well-known/jwks.json")]
pub async fn get_jwks(state: Data<AppState>, _: Query<NoQuery>) -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "public, max-age=300")).json(state.tokens.public_keys())
}

/// What is exchanged for tokens.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "grant_type", rename_all = "snake_case", deny_unknown_fields)]
pub enum CreateToken {
    /// A refresh token that has not been used yet.
    RefreshToken { refresh_token: String },
}

/// A token that is to be good for nothing.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// A refresh token.
    token: String,
}

/// A player, and the tokens that say so.
#[derive(Serialize, ToSchema)]
pub struct TokenSet {
    player: PlayerView,
    /// Goes into the header: `Authorization: Bearer <access_token>`.
    access_token: String,
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// Seconds until the access token expires.
    #[schema(example = 900)]
    expires_in: i64,
    /// Gets the next tokens from `POST /v1/tokens`, once. Whoever has it is this player: keep it like a password.
    refresh_token: String,
}

impl TokenSet {
    fn new(state: &AppState, player: &Player, refresh_token: String, now: OffsetDateTime) -> Self {
        Self {
            player: PlayerView::from(player),
            access_token: state.tokens.issue(player.id, now),
            token_type: "Bearer",
            expires_in: ACCESS_TOKEN_LIFETIME.whole_seconds(),
            refresh_token,
        }
    }

    /// The first tokens of a player who signs in.
    pub(super) async fn begin(state: &AppState, player: &Player) -> Result<Self, Problem> {
        let (now, first) = (now(), new_refresh_token());
        let expires_at = now + REFRESH_TOKEN_LIFETIME;
        refresh_tokens::insert_family(&state.db, Uuid::now_v7(), player.id, &hash(&first), expires_at).await?;
        Ok(Self::new(state, player, first, now))
    }
}

fn new_refresh_token() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; REFRESH_TOKEN_BYTES]>())
}

fn hash(token: &str) -> Hash {
    Sha256::digest(token).into()
}
