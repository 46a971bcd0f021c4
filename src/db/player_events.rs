//! What has happened in all games of a player, wherever it was stored.
//!
//! There is no order of all events: transactions end in another order than they begin, on several servers whose clocks differ.
//! PostgreSQL knows which transactions were over when a statement read. So whoever has read at one moment goes on with all that
//! was written by transactions that were not over by then: nothing is missed, and only what happened at that very moment may
//! come twice.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::{DbError, game_rows::number, statement};
use crate::domain::{GameId, PlayerId, RUNNING_GAMES_MAX};

/// A moment as the database knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// All earlier transactions were over.
    pub horizon: i64,
    /// The database's time.
    pub at: OffsetDateTime,
}

impl Moment {
    /// Whether it is told, at another moment, what was not over: the numbers of transactions return after some thousand million.
    pub const fn is_known_at(self, now: Self) -> bool {
        self.horizon <= now.horizon && now.horizon - self.horizon < 1 << 31
    }
}

/// Which events are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What was not over by then.
    pub since: Moment,
    /// Only what comes after this, in the order of games and of their events.
    pub past: Option<(GameId, u32)>,
    /// Of so many games at most.
    pub limit: u32,
}

/// What has happened.
#[derive(Debug)]
pub struct News {
    /// When this was read.
    pub now: Moment,
    /// In the order of their ids.
    pub games: Vec<Changed>,
}

/// Events of one game that were not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    pub game: GameId,
    pub first_seq: u32,
    pub last_seq: u32,
}

/// How far the clocks of servers, and of the database, may be apart.
const CLOCKS_DIFFER: Duration = Duration::days(1);

/// How many games that ended since then are looked at, and how many invitations; of each seat.
const ENDED_MAX: i64 = 1000;

/// How many of the games that a player has finished last, in either seat, are looked at however long ago they ended: a rematch
/// may be offered.
const FINISHED_MAX: i64 = 50;

/// The present moment.
pub async fn now(pool: &PgPool) -> Result<Moment, DbError> {
    let query = sqlx::query_as!(
        Moment,
        r#"select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as "horizon!", now() as "at!""#
    );
    Ok(query.fetch_one(pool).instrument(statement("select snapshot")).await?)
}

/// What has happened in a player's games, and in those to which the player is invited.
pub async fn news(pool: &PgPool, player: PlayerId, asked: &Asked) -> Result<News, DbError> {
    let (past_game, past_seq) = asked.past.map_or((Uuid::nil(), 0), |(game, seq)| (game.0, seq));
    let oldest = asked.since.at - CLOCKS_DIFFER;
    // The present moment is one with what is read. It comes also if nothing has happened.
    let rows = sqlx::query!(
        r#"
        with legs as (
            (select id, xmin, updated_at from game
             where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = any('{open,active}')
             order by id desc limit $2)
            union all
            (select id, xmin, updated_at from game
             where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
               and game_status(started_at, finished_at, aborted_at) = any('{open,active}')
             order by id desc limit $2)
            union all
            (select id, xmin, updated_at from game
             where invited_player_id = $1 and started_at is null and aborted_at is null order by id desc limit $3)
            union all
            (select id, xmin, updated_at from game
             where invited_player_id = $1 and aborted_at is not null and aborted_at >= $4
             order by aborted_at desc limit $3)
            union all
            (select id, xmin, updated_at from game
             where seat_0_player_id = $1 and aborted_at is not null and aborted_at >= $4
             order by aborted_at desc limit $3)
            union all
            (select id, xmin, updated_at from game
             where seat_1_player_id = $1 and aborted_at is not null and aborted_at >= $4
             order by aborted_at desc limit $3)
            union all
            (select id, xmin, updated_at from game
             where seat_0_player_id = $1 and finished_at is not null and finished_at >= $4
             order by finished_at desc, id desc limit $3)
            union all
            (select id, xmin, updated_at from game
             where seat_1_player_id = $1 and finished_at is not null and finished_at >= $4
               and seat_0_player_id is distinct from seat_1_player_id
             order by finished_at desc, id desc limit $3)
            union all
            (select id, xmin, updated_at from game
             where seat_0_player_id = $1 and finished_at is not null
             order by finished_at desc, id desc limit $5)
            union all
            (select id, xmin, updated_at from game
             where seat_1_player_id = $1 and finished_at is not null
               and seat_0_player_id is distinct from seat_1_player_id
             order by finished_at desc, id desc limit $5)
        ), changed as (
            select distinct id from legs where id >= $7 and updated_at >= $4 and is_since(xmin, $6)
        ), happened as (
            select id, first_seq, last_seq from changed cross join lateral (
                select min(seq) as first_seq, max(seq) as last_seq from event
                where game_id = id and at >= $4 and is_since(event.xmin, $6) and (id > $7 or seq > $8)
            ) new where first_seq is not null
            order by id limit $9
        )
        select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as "horizon!", now() as "at!",
            id as "id?", first_seq as "first_seq?", last_seq as "last_seq?"
        from (select) always left join happened on true
        order by id
        "#,
        player.0,
        i64::from(RUNNING_GAMES_MAX),
        ENDED_MAX,
        oldest,
        FINISHED_MAX,
        asked.since.horizon,
        past_game,
        i32::try_from(past_seq).unwrap_or(i32::MAX),
        i64::from(asked.limit),
    )
    .fetch_all(pool)
    .instrument(statement("select events of a player"))
    .await?;
    let now = rows.first().map(|row| Moment { horizon: row.horizon, at: row.at });
    let now = now.expect("a row comes also if nothing has happened");
    let games = rows.into_iter().filter_map(|row| Some((row.id?, row.first_seq?, row.last_seq?)));
    let changed = |(id, first, last)| {
        let seq = |seq| number("event", "seq", id, seq);
        Ok(Changed { game: GameId(id), first_seq: seq(first)?, last_seq: seq(last)? })
    };
    Ok(News { now, games: games.map(changed).collect::<Result<_, DbError>>()? })
}
