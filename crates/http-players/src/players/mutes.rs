//! The players that the caller has muted: listed, added and removed. What a mute silences the notices, the counts and the requests to
//! become friends say.

use actix_web::{HttpRequest, HttpResponse, delete, get, put, web::Data};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    listed::{self, ListPlayers, ListedPage, Verb, check_listed, check_other},
    profiles::PlayerPath,
};
use mancala_db::players::{
    listed::Listed,
    mutes::{self, MUTES_MAX},
};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, NotFound, TooManyMutes},
        problem::Problem,
    },
    request::{
        extract::{NoQuery, Query},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_process::clock::now;
use mancala_wire::view::wire::{PlayerView, Timestamp};

/// The words for it.
const VERB: Verb = Verb { infinitive: "mute", present: "mutes", participle: "muted" };

/// Mute a player
///
/// The two play as before, but requests of the muted player to the caller are silent. Webhooks and devices are not notified of
/// its invitations and offers, and `GET /v1/me/summary` does not count them. Its request to become friends is as good as
/// declined. Lists and games show its invitations and offers. The muted player gets no notice of it, and sees no difference. Muting
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
    check_other(&state, caller, path.0, &VERB).await?;
    let listing = mutes::insert(&state.db, caller.player, path.0, now()).await?;
    check_listed(listing, &VERB, (Code::TooManyMutes, MUTES_MAX))?;
    Ok(HttpResponse::NoContent().finish())
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
    params(ListPlayers),
    responses((status = 200, description = "A page of muted players", body = MutePage,
        headers(("Link" = String, description = "The address of the next page, if there is one")))),
    security(("bearer" = []))
)]
#[get("/me/mutes")]
pub async fn list_mutes(
    state: Data<AppState>,
    caller: Caller,
    query: Query<ListPlayers>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let list = format!("mutes {}", caller.player.0);
    let read = async |after, limit| mutes::list(&state.db, caller.player, after, limit).await;
    let moment = |listed: &Listed| (listed.at, listed.player.id);
    let ListedPage { items, next_cursor, mut response } =
        listed::page(&state, &request, &query.0, &list, read, moment).await?;
    Ok(response.json(MutePage { items: items.iter().map(MuteView::of).collect(), next_cursor }))
}

/// A player that the caller mutes.
#[derive(Serialize, ToSchema)]
#[schema(as = Mute)]
pub struct MuteView {
    player: PlayerView,
    muted_at: Timestamp,
}

impl MuteView {
    pub fn of(mute: &Listed) -> Self {
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
