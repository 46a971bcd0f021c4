//! Lists of games, in pages.
//!
//! Every page is two queries: the ids, read off an index in the order of the list, then all of their games. What an index
//! does not answer is looked at row by row, `SCAN_MAX` of them and no more; a page that ends for this reason may be
//! short, or empty, and the next one goes on from there. So the cost of a page is bounded whatever is asked for.
//!
//! Places in a list are compared as rows and never `null or …`: a plan is made once for all values, and only what is
//! always compared can be looked up.

pub mod invitations;
pub mod kinds;
mod of_player;

use mancala_domain::{GameId, PlayerId, PositionKey, Status, Visibility};
use mancala_rules::{Side, Variant};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime, macros::datetime};
use tracing::Instrument;
use uuid::Uuid;

use self::kinds::{ClockKind, OpponentKind};
use crate::{
    connection::{DbError, statement},
    games::{self, Histories, SeatedGame},
    study::explorer,
};

/// How many rows of one range of an index are looked at for one page. A few milliseconds' work.
pub(crate) const SCAN_MAX: i64 = 1000;

/// How far the time in a game's id may be from `created_at`: the clock may have been set back between two games, after
/// which ids go on from where they were for a while.
const ID_SLACK: Duration = Duration::minutes(1);

/// Later than any game.
pub(crate) const END: OffsetDateTime = datetime!(9999-12-31 23:59:59 UTC);

/// Which games a list shows, and how.
#[derive(Clone, Debug)]
pub struct Filter {
    pub whose: Whose,
    pub status: Option<Status>,
    pub variant: Option<Variant>,
    pub preset: Option<&'static str>,
    pub clock: Option<ClockKind>,
    /// Who may, or could, take the second seat.
    pub open_to: Option<OpponentKind>,
    /// How the game ended: only of finished games.
    pub ended: Option<Ended>,
    /// Why the game ended: only of finished games.
    pub reason: Option<String>,
    /// From so many plies to so many.
    pub plies: (i32, i32),
    pub imported: Option<bool>,
    pub analysed: Option<bool>,
    /// Created (in order of finishing: finished) at this moment or later.
    pub since: Option<OffsetDateTime>,
    /// Created (or finished) before this moment.
    pub until: Option<OffsetDateTime>,
    pub order: Order,
    /// Who asks: only public games are listed, and those to which the viewer belongs when a player is given.
    pub viewer: Option<PlayerId>,
}

/// Whose games.
#[derive(Clone, Copy, Debug)]
pub enum Whose {
    /// Everybody's public ones.
    Everybodys,
    /// Those in which this player sits.
    Players(Of),
    /// Those that this player imported.
    ImportedBy(PlayerId),
    /// Everybody's public ones that came to this position and ended with a result.
    At(PositionKey),
}

/// Which games of a player.
#[derive(Clone, Copy, Debug)]
pub struct Of {
    pub player: PlayerId,
    /// Only those in which this player sits as well.
    pub opponent: Option<PlayerId>,
    pub visibility: Option<Visibility>,
    /// Only those in which it is the player's turn.
    pub to_move: bool,
}

/// How a game ended. Won and lost by the player whose games are listed; against oneself one does neither.
#[derive(Clone, Copy, Debug)]
pub enum Ended {
    WonBy(Side),
    Drawn,
    Won,
    Lost,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Last created first.
    Created,
    /// Last finished first; only finished games.
    Finished,
    /// Last changed first; only of a player's active games.
    Updated,
    /// By deadline, the nearest first, and at last those without one; only of a player's active games.
    Deadline,
    /// First those in which the player is to move, then the others; each by deadline.
    Turn,
}

impl Order {
    /// Whether it begins with the earliest moment.
    pub(crate) const fn is_ascending(self) -> bool {
        matches!(self, Order::Deadline | Order::Turn)
    }
}

/// Where a page ends. Which moment it is depends on the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub at: OffsetDateTime,
    pub id: GameId,
}

/// A page of games.
#[derive(Debug)]
pub struct Page {
    pub games: Vec<SeatedGame>,
    /// Where each of them is in the list.
    pub places: Vec<Place>,
    /// Where the next page begins, if there may be one.
    pub next: Option<Place>,
}

/// A page of games after a place.
pub async fn list(pool: &PgPool, filter: &Filter, after: Option<Place>, limit: u32) -> Result<Page, DbError> {
    let window = Window::of(filter, after, limit);
    let found = match (filter.whose, filter.order) {
        (Whose::ImportedBy(importer), _) => of_player::newest_imported(pool, filter, importer, &window).await?,
        (Whose::At(position), _) => explorer::newest_at(pool, filter, position, &window).await?,
        (Whose::Everybodys, Order::Finished) => finished_publicly(pool, filter, &window).await?,
        (Whose::Everybodys, _) => newest_public(pool, filter, &window).await?,
        (Whose::Players(of), Order::Finished) => of_player::finished_of(pool, filter, of, &window).await?,
        (Whose::Players(of), Order::Updated | Order::Deadline | Order::Turn) => {
            of_player::active_of(pool, filter, of, &window).await?
        }
        // A player has few active games, but two may have played many.
        (Whose::Players(of), Order::Created) => match of.opponent {
            Some(opponent) if filter.status != Some(Status::Active) => {
                of_player::newest_of_pair(pool, filter, of, opponent, &window).await?
            }
            _ => of_player::newest_of(pool, filter, of, &window).await?,
        },
    };
    page(pool, found, limit).await
}

/// A row of an index range: a game of the list if it is `shown`; the `last` that was looked at if there may be more.
pub(crate) struct Found {
    pub(crate) id: Uuid,
    pub(crate) at: OffsetDateTime,
    pub(crate) shown: bool,
    pub(crate) last: bool,
}

/// The part of an index that a page is read from.
pub(crate) struct Window {
    pub(crate) since: OffsetDateTime,
    pub(crate) until: OffsetDateTime,
    /// In order of creation: the ids from the first to before the second.
    pub(crate) first_id: Uuid,
    pub(crate) end_id: Uuid,
    /// In other orders: before this moment (in order of deadlines after it) and, at this moment, before this id.
    pub(crate) end_at: (OffsetDateTime, Uuid),
    /// How many rows are needed: one more than the page has, to know whether there are more.
    pub(crate) rows: i64,
}

impl Window {
    fn of(filter: &Filter, after: Option<Place>, limit: u32) -> Self {
        let since = filter.since.unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let until = filter.until.unwrap_or(END);
        let end_id = filter.until.map_or(Uuid::max(), |until| least_id_at(until.saturating_add(ID_SLACK)));
        let end_at = match filter.order {
            Order::Finished => (until, Uuid::nil()),
            Order::Deadline | Order::Turn => (OffsetDateTime::UNIX_EPOCH, Uuid::max()),
            Order::Created | Order::Updated => (END, Uuid::nil()),
        };
        Self {
            since,
            until,
            first_id: least_id_at(since.saturating_sub(ID_SLACK)),
            end_id: after.map_or(end_id, |place| end_id.min(place.id.0)),
            end_at: match after.map(|place| (place.at, place.id.0)) {
                Some(place) if filter.order.is_ascending() => place,
                Some(place) => end_at.min(place),
                None => end_at,
            },
            rows: i64::from(limit) + 1,
        }
    }
}

/// The least UUIDv7 of a moment: what comes before it was made before.
fn least_id_at(at: OffsetDateTime) -> Uuid {
    let ms = u128::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(0);
    Uuid::from_u128(ms << 80)
}

/// The games of a page in its order, and where it ends: after as many as asked for, where a range was not looked at any
/// further, or with the list.
pub(crate) async fn page(pool: &PgPool, found: Vec<Found>, limit: u32) -> Result<Page, DbError> {
    let (mut ids, mut places) = (vec![], vec![]);
    let mut next = None;
    let mut place = None;
    for row in found {
        if ids.len() == limit as usize {
            next = place;
            break;
        }
        let here = Place { at: row.at, id: GameId(row.id) };
        if row.shown {
            ids.push(row.id);
            places.push(here);
        }
        place = Some(here);
        if row.last {
            next = place;
            break;
        }
    }
    let mut games = games::load(pool, &ids, Histories::Left).await?;
    games.sort_by_key(|seated| ids.iter().position(|id| *id == seated.game.id().0));
    Ok(Page { games, places, next })
}

impl Filter {
    /// The statuses whose ranges are merged.
    pub(crate) fn statuses(&self) -> Vec<&'static str> {
        match self.status {
            Some(status) => vec![status.as_str()],
            None => Status::ALL.map(Status::as_str).to_vec(),
        }
    }

    /// The variants whose ranges are merged.
    fn variants(&self) -> Vec<String> {
        match self.variant {
            Some(variant) => vec![variant.to_string()],
            None => Variant::ALL.iter().map(ToString::to_string).collect(),
        }
    }

    pub(crate) fn variant(&self) -> Option<String> {
        self.variant.map(|variant| variant.to_string())
    }

    pub(crate) fn ended(&self) -> Option<String> {
        self.ended.map(|ended| match ended {
            Ended::WonBy(side) => side.to_string(),
            Ended::Drawn => "draw".to_owned(),
            Ended::Won => "won".to_owned(),
            Ended::Lost => "lost".to_owned(),
        })
    }

    pub(crate) fn viewer(&self) -> Option<Uuid> {
        self.viewer.map(|viewer| viewer.0)
    }
}

/// Every pair of one and the other, as columns.
pub(crate) fn pairs<A: Clone, B: Clone>(ones: &[A], others: &[B]) -> (Vec<A>, Vec<B>) {
    ones.iter().flat_map(|one| others.iter().map(move |other| (one.clone(), other.clone()))).unzip()
}

/// Everybody's public games, newest first.
async fn newest_public(pool: &PgPool, filter: &Filter, window: &Window) -> Result<Vec<Found>, DbError> {
    let (variants, statuses) = pairs(&filter.variants(), &filter.statuses());
    let found = sqlx::query_as!(
        Found,
        r#"
        select found.id as "id!", found.at as "at!", found.shown as "shown!", found.n = $1 as "last!"
        from unnest($2::text[], $3::text[]) as leg (variant, status)
        cross join lateral (
            select * from (
                select id, created_at as at, row_number() over (order by id desc) as n,
                    (($4::text is null
                        or $4 = 'draw' and result_winner is null
                        or $4 = result_winner)
                     and created_at >= $5 and created_at < $6
                     and ($10::text is null or preset = $10)
                     and ($11::text is null or $11 = coalesce(split_part(clock, ' ', 1), 'unlimited'))
                     and ($12::text is null or opponent = $12)
                     and ($13::text is null or result_reason = $13)
                     and ply >= $14 and ply <= $15
                     and ($16::boolean is null or $16 = (opponent = 'imported'))
                     and ($17::boolean is null or $17 = (analysed_at is not null))) is true as shown
                from (
                    select id, created_at, result_winner, preset, clock, opponent, result_reason, ply, analysed_at from game
                    where visibility = 'public' and variant = leg.variant
                      and game_status(started_at, finished_at, aborted_at) = leg.status and id >= $7 and id < $8
                    order by id desc limit $1
                ) scanned
            ) judged
            where shown or n = $1
            order by id desc limit $9
        ) found
        order by found.id desc limit $9
        "#,
        SCAN_MAX,
        &variants,
        &statuses as &[&str],
        filter.ended(),
        window.since,
        window.until,
        window.first_id,
        window.end_id,
        window.rows,
        filter.preset,
        filter.clock.map(ClockKind::as_str),
        filter.open_to.map(OpponentKind::as_str),
        filter.reason.as_deref(),
        filter.plies.0,
        filter.plies.1,
        filter.imported,
        filter.analysed,
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}

/// Everybody's public finished games, last finished first.
async fn finished_publicly(pool: &PgPool, filter: &Filter, window: &Window) -> Result<Vec<Found>, DbError> {
    let found = sqlx::query_as!(
        Found,
        r#"
        select found.id as "id!", found.at as "at!", found.shown as "shown!", found.n = $1 as "last!"
        from unnest($2::text[]) as leg (variant)
        cross join lateral (
            select * from (
                select id, finished_at as at, row_number() over (order by finished_at desc, id desc) as n,
                    (($3::text is null
                        or $3 = 'draw' and result_winner is null
                        or $3 = result_winner)
                     and ($8::text is null or preset = $8)
                     and ($9::text is null or $9 = coalesce(split_part(clock, ' ', 1), 'unlimited'))
                     and ($10::text is null or opponent = $10)
                     and ($11::text is null or result_reason = $11)
                     and ply >= $12 and ply <= $13
                     and ($14::boolean is null or $14 = (opponent = 'imported'))
                     and ($15::boolean is null or $15 = (analysed_at is not null))) is true as shown
                from (
                    select id, finished_at, result_winner, preset, clock, opponent, result_reason, ply, analysed_at from game
                    where visibility = 'public' and variant = leg.variant
                      and finished_at >= $4 and (finished_at, id) < ($5, $6)
                    order by finished_at desc, id desc limit $1
                ) scanned
            ) judged
            where shown or n = $1
            order by at desc, id desc limit $7
        ) found
        order by found.at desc, found.id desc limit $7
        "#,
        SCAN_MAX,
        &filter.variants(),
        filter.ended(),
        window.since,
        window.end_at.0,
        window.end_at.1,
        window.rows,
        filter.preset,
        filter.clock.map(ClockKind::as_str),
        filter.open_to.map(OpponentKind::as_str),
        filter.reason.as_deref(),
        filter.plies.0,
        filter.plies.1,
        filter.imported,
        filter.analysed,
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}
