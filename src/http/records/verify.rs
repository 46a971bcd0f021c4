//! Whether a stored game is sound.

use actix_web::{HttpResponse, get, web::Data};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    db::records::verify::{self, Verified},
    domain::{Flaw, Refusal},
    http::{
        answer::{
            headers::{NOT_KEPT, VARIES},
            problem::Problem,
        },
        request::{
            auth::Reader,
            extract::{GamePath, NoQuery, Query},
        },
        state::AppState,
    },
};

/// Verify a game
///
/// Reads the game and its whole log from the database, plays every move again by the rules, and compares all that is stored: positions,
/// result, and the game as it is now.
#[utoipa::path(
    tag = "records",
    operation_id = "verify_game",
    params(("id" = Uuid, Path, description = "The game's id")),
    responses(
        (status = 200, description = "What was found", body = VerificationView),
        (status = 404, description = "`not_found`"),
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/verify")]
pub async fn verify_game(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    let id = path.0;
    let unknown = || Problem::from(&Refusal::Unknown);
    if !verify::is_visible_to(&state.db, id, reader.0).await? {
        return Err(unknown());
    }
    let Verified { events, flaws, unreadable } = verify::verify(&state.db, id).await?.ok_or_else(unknown)?;
    let unreadable = unreadable.map(|detail| FlawView { seq: None, detail });
    let flaws: Vec<_> = flaws.iter().map(FlawView::of).chain(unreadable).collect();
    let view = VerificationView { game_id: id.0, is_sound: flaws.is_empty(), events, flaws };
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(view))
}

/// What was found of a stored game.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Verification)]
struct VerificationView {
    game_id: Uuid,
    /// Whether nothing is wrong.
    is_sound: bool,
    /// How many events its log has.
    #[schema(minimum = 0)]
    events: usize,
    /// What is wrong, in the order of the log, and then of the game as it is now.
    flaws: Vec<FlawView>,
}

/// Something that cannot be.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Flaw)]
struct FlawView {
    /// The event that it is about; null of the game as it is now.
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
