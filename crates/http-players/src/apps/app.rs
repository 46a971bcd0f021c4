//! The app that calls.

use actix_web::{HttpResponse, get};
use mancala_domain::PlayerKind;
use mancala_http::app_caller::AppCaller;
use mancala_http::{
    answer::{
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    request::extract::{NoQuery, Query},
};
use mancala_wire::view::wire::{PlayerKindWord, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Get the app
///
/// The app whose key the call has.
#[utoipa::path(
    tag = "apps",
    operation_id = "get_app",
    responses((status = 200, description = "The app", body = AppView)),
    security(("app_key" = []))
)]
#[get("/apps/me")]
pub async fn get_app(caller: AppCaller, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    let app = caller.app;
    let view = AppView {
        id: app.id.0,
        name: app.name,
        kind: PlayerKind::App.into(),
        since: Timestamp(app.created_at),
        key_since: Timestamp(app.key_since),
    };
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(view))
}

/// An app.
#[derive(Serialize, ToSchema)]
#[schema(as = App)]
struct AppView {
    id: Uuid,
    /// The operator's name for it.
    #[schema(example = "acme")]
    name: String,
    kind: PlayerKindWord,
    /// When the operator made it.
    since: Timestamp,
    /// When its present key was made.
    key_since: Timestamp,
}
