//! Blocks: with which players a player begins no game. Knows no game.

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;

use super::{
    friends,
    listed::{self, Listed, Listing},
    rows::PlayerRow,
};
use crate::connection::{DbError, statement};

/// How many players one player may block: more than anyone meets by name. Several new blocks at once may exceed it by a few.
pub const BLOCKS_MAX: u32 = 1000;

/// Stores a block. Idempotent: an existing block keeps its time. A trigger ends a friendship of the two.
pub async fn insert(
    pool: &PgPool,
    blocker: PlayerId,
    blocked: PlayerId,
    now: OffsetDateTime,
) -> Result<Listing, DbError> {
    let mut transaction = pool.begin().await?;
    friends::lock(&mut transaction, blocker, blocked).await?;
    if let Some(refused) = listed::lock(&mut transaction, blocker, blocked).await? {
        return Ok(refused);
    }
    let stored = sqlx::query!(
        r#"
        insert into player_block as kept (blocker_id, blocked_id, blocked_at)
        select $1, $2, $3
        where exists (select from player_block where blocker_id = $1 and blocked_id = $2)
            or (select count(*) from (select from player_block where blocker_id = $1 limit $4) counted) < $4
        -- A row counts also if another transaction has stored it a moment ago.
        on conflict (blocker_id, blocked_id) do update set blocked_at = kept.blocked_at
        "#,
        blocker.0,
        blocked.0,
        now,
        i64::from(BLOCKS_MAX),
    )
    .execute(&mut *transaction)
    .instrument(statement("insert player_block"))
    .await?;
    transaction.commit().await?;
    Ok(if stored.rows_affected() == 1 { Listing::Stored } else { Listing::TooMany })
}

/// Deletes a block, if there is one.
pub async fn delete(pool: &PgPool, blocker: PlayerId, blocked: PlayerId) -> Result<(), DbError> {
    sqlx::query!("delete from player_block where blocker_id = $1 and blocked_id = $2", blocker.0, blocked.0)
        .execute(pool)
        .instrument(statement("delete player_block"))
        .await?;
    Ok(())
}

/// Up to `limit` players that a player has blocked, the last one first, after the block of this moment and player if one is given.
pub async fn list(
    pool: &PgPool,
    blocker: PlayerId,
    after: Option<(OffsetDateTime, PlayerId)>,
    limit: u32,
) -> Result<Vec<Listed>, DbError> {
    let (at, id) = listed::place(after);
    let rows = sqlx::query!(
        r#"
        select player.id, player.kind, player.name, player.created_at, blocked_at
        from player_block join player on player.id = blocked_id
        where blocker_id = $1 and (blocked_at, blocked_id) < ($2, $3)
        order by blocked_at desc, blocked_id desc limit $4
        "#,
        blocker.0,
        at,
        id,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select player_block player"))
    .await?;
    let block = |(row, at): (PlayerRow, OffsetDateTime)| Ok(Listed { player: row.try_into()?, at });
    let rows = rows.into_iter().map(|row| {
        (PlayerRow { id: row.id, kind: row.kind, name: row.name, created_at: row.created_at }, row.blocked_at)
    });
    rows.map(block).collect()
}

/// Whether one of two players has blocked the other, or plays within an app of which the other is none.
pub async fn is_between(pool: &PgPool, one: PlayerId, other: PlayerId) -> Result<bool, DbError> {
    Ok(!list_between(pool, one, &[other]).await?.is_empty())
}

/// Returns the `others` that are kept apart from a player. A block in either direction keeps two players apart, and so does an
/// app within which one of the two plays.
pub async fn list_between(pool: &PgPool, player: PlayerId, others: &[PlayerId]) -> Result<Vec<PlayerId>, DbError> {
    let others: Vec<_> = others.iter().map(|other| other.0).collect();
    // A player blocks a bounded number of others, but any number may block one player. The blocks against a player are looked up one by
    // one, by the whole key, and only if there are any.
    let ids = sqlx::query_scalar!(
        r#"
        select blocked_id as "id!" from player_block where blocker_id = $1 and blocked_id = any($2)
        union all
        select other.id from unnest($2::uuid[]) as other (id)
        where exists (select from player_block where blocked_id = $1)
            and (select true from player_block where blocker_id = other.id and blocked_id = $1)
        union all
        select other.id from unnest($2::uuid[]) as other (id)
        where exists (select from app where plays_within) and players_are_apart($1, other.id)
        "#,
        player.0,
        &others,
    )
    .fetch_all(pool)
    .instrument(statement("select player_block"))
    .await?;
    Ok(ids.into_iter().map(PlayerId).collect())
}

/// The blocks of a guest, and those against it, become an account's. The caller has locked all players of these rows, so that none is added
/// meanwhile.
pub(crate) async fn hand_over(
    connection: &mut PgConnection,
    guest: PlayerId,
    account: PlayerId,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with moved as (
            delete from player_block where blocker_id = $1 or blocked_id = $1 returning blocker_id, blocked_id, blocked_at
        )
        insert into player_block (blocker_id, blocked_id, blocked_at)
        select case blocker_id when $1 then $2 else blocker_id end, case blocked_id when $1 then $2 else blocked_id end, blocked_at
        from moved where $2 not in (blocker_id, blocked_id)
        on conflict (blocker_id, blocked_id) do nothing
        "#,
        guest.0,
        account.0,
    )
    .execute(connection)
    .instrument(statement("delete insert player_block"))
    .await?;
    Ok(())
}
