//! The players that the caller has blocked: listed, added and removed. What a block forbids the domain and the lists say.

use actix_web::{HttpRequest, HttpResponse, delete, get, put, web::Data};
use futures_util::{TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::profiles::{PlayerPath, no_player};
use crate::{
    clock::now,
    db::{
        lists::invitations::{self, Pending},
        players::{
            blocks::{self, BLOCKS_MAX},
            listed::{Listed, Listing},
        },
    },
    domain::{Action, Command, PlayerId},
    http::{
        answer::{
            code::Code,
            failures::{Failures, Forbidden, NotFound, TooManyBlocks},
            headers::{NOT_KEPT, VARIES},
            page::{Moment, next_link, page_size, place_after, take_page},
            problem::Problem,
        },
        games::{
            asked::{Asked, Request},
            change::execute,
        },
        request::{
            extract::{NoQuery, Query},
            player,
        },
        state::{AppState, tokens::Caller},
        view::wire::{PlayerView, Timestamp},
    },
};

/// How many invitations between two players are ended by one query's answer, and how many such answers one call handles. Together they
/// cover all invitations that two players can have made each other.
const INVITATIONS_AT_ONCE: u32 = 100;
const INVITATION_BATCHES_MAX: u32 = 25;

/// How many of them are ended at the same time.
const CONCURRENT: usize = 8;

/// Block a player
///
/// Between the caller and a blocked player no game begins, and no offer is made, whichever of them asks. They join none of each
/// other's open games, and seeks do not pair them. Neither finds the other's open games in lists. Open invitations between them
/// are ended. Active games are played on. The other player is not notified. Blocking again is 204.
///
/// - `forbidden`: the caller itself, or neither a guest nor an account
#[utoipa::path(
    tag = "players",
    operation_id = "create_block",
    params(("player_id" = Uuid, Path, description = "The player's id")),
    responses(
        (status = 204, description = "The player is blocked"),
        Failures<(Forbidden, NotFound, TooManyBlocks)>,
    ),
    security(("bearer" = []))
)]
#[put("/me/blocks/{player_id}")]
pub async fn create_block(
    state: Data<AppState>,
    caller: Caller,
    path: PlayerPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    if path.0 == caller.player {
        return Err(Problem::new(Code::Forbidden, "players cannot block themselves"));
    }
    match blocks::insert(&state.db, caller.player, path.0, now()).await? {
        Listing::Stored => {}
        Listing::TooMany => {
            return Err(Problem::new(Code::TooManyBlocks, format!("a player blocks at most {BLOCKS_MAX} others")));
        }
        Listing::NoOwner => return Err(player::gone()),
        Listing::NoPlayer => return Err(no_player()),
        Listing::NoPerson => {
            return Err(Problem::new(Code::Forbidden, "only guests and accounts can be blocked"));
        }
    }
    // After the block: an invitation that is stored meanwhile is ended by its own request, which looks at blocks once more.
    end_invitations(&state, caller.player, path.0).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Unblock a player
///
/// What the block has ended stays ended. The request is idempotent: a retry is answered with 204.
///
/// - `not_found`: no id
#[utoipa::path(
    tag = "players",
    operation_id = "delete_block",
    params(("player_id" = Uuid, Path, description = "The player's id")),
    responses(
        (status = 204, description = "The caller does not block the player"),
        Failures<NotFound>,
    ),
    security(("bearer" = []))
)]
#[delete("/me/blocks/{player_id}")]
pub async fn delete_block(
    state: Data<AppState>,
    caller: Caller,
    path: PlayerPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    blocks::delete(&state.db, caller.player, path.0).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// List the players that the caller blocks
///
/// The last one first.
#[utoipa::path(
    tag = "players",
    operation_id = "list_blocks",
    params(ListBlocks),
    responses((status = 200, description = "A page of blocked players", body = BlockPage,
        headers(("Link" = String, description = "The address of the next page, if there is one")))),
    security(("bearer" = []))
)]
#[get("/me/blocks")]
pub async fn list_blocks(
    state: Data<AppState>,
    caller: Caller,
    query: Query<ListBlocks>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let limit = page_size(query.0.limit)?;
    let list = format!("blocks {}", caller.player.0);
    let after = place_after::<Moment>(&state.cursors, query.0.cursor.as_deref(), &list)?;
    let after = after.map(|Moment { at, id }| (at, PlayerId(id)));
    let mut found = blocks::list(&state.db, caller.player, after, limit + 1).await?;
    let last = take_page(&mut found, limit);
    let next_cursor = last.map(|block| Moment { at: block.at, id: block.player.id.0 }.to_string());
    let next_cursor = next_cursor.map(|place| state.cursors.seal(&place, &list));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link("/v1/me/blocks", request.query_string(), cursor));
    }
    let items = found.iter().map(BlockView::of).collect();
    Ok(response.insert_header(NOT_KEPT).insert_header(VARIES).json(BlockPage { items, next_cursor }))
}

/// Ends the open invitations of two players by each other, for one of them. One that was answered or withdrawn meanwhile stays as it is.
async fn end_invitations(state: &AppState, player: PlayerId, other: PlayerId) -> Result<(), Problem> {
    for _ in 0..INVITATION_BATCHES_MAX {
        let found = invitations::list_between(&state.db, player, other, INVITATIONS_AT_ONCE).await?;
        if found.is_empty() {
            break;
        }
        let ending = stream::iter(found.into_iter().map(Ok::<_, Problem>));
        ending.try_for_each_concurrent(CONCURRENT, |pending| end_invitation(state, player, pending)).await?;
    }
    Ok(())
}

/// Declines an invitation, or withdraws the player's own. By its version, so that no game is ended that has begun meanwhile.
async fn end_invitation(state: &AppState, player: PlayerId, pending: Pending) -> Result<(), Problem> {
    let action = if pending.invited == player { Action::Decline } else { Action::Abort };
    let request = Request { player, if_version: Some(&[pending.version]), asked: Asked::Action(action) };
    execute(state, pending.game, &request).await?;
    Ok(())
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListBlocks {
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before.
    #[param(min_length = 1)]
    cursor: Option<String>,
}

/// A player that the caller blocks.
#[derive(Serialize, ToSchema)]
#[schema(as = Block)]
pub(crate) struct BlockView {
    player: PlayerView,
    blocked_at: Timestamp,
}

impl BlockView {
    pub(crate) fn of(block: &Listed) -> Self {
        Self { player: PlayerView::from(&block.player), blocked_at: Timestamp(block.at) }
    }
}

/// A page of blocked players.
#[derive(Serialize, ToSchema)]
struct BlockPage {
    items: Vec<BlockView>,
    /// The `cursor` of the next page; null on the last page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
