//! Health: whether the process lives, and whether it can serve.

use actix_web::{HttpResponse, get, http::header, web::Data};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::{
    answer::problem::{Code, Problem},
    request::extract::{NoQuery, Query},
    state::AppState,
};

/// Is the process alive?
///
/// Answers as long as the process does, whatever the database does. For deciding whether to restart it.
#[utoipa::path(
    tag = "operation",
    operation_id = "get_liveness",
    responses((status = 200, description = "It is", body = Health)),
    security(())
)]
#[get("/livez")]
pub async fn get_liveness(_: Query<NoQuery>) -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(Health { status: "ok" })
}

/// Can the service serve?
///
/// Asks the database, and whether it has every migration. For deciding whether to send requests here: no more, as soon as
/// the server is told to stop.
#[utoipa::path(
    tag = "operation",
    operation_id = "get_readiness",
    responses((status = 200, description = "It can", body = Health)),
    security(())
)]
#[get("/readyz")]
pub async fn get_readiness(state: Data<AppState>, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    if state.draining.is_cancelled() {
        return Err(Problem::draining());
    }
    if !state.readiness.is_current(&state.db).await? {
        return Err(Problem::new(Code::Unavailable, "the database lacks migrations: run `mancala-server migrate`"));
    }
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(Health { status: "ok" }))
}

/// All is well.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}
