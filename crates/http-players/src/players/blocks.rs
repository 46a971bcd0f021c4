//! The players that the caller has blocked: listed, added and removed. What a block forbids the domain and the lists say.

use actix_web::{HttpRequest, HttpResponse, delete, get, put, web::Data};
use futures_util::{TryStreamExt, stream};
use mancala_db::{
    lists::invitations::{self, Pending},
    players::{
        blocks::{self, BLOCKS_MAX},
        listed::Listed,
    },
};
use mancala_domain::PlayerId;
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, NotFound, TooManyBlocks},
        problem::Problem,
    },
    request::{
        extract::{NoQuery, Query},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_http_games::games::{
    asked::{Asked, Request},
    change::execute,
};
use mancala_process::clock::now;
use mancala_wire::view::wire::{PlayerView, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    listed::{self, ListPlayers, ListedPage, Verb, check_listed, check_other},
    profiles::PlayerPath,
};

/// How many invitations between two players are ended by one query's answer, and how many such answers one call handles. Together they
/// cover all invitations that two players can have made each other.
const INVITATIONS_AT_ONCE: u32 = 100;
const INVITATION_BATCHES_MAX: u32 = 25;

/// How many of them are ended at the same time.
const CONCURRENT: usize = 8;

/// The words for it.
const VERB: Verb = Verb { infinitive: "block", present: "blocks", participle: "blocked" };

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
    check_other(&state, caller, path.0, &VERB).await?;
    let listing = blocks::insert(&state.db, caller.player, path.0, now()).await?;
    check_listed(listing, &VERB, (Code::TooManyBlocks, BLOCKS_MAX))?;
    // The invitations end after the block is stored. An invitation that is stored in between ends itself, because its own request checks
    // for blocks again.
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
    params(ListPlayers),
    responses((status = 200, description = "A page of blocked players", body = BlockPage,
        headers(("Link" = String, description = "The address of the next page, if there is one")))),
    security(("bearer" = []))
)]
#[get("/me/blocks")]
pub async fn list_blocks(
    state: Data<AppState>,
    caller: Caller,
    query: Query<ListPlayers>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let list = format!("blocks {}", caller.player.0);
    let read = async |after, limit| blocks::list(&state.db, caller.player, after, limit).await;
    let moment = |listed: &Listed| (listed.at, listed.player.id);
    let ListedPage { items, next_cursor, mut response } =
        listed::page(&state, &request, &query.0, &list, read, moment).await?;
    Ok(response.json(BlockPage { items: items.iter().map(BlockView::of).collect(), next_cursor }))
}

/// Ends the open invitations between two players, on behalf of one of them. An invitation that was answered or withdrawn in between stays
/// unchanged.
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

/// Declines an invitation, or withdraws the player's own. The version is checked, so that no game is ended that has begun meanwhile.
async fn end_invitation(state: &AppState, player: PlayerId, pending: Pending) -> Result<(), Problem> {
    let asked = if pending.invited == player { Asked::Decline } else { Asked::Abort };
    let request = Request { player, if_version: Some(&[pending.version]), asked };
    execute(state, pending.game, &request).await?;
    Ok(())
}

/// A player that the caller blocks.
#[derive(Serialize, ToSchema)]
#[schema(as = Block)]
pub struct BlockView {
    player: PlayerView,
    blocked_at: Timestamp,
}

impl BlockView {
    pub fn of(block: &Listed) -> Self {
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
