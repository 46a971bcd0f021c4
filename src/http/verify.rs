//! Whether a stored game is sound.

use actix_web::{HttpResponse, get, web::Data};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    AppState,
    auth::Reader,
    error::{Problem, ProblemBody},
    extract::{GamePath, NoQuery, Query},
    games::find_visible,
    headers::{NOT_KEPT, VARIES},
};
use crate::{
    db::{
        DbError,
        verification::{self, Verified},
    },
    domain::Flaw,
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
        (status = 404, description = "`not_found`", body = ProblemBody, content_type = "application/problem+json"),
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
    let found = find_visible(&state, path.0, reader.0).await?;
    let id = found.seated.game.id;
    let view = match verification::verify(&state.db, id).await {
        Ok(Some(Verified { events, flaws, unreadable })) => {
            let unreadable = unreadable.map(|detail| FlawView { seq: None, detail });
            let flaws: Vec<_> = flaws.iter().map(FlawView::of).chain(unreadable).collect();
            VerificationView { game_id: id.0, is_sound: flaws.is_empty(), events, flaws }
        }
        Ok(None) => return Err(Problem::not_found("there is no such game")),
        Err(error @ DbError::Inconsistent { .. }) => VerificationView {
            game_id: id.0,
            is_sound: false,
            events: 0,
            flaws: vec![FlawView { seq: None, detail: error.to_string() }],
        },
        Err(error) => return Err(error.into()),
    };
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
