//! Health: whether the process is alive, and whether it is ready to serve.

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
/// Answers without the database. Use it to decide whether to restart the process.
#[utoipa::path(
    tag = "operation",
    operation_id = "get_liveness",
    responses((status = 200, description = "It is alive", body = Health)),
    security(())
)]
#[get("/livez")]
pub async fn get_liveness(_: Query<NoQuery>) -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(Health { status: "ok" })
}

/// Can the service serve?
///
/// Checks the database and its migrations. Use it to decide whether to send requests here. A stopping server is not ready.
#[utoipa::path(
    tag = "operation",
    operation_id = "get_readiness",
    responses((status = 200, description = "It is ready", body = Health)),
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

/// The state of the process.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}
