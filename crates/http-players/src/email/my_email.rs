//! The caller's e-mail address.

use actix_web::{HttpRequest, HttpResponse, get, http::header, put, web::Data};
use mancala_db::email::addresses::{self, AccountEmail};
use mancala_domain::PlayerKind;
use mancala_http::{
    answer::{
        code::Code,
        failures::{
            EmailNotConfigured, Failures, Forbidden, InvalidCredentials, InvalidToken, RecentSignInRequired,
            Unauthenticated,
        },
        problem::Problem,
    },
    request::{
        auth,
        extract::{Body, NoQuery, Query},
        player, suspended,
    },
    state::{AppState, mailing::Mailing, tokens::Caller},
};
use mancala_process::clock::now;
use mancala_wire::view::wire::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::address;
use crate::players::recent_sign_in;

/// Get the caller's e-mail address
///
/// Nothing else shows it, and other players never see it.
#[utoipa::path(
    tag = "players",
    operation_id = "get_my_email",
    responses((status = 200, description = "The addresses", body = EmailView)),
    security(("bearer" = []))
)]
#[get("/me/email")]
pub async fn get_my_email(state: Data<AppState>, caller: Caller, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    show(&state, caller).await
}

/// Set or remove the caller's e-mail address
///
/// Only for an account, with a sign-in of the last 10 minutes or its password. A link is sent to the address, and confirms it
/// within 24 hours. Until then the address before stays. A mail reports to it that it was replaced. The verified address again
/// gives up the one that waits. Null removes both. Links that were sent are void, and the verified address is told. The answer
/// is the same if another account has the address: then the mail says so.
///
/// - `invalid_credentials`: the password is not the account's
/// - `forbidden`: the caller is a guest
#[utoipa::path(
    tag = "players",
    operation_id = "write_my_email",
    request_body(content = WriteMyEmail, example = json!({"email": "ana@mail.example", "current_password": "correct horse"})),
    responses(
        (status = 200, description = "The addresses", body = EmailView),
        Failures<(
            Unauthenticated, InvalidToken, InvalidCredentials, RecentSignInRequired, Forbidden, EmailNotConfigured,
        )>,
    ),
    security(("bearer" = []))
)]
#[put("/me/email")]
pub async fn write_my_email(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    body: Body<WriteMyEmail>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let WriteMyEmail { email, current_password } = body.0;
    let own = player::find(&state, caller).await?;
    if own.player.kind != PlayerKind::Account {
        return Err(Problem::new(Code::Forbidden, "a guest has no password: make an account of it first"));
    }
    let confirmed = recent_sign_in::require(&state, &request, (caller, &own), current_password.as_deref());
    let Some(email) = email else {
        confirmed.await?;
        if !addresses::remove(&state.db, &own, now()).await? {
            return Err(player::gone());
        }
        return show(&state, caller).await;
    };
    if auth::suspension(&request).is_some() {
        suspended::refuse(&state, caller.player).await?;
    }
    state.settings.mailing.require()?;
    let address = address::read(&email)?;
    confirmed.await?;
    let before = addresses::find(&state.db, caller.player, now()).await?;
    let is_verified = before.verified.is_some_and(|(verified, _)| verified.key() == address.key());
    let is_stored = if is_verified {
        addresses::withdraw(&state.db, &own).await?
    } else {
        addresses::propose(&state.db, &own, &address, now()).await?
    };
    if !is_stored {
        return Err(player::gone());
    }
    show(&state, caller).await
}

async fn show(state: &AppState, caller: Caller) -> Result<HttpResponse, Problem> {
    let found = addresses::find(&state.db, caller.player, now()).await?;
    let view =
        EmailView { is_available: state.settings.mailing == Mailing::On, addresses: EmailAddressesView::of(&found) };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(view))
}

/// A field that may be null, and may not be missing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(deserializer)
}

/// The new address, and the account's password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteMyEmail {
    /// Its domain may be of any script. Null for none.
    #[serde(deserialize_with = "present")]
    #[schema(required = true, max_length = 1024, example = "ana@mail.example")]
    email: Option<String>,
    /// The password of the account, unless its sign-in began within the last 10 minutes.
    #[schema(format = Password)]
    current_password: Option<String>,
}

/// The e-mail addresses of an account.
#[derive(Serialize, ToSchema)]
#[schema(as = MyEmail)]
struct EmailView {
    /// Whether the server sends mail.
    is_available: bool,
    #[serde(flatten)]
    addresses: EmailAddressesView,
}

/// The verified address and the one that waits to be confirmed.
#[derive(Serialize, ToSchema)]
#[schema(as = EmailAddresses)]
pub struct EmailAddressesView {
    /// The verified address, by which a password can be set anew; null if there is none.
    #[schema(required = true, example = "ana@mail.example")]
    email: Option<String>,
    /// Since when it is.
    #[schema(required = true)]
    verified_at: Option<Timestamp>,
    /// The address that takes its place when it is confirmed; null if there is none, or it was not confirmed in time.
    #[schema(required = true)]
    pending: Option<PendingEmailView>,
}

/// An address that waits to be confirmed.
#[derive(Serialize, ToSchema)]
#[schema(as = PendingEmail)]
struct PendingEmailView {
    #[schema(example = "ana@new.example")]
    email: String,
    /// When the link was asked for last. It is good for 24 hours.
    since: Timestamp,
}

impl EmailAddressesView {
    pub fn of(found: &AccountEmail) -> Self {
        let (email, verified_at) = found.verified.clone().unzip();
        Self {
            email: email.map(|email| email.as_str().to_owned()),
            verified_at: verified_at.map(Timestamp),
            pending: found
                .pending
                .as_ref()
                .map(|(email, since)| PendingEmailView { email: email.as_str().to_owned(), since: Timestamp(*since) }),
        }
    }
}
