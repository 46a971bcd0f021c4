//! Verifies a stored game. The checks themselves are in `db::records::verify` and the domain.

use actix_web::{HttpResponse, get, web::Data};
use mancala_db::{
    Reads,
    records::verify::{self, Verified},
};
use mancala_domain::{Flaw, Refusal};
use mancala_http::{
    answer::{
        failures::{Failures, NotFound},
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::limits::HeavyBudget,
    request::{
        auth::Reader,
        extract::{GamePath, NoQuery, Query},
    },
    state::{AppState, heavy::HeavyClass},
};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Verify a game
///
/// Reads the game and its whole log from the database, and replays every move by the rules. Compares everything that is
/// stored: positions, result, and the game's present state.
#[utoipa::path(
    tag = "records",
    operation_id = "verify_game",
    params(("id" = Uuid, Path, description = "The game's id")),
    responses(
        (status = 200, description = "The outcome", body = VerificationView),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/verify")]
pub async fn verify_game(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    _: Query<NoQuery>,
    budget: HeavyBudget,
) -> Result<HttpResponse, Problem> {
    let id = path.0;
    let unknown = || Problem::from(&Refusal::Unknown);
    budget.charge(verify::visible_events(&state.db, id, reader.0).await?.ok_or_else(unknown)?)?;
    let verify = move |reads: Reads| async move { Ok(verify::verify(reads.primary(), id).await?) };
    let verified = state.heavy.run(HeavyClass::Verification, budget.turns(), verify).await?;
    let Verified { events, flaws, unreadable } = verified.ok_or_else(unknown)?;
    let unreadable = unreadable.map(|detail| FlawView { seq: None, detail });
    let flaws: Vec<_> = flaws.iter().map(FlawView::of).chain(unreadable).collect();
    let view = VerificationView { game_id: id.0, is_sound: flaws.is_empty(), events, flaws };
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(view))
}

/// The outcome of a game's verification.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Verification)]
struct VerificationView {
    game_id: Uuid,
    /// Whether there are no flaws.
    is_sound: bool,
    /// The number of events in its log.
    #[schema(minimum = 0)]
    events: usize,
    /// The flaws of the log, in its order, then those of the game's present state.
    flaws: Vec<FlawView>,
}

/// A contradiction in the stored game.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Flaw)]
struct FlawView {
    /// The event that has the flaw; null for the game's present state.
    #[schema(required = true, minimum = 1)]
    seq: Option<u32>,
    #[schema(example = "the rules do not allow C, event 12")]
    detail: String,
}

impl FlawView {
    fn of(flaw: &Flaw) -> Self {
        Self { seq: flaw.seq(), detail: flaw.to_string() }
    }
}
