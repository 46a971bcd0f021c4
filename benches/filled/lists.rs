//! Every list of the service, for the players that the games were made of.

use std::time::Duration;

use mancala_server::{
    db::{
        DbError,
        events::player_feed::{self, FeedQuery, Moment},
        games::{self, wakes},
        kinds::OpponentKind,
        lists::{
            self, Ended, Filter, GameScope, Order, Page, PageKey, PlayerGames, Statuses,
            invitations::{self, Direction},
        },
        players::summary,
    },
    domain::{GameId, Status, Visibility},
};
use sqlx::PgPool;
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::{BEGIN, PUBLIC, YEARS_S, player_id};

/// The players whose lists are read: `BUSY` has the most games, and `RECLUSE` only private ones.
const BUSY: u32 = 0;
const RECLUSE: u32 = 1;
const FRIEND: u32 = 2;

const PAGE: u32 = 20;

/// A list to read.
pub enum List {
    Games(Filter, Option<PageKey>),
    Invitations(u32, Direction),
    Running(u32),
    Summary(u32),
    /// The new events in a player's games since a moment ago.
    News(u32, OnceCell<Moment>),
    /// Taking games whose deadlines have passed, of which there are none.
    Due,
}

impl List {
    /// Reads the list, and returns how many games the page has.
    pub async fn run(&self, pool: &PgPool) -> Result<usize, DbError> {
        let page: Page = match self {
            List::Games(filter, after) => lists::list(pool, filter, *after, PAGE).await?.load(pool).await?,
            List::Invitations(player, direction) => {
                invitations::list(pool, player_id(*player), *direction, None, PAGE).await?.load(pool).await?
            }
            List::Running(player) => {
                return Ok(games::count_running(pool, player_id(*player)).await? as usize);
            }
            List::Summary(player) => {
                return Ok(usize::try_from(summary::find(pool, player_id(*player)).await?.active).unwrap_or(0));
            }
            List::News(player, since) => {
                let since = since.get_or_try_init(|| player_feed::now(pool)).await?;
                let query = FeedQuery { since, ahead: &[], until: None, past: None, limit: PAGE };
                return Ok(player_feed::news(pool, player_id(*player), &query).await?.games.len());
            }
            List::Due => {
                let taken = wakes::take(pool, BEGIN, BEGIN, PAGE).await?;
                return Ok(taken.looked_at);
            }
        };
        Ok(page.games.len())
    }
}

fn of(player: u32, viewer: u32) -> Filter {
    let of = PlayerGames { player: player_id(player), opponent: None, visibility: None, to_move: false };
    Filter { whose: GameScope::Players(of), viewer: Some(player_id(viewer)), ..PUBLIC }
}

/// A filter of a player's games with one more condition.
fn among(filter: &Filter, change: fn(&mut PlayerGames)) -> Filter {
    let mut filter = filter.clone();
    if let GameScope::Players(of) = &mut filter.whose {
        change(of);
    }
    filter
}

fn first(filter: Filter) -> List {
    List::Games(filter, None)
}

fn ended(filter: &Filter, ended: Ended) -> List {
    first(Filter { status: Statuses::One(Status::Finished), ended: Some(ended), ..filter.clone() })
}

/// Every list with its name, with frequent filters and with rare ones. `players` are as many as the games were made of.
pub fn lists(players: u32) -> Vec<(&'static str, List)> {
    let ordinary = players / 4;
    let mut lists = public_lists();
    lists.extend(lists_of_players(ordinary));
    lists.extend([
        ("invitations received", List::Invitations(ordinary, Direction::Received)),
        ("invitations sent", List::Invitations(BUSY, Direction::Sent)),
        ("(how many are not over), the busy player", List::Running(BUSY)),
        ("(how many are not over), an ordinary player", List::Running(ordinary)),
        ("`/v1/me/summary`, the busy player", List::Summary(BUSY)),
        ("`/v1/me/summary`, an ordinary player", List::Summary(ordinary)),
        ("`/v1/me/events`, nothing new, the busy player", List::News(BUSY, OnceCell::new())),
        ("`/v1/me/events`, nothing new, an ordinary player", List::News(ordinary, OnceCell::new())),
        ("(which deadlines have passed)", List::Due),
    ]);
    lists
}

fn public_lists() -> Vec<(&'static str, List)> {
    let middle = BEGIN + Duration::from_secs_f64(YEARS_S / 2.0);
    let ms = u128::try_from(middle.unix_timestamp()).expect("after 1970") * 1000;
    let key = Some(PageKey { at: middle, id: GameId(Uuid::from_u128(ms << 80)) });
    let of_status = |status| first(Filter { status: Statuses::One(status), ..PUBLIC });
    let by_end = Filter { order: Order::Finished, ..PUBLIC };
    let lobby = Filter {
        status: Statuses::One(Status::Open),
        preset: Some("standard"),
        open_to: Some(OpponentKind::Open),
        ..PUBLIC
    };
    let day = Filter { since: Some(middle), until: Some(middle + time::Duration::DAY), ..PUBLIC };
    vec![
        ("(no filter)", first(PUBLIC)),
        ("`status=open`", of_status(Status::Open)),
        ("`status=open&preset=standard&opponent_type=open`", first(lobby)),
        ("`status=active`", of_status(Status::Active)),
        ("`status=finished`", of_status(Status::Finished)),
        ("`status=aborted`", of_status(Status::Aborted)),
        ("(no filter), after half of all", List::Games(PUBLIC, key)),
        ("`since` and `until`, a day", first(day)),
        ("`result=draw`", ended(&PUBLIC, Ended::Drawn)),
        ("`sort=finished_at`", first(by_end.clone())),
        ("`sort=finished_at`, after half", List::Games(by_end.clone(), key)),
        ("`sort=finished_at&result=draw`", ended(&by_end, Ended::Drawn)),
    ]
}

fn lists_of_players(ordinary: u32) -> Vec<(&'static str, List)> {
    let own = of(BUSY, BUSY);
    let active = Filter { status: Statuses::One(Status::Active), ..own.clone() };
    let by_change = Filter { order: Order::Updated, ..active.clone() };
    let by_end = Filter { order: Order::Finished, status: Statuses::One(Status::Finished), ..own.clone() };
    let with_friend = |filter: &Filter| first(among(filter, |of| of.opponent = Some(player_id(FRIEND))));
    let to_move = |filter: &Filter| first(among(filter, |of| of.to_move = true));
    vec![
        ("`player=me`", first(own.clone())),
        ("`player=me`, an ordinary player", first(of(ordinary, ordinary))),
        ("`player=…` of the busy player, by a stranger", first(of(BUSY, ordinary))),
        ("`player=…` of the recluse, by a stranger", first(of(RECLUSE, ordinary))),
        ("`player=me&status=active`", first(active.clone())),
        ("`turn=me`", to_move(&active)),
        ("`player=me&status=active&sort=updated_at`", first(by_change.clone())),
        ("`turn=me&sort=updated_at`", to_move(&by_change)),
        ("`player=me&status=active&sort=turn`", first(Filter { order: Order::Turn, ..active.clone() })),
        ("`player=me&status=aborted`", first(Filter { status: Statuses::One(Status::Aborted), ..own.clone() })),
        ("`player=me&result=won`", ended(&own, Ended::Won)),
        ("`player=me&result=draw`", ended(&own, Ended::Drawn)),
        ("`player=me&visibility=private`", first(among(&own, |of| of.visibility = Some(Visibility::Private)))),
        ("`player=me&sort=finished_at`", first(by_end.clone())),
        ("`player=me&sort=finished_at&result=lost`", ended(&by_end, Ended::Lost)),
        ("`player=me&sort=finished_at`, of a friend", with_friend(&by_end)),
        ("`player=me&opponent=…`, a friend", with_friend(&own)),
        ("`player=me&opponent=…&status=active`", with_friend(&active)),
    ]
}
