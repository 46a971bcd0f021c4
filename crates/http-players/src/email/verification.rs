//! Confirms an e-mail address by the link that was sent to it.

use actix_web::{HttpRequest, HttpResponse, http::header, post, web::Data};
use mancala_db::email::addresses;
use mancala_domain::EmailAddress;
use mancala_http::{
    answer::{
        failures::{Failures, InvalidLink},
        problem::Problem,
    },
    layers::limits::network_of,
    request::extract::{Body, NoQuery, Query},
    state::AppState,
};
use mancala_process::clock::now;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::tokens;

/// Confirm an e-mail address
///
/// By the token of the link that was sent to it. It is good once, for 24 hours. It is void if the account has asked for another address
/// since, or another account has confirmed this one.
#[utoipa::path(
    tag = "players",
    operation_id = "verify_email",
    request_body(content = VerifyEmail, example = json!({"token": "Zm9v…"})),
    responses(
        (status = 200, description = "The address is the account's", body = VerifiedEmail),
        Failures<InvalidLink>,
    ),
    security(())
)]
#[post("/email/verify")]
pub async fn verify_email(
    state: Data<AppState>,
    _: Query<NoQuery>,
    body: Body<VerifyEmail>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let address = verify(&state, &request, &body.0.token).await?;
    let verified = VerifiedEmail { email: address.as_str().to_owned() };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(verified))
}

pub(super) async fn verify(state: &AppState, request: &HttpRequest, token: &str) -> Result<EmailAddress, Problem> {
    let hash = tokens::hash(token);
    tokens::found(state, network_of(request), addresses::verify(&state.db, &hash, now())).await
}

/// The token of a link.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyEmail {
    /// What stands behind `token=` in the link.
    #[schema(max_length = 128)]
    token: String,
}

/// An address that was confirmed.
#[derive(Serialize, ToSchema)]
struct VerifiedEmail {
    #[schema(example = "ana@mail.example")]
    email: String,
}
