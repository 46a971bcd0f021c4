//! Sign-ins: their list, ending one of them, and signing out everywhere.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, HttpResponse, delete, dev::Payload, get, http::header, web::Data};
use mancala_db::players::{
    self, WebhookChoice, identities,
    refresh_tokens::{self, SignedIn},
};
use mancala_domain::PlayerKind;
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, NotFound},
        problem::Problem,
    },
    request::{
        extract::{NoQuery, Query},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_process::clock::now;
use mancala_wire::view::wire::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// How many sign-ins a list has, the newest.
const LISTED_MAX: u32 = 100;

/// List the caller's sign-ins
///
/// The newest 100 that are valid, each a device or a browser.
#[utoipa::path(
    tag = "players",
    operation_id = "list_sign_ins",
    responses((status = 200, description = "The sign-ins, newest first", body = SignInList)),
    security(("bearer" = []))
)]
#[get("/me/sign-ins")]
pub async fn list_sign_ins(state: Data<AppState>, caller: Caller, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let found = refresh_tokens::list(&state.db, caller.player, now(), LISTED_MAX).await?;
    let items = found.iter().map(ListedSignIn::of).collect();
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(SignInList { items, next_cursor: None }))
}

/// End a sign-in
///
/// Revokes its refresh tokens, and removes the devices that it has registered. Access tokens that were given out expire by themselves,
/// within 15 minutes. Ending it again is 204.
///
/// - `not_found`: the caller has no such sign-in
#[utoipa::path(
    tag = "players",
    operation_id = "delete_sign_in",
    params(("sign_in_id" = Uuid, Path, description = "The sign-in's id")),
    responses(
        (status = 204, description = "The sign-in has ended"),
        Failures<NotFound>,
    ),
    security(("bearer" = []))
)]
#[delete("/me/sign-ins/{sign_in_id}")]
pub async fn delete_sign_in(
    state: Data<AppState>,
    caller: Caller,
    path: SignInPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    if refresh_tokens::end(&state.db, caller.player, path.0, now()).await? {
        Ok(HttpResponse::NoContent().finish())
    } else {
        Err(no_sign_in())
    }
}

/// The sign-in that the path names. A value that is no UUID is 404.
#[derive(Clone, Copy, Debug)]
pub struct SignInPath(Uuid);

impl FromRequest for SignInPath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("sign_in_id").and_then(|id| Uuid::try_parse(id).ok());
        ready(id.map(Self).ok_or_else(no_sign_in))
    }
}

fn no_sign_in() -> Problem {
    Problem::not_found("the caller has no such sign-in")
}

/// The valid sign-ins of a player.
#[derive(Serialize, ToSchema)]
struct SignInList {
    items: Vec<ListedSignIn>,
    /// Always null: all fit on one page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// A valid sign-in.
#[derive(Serialize, ToSchema)]
struct ListedSignIn {
    id: Uuid,
    /// When it began.
    since: Timestamp,
    /// When it last got new tokens.
    last_used_at: Timestamp,
    /// When it ends unless it gets new tokens.
    expires_at: Timestamp,
}

impl ListedSignIn {
    fn of(sign_in: &SignedIn) -> Self {
        Self {
            id: sign_in.family,
            since: Timestamp(refresh_tokens::began_at(sign_in.family)),
            last_used_at: Timestamp(sign_in.expires_at - refresh_tokens::LIFETIME),
            expires_at: Timestamp(sign_in.expires_at),
        }
    }
}

/// Sign out everywhere
///
/// Ends all sign-ins of an account, that of this call included. All access and refresh tokens are void in every server
/// within a second, and so is the recovery code. All streams end. Sign in again with the password, or by an issuer. A
/// guest without an identity is 403, because nothing but its tokens identifies it.
///
/// - `forbidden`: the caller is a guest without an identity
#[utoipa::path(
    tag = "players",
    operation_id = "delete_sign_ins",
    params(DeleteSignIns),
    responses(
        (status = 204, description = "All sign-ins have ended"),
        Failures<Forbidden>,
    ),
    security(("bearer" = []))
)]
#[delete("/me/sign-ins")]
pub async fn delete_sign_ins(
    state: Data<AppState>,
    caller: Caller,
    query: Query<DeleteSignIns>,
) -> Result<HttpResponse, Problem> {
    let own = player::find(&state, caller).await?;
    if own.player.kind != PlayerKind::Account
        && !identities::has_any(&state.db, caller.player, state.issuers.urls()).await?
    {
        let detail = "a guest without tokens could never come back: set a password or link an identity first, or erase the guest";
        return Err(Problem::new(Code::Forbidden, detail));
    }
    let webhooks = match query.0.webhooks {
        Some(WebhookWord::Delete) => WebhookChoice::Delete,
        Some(WebhookWord::Keep) | None => WebhookChoice::Keep,
    };
    // If the credentials have changed since, they were revoked by that change.
    if let Some(credentials_version) = players::sign_out(&state.db, &own, webhooks, now()).await? {
        state.hub.audience().revoke(caller.player, credentials_version);
    } else {
        player::find(&state, caller).await?;
    }
    Ok(HttpResponse::NoContent().finish())
}

/// How to sign out.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteSignIns {
    /// What becomes of the caller's webhooks. Unless given, they go on.
    #[param(inline)]
    webhooks: Option<WebhookWord>,
}

/// What becomes of webhooks.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum WebhookWord {
    Keep,
    Delete,
}
