//! What has happened in all games of a player, wherever it was stored.
//!
//! There is no order of all events: transactions end in another order than they begin, on several servers whose clocks differ.
//! PostgreSQL knows which transactions were over when a statement read: its snapshot. So whoever has read in one snapshot goes on
//! with all that is not in it, and nothing is missed, however late it was stored.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::{DbError, game_rows::number, statement};
use crate::domain::{GameId, PlayerId, RUNNING_GAMES_MAX};

/// A moment as the database knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Which transactions were over: PostgreSQL's `pg_snapshot`, as text.
    pub snapshot: String,
    /// The database's time.
    pub at: OffsetDateTime,
}

/// How many transactions a snapshot names that were not over.
const UNDER_WAY_MAX: usize = 8;

/// How many transactions may have begun since a snapshot: rows know 32 bits of their numbers.
const BEGUN_SINCE_MAX: u64 = 1 << 31;

impl Moment {
    /// A snapshot that names too many transactions is taken for one in which none was over that began after the first of them: then
    /// some events are read twice.
    fn new(snapshot: String, at: OffsetDateTime) -> Self {
        let mut parts = snapshot.splitn(3, ':');
        let (oldest, under_way) = (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default());
        if under_way.split(',').count() <= UNDER_WAY_MAX {
            return Self { snapshot, at };
        }
        Self { snapshot: format!("{oldest}:{oldest}:"), at }
    }

    /// Whether it can be told, at another moment, what was not over in this one.
    pub fn is_known_at(&self, now: &Self) -> bool {
        let next = |moment: &Self| moment.snapshot.split(':').nth(1)?.parse::<u64>().ok();
        let begun_since = next(now).zip(next(self)).and_then(|(now, then)| now.checked_sub(then));
        begun_since.is_some_and(|begun| begun < BEGUN_SINCE_MAX)
    }
}

/// Which events are asked for.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// What was not over by then.
    pub since: &'a Moment,
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
    let query = sqlx::query!(r#"select pg_current_snapshot()::text as "snapshot!", now() as "at!""#);
    let now = query.fetch_one(pool).instrument(statement("select snapshot")).await?;
    Ok(Moment::new(now.snapshot, now.at))
}

/// What has happened in a player's games, and in those to which the player is invited.
pub async fn news(pool: &PgPool, player: PlayerId, asked: &Asked<'_>) -> Result<News, DbError> {
    let (past_game, past_seq) = asked.past.map_or((Uuid::nil(), 0), |(game, seq)| (game.0, seq));
    let oldest = asked.since.at - CLOCKS_DIFFER;
    // The present moment is one with what is read. It comes also if nothing has happened.
    let rows = sqlx::query!(
        r#"
        with present as (
            select pg_current_snapshot() as snapshot, pg_snapshot_xmax(pg_current_snapshot()) as next
        ), legs as (
            select running.* from unnest(array['open', 'active']) as wanted (status) cross join lateral (
                (select id, xmin, updated_at from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = wanted.status
                 order by id desc limit $2)
                union all
                (select id, xmin, updated_at from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
                   and game_status(started_at, finished_at, aborted_at) = wanted.status
                 order by id desc limit $2)
            ) running
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
            select distinct id from legs, present
            where id >= $7 and updated_at >= $4 and is_unseen(xmin, $6::text::pg_snapshot, next)
        ), happened as (
            select id, first_seq, last_seq from changed, present cross join lateral (
                select min(seq) as first_seq, max(seq) as last_seq from event
                where game_id = id and at >= $4 and is_unseen(event.xmin, $6::text::pg_snapshot, next)
                  and (id > $7 or seq > $8)
            ) new where first_seq is not null
            order by id limit $9
        )
        select snapshot::text as "snapshot!", now() as "at!",
            id as "id?", first_seq as "first_seq?", last_seq as "last_seq?"
        from present left join happened on true
        order by id
        "#,
        player.0,
        i64::from(RUNNING_GAMES_MAX),
        ENDED_MAX,
        oldest,
        FINISHED_MAX,
        asked.since.snapshot,
        past_game,
        i32::try_from(past_seq).unwrap_or(i32::MAX),
        i64::from(asked.limit),
    )
    .fetch_all(pool)
    .instrument(statement("select events of a player"))
    .await?;
    let now = rows.first().map(|row| Moment::new(row.snapshot.clone(), row.at));
    let now = now.expect("a row comes also if nothing has happened");
    let games = rows.into_iter().filter_map(|row| Some((row.id?, row.first_seq?, row.last_seq?)));
    let changed = |(id, first, last)| {
        let seq = |seq| number("event", "seq", id, seq);
        Ok(Changed { game: GameId(id), first_seq: seq(first)?, last_seq: seq(last)? })
    };
    Ok(News { now, games: games.map(changed).collect::<Result<_, DbError>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(snapshot: &str) -> Moment {
        Moment::new(snapshot.to_owned(), OffsetDateTime::UNIX_EPOCH)
    }

    #[test]
    fn a_snapshot_that_names_too_many_is_taken_for_an_earlier_one() {
        for kept in ["7:7:", "7:9:7", "7:99:7,8,9,10,11,12,13,14"] {
            assert_eq!(moment(kept).snapshot, kept);
        }
        assert_eq!(moment("7:99:7,8,9,10,11,12,13,14,15").snapshot, "7:7:");
    }

    #[test]
    fn a_moment_of_long_ago_or_of_another_time_is_not_known() {
        let now = moment("5000000000:5000000002:5000000000");
        for (then, is_known) in [
            ("4999999999:5000000001:4999999999", true),
            ("5000000000:5000000002:5000000000", true),
            ("2852516355:2852516355:", true),
            ("2852516354:2852516354:", false),
            ("5000000000:5000000003:", false),
            ("", false),
            ("1:x:", false),
        ] {
            assert_eq!(moment(then).is_known_at(&now), is_known, "{then}");
        }
    }
}
