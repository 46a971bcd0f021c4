//! The end of a sign-in by an issuer: tokens of the identity's player, who is created at the first one.

use actix_web::{HttpRequest, HttpResponse, http::header, post, web::Data};
use mancala_db::players::identities::{self, Identity};
use mancala_domain::{Player, PlayerId, PlayerKind, PlayerName};
use mancala_http::{
    answer::{
        failures::{Failures, InvalidToken, IssuerUnavailable, NotFound, SignInRefused, Unavailable},
        problem::Problem,
    },
    layers::client_address::client_address,
    request::{
        body::MEDIUM_BODY,
        extract::{Body, NoQuery, Query},
        known,
        names::parse_name,
        suspended,
    },
    state::AppState,
};
use mancala_process::{clock::now, metrics::Grant};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    begin::IssuerPath,
    verified::{Proof, verified},
};
use crate::players::tokens::{NewPlayer, TokenSet};

/// How many times a player is looked up and created: another request may do either at the same moment.
const ATTEMPTS_MAX: u32 = 4;

/// Complete a sign-in by an issuer
///
/// The tokens of the identity's player. A person who signs in for the first time becomes a player: 201, with a `recovery_code`. A session that
/// fails is used up, except with 503: begin again.
///
/// - `sign_in_refused`: the session, the state or the code is wrong or was used before, or the issuer's token is not
///   to be believed
/// - `not_found`: the server has no such issuer
/// - `issuer_unavailable`: the issuer does not answer, and the same request may be sent again
#[utoipa::path(
    tag = "players",
    operation_id = "complete_sign_in",
    params(("issuer" = String, Path, description = "The issuer's id", example = "google")),
    request_body(content = CompleteSignIn, example = json!({"session": "mU1c…", "state": "8Q0v…", "code": "4/0Ad…", "name": "Ana"})),
    responses(
        (status = 200, description = "The tokens of a player who was here before", body = TokenSet),
        (status = 201, description = "A new player, and its tokens", body = TokenSet),
        Failures<(InvalidToken, SignInRefused, NotFound, Unavailable, IssuerUnavailable)>,
    ),
    security(())
)]
#[post("/sign-in/{issuer}/complete")]
pub async fn complete_sign_in(
    state: Data<AppState>,
    path: IssuerPath,
    _: Query<NoQuery>,
    body: Body<CompleteSignIn, MEDIUM_BODY>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let issuer = path.find(&state)?;
    let CompleteSignIn { session, state: returned, code, iss, name } = body.0;
    let name = name.map(|name| parse_name(&name, &state.reserved_names)).transpose()?;
    let proof = Proof { session, state: returned, code, iss };
    let subject = verified(&state, issuer, &proof, |session| session.link.is_none()).await?;
    let identity = Identity { issuer: &subject.issuer, subject: &subject.hash };
    let person = state.tokens.person_key().of_identity(identity);
    for _ in 0..ATTEMPTS_MAX {
        if let Some(own) = identities::find(&state.db, identity).await? {
            suspended::restore(&state, own.player.id, &person).await?;
            // Without tokens, the credentials were revoked since.
            if let Some(tokens) = TokenSet::begin(&state, &own, Grant::Identity).await? {
                known::note(&state, own.player.id, client_address(&request)).await?;
                return Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(tokens));
            }
            continue;
        }
        let name = name.clone().unwrap_or_else(|| PlayerName::for_guest(rand::random()));
        let player = Player { id: PlayerId(Uuid::now_v7()), kind: PlayerKind::Guest, name, created_at: now() };
        let network = state.networks.of(client_address(&request));
        let new = NewPlayer { player: &player, password_hash: None, network, key: None, identity: Some(identity) };
        if let Some(tokens) = TokenSet::begin_as_new(&state, &new).await? {
            suspended::restore(&state, player.id, &person).await?;
            return Ok(HttpResponse::Created().insert_header((header::CACHE_CONTROL, "no-store")).json(tokens));
        }
    }
    Err(Problem::busy("too many sign-ins of this identity at once; begin again"))
}

/// What comes back from an issuer, and the session that asked for it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteSignIn {
    /// The session of `POST /v1/sign-in/{issuer}`.
    #[schema(max_length = 4096)]
    session: String,
    /// The parameter of this name that the issuer sent.
    #[schema(max_length = 128)]
    state: String,
    /// The parameter of this name that the issuer sent.
    #[schema(min_length = 1, max_length = 4096)]
    code: String,
    /// The parameter of this name that the issuer sent, if it did (RFC 9207).
    #[schema(max_length = 2048, example = "https://accounts.google.com")]
    iss: Option<String>,
    /// What others see of a new player; generated unless given. A player who was here before keeps its name.
    #[schema(min_length = 1, max_length = 32, example = "Ana")]
    name: Option<String>,
}
