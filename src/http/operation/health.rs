//! Health: whether the process is alive, and whether it is ready to serve.

use actix_web::{HttpResponse, get, http::header, web::Data};
use mancala_http::{
    answer::problem::Problem,
    request::extract::{NoQuery, Query},
    state::AppState,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::build_info;

/// Is the process alive?
///
/// Answers without the database. Use it to decide whether to restart the process.
#[utoipa::path(
    tag = "operation",
    operation_id = "get_liveness",
    responses((status = 200, description = "The server is alive", body = Health)),
    security(())
)]
#[get("/livez")]
pub async fn get_liveness(_: Query<NoQuery>) -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(Health { status: "ok" })
}

/// Can a move be stored?
///
/// Checks that the database stores a transaction, has all migrations, and gives the server the rights that it needs. Moves, look-ups and
/// tokens must each have a connection. Use it to decide whether to send requests here. A 503 names what fails in `check`. A stopping server
/// is not ready. All probes of a second share a check.
#[utoipa::path(
    tag = "operation",
    operation_id = "get_readiness",
    responses((status = 200, description = "Moves can be stored", body = Ready)),
    security(())
)]
#[get("/readyz")]
pub async fn get_readiness(state: Data<AppState>, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    let degraded = state.readiness.check().await?.is_degraded;
    let ready = Ready { status: "ok", degraded, version: build_info::VERSION, commit: build_info::COMMIT };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(ready))
}

/// The state of the process.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

/// The state of a process that can store moves, and what it runs.
#[derive(Debug, Serialize, ToSchema)]
pub struct Ready {
    #[schema(example = "ok")]
    status: &'static str,
    /// Whether the server has fewer connections to the database than it needs at full load: reads and jobs wait longer.
    degraded: bool,
    /// The version of the server.
    #[schema(example = "0.3.0")]
    version: &'static str,
    /// The commit that the server was built from, with `-dirty` if its files were changed; `debug` or `unknown` without one.
    #[schema(example = "2fe1316")]
    commit: &'static str,
}
