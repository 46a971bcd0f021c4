//! A new password by a link in a mail. The request does not reveal whether an account has the address: it is answered alike, and a job
//! looks the address up later.

use actix_web::{HttpRequest, HttpResponse, get, http::header, post, web::Data};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{address, tokens};
use mancala_db::{
    email::resets,
    players::{IdentityChoice, Leftovers, Named, OwnPlayer, Updated},
};
use mancala_http::{
    answer::{
        code::Code,
        failures::{EmailNotConfigured, Failures, InvalidLink},
        headers::KEPT_FOR_A_MINUTE,
        problem::Problem,
    },
    layers::limits::network_of,
    request::{
        extract::{Body, NoQuery, Query},
        known, suspended,
    },
    state::{AppState, mailing::Mailing},
};
use mancala_process::clock::now;

use crate::players::{
    me::{leftovers, renew_tokens},
    profiles::choose_password,
    tokens::TokenSet,
};

/// How many times the password is stored, on version conflicts.
const ATTEMPTS_MAX: u32 = 4;

/// Whether a password can be set anew by mail
///
/// A server whose operator has named no SMTP server cannot send such mails.
#[utoipa::path(
    tag = "players",
    operation_id = "get_password_reset",
    responses((status = 200, description = "Whether it can", body = PasswordReset)),
    security(())
)]
#[get("/password-reset")]
pub async fn get_password_reset(state: Data<AppState>, _: Query<NoQuery>) -> HttpResponse {
    let is_available = state.settings.mailing == Mailing::On;
    HttpResponse::Ok().insert_header(KEPT_FOR_A_MINUTE).json(PasswordReset { is_available })
}

/// Ask for a link that sets a new password
///
/// If an account has verified the address, a link is sent to it, which is good for an hour. The answer is the same, at the same time, if
/// none has. An address gets at most 3 links an hour and 10 a day.
#[utoipa::path(
    tag = "players",
    operation_id = "create_password_reset",
    request_body(content = CreatePasswordReset, example = json!({"email": "ana@mail.example"})),
    responses(
        (status = 202, description = "If an account has the address, a link is on its way"),
        Failures<EmailNotConfigured>,
    ),
    security(())
)]
#[post("/password-reset")]
pub async fn create_password_reset(
    state: Data<AppState>,
    _: Query<NoQuery>,
    body: Body<CreatePasswordReset>,
) -> Result<HttpResponse, Problem> {
    state.settings.mailing.require()?;
    resets::request(&state.db, &address::read(&body.0.email)?, now()).await?;
    Ok(HttpResponse::Accepted().finish())
}

/// Set a new password by a link
///
/// By the token of the link, which is good once. As with every new password, all access and refresh tokens and the recovery
/// code are void, and the answer has new ones. A mail reports the new password to the address.
#[utoipa::path(
    tag = "players",
    operation_id = "reset_password",
    request_body(content = ResetPassword, example = json!({"token": "Zm9v…", "password": "battery staple"})),
    responses(
        (status = 200, description = "The account, and new tokens", body = TokenSet),
        Failures<InvalidLink>,
    ),
    security(())
)]
#[post("/password-reset/confirm")]
pub async fn reset_password(
    state: Data<AppState>,
    _: Query<NoQuery>,
    body: Body<ResetPassword>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let ResetPassword { token, password, delete_webhooks, unlink_identities } = body.0;
    let leftovers = leftovers(delete_webhooks, unlink_identities);
    let (before, unlinked) = set_password(&state, &request, &token, &password, leftovers).await?;
    let tokens = renew_tokens(&state, &request, &before, &before.player).await?;
    let tokens = if unlink_identities { tokens.with_unlinked_identities(unlinked) } else { tokens };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(tokens))
}

/// Sets the password, and voids all tokens of the account. Returns the account from before, and the number of identities that were
/// unlinked.
pub(super) async fn set_password(
    state: &AppState,
    request: &HttpRequest,
    token: &str,
    password: &str,
    leftovers: Leftovers,
) -> Result<(OwnPlayer, u64), Problem> {
    let hash = tokens::hash(token);
    let find = || resets::find(&state.db, &hash, now());
    let network = network_of(request);
    let found = tokens::found(state, network, find()).await?;
    if leftovers.identities == IdentityChoice::Unlink {
        suspended::refuse(state, found.player.id).await?;
    }
    // The password is checked after the link, so that only a link's holder causes the expensive hash.
    let password = choose_password(password, Some(&found.player.name))?;
    let password_hash = state.passwords.hash(password, known::asker_at(state, network, true)).await?;
    for _ in 0..ATTEMPTS_MAX {
        let before = find().await?.ok_or_else(tokens::invalid)?;
        match resets::set_password(&state.db, &before, &hash, &password_hash, leftovers, now()).await? {
            None => return Err(tokens::invalid()),
            Some(Updated { named: Named::Stored, unlinked_identities }) => {
                state.hub.audience().revoke(before.player.id, before.credentials_version + 1);
                known::note(state, before.player.id, network).await?;
                return Ok((before, unlinked_identities));
            }
            Some(Updated { named: Named::Changed | Named::Taken, .. }) => {}
        }
    }
    Err(Problem::new(Code::Unavailable, "too many changes of this player at once; try again"))
}

/// Whether a password can be set anew by mail.
#[derive(Serialize, ToSchema)]
struct PasswordReset {
    is_available: bool,
}

/// The address to which a link is to be sent.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreatePasswordReset {
    #[schema(max_length = 1024, example = "ana@mail.example")]
    email: String,
}

/// The token of a link, and the new password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetPassword {
    /// What stands behind `token=` in the link.
    #[schema(max_length = 128)]
    token: String,
    #[schema(format = Password, min_length = 8, max_length = 128)]
    password: String,
    /// Whether all webhooks are deleted, too. Otherwise they go on.
    #[serde(default)]
    #[schema(default = false)]
    delete_webhooks: bool,
    /// Whether all identities are unlinked, too. Otherwise each stays a way in.
    #[serde(default)]
    #[schema(default = false)]
    unlink_identities: bool,
}
