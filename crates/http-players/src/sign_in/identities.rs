//! The identities of the caller: which persons of which issuers it is.

use actix_web::{HttpRequest, HttpResponse, delete, get, http::header, put, web::Data};
use mancala_db::players::identities::{self, Identity, Linked, LinkedIdentity, Unlinked};
use mancala_http::{
    answer::{
        code::Code,
        failures::{
            Failures, Forbidden, IdentityTaken, InvalidCredentials, InvalidToken, IssuerUnavailable, LastWayIn,
            NotFound, RecentSignInRequired, SignInRefused, Unauthenticated, Unavailable,
        },
        problem::Problem,
    },
    request::{
        body::MEDIUM_BODY,
        extract::{Body, NoQuery, OptionalBody, Query},
        player, suspended,
    },
    state::{AppState, tokens::Caller},
};
use mancala_outbound::openid::{Issuer, Issuers};
use mancala_process::clock::now;
use mancala_wire::view::wire::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::{
    begin::{IssuerPath, OF_APP},
    session::Session,
    verified::{Proof, verified},
};
use crate::players::recent_sign_in::{self, CurrentPassword};

/// List the caller's identities
///
/// The issuers by which the caller can sign in, the oldest first. One that the operator offers no more is listed, too, and is no way in.
#[utoipa::path(
    tag = "players",
    operation_id = "list_identities",
    responses((status = 200, description = "The identities", body = IdentityList)),
    security(("bearer" = []))
)]
#[get("/me/identities")]
pub async fn list_identities(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let found = identities::list(&state.db, caller.player).await?;
    let items = found.iter().map(|linked| IdentityView::of(linked, &state.issuers)).collect();
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(IdentityList { items, next_cursor: None }))
}

/// Link an identity to the caller
///
/// Completes what `POST /v1/sign-in/{issuer}` has begun with the caller's token. From then on the caller can sign in by the issuer, on any
/// device. A guest stays a guest, and keeps all games. An account needs a sign-in of the last 10 minutes, or `current_password`.
///
/// - `sign_in_refused`: the session, the state or the code is wrong or was used before, or the issuer's token is not
///   to be believed
/// - `invalid_credentials`: `current_password` is not the account's
/// - `forbidden`: a player of an app
/// - `not_found`: the server has no such issuer
/// - `identity_taken`: it is another player's, or the caller has another one of this issuer
/// - `issuer_unavailable`: the issuer does not answer, and the same request may be sent again
#[utoipa::path(
    tag = "players",
    operation_id = "link_identity",
    params(("issuer" = String, Path, description = "The issuer's id", example = "google")),
    request_body(content = LinkIdentity, example = json!({"session": "mU1c…", "state": "8Q0v…", "code": "4/0Ad…"})),
    responses(
        (status = 200, description = "The identity was the caller's before", body = IdentityView),
        (status = 201, description = "The identity is the caller's now", body = IdentityView),
        Failures<(
            Unauthenticated, InvalidToken, InvalidCredentials, SignInRefused, RecentSignInRequired, Forbidden,
            NotFound, IdentityTaken, Unavailable, IssuerUnavailable,
        )>,
    ),
    security(("bearer" = []))
)]
#[put("/me/identities/{issuer}")]
pub async fn link_identity(
    state: Data<AppState>,
    caller: Caller,
    path: IssuerPath,
    _: Query<NoQuery>,
    body: Body<LinkIdentity, MEDIUM_BODY>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let issuer = path.find(&state)?;
    let LinkIdentity { session, state: returned, code, iss, current_password } = body.0;
    let own = player::find(&state, caller).await?;
    player::refuse_if_of_app(&state, caller.player, OF_APP).await?;
    // This check comes first, because a session that it refuses can be used again.
    recent_sign_in::require(&state, &request, (caller, &own), current_password.as_deref()).await?;
    let is_own = |session: &Session| session.links(caller.player, own.credentials_version);
    let proof = Proof { session, state: returned, code, iss };
    let subject = verified(&state, issuer, &proof, is_own).await?;
    let (identity, now) = (Identity { issuer: &subject.issuer, subject: &subject.hash }, now());
    let linked = identities::link(&state.db, &own, identity, now).await?;
    let taken = |detail: &str| Err(Problem::new(Code::IdentityTaken, detail));
    let mut response = match linked {
        Linked::Stored => HttpResponse::Created(),
        Linked::Known => HttpResponse::Ok(),
        Linked::Taken => {
            return taken("the identity is another player's: sign in by it, or take that player's games along");
        }
        Linked::HasAnother => return taken("the caller has another identity of this issuer: unlink it first"),
        Linked::Gone => return Err(player::gone()),
    };
    let person = state.tokens.person_key().of_identity(identity);
    suspended::restore(&state, caller.player, &person).await?;
    let since = match linked {
        Linked::Known => {
            let all = identities::list(&state.db, caller.player).await?;
            all.iter().find(|linked| linked.issuer == subject.issuer).map_or(now, |linked| linked.created_at)
        }
        _ => now,
    };
    Ok(response.insert_header((header::CACHE_CONTROL, "no-store")).json(IdentityView::new(issuer, since)))
}

/// Unlink an identity from the caller
///
/// The caller can no longer sign in by the issuer; who is signed in stays so. The last way in stays: a player without a password and without
/// another identity is 409. An identity of an issuer that the operator offers no more is no way in, and can always be unlinked. An account
/// needs a sign-in of the last 10 minutes, or the password.
///
/// - `invalid_credentials`: the password is not the account's
/// - `not_found`: the caller has no identity of such an issuer
/// - `last_way_in`: the caller has no password and no other identity
#[utoipa::path(
    tag = "players",
    operation_id = "delete_identity",
    params(("issuer" = String, Path, description = "`issuer` of the list", example = "google")),
    request_body(content = Option<CurrentPassword>, description = "May be left out",
        example = json!({"current_password": "correct horse"})),
    responses(
        (status = 204, description = "The identity is unlinked"),
        Failures<(Unauthenticated, InvalidToken, InvalidCredentials, RecentSignInRequired, NotFound, LastWayIn)>,
    ),
    security(("bearer" = []))
)]
#[delete("/me/identities/{issuer}")]
pub async fn delete_identity(
    state: Data<AppState>,
    caller: Caller,
    path: IssuerPath,
    _: Query<NoQuery>,
    body: OptionalBody<CurrentPassword>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let own = player::find(&state, caller).await?;
    recent_sign_in::require(&state, &request, (caller, &own), body.0.current_password.as_deref()).await?;
    let url = match path.find(&state) {
        Ok(issuer) => issuer.settings().issuer.clone(),
        Err(unknown) => {
            let all = identities::list(&state.db, caller.player).await?;
            all.into_iter().map(|linked| linked.issuer).find(|url| path.is(&key_of(url))).ok_or(unknown)?
        }
    };
    match identities::unlink(&state.db, &own, &url, state.issuers.urls()).await? {
        Unlinked::Done => Ok(HttpResponse::NoContent().finish()),
        Unlinked::Unknown => Err(Problem::not_found("the caller has no identity of this issuer")),
        Unlinked::LastWayIn => Err(Problem::new(
            Code::LastWayIn,
            "without it the caller could not sign in: set a password or link another identity first",
        )),
        Unlinked::Gone => Err(player::gone()),
    }
}

/// What comes back from an issuer, the session that asked for it, and the account's password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkIdentity {
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
    /// The account's password. Not needed if its sign-in began within the last 10 minutes.
    #[schema(format = Password)]
    current_password: Option<String>,
}

/// The identities of a player.
#[derive(Serialize, ToSchema)]
struct IdentityList {
    items: Vec<IdentityView>,
    /// Always null: all fit on one page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// An identity of a player. The issuer's id of the person is stored as a hash only, and nothing else that the issuer knows.
#[derive(Serialize, ToSchema)]
#[schema(as = Identity)]
pub struct IdentityView {
    /// The issuer's id; of one that is not offered, another word that stays the same. It unlinks the identity.
    #[schema(example = "google")]
    issuer: String,
    /// The issuer's name, for people; of one that is not offered, its URL.
    #[schema(example = "Google")]
    name: String,
    /// Whether the operator offers the issuer, so that the caller can sign in by it.
    is_offered: bool,
    /// When it was linked.
    since: Timestamp,
}

impl IdentityView {
    fn new(issuer: &Issuer, since: OffsetDateTime) -> Self {
        let settings = issuer.settings();
        Self { issuer: settings.id.clone(), name: settings.name.clone(), is_offered: true, since: Timestamp(since) }
    }

    fn of(linked: &LinkedIdentity, issuers: &Issuers) -> Self {
        let (url, since) = (&linked.issuer, linked.created_at);
        issuers.find_by_url(url).map_or_else(
            || Self { issuer: key_of(url), name: url.clone(), is_offered: false, since: Timestamp(since) },
            |issuer| Self::new(issuer, since),
        )
    }
}

/// The path segment for an issuer that is no longer offered: a hash of its URL behind a prefix that no operator can choose.
fn key_of(url: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(url).into();
    let key = u128::from_be_bytes(*hash.first_chunk().expect("a hash has 32 bytes"));
    format!("url_{key:032x}")
}
