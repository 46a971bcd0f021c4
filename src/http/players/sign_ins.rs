//! Signing out everywhere.

use actix_web::{HttpResponse, delete, web::Data};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    clock::now,
    db::players::{self, WebhookChoice},
    domain::PlayerKind,
    http::{
        answer::problem::{Code, Problem},
        request::{extract::Query, player},
        state::{AppState, tokens::Caller},
    },
};

/// Sign out everywhere
///
/// Ends all sign-ins of an account, that of this call included: all access and refresh tokens that were given out are void, in every
/// server within a second, and all streams end. Sign in again with the password. A guest is 403, because nothing but its tokens
/// identifies it.
#[utoipa::path(
    tag = "players",
    operation_id = "delete_sign_ins",
    params(DeleteSignIns),
    responses(
        (status = 204, description = "All sign-ins have ended"),
        (status = 403, description = "`forbidden`: the caller is a guest"),
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
    if own.player.kind != PlayerKind::Account {
        let detail = "a guest without tokens could never come back: set a password first, or erase the guest";
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
