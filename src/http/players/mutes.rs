//! The players that the caller has muted: listed, added and removed. What a mute silences the notices, the counts and the requests to
//! become friends say.

use actix_web::{HttpRequest, HttpResponse, delete, get, put, web::Data};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::profiles::{PlayerPath, no_player};
use crate::{
    clock::now,
    db::players::{
        listed::{Listed, Listing},
        mutes::{self, MUTES_MAX},
    },
    domain::PlayerId,
    http::{
        answer::{
            code::Code,
            failures::{Failures, Forbidden, NotFound, TooManyMutes},
            headers::{NOT_KEPT, VARIES},
            page::{Moment, next_link, page_size, place_after, take_page},
            problem::Problem,
        },
        request::{
            extract::{NoQuery, Query},
            player,
        },
        state::{AppState, tokens::Caller},
        view::wire::{PlayerView, Timestamp},
    },
};

/// Mute a player
///
/// The two play as before, but requests of the muted player to the caller are silent. Webhooks and devices are not notified of
/// its invitations and offers, and `GET /v1/me/summary` does not count them. Its request to become friends is as good as
/// declined. Lists and games show its invitations and offers. The muted player is not told, and sees no difference. Muting
/// again is 204.
///
/// - `forbidden`: the caller itself, or neither a guest nor an account
#[utoipa::path(
    tag = "players",
    operation_id = "create_mute",
    params(("player_id" = Uuid, Path, description = "The player's id")),
    responses(
        (status = 204, description = "The player is muted"),
        Failures<(Forbidden, NotFound, TooManyMutes)>,
    ),
    security(("bearer" = []))
)]
#[put("/me/mutes/{player_id}")]
pub async fn create_mute(
    state: Data<AppState>,
    caller: Caller,
    path: PlayerPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    if path.0 == caller.player {
        return Err(Problem::new(Code::Forbidden, "players cannot mute themselves"));
    }
    match mutes::insert(&state.db, caller.player, path.0, now()).await? {
        Listing::Stored => Ok(HttpResponse::NoContent().finish()),
        Listing::TooMany => Err(Problem::new(Code::TooManyMutes, format!("a player mutes at most {MUTES_MAX} others"))),
        Listing::NoOwner => Err(player::gone()),
        Listing::NoPlayer => Err(no_player()),
        Listing::NoPerson => Err(Problem::new(Code::Forbidden, "only guests and accounts can be muted")),
    }
}

/// Unmute a player
///
/// What was silent stays so; what comes from then on is heard. The request is idempotent: a retry is answered with 204.
///
/// - `not_found`: no id
#[utoipa::path(
    tag = "players",
    operation_id = "delete_mute",
    params(("player_id" = Uuid, Path, description = "The player's id")),
    responses(
        (status = 204, description = "The caller does not mute the player"),
        Failures<NotFound>,
    ),
    security(("bearer" = []))
)]
#[delete("/me/mutes/{player_id}")]
pub async fn delete_mute(
    state: Data<AppState>,
    caller: Caller,
    path: PlayerPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    mutes::delete(&state.db, caller.player, path.0).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// List the players that the caller mutes
///
/// The last one first.
#[utoipa::path(
    tag = "players",
    operation_id = "list_mutes",
    params(ListMutes),
    responses((status = 200, description = "A page of muted players", body = MutePage,
        headers(("Link" = String, description = "The address of the next page, if there is one")))),
    security(("bearer" = []))
)]
#[get("/me/mutes")]
pub async fn list_mutes(
    state: Data<AppState>,
    caller: Caller,
    query: Query<ListMutes>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let limit = page_size(query.0.limit)?;
    let list = format!("mutes {}", caller.player.0);
    let after = place_after::<Moment>(&state.cursors, query.0.cursor.as_deref(), &list)?;
    let after = after.map(|Moment { at, id }| (at, PlayerId(id)));
    let mut found = mutes::list(&state.db, caller.player, after, limit + 1).await?;
    let last = take_page(&mut found, limit);
    let next_cursor = last.map(|mute| Moment { at: mute.at, id: mute.player.id.0 }.to_string());
    let next_cursor = next_cursor.map(|place| state.cursors.seal(&place, &list));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link("/v1/me/mutes", request.query_string(), cursor));
    }
    let items = found.iter().map(MuteView::of).collect();
    Ok(response.insert_header(NOT_KEPT).insert_header(VARIES).json(MutePage { items, next_cursor }))
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListMutes {
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before.
    #[param(min_length = 1)]
    cursor: Option<String>,
}

/// A player that the caller mutes.
#[derive(Serialize, ToSchema)]
#[schema(as = Mute)]
pub(crate) struct MuteView {
    player: PlayerView,
    muted_at: Timestamp,
}

impl MuteView {
    pub(crate) fn of(mute: &Listed) -> Self {
        Self { player: PlayerView::from(&mute.player), muted_at: Timestamp(mute.at) }
    }
}

/// A page of muted players.
#[derive(Serialize, ToSchema)]
struct MutePage {
    items: Vec<MuteView>,
    /// The `cursor` of the next page; null on the last page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
