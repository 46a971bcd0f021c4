//! Tokens: a password or a refresh token is exchanged for new tokens, refresh tokens are revoked, and public keys are shown.

use std::net::IpAddr;

use actix_web::{HttpRequest, HttpResponse, get, http::header, post, web::Data};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_db::players::{
    self, FirstCredentials, Named, Network, OwnPlayer, SignIn,
    identities::Identity,
    player_keys::PlayerKey,
    refresh_tokens::{self, Hash, Rotated},
};
use mancala_domain::{Player, PlayerKind, PlayerName};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, InvalidCredentials, InvalidToken, RateLimited, RefreshTokenReused},
        headers::KEPT_FOR_MINUTES,
        problem::Problem,
    },
    layers::limits::network_of,
    request::{
        extract::{Body, NoQuery, Query},
        known,
    },
    state::{
        AppState, sign_ins,
        tokens::{ACCESS_TOKEN_LIFETIME, Caller},
    },
};
use mancala_process::{
    clock::now,
    metrics::{Grant, TokenKind},
};
use mancala_wire::view::wire::PlayerView;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::{Builder, Uuid};

use super::recovery;

/// Random bytes of a refresh token.
const REFRESH_TOKEN_BYTES: usize = 32;

/// Sign in, or get new tokens
///
/// An account signs in with its name and password, and any player with its recovery code. A refresh token is used once, and its
/// answer brings the next one. If that answer was lost, the same token may be sent again. Once a later token of the same sign-in has
/// been used, this one is refused, and of an account all of them are revoked.
///
/// - `invalid_token`: unknown, expired or revoked
/// - `refresh_token_reused`: used before
/// - `invalid_credentials`: no account has this name and this password, or no player this recovery code
/// - `rate_limited`: too many calls, or too many sign-ins to this account failed. The latter stops neither devices with a
///   refresh token nor addresses that signed in to it of late
#[utoipa::path(
    tag = "players",
    operation_id = "create_token",
    request_body(content = CreateToken, examples(
        ("by refresh token" = (value = json!({"grant_type": "refresh_token", "refresh_token": "ov6Z…"}))),
        ("by name and password" = (value = json!({"grant_type": "password", "name": "Ana", "password": "correct horse"}))),
        ("by recovery code" = (value = json!({"grant_type": "recovery_code", "recovery_code": "7ZK3M-0Q9AT-XV4HC-8RB2E-N6WDS"}))),
    )),
    responses(
        (status = 200, description = "The new tokens", body = TokenSet),
        Failures<(InvalidToken, RefreshTokenReused, InvalidCredentials, RateLimited)>,
    ),
    security(())
)]
#[post("/tokens")]
pub async fn create_token(
    state: Data<AppState>,
    _: Query<NoQuery>,
    body: Body<CreateToken>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let tokens = match body.0 {
        CreateToken::Password { name, password } => sign_in(&state, &name, &password, network_of(&request)).await?,
        CreateToken::RefreshToken { refresh_token } => refresh(&state, &refresh_token).await?,
        CreateToken::RecoveryCode { recovery_code } => recover(&state, &recovery_code, network_of(&request)).await?,
    };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(tokens))
}

/// The tokens of a new sign-in. An unknown name takes as long as a wrong password, gets the same answer, and is limited in the same
/// way.
async fn sign_in(state: &AppState, name: &str, password: &str, network: IpAddr) -> Result<TokenSet, Problem> {
    let refused = || Problem::new(Code::InvalidCredentials, "no account has this name and this password");
    // No account has such a long name, or a malformed password.
    let (Some(name), Ok(password)) = (PlayerName::for_sign_in(name), password.parse()) else { return Err(refused()) };
    let (player, hash) = players::find_account(&state.db, &name).await?.unzip();
    let asker = known::asker(state, player.as_ref().map(|own| own.player.id), network).await?;
    let compare = async {
        let is_right = state.passwords.compare(password, hash, asker).await?;
        Ok(player.filter(|_| is_right))
    };
    let limits = state.sign_ins.as_ref();
    let player = sign_ins::by_password(limits, (&name, network, asker.is_known), compare).await?.ok_or_else(refused)?;
    let tokens = TokenSet::begin(state, &player, Grant::Password).await?.ok_or_else(refused)?;
    known::note(state, player.player.id, network).await?;
    Ok(tokens)
}

/// The tokens of a new sign-in by a recovery code. A code that is none, and one that is void, are refused alike, and counted by
/// network.
async fn recover(state: &AppState, code: &str, network: IpAddr) -> Result<TokenSet, Problem> {
    let refused = || Problem::new(Code::InvalidCredentials, "no player has this recovery code");
    let hash = recovery::hash(code);
    let find = players::recovery::find(&state.db, &hash);
    let found = sign_ins::by_secret(state.sign_ins.as_ref(), network, find).await?;
    let player = found.ok_or_else(refused)?;
    let tokens = TokenSet::begin(state, &player, Grant::Recovery).await?.ok_or_else(refused)?;
    known::note(state, player.player.id, network).await?;
    Ok(tokens)
}

async fn refresh(state: &AppState, presented: &str) -> Result<TokenSet, Problem> {
    let (now, successor) = (now(), new_refresh_token());
    let expires_at = now + refresh_tokens::LIFETIME;
    let rotated =
        refresh_tokens::rotate(&state.db, &hash(presented), &hash(&successor), now, expires_at, state.issuers.urls())
            .await?;
    let (code, detail) = match rotated {
        Rotated::Stored { player, family } => {
            return Ok(TokenSet::new(state, &player, Grant::Refresh, (family, successor), now));
        }
        Rotated::Reused => (Code::RefreshTokenReused, "a later refresh token of this sign-in was used already"),
        Rotated::Unknown => (Code::InvalidToken, "the refresh token is not valid, or no longer"),
    };
    state.metrics.token_refused(TokenKind::Refresh);
    Err(Problem::new(code, detail))
}

/// Revoke a refresh token
///
/// All others of the same sign-in are revoked as well (RFC 7009), and its devices are removed. An unknown token is 200, too.
#[utoipa::path(
    tag = "players",
    operation_id = "revoke_token",
    request_body(content = RevokeToken, example = json!({"token": "ov6Z…"})),
    responses((status = 200, description = "The token is not valid any more")),
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
/// As a JSON Web Key Set (RFC 7517), for services that accept the same tokens.
#[utoipa::path(
    tag = "operation",
    operation_id = "get_jwks",
    responses((status = 200, description = "The public keys", body = JwkSetView, example = json!({"keys": [{"kty": "OKP",
        "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "alg": "EdDSA", "use": "sig",
        "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"}]}))),
    security(())
)]
#[get("/.well-known/jwks.json")]
pub async fn get_jwks(state: Data<AppState>, _: Query<NoQuery>) -> HttpResponse {
    HttpResponse::Ok().insert_header(KEPT_FOR_MINUTES).json(state.tokens.public_keys())
}

/// A JSON Web Key Set (RFC 7517).
// Only described here: the library writes it.
#[derive(ToSchema)]
#[schema(as = JwkSet)]
#[expect(dead_code, reason = "it describes the answer")]
struct JwkSetView {
    keys: Vec<JwkView>,
}

/// A public key.
#[derive(ToSchema)]
#[schema(as = Jwk)]
#[expect(dead_code, reason = "it describes the answer")]
struct JwkView {
    #[schema(example = "OKP")]
    kty: String,
    #[schema(example = "Ed25519")]
    crv: String,
    /// The key itself, in base64url.
    x: String,
    #[schema(example = "EdDSA")]
    alg: String,
    #[schema(rename = "use", example = "sig")]
    usage: String,
    /// The key's id, which is in the header of the tokens that it signs.
    kid: String,
}

/// The credentials that are exchanged for tokens.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "grant_type", rename_all = "snake_case", deny_unknown_fields)]
pub enum CreateToken {
    /// An account's name, regardless of case, and its password.
    Password {
        #[schema(example = "Ana")]
        name: String,
        #[schema(format = Password)]
        password: String,
    },
    /// A refresh token that has not been used yet.
    RefreshToken { refresh_token: String },
    /// The recovery code of a guest or an account. It stays valid.
    RecoveryCode {
        #[schema(example = "7ZK3M-0Q9AT-XV4HC-8RB2E-N6WDS")]
        recovery_code: String,
    },
}

/// The token to revoke.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// A refresh token.
    token: String,
}

/// A player, and the tokens that identify it.
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
    /// Exchanged for the next tokens by `POST /v1/tokens`, once. It is as good as the player's password: keep it as secret.
    refresh_token: String,
    /// The sign-in of these tokens, as `GET /v1/me/sign-ins` lists it.
    sign_in_id: Uuid,
    /// With a new player, and with a new password of an account: with this code another device becomes the same player. It is shown
    /// this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "7ZK3M-0Q9AT-XV4HC-8RB2E-N6WDS")]
    recovery_code: Option<String>,
    /// Where `unlink_identities` was asked for: how many there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 1)]
    unlinked_identities: Option<u64>,
}

/// What a new player brings along.
pub struct NewPlayer<'a> {
    pub player: &'a Player,
    pub password_hash: Option<&'a str>,
    /// The network of the new player, if networks are counted.
    pub network: Option<Network>,
    pub key: Option<PlayerKey>,
    /// The identity by which the player signs in.
    pub identity: Option<Identity<'a>>,
}

impl TokenSet {
    fn new(
        state: &AppState,
        own: &OwnPlayer,
        grant: Grant,
        (sign_in_id, refresh_token): (Uuid, String),
        now: OffsetDateTime,
    ) -> Self {
        state.metrics.token_issued(grant);
        let caller = Caller {
            player: own.player.id,
            credentials_version: own.credentials_version,
            is_guest: own.player.kind == PlayerKind::Guest,
            is_new: own.player.kind == PlayerKind::Account && own.has_network,
            sign_in: Some(sign_in_id),
            auth_time: Some(refresh_tokens::began_at(sign_in_id).unix_timestamp()),
        };
        Self {
            player: PlayerView::from(&own.player),
            access_token: state.tokens.issue(caller, now),
            token_type: "Bearer",
            expires_in: ACCESS_TOKEN_LIFETIME.whole_seconds(),
            refresh_token,
            sign_in_id,
            recovery_code: None,
            unlinked_identities: None,
        }
    }

    /// With the recovery code that the player was given.
    #[must_use]
    pub fn with_recovery_code(self, code: String) -> Self {
        Self { recovery_code: Some(code), ..self }
    }

    /// Adds how many identities were unlinked.
    #[must_use]
    pub fn with_unlinked_identities(self, count: u64) -> Self {
        Self { unlinked_identities: Some(count), ..self }
    }

    /// The first tokens of a player that signs in again; `None` if the player's credentials were revoked meanwhile.
    pub async fn begin(state: &AppState, player: &OwnPlayer, grant: Grant) -> Result<Option<Self>, Problem> {
        let (now, first) = (now(), new_refresh_token());
        let sign_in = new_sign_in(&first, now);
        let stored = refresh_tokens::insert_family(&state.db, player, &sign_in).await?;
        Ok(stored.then(|| Self::new(state, player, grant, (sign_in.family, first), now)))
    }

    /// Stores a new player with its first tokens; `None` if another account has the name, another player the
    /// identity, or another request used the key.
    pub async fn begin_as_new(state: &AppState, new: &NewPlayer<'_>) -> Result<Option<Self>, Problem> {
        let NewPlayer { player, password_hash, network, key, identity } = *new;
        let grant = match (password_hash, identity) {
            (Some(_), _) => Grant::Password,
            (None, Some(_)) => Grant::Identity,
            (None, None) => Grant::Guest,
        };
        let (now, first, code) = (now(), new_refresh_token(), recovery::new_code());
        let sign_in = new_sign_in(&first, now);
        let first_credentials =
            FirstCredentials { password_hash, network, recovery: &recovery::hash(&code), key, identity, sign_in };
        let stored = players::insert(&state.db, player, &first_credentials).await?;
        let own = OwnPlayer { player: player.clone(), credentials_version: 0, has_network: network.is_some() };
        Ok((stored == Named::Stored)
            .then(|| Self::new(state, &own, grant, (sign_in.family, first), now).with_recovery_code(code)))
    }
}

/// The record of a sign-in that begins with this refresh token. The time in its id is the database's: access tokens show it.
fn new_sign_in(first: &str, now: OffsetDateTime) -> SignIn {
    let ms = u64::try_from(now.unix_timestamp_nanos() / 1_000_000).unwrap_or_default();
    let family = Builder::from_unix_timestamp_millis(ms, &rand::random()).into_uuid();
    SignIn { family, first: hash(first), expires_at: now + refresh_tokens::LIFETIME }
}

fn new_refresh_token() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; REFRESH_TOKEN_BYTES]>())
}

fn hash(token: &str) -> Hash {
    Sha256::digest(token).into()
}
