//! Friends, and requests to become friends. Knows no game.
//!
//! A single row stores the relation of two players, and every change of it holds the lock of the pair. A trigger deletes it when one blocks
//! the other.

use mancala_domain::{Player, PlayerId, PlayerKind};
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use super::{listed, rows::PlayerRow};
use crate::connection::{DbError, statement};

/// How many friends a player may have: more than anyone knows by name. Several that are accepted at once may exceed it by a few.
pub const FRIENDS_MAX: u32 = 1000;

/// How many requests of one player may wait. Several at once may exceed it by a few.
pub const REQUESTS_MAX: u32 = 100;

/// How many requests wait for one player. Further ones are kept away like declined ones, so that guests cannot fill a list without end.
pub const RECEIVED_MAX: u32 = 200;

/// How long a request waits, and how long a declined one prevents another request.
pub const REQUEST_LIFETIME: Duration = Duration::days(30);

/// Distinguishes these advisory locks from others.
const LOCK: i64 = 0x6672_6965_6e64;

/// The relation of another player to a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FriendStatus {
    /// Both have agreed.
    Friends,
    /// The player waits for the other's answer.
    Asked,
    /// The other waits for the player's answer.
    Received,
    /// The player has declined; the other one is not notified.
    Declined,
}

impl FriendStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Friends, Self::Asked, Self::Received, Self::Declined];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Friends => "friends",
            Self::Asked => "asked",
            Self::Received => "received",
            Self::Declined => "declined",
        }
    }
}

/// Another player, with its relation to a player.
#[derive(Clone, Debug)]
pub struct Friend {
    /// The other player.
    pub player: Player,
    /// The relation.
    pub status: FriendStatus,
    /// The time since when they have this relation.
    pub since: OffsetDateTime,
}

/// The result of a request.
#[derive(Clone, Debug)]
pub enum Asking {
    /// The two are friends, or the request waits: by this call or an earlier one.
    Stored(Friend),
    /// The player has the most unanswered requests allowed.
    TooManyRequests,
    /// Either player has the most friends allowed.
    TooManyFriends,
    /// The player blocks the other.
    Blocks,
    /// Either player belongs to an app, and the other does not.
    Apart,
    /// The asking player is deleted.
    NoAsker,
    /// There is no player to ask.
    NoPlayer,
    /// The player to ask is no person that can play.
    NoPerson,
}

/// The stored relation of two players, as one of them sees it.
#[derive(Clone, Copy)]
struct StoredFriendship {
    is_own: bool,
    asked_at: OffsetDateTime,
    accepted_at: Option<OffsetDateTime>,
    is_withdrawn: bool,
}

/// The change that a request makes.
enum Change {
    Nothing(FriendStatus, OffsetDateTime),
    Accept,
    Ask,
}

/// Asks a player to become friends, or accepts if that player has asked. Idempotent. A request to a player that blocks or mutes the asking
/// one is stored as one that was declined.
pub async fn ask(pool: &PgPool, player: PlayerId, other: PlayerId, now: OffsetDateTime) -> Result<Asking, DbError> {
    let mut transaction = pool.begin().await?;
    lock(&mut transaction, player, other).await?;
    // Both rows are locked, so that an erasure of either has already ended, or finds the request.
    let people = sqlx::query_as!(
        PlayerRow,
        "select id, kind, name, created_at from player where id in ($1, $2) order by id for share",
        player.0,
        other.0,
    )
    .fetch_all(&mut *transaction)
    .instrument(statement("lock players of friendship"))
    .await?;
    let (mut is_asker, mut asked) = (false, None);
    for row in people {
        let found = Player::try_from(row)?;
        let is_person = matches!(found.kind, PlayerKind::Guest | PlayerKind::Account);
        if found.id == player {
            is_asker = is_person;
        } else {
            asked = Some((found, is_person));
        }
    }
    let asked = match asked {
        _ if !is_asker => return Ok(Asking::NoAsker),
        None => return Ok(Asking::NoPlayer),
        Some((_, false)) => return Ok(Asking::NoPerson),
        Some((asked, true)) => asked,
    };
    // Separate statements see the rows that were stored while the transaction waited for the locks.
    let asking = ask_locked(&mut transaction, player, asked, now).await?;
    if matches!(asking, Asking::Stored(_)) {
        transaction.commit().await?;
    }
    Ok(asking)
}

/// [`ask`] with the lock of the two.
async fn ask_locked(
    connection: &mut PgConnection,
    player: PlayerId,
    asked: Player,
    now: OffsetDateTime,
) -> Result<Asking, DbError> {
    let other = asked.id;
    let known = sqlx::query!(
        r#"
        select exists (select from merged_guest where guest_id = $1) as "is_merged!",
            exists (select from merged_guest where guest_id = $2) as "is_other_merged!",
            exists (select from player_block where blocker_id = $1 and blocked_id = $2) as "blocks!",
            exists (select from player_block where blocker_id = $2 and blocked_id = $1)
                or exists (select from player_mute where muter_id = $2 and muted_id = $1) as "is_kept_away!",
            players_are_apart($1, $2) as "is_apart!",
            (select count(*) from friendship where asker_id = $1 and accepted_at is null and not is_withdrawn) as "requests!",
            (select count(*) from (
                select from friendship where asked_id = $2 and accepted_at is null and declined_at is null limit $3
            ) waiting) as "waiting!",
            (select count(*) from friendship where asker_id = $1 and accepted_at is not null)
                + (select count(*) from friendship where asked_id = $1 and accepted_at is not null) as "friends!",
            (select count(*) from friendship where asker_id = $2 and accepted_at is not null)
                + (select count(*) from friendship where asked_id = $2 and accepted_at is not null) as "friends_of_other!"
        "#,
        player.0,
        other.0,
        i64::from(RECEIVED_MAX),
    )
    .fetch_one(&mut *connection)
    .instrument(statement("select merged_guest player_block friendship"))
    .await?;
    if known.is_merged {
        return Ok(Asking::NoAsker);
    }
    if known.is_other_merged {
        return Ok(Asking::NoPerson);
    }
    if known.blocks {
        return Ok(Asking::Blocks);
    }
    let change = change(find(connection, player, other).await?, now);
    let stored = |status, since| Ok(Asking::Stored(Friend { player: asked, status, since }));
    match change {
        Change::Nothing(status, since) => stored(status, since),
        Change::Accept | Change::Ask if known.is_apart => Ok(Asking::Apart),
        Change::Accept => {
            if known.friends.max(known.friends_of_other) >= i64::from(FRIENDS_MAX) {
                return Ok(Asking::TooManyFriends);
            }
            accept(connection, other, player, now).await?;
            stored(FriendStatus::Friends, now)
        }
        Change::Ask => {
            if known.requests >= i64::from(REQUESTS_MAX) {
                return Ok(Asking::TooManyRequests);
            }
            let is_kept_away = known.is_kept_away || known.waiting >= i64::from(RECEIVED_MAX);
            insert(connection, player, other, now, is_kept_away).await?;
            stored(FriendStatus::Asked, now)
        }
    }
}

/// The change that a player's request makes to the stored relation.
fn change(kept: Option<StoredFriendship>, now: OffsetDateTime) -> Change {
    let Some(kept) = kept else { return Change::Ask };
    match kept.accepted_at {
        Some(at) => Change::Nothing(FriendStatus::Friends, at),
        None if kept.is_withdrawn || kept.asked_at <= now - REQUEST_LIFETIME => Change::Ask,
        None if kept.is_own => Change::Nothing(FriendStatus::Asked, kept.asked_at),
        // A request that the player has declined can be accepted as well: the other player has not withdrawn it.
        None => Change::Accept,
    }
}

/// Locks the relation of two players: the first lock of a transaction. If a block and a request come at the same moment, the later one sees
/// the other.
pub(super) async fn lock(connection: &mut PgConnection, one: PlayerId, other: PlayerId) -> Result<(), DbError> {
    let (first, second) = (one.0.min(other.0), one.0.max(other.0));
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended($1, $2))", format!("{first} {second}"), LOCK)
        .execute(connection)
        .instrument(statement("select pg_advisory_xact_lock"))
        .await?;
    Ok(())
}

async fn find(
    connection: &mut PgConnection,
    player: PlayerId,
    other: PlayerId,
) -> Result<Option<StoredFriendship>, DbError> {
    let row = sqlx::query!(
        r#"
        select asker_id, asked_at, accepted_at, is_withdrawn from friendship
        where asker_id = $1 and asked_id = $2 or asker_id = $2 and asked_id = $1
        "#,
        player.0,
        other.0,
    )
    .fetch_optional(connection)
    .instrument(statement("select friendship"))
    .await?;
    Ok(row.map(|row| StoredFriendship {
        is_own: row.asker_id == player.0,
        asked_at: row.asked_at,
        accepted_at: row.accepted_at,
        is_withdrawn: row.is_withdrawn,
    }))
}

async fn accept(
    connection: &mut PgConnection,
    asker: PlayerId,
    asked: PlayerId,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    sqlx::query!(
        "update friendship set accepted_at = $3, declined_at = null where asker_id = $1 and asked_id = $2",
        asker.0,
        asked.0,
        now,
    )
    .execute(connection)
    .instrument(statement("update friendship"))
    .await?;
    Ok(())
}

/// Stores a request in place of one that has lapsed or was withdrawn. The player's own request that was declined stays
/// declined.
async fn insert(
    connection: &mut PgConnection,
    asker: PlayerId,
    asked: PlayerId,
    now: OffsetDateTime,
    is_kept_away: bool,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        insert into friendship as kept (asker_id, asked_id, asked_at, declined_at)
        values ($1, $2, $3, case when $4 then $3::timestamptz end)
        on conflict (least(asker_id, asked_id), greatest(asker_id, asked_id)) do update
        set asker_id = $1, asked_id = $2, asked_at = $3, is_withdrawn = false,
            declined_at = case
                when $4 then $3
                when kept.asker_id = $1 and kept.asked_at > $5 then kept.declined_at
            end
        "#,
        asker.0,
        asked.0,
        now,
        is_kept_away,
        now - REQUEST_LIFETIME,
    )
    .execute(connection)
    .instrument(statement("insert friendship"))
    .await?;
    Ok(())
}

/// Ends the relation of two players, for one of them: ends a friendship, withdraws the player's request, or declines the other's.
/// Idempotent.
pub async fn end(pool: &PgPool, player: PlayerId, other: PlayerId, now: OffsetDateTime) -> Result<(), DbError> {
    let mut transaction = pool.begin().await?;
    lock(&mut transaction, player, other).await?;
    sqlx::query!(
        r#"
        with ended as (
            delete from friendship
            where asker_id = $1 and asked_id = $2 and declined_at is null
                or asker_id = $2 and asked_id = $1 and accepted_at is not null
        ), declined as (
            update friendship set declined_at = $3
            where asker_id = $2 and asked_id = $1 and accepted_at is null and declined_at is null
        )
        update friendship set is_withdrawn = true where asker_id = $1 and asked_id = $2 and declined_at is not null
        "#,
        player.0,
        other.0,
        now,
    )
    .execute(&mut *transaction)
    .instrument(statement("delete update friendship"))
    .await?;
    transaction.commit().await?;
    Ok(())
}

/// Up to `limit` players in this relation to a player, the newest first. The list continues after this moment and player, if
/// given.
pub async fn list(
    pool: &PgPool,
    player: PlayerId,
    status: FriendStatus,
    after: Option<(OffsetDateTime, PlayerId)>,
    limit: u32,
) -> Result<Vec<Friend>, DbError> {
    let (at, id) = listed::place(after);
    // All but the requests that wait for the player are bounded: those it has made, or answered.
    let rows = sqlx::query!(
        r#"
        select player.id, player.kind, player.name, player.created_at, found.since as "since!"
        from (
            select asked_id as other_id, accepted_at as since from friendship
            where $2 = 'friends' and asker_id = $1 and accepted_at is not null
            union all
            select asker_id, accepted_at from friendship
            where $2 = 'friends' and asked_id = $1 and accepted_at is not null
            union all
            select asked_id, asked_at from friendship
            where $2 = 'asked' and asker_id = $1 and accepted_at is null and not is_withdrawn
            union all
            select asker_id, declined_at from friendship
            where $2 = 'declined' and asked_id = $1 and accepted_at is null and declined_at is not null and not is_withdrawn
                and (select true from player_block where blocker_id = $1 and blocked_id = asker_id) is null
            union all
            (select asker_id, asked_at from friendship
             where $2 = 'received' and asked_id = $1 and accepted_at is null and declined_at is null
                and (asked_at, asker_id) < ($3, $4)
             order by asked_at desc, asker_id desc limit $5)
        ) found join player on player.id = found.other_id
        where (found.since, found.other_id) < ($3, $4)
        order by found.since desc, found.other_id desc limit $5
        "#,
        player.0,
        status.as_str(),
        at,
        id,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select friendship player"))
    .await?;
    let friend = |(row, since): (PlayerRow, OffsetDateTime)| Ok(Friend { player: row.try_into()?, status, since });
    let rows = rows
        .into_iter()
        .map(|row| (PlayerRow { id: row.id, kind: row.kind, name: row.name, created_at: row.created_at }, row.since));
    rows.map(friend).collect()
}

/// Hands over a guest's friends and requests to an account. The caller has locked all players of these rows, and has handed over their
/// blocks. Where a block exists, no friendship is left, and requests count as declined. If guest and account both have a relation to one
/// player, a friendship wins, otherwise the account's relation.
pub(crate) async fn hand_over(
    connection: &mut PgConnection,
    guest: PlayerId,
    account: PlayerId,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with moved as (
            delete from friendship where asker_id = $1 or asked_id = $1
            returning asker_id, asked_id, asked_at, accepted_at, declined_at, is_withdrawn
        )
        insert into friendship as kept (asker_id, asked_id, asked_at, accepted_at, declined_at, is_withdrawn)
        select case asker_id when $1 then $2 else asker_id end, case asked_id when $1 then $2 else asked_id end, asked_at, accepted_at,
            case when accepted_at is null and (block.is_own or block.is_others) then coalesce(declined_at, $3) else declined_at end,
            is_withdrawn
        from moved
        cross join lateral (select case asker_id when $1 then asked_id else asker_id end as id) other
        cross join lateral (
            select exists (select from player_block where blocker_id = $2 and blocked_id = other.id) as is_own,
                exists (select from player_block where blocker_id = other.id and blocked_id = $2) as is_others
        ) block
        -- A block ends a friendship, and withdraws a request by the player that blocks.
        where $2 not in (asker_id, asked_id)
            and not (accepted_at is not null and (block.is_own or block.is_others))
            and not (declined_at is null and (asker_id = $1 and block.is_own or asked_id = $1 and block.is_others))
        on conflict (least(asker_id, asked_id), greatest(asker_id, asked_id)) do update
        set asked_at = excluded.asked_at, accepted_at = excluded.accepted_at, declined_at = null, is_withdrawn = false
        where kept.accepted_at is null and excluded.accepted_at is not null
        "#,
        guest.0,
        account.0,
        now,
    )
    .execute(connection)
    .instrument(statement("delete insert friendship"))
    .await?;
    Ok(())
}

/// Deletes up to `limit` requests that have lapsed; returns how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let deleted = sqlx::query!(
        r#"
        delete from friendship where (asker_id, asked_id) in (
            select asker_id, asked_id from friendship where accepted_at is null and asked_at <= $1
            order by asked_at limit $2 for update skip locked
        )
        "#,
        now - REQUEST_LIFETIME,
        i64::from(limit),
    )
    .execute(pool)
    .instrument(statement("delete friendship"))
    .await?;
    Ok(deleted.rows_affected())
}
