//! The caller's friends, and requests to become friends: listed, asked, answered and ended.

use actix_web::{HttpRequest, HttpResponse, delete, get, put, web::Data};
use mancala_db::players::friends::{self, Asking, FRIENDS_MAX, Friend, FriendStatus, REQUESTS_MAX};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, NotFound, TooManyFriends},
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::limits,
    request::{
        extract::{NoQuery, Query},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_process::clock::now;
use mancala_wire::view::wire::{PlayerView, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    listed::{self, ListPlayers, ListedPage},
    profiles::{PlayerPath, no_player},
};

/// How many calls a request costs besides the first: it reaches another player.
const MORE_CALLS: u32 = 4;

/// Become friends
///
/// Asks a player, or accepts if that player has asked. `status` says which: `asked` or `friends`. A repetition changes nothing.
/// A request waits for 30 days; the caller is not notified that it is declined.
///
/// - `forbidden`: the caller itself, or neither a guest nor an account
/// - `forbidden` as well: the caller blocks the player, or an app keeps the two apart
/// - `too_many_friends`: too many friends or requests
#[utoipa::path(
    tag = "players",
    operation_id = "create_friend",
    params(("player_id" = Uuid, Path, description = "The player's id")),
    responses(
        (status = 200, description = "The two are friends, or the request waits", body = FriendView),
        Failures<(Forbidden, NotFound, TooManyFriends)>,
    ),
    security(("bearer" = []))
)]
#[put("/me/friends/{player_id}")]
pub async fn create_friend(
    state: Data<AppState>,
    caller: Caller,
    path: PlayerPath,
    _: Query<NoQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    limits::count_more(&request, MORE_CALLS)?;
    player::find(&state, caller).await?;
    let forbidden = |detail: &str| Err(Problem::new(Code::Forbidden, detail));
    let too_many = |detail: String| Err(Problem::new(Code::TooManyFriends, detail));
    if path.0 == caller.player {
        return forbidden("players are no friends of themselves");
    }
    match friends::ask(&state.db, caller.player, path.0, now()).await? {
        Asking::Stored(friend) => {
            let view = FriendView::of(&friend);
            Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(view))
        }
        Asking::TooManyRequests => too_many(format!("at most {REQUESTS_MAX} requests of a player wait: withdraw one")),
        Asking::TooManyFriends => {
            too_many(format!("one of the two has {FRIENDS_MAX} friends, the most that one may have"))
        }
        Asking::Blocks => forbidden("the caller blocks this player: unblock it first"),
        Asking::Apart => forbidden("one of the two plays within an app of which the other is no player"),
        Asking::NoAsker => Err(player::gone()),
        Asking::NoPlayer => Err(no_player()),
        Asking::NoPerson => forbidden("only guests and accounts can be friends"),
    }
}

/// End a friendship, or decline or withdraw a request
///
/// The other player is not notified. The request is idempotent: a retry is answered with 204.
///
/// - `not_found`: no id
#[utoipa::path(
    tag = "players",
    operation_id = "delete_friend",
    params(("player_id" = Uuid, Path, description = "The player's id")),
    responses(
        (status = 204, description = "The two are no friends, and no request waits"),
        Failures<NotFound>,
    ),
    security(("bearer" = []))
)]
#[delete("/me/friends/{player_id}")]
pub async fn delete_friend(
    state: Data<AppState>,
    caller: Caller,
    path: PlayerPath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    friends::end(&state.db, caller.player, path.0, now()).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// List the caller's friends, or requests
///
/// The last one first.
#[utoipa::path(
    tag = "players",
    operation_id = "list_friends",
    params(ListFriends),
    responses((status = 200, description = "A page of players", body = FriendPage,
        headers(("Link" = String, description = "The address of the next page, if there is one")))),
    security(("bearer" = []))
)]
#[get("/me/friends")]
pub async fn list_friends(
    state: Data<AppState>,
    caller: Caller,
    query: Query<ListFriends>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let ListFriends { status, limit, cursor } = query.0;
    let list = format!("friends {} {}", status.cursor_word(), caller.player.0);
    let (status, page) = (status.into(), ListPlayers { limit, cursor });
    let read = async |after, limit| friends::list(&state.db, caller.player, status, after, limit).await;
    let moment = |friend: &Friend| (friend.since, friend.player.id);
    let ListedPage { items, next_cursor, mut response } =
        listed::page(&state, &request, &page, &list, read, moment).await?;
    Ok(response.json(FriendPage { items: items.iter().map(FriendView::of).collect(), next_cursor }))
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListFriends {
    /// Friends, or requests: those that the caller has `asked`, has `received`, or has `declined` in the last 30 days.
    #[serde(default)]
    #[param(inline, required = false)]
    status: AskedStatus,
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before.
    #[param(min_length = 1)]
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum AskedStatus {
    #[default]
    Friends,
    Asked,
    Received,
    Declined,
}

impl AskedStatus {
    /// The word to which cursors are bound: it never changes.
    const fn cursor_word(self) -> &'static str {
        match self {
            Self::Friends => "Friends",
            Self::Asked => "Asked",
            Self::Received => "Received",
            Self::Declined => "Declined",
        }
    }
}

impl From<AskedStatus> for FriendStatus {
    fn from(status: AskedStatus) -> Self {
        match status {
            AskedStatus::Friends => Self::Friends,
            AskedStatus::Asked => Self::Asked,
            AskedStatus::Received => Self::Received,
            AskedStatus::Declined => Self::Declined,
        }
    }
}

/// What another player is to the caller. Clients ignore values that they do not know.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = FriendStatus)]
enum FriendStatusWord {
    Friends,
    /// The caller waits for the answer.
    Asked,
    /// The other player waits for the caller's answer.
    Received,
    /// The caller has declined.
    Declined,
}

impl From<FriendStatus> for FriendStatusWord {
    fn from(status: FriendStatus) -> Self {
        match status {
            FriendStatus::Friends => Self::Friends,
            FriendStatus::Asked => Self::Asked,
            FriendStatus::Received => Self::Received,
            FriendStatus::Declined => Self::Declined,
        }
    }
}

/// A friend of the caller, or a player with a request between the two.
#[derive(Serialize, ToSchema)]
#[schema(as = Friend)]
pub struct FriendView {
    player: PlayerView,
    status: FriendStatusWord,
    /// When they became friends, or when the request was made or declined.
    since: Timestamp,
}

impl FriendView {
    pub fn of(friend: &Friend) -> Self {
        Self { player: PlayerView::from(&friend.player), status: friend.status.into(), since: Timestamp(friend.since) }
    }
}

/// A page of friends or requests.
#[derive(Serialize, ToSchema)]
struct FriendPage {
    items: Vec<FriendView>,
    /// The `cursor` of the next page; null on the last page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
