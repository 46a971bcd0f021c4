//! The feed of all events in a player's games, whichever server stored them.
//!
//! Events have no total order: transactions end in another order than they begin, on several servers whose clocks
//! differ. A snapshot of PostgreSQL says which transactions had ended when a statement read. A reader keeps the
//! snapshot of its last read, and next reads all events that are not in it. So it misses nothing, however late an event
//! was stored.

use std::{fmt, str::FromStr};

use mancala_domain::{GameId, PlayerId, RUNNING_GAMES_MAX};
use sqlx::PgPool;
use thiserror::Error;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, statement},
    games::{columns::number, logs::query_with_archive},
};

/// A snapshot: a moment as the database knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// All transactions before this one had ended.
    oldest: u64,
    /// No transaction from this one on had begun.
    next: u64,
    /// The transactions between them that had not ended, as distances from the oldest.
    under_way: Vec<u64>,
    /// Identifies the cluster and its timeline. After a failover or a restore the database may lack transactions that
    /// were seen, and use their numbers again.
    history: i32,
    /// The database's time, in seconds since 1970.
    at: i64,
}

/// How many transactions in progress a moment names, to keep cursors short.
const UNDER_WAY_MAX: usize = 50;

/// How many transactions may have begun since a moment: rows hold 32 bits of a transaction's number.
const BEGUN_SINCE_MAX: u64 = 1 << 31;

impl Moment {
    /// Parses a `pg_snapshot`. A snapshot that names too many transactions is cut: the first one that does not fit, and all after it, count
    /// as not begun. Some events are then read twice.
    fn of(snapshot: &str, history: i32, at: OffsetDateTime) -> Option<Self> {
        let mut parts = snapshot.split(':');
        let (oldest, mut next) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let names = parts.next()?.split(',').filter(|name| !name.is_empty());
        let under_way: Option<Vec<_>> = names.map(|name| name.parse::<u64>().ok()?.checked_sub(oldest)).collect();
        let (at, mut under_way) = (at.unix_timestamp(), under_way?);
        if let Some(without_room) = under_way.get(UNDER_WAY_MAX) {
            next = oldest + without_room;
            under_way.truncate(UNDER_WAY_MAX);
        }
        Some(Self { oldest, next, under_way, history, at })
    }

    fn snapshot(&self) -> String {
        let under_way: Vec<_> = self.under_way.iter().map(|after| (self.oldest + after).to_string()).collect();
        format!("{}:{}:{}", self.oldest, self.next, under_way.join(","))
    }

    /// The time of the oldest event that may be stored after this moment.
    fn oldest_event(&self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(self.at).expect("the time of a moment") - LATE_MAX
    }

    /// Whether the database, at a later moment, can tell which transactions had not ended at this one.
    pub fn is_known_at(&self, now: &Self) -> bool {
        self.history == now.history && now.next.checked_sub(self.next).is_some_and(|begun| begun < BEGUN_SINCE_MAX)
    }
}

/// `<oldest>:<next>:<in progress>:<history>:<seconds>`, the second and third as distances from the first.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.oldest, self.next - self.oldest)?;
        for (n, after) in self.under_way.iter().enumerate() {
            write!(f, "{}{after}", if n == 0 { "" } else { "," })?;
        }
        write!(f, ":{}:{}", self.history, self.at)
    }
}

/// A text that is not a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not a moment")]
pub struct NoMoment;

impl FromStr for Moment {
    type Err = NoMoment;

    fn from_str(text: &str) -> Result<Self, NoMoment> {
        let mut parts = text.split(':');
        let mut part = || parts.next().ok_or(NoMoment);
        let number = |text: &str| text.parse::<u64>().map_err(|_| NoMoment);
        let oldest = number(part()?)?;
        let next = oldest.checked_add(number(part()?)?).ok_or(NoMoment)?;
        let under_way =
            part()?.split(',').filter(|after| !after.is_empty()).map(number).collect::<Result<Vec<_>, _>>()?;
        let history = part()?.parse().map_err(|_| NoMoment)?;
        let at = part()?.parse().map_err(|_| NoMoment)?;
        // PostgreSQL would refuse any other snapshot.
        let is_in_order = under_way.is_sorted() && under_way.last().is_none_or(|last| *last < next - oldest);
        let is_time = OffsetDateTime::from_unix_timestamp(at).is_ok();
        (is_in_order && is_time).then_some(Self { oldest, next, under_way, history, at }).ok_or(NoMoment)
    }
}

/// Which events to read.
#[derive(Clone, Debug)]
pub struct FeedQuery<'a> {
    /// Events that had not been stored by this moment.
    pub since: &'a Moment,
    /// Games that were read by name, each with the last `seq` that was read: only later events are news.
    pub ahead: &'a [(GameId, u32)],
    /// For the rest of an earlier read: events that had been stored by the moment of that read.
    pub until: Option<&'a Moment>,
    /// Only events after this one, in the order of games and of their events.
    pub past: Option<(GameId, u32)>,
    /// The maximum number of games.
    pub limit: u32,
}

/// A page of the feed.
#[derive(Debug)]
pub struct News {
    /// When it was read.
    pub now: Moment,
    /// In the order of their ids.
    pub games: Vec<ChangedGame>,
}

/// The events of one game that are new to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedGame {
    /// The game.
    pub game: GameId,
    /// The first new event.
    pub first_seq: u32,
    /// The last new event.
    pub last_seq: u32,
}

/// How long before it is stored an event may have happened. Clocks of servers differ, and a game whose time ran out
/// while all servers were down ended then. Older rows are left out, because the number of the transaction that wrote
/// them may have wrapped around.
const LATE_MAX: Duration = Duration::days(30);

/// How many games that ended since then are scanned, and how many invitations; for each seat.
const ENDED_MAX: i64 = 1000;

/// How many of a player's last finished games are scanned for each seat, however long ago they ended: a rematch may be
/// offered.
const FINISHED_MAX: i64 = 50;

/// Why a snapshot can be parsed.
const SNAPSHOT_FORM: &str = "PostgreSQL writes snapshots so";

/// The present moment. The history is the database's function `present_history`, written out: PostgreSQL would plan the function's
/// statement for every call, which takes longer than the rest.
pub async fn now(pool: &PgPool) -> Result<Moment, DbError> {
    let present = sqlx::query!(
        r#"
        select pg_current_snapshot()::text as "snapshot!",
            hashtext((select system_identifier::text from pg_control_system())
                || left(pg_walfile_name(pg_current_wal_lsn()), 8)) as "history!",
            now() as "at!"
        "#
    );
    let now = present.fetch_one(pool).instrument(statement("select snapshot")).await?;
    Ok(Moment::of(&now.snapshot, now.history, now.at).expect(SNAPSHOT_FORM))
}

/// The new events in a player's games, and in those to which the player is invited.
#[expect(clippy::too_many_lines, reason = "one statement")]
pub async fn news(pool: &PgPool, player: PlayerId, query: &FeedQuery<'_>) -> Result<News, DbError> {
    let (past_game, past_seq) = query.past.map_or((Uuid::nil(), 0), |(game, seq)| (game.0, seq));
    let oldest = query.since.oldest_event();
    let (ahead, read_seqs): (Vec<_>, Vec<_>) = query.ahead.iter().map(|(game, seq)| (game.0, bounded(*seq))).unzip();
    // The events and the present moment come from one statement. The moment comes also if there are no events.
    //
    // An archive names only the last event's transaction. A reader that has not seen it gets all events of the
    // archive: maybe some of them again. The number of a transaction of another history says nothing. Every place is of the present
    // one, so its reader had seen what was stored before.
    let rows = query_with_archive!(
        query(),
        r#"
        with present as (
            select pg_current_snapshot() as snapshot, pg_snapshot_xmax(pg_current_snapshot()) as next,
                hashtext((select system_identifier::text from pg_control_system())
                    || left(pg_walfile_name(pg_current_wal_lsn()), 8)) as history
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
             where invited_player_id = $1 and opponent = 'player' and aborted_at is not null and aborted_at >= $4
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
            select id, first_seq, last_seq, events
            from changed left join unnest($11::uuid[], $12::integer[]) as ahead (game_id, read_seq) on ahead.game_id = id
            cross join present cross join lateral (
                select min(seq) as first_seq, max(seq) as last_seq from event
                where event.game_id = id and seq > coalesce(read_seq, 0)
                  and at >= $4 and is_unseen(event.xmin, $6::text::pg_snapshot, next)
                  and (id > $7 or seq > $8)
                  and not is_unseen(event.xmin, coalesce($10::text::pg_snapshot, snapshot), next)
            ) new
        "#,
        "events",
        "archive.game_id = id and events > coalesce(read_seq, 0) and last_at >= $4
            and archive.history = present.history and is_unseen(written_by, $6::text::pg_snapshot, next)
            and (id > $7 or events > $8) and not is_unseen(written_by, coalesce($10::text::pg_snapshot, snapshot), next)",
        r#"
            where first_seq is not null or events is not null
            order by id limit $9
        )
        select snapshot::text as "snapshot!", history as "history!",
            now() as "at!", id as "id?", first_seq as "first_seq?", last_seq as "last_seq?", events as "events?"
        from present left join happened on true
        order by id
        "#,
        player.0,
        i64::from(RUNNING_GAMES_MAX),
        ENDED_MAX,
        oldest,
        FINISHED_MAX,
        query.since.snapshot(),
        past_game,
        bounded(past_seq),
        i64::from(query.limit),
        query.until.map(Moment::snapshot),
        &ahead,
        &read_seqs,
    )
    .fetch_all(pool)
    .instrument(statement("select events of a player"))
    .await?;
    let present = rows.first().expect("a row comes even without events");
    let now = Moment::of(&present.snapshot, present.history, present.at).expect(SNAPSHOT_FORM);
    let mut games = vec![];
    for row in rows {
        let Some(id) = row.id else { break };
        games.extend(changed(id, row.first_seq.zip(row.last_seq), row.events, query)?);
    }
    Ok(News { now, games })
}

/// The new events of a game: those of its archive, which has `archived` events, and the range `later`.
fn changed(
    id: Uuid,
    later: Option<(i32, i32)>,
    archived: Option<i32>,
    query: &FeedQuery<'_>,
) -> Result<Option<ChangedGame>, DbError> {
    let seq = |seq| number("event", "seq", id, seq);
    let of_game = query.past.iter().chain(query.ahead).filter(|(game, _)| game.0 == id);
    let past = of_game.map(|(_, seq)| *seq).max().unwrap_or(0);
    let first = match (archived, later) {
        (Some(_), _) => past.saturating_add(1),
        (None, Some((first, _))) => seq(first)?,
        (None, None) => return Ok(None),
    };
    let last = later.map(|(_, last)| last).or(archived).map(seq).transpose()?;
    Ok(last.map(|last_seq| ChangedGame { game: GameId(id), first_seq: first, last_seq }))
}

/// A `seq` of a client's position, as a column has it.
fn bounded(seq: u32) -> i32 {
    i32::try_from(seq).unwrap_or(i32::MAX)
}

/// The last events of some games that are not new to the reader.
#[derive(Debug)]
pub struct LastSeen {
    /// When they were read.
    pub now: Moment,
    /// The `seq` of the last event of each game that had been stored; 0 if none had.
    pub seqs: Vec<(GameId, u32)>,
}

/// The last event of each of these games at a moment. The events of a game are stored in the order of their `seq`, so the earlier ones were
/// stored as well. The query therefore reads the newer events of a game, and one more.
pub async fn last_seen(pool: &PgPool, moment: &Moment, games: &[GameId]) -> Result<LastSeen, DbError> {
    let ids: Vec<_> = games.iter().map(|game| game.0).collect();
    let rows = query_with_archive!(
        query(),
        r#"
        select pg_current_snapshot()::text as "snapshot!",
            hashtext((select system_identifier::text from pg_control_system())
                || left(pg_walfile_name(pg_current_wal_lsn()), 8)) as "history!",
            now() as "at!", id as "id?", coalesce(seq, events) as "seq?"
        from (select) one left join unnest($1::uuid[]) as named (id) on true left join lateral (
            select seq from event
            where game_id = id and (at < $2
                or not is_unseen(event.xmin, $3::text::pg_snapshot, pg_snapshot_xmax(pg_current_snapshot())))
            order by seq desc limit 1
        ) seen on true
        "#,
        "events",
        // The events before those in rows may be archived. By the limit PostgreSQL does not look where rows were seen.
        "seq is null and archive.game_id = id and (last_at < $2
            or archive.history <> hashtext((select system_identifier::text from pg_control_system())
                || left(pg_walfile_name(pg_current_wal_lsn()), 8))
            or not is_unseen(written_by, $3::text::pg_snapshot, pg_snapshot_xmax(pg_current_snapshot()))) limit 1",
        "",
        &ids,
        moment.oldest_event(),
        moment.snapshot(),
    )
    .fetch_all(pool)
    .instrument(statement("select last seen events of games"))
    .await?;
    let now = rows.first().map(|row| Moment::of(&row.snapshot, row.history, row.at).expect(SNAPSHOT_FORM));
    let now = now.expect("a row comes even without games");
    let seq = |id, seq: Option<i32>| seq.map_or(Ok(0), |seq| number("event", "seq", id, seq));
    let seqs = rows.into_iter().filter_map(|row| row.id.map(|id| Ok((GameId(id), seq(id, row.seq)?))));
    Ok(LastSeen { now, seqs: seqs.collect::<Result<_, DbError>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(snapshot: &str) -> Moment {
        Moment::of(snapshot, -7, OffsetDateTime::UNIX_EPOCH).expect("a snapshot")
    }

    #[test]
    fn a_moment_is_read_as_it_was_written() {
        for snapshot in
            ["7:7:", "7:9:7", "18446744073709551000:18446744073709551615:18446744073709551000,18446744073709551001"]
        {
            let moment = moment(snapshot);
            assert_eq!((moment.snapshot().as_str(), moment.to_string().parse()), (snapshot, Ok(moment.clone())));
        }
        assert_eq!(moment("7:9:7,8").to_string(), "7:2:0,1:-7:0");
        for text in [
            "",
            "7",
            "7:2",
            "7:2:0",
            "7:2:0:0",
            "7:2:0:x:0",
            "7:2:0:0:x",
            "7:-2::0:0",
            "7:2:2:0:0",
            "7:2:1,0:0:0",
            "7:18446744073709551615::0:0",
            "7:2::0:9e18",
            "7:2::0:9000000000000000000",
        ] {
            assert_eq!(text.parse::<Moment>(), Err(NoMoment), "{text}");
        }
    }

    #[test]
    fn a_snapshot_that_names_too_many_is_taken_for_an_earlier_one() {
        let naming = |count: u64| (7..7 + count).map(|name| name.to_string()).collect::<Vec<_>>().join(",");
        let most = format!("7:99:{}", naming(50));
        assert_eq!(moment(&most).snapshot(), most);
        assert_eq!(moment(&format!("7:99:{}", naming(51))).snapshot(), format!("7:57:{}", naming(50)));
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
        ] {
            assert_eq!(moment(then).is_known_at(&now), is_known, "{then}");
        }
        let elsewhere = Moment { history: 8, ..now.clone() };
        assert!(!elsewhere.is_known_at(&now));
    }
}
