//! Health: whether the process lives, and whether it can serve.

use std::time::{Duration, Instant};

use actix_web::{HttpResponse, get, http::header, web::Data};
use serde::Serialize;
use sqlx::PgPool;
use tokio::sync::Mutex;
use utoipa::ToSchema;

use crate::{
    db::migrations,
    http::{
        answer::problem::{Code, Problem},
        request::extract::{NoQuery, Query},
        state::AppState,
    },
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

/// Whether the database was ready a moment ago: so many may ask, and the database is asked once a second by a process.
#[derive(Debug, Default)]
pub struct Readiness {
    last: Mutex<Option<Asked>>,
}

/// When the database was asked, and what it said.
#[derive(Debug)]
struct Asked {
    answered_at: Instant,
    is_current: Result<bool, Problem>,
}

impl Readiness {
    /// Who comes while the database is asked waits for that answer, whatever it is. Later, a failure counts no more: the next
    /// one finds out whether the database is back.
    async fn is_current(&self, db: &PgPool) -> Result<bool, Problem> {
        let come_at = Instant::now();
        let mut last = self.last.lock().await;
        if let Some(Asked { answered_at, is_current }) = &*last
            && (*answered_at > come_at || is_current.is_ok() && answered_at.elapsed() < REMEMBERED)
        {
            return is_current.clone();
        }
        let is_current = migrations::are_current(db).await.map_err(Problem::from);
        *last = Some(Asked { answered_at: Instant::now(), is_current: is_current.clone() });
        is_current
    }
}

/// How long an answer of the database is good for: load balancers ask every few seconds.
const REMEMBERED: Duration = Duration::from_secs(1);

/// All is well.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}
