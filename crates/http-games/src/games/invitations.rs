//! Invitations: games for one player only, as that player and their creator see them.

use actix_web::{HttpRequest, HttpResponse, get, post, web::Data};
use mancala_db::lists::invitations::{self, Direction};
use mancala_http::{
    answer::{
        failures::{Failures, Forbidden, GameOver, NotFound, PreconditionFailed, SeatTaken},
        problem::Problem,
    },
    request::{
        conditional::{IfMatch, IfNoneMatch},
        extract::{GamePath, NoQuery, Nothing, OptionalBody, Query},
    },
    state::{AppState, shared_answers::Page, tokens::Caller},
};
use mancala_wire::view::game::GameView;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::{
    asked::Asked,
    change::change,
    find::find_listed,
    page::{GamePage, answer, games_of_page, page_key},
};

/// List invitations
///
/// Open games to which the caller is invited, or has invited others; newest first. The invited player accepts with `join`, or
/// declines with `decline`. The creator withdraws the invitation with `abort`.
#[utoipa::path(
    tag = "games",
    operation_id = "list_invitations",
    params(
        ListInvitations,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of the page that the client has"),
    ),
    responses((status = 200, description = "A page of games", body = GamePage,
        headers(
            ("Link" = String, description = "Where the next page is, if there is one"),
            ("ETag" = String, description = "A digest of the page"),
        )),
        (status = 304, description = "The client's page is current",
            headers(("ETag" = String, description = "The tag that the client has")))),
    security(("bearer" = []))
)]
#[get("/me/invitations")]
pub async fn list_invitations(
    state: Data<AppState>,
    caller: Caller,
    known: IfNoneMatch,
    query: Query<ListInvitations>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let query = query.0;
    let limit = games_of_page(&request, query.limit)?;
    // Cursors are bound to the words: they never change.
    let (direction, word) = match query.direction {
        DirectionWord::Received => (Direction::Received, "Received"),
        DirectionWord::Sent => (Direction::Sent, "Sent"),
    };
    let list = format!("invitations {word} {}", caller.player.0);
    let after = query.cursor.as_deref().map(|cursor| page_key(&state.cursors, cursor, &list)).transpose()?;
    let app = &state;
    let read = |db| async move {
        let listed = invitations::list(&db, caller.player, direction, after, limit).await?;
        Ok(Page { games: find_listed(app, &db, &listed.ids()).await?, next: listed.next })
    };
    let page = state.reads.run(read).await?;
    Ok(answer("/v1/me/invitations", &request, &known, &page, Some(caller.player), (&state.cursors, &list)))
}

/// Decline an invitation
///
/// Only for the invited player, while the game is open. It ends without a result. Declining again is 200.
///
/// - `forbidden`: the caller is not invited
/// - `seat_taken`: the caller has joined
#[utoipa::path(
    tag = "games",
    operation_id = "decline_invitation",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    responses(
        (status = 200, description = "The aborted game", body = GameView),
        Failures<(Forbidden, NotFound, SeatTaken, GameOver, PreconditionFailed)>,
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/decline")]
pub async fn decline_invitation(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    change(&state, caller, path, if_match, Asked::Decline).await
}

/// Which invitations to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListInvitations {
    /// The invitations that the caller received, or sent.
    #[serde(default)]
    #[param(inline, required = false)]
    direction: DirectionWord,
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before, with the same direction.
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum DirectionWord {
    #[default]
    Received,
    Sent,
}
