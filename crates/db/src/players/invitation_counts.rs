//! How often a player has invited another one of late. Knows no game.

use mancala_domain::{Player, PlayerId};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use super::rows::PlayerRow;
use crate::connection::{DbError, statement};

/// How many times a player may invite the same other one within [`WINDOW`]. Two people play fewer games in a day, and so many invitations
/// can be borne.
pub const INVITATIONS_MAX: u32 = 20;

/// The time within which invitations count.
pub const WINDOW: Duration = Duration::days(1);

/// Counts an invitation that is about to be stored. If there are too many, it is not counted, and the answer says when there is room. Also
/// one counts that is declined, withdrawn or not stored in the end. The row of the two is locked, so of several invitations at once each
/// counts the ones before it. The players are locked as well, so an erasure of either has happened by now, or deletes the row. Nothing is
/// counted of an erased player.
pub async fn count(
    pool: &PgPool,
    inviter: PlayerId,
    invited: PlayerId,
    now: OffsetDateTime,
) -> Result<Result<(), OffsetDateTime>, DbError> {
    let counted = sqlx::query!(
        r#"
        insert into invitation_count as kept (inviter_id, invited_id, made_at, last_at)
        select $1, $2, array[$3::timestamptz], $3
        where (
            select count(*) from (
                select from player where id in ($1, $2) and kind in ('guest', 'account') order by id for share
            ) people
        ) = 2
        on conflict (inviter_id, invited_id) do update
        set made_at = array(select at from unnest(kept.made_at) as at where at > $4) || excluded.made_at, last_at = excluded.last_at
        where (select count(*) from unnest(kept.made_at) as at where at > $4) < $5
        "#,
        inviter.0,
        invited.0,
        now,
        now - WINDOW,
        i64::from(INVITATIONS_MAX),
    )
    .execute(pool)
    .instrument(statement("insert invitation_count"))
    .await?;
    if counted.rows_affected() == 1 {
        return Ok(Ok(()));
    }
    let first = sqlx::query_scalar!(
        r#"
        select min(at) from invitation_count, unnest(made_at) as at
        where inviter_id = $1 and invited_id = $2 and at > $3
        "#,
        inviter.0,
        invited.0,
        now - WINDOW,
    )
    .fetch_one(pool)
    .instrument(statement("select invitation_count"))
    .await?;
    Ok(first.map_or(Ok(()), |first| Err(first + WINDOW)))
}

/// When a player has invited another one of late.
#[derive(Clone, Debug)]
pub struct CountedInvitations {
    /// The invited player.
    pub player: Player,
    /// When, the first one first.
    pub made_at: Vec<OffsetDateTime>,
}

/// Up to `limit` of the players whom a player has invited so that it counts, the one of the last invitation first.
pub async fn list(
    pool: &PgPool,
    inviter: PlayerId,
    now: OffsetDateTime,
    limit: u32,
) -> Result<Vec<CountedInvitations>, DbError> {
    let rows = sqlx::query!(
        r#"
        select player.id, player.kind, player.name, player.created_at,
            array(select at from unnest(made_at) as at where at > $3 order by at) as "made_at!"
        from invitation_count join player on player.id = invited_id
        where inviter_id = $1 and last_at > $3 order by last_at desc, invited_id desc limit $2
        "#,
        inviter.0,
        i64::from(limit),
        now - WINDOW,
    );
    let rows = rows.fetch_all(pool).instrument(statement("select invitation_count player")).await?;
    let rows = rows
        .into_iter()
        .map(|row| (PlayerRow { id: row.id, kind: row.kind, name: row.name, created_at: row.created_at }, row.made_at));
    rows.map(|(row, made_at)| Ok(CountedInvitations { player: row.try_into()?, made_at })).collect()
}

/// Deletes up to `limit` rows of pairs whose last invitation no longer counts; returns how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let deleted = sqlx::query!(
        r#"
        delete from invitation_count where (inviter_id, invited_id) in (
            select inviter_id, invited_id from invitation_count where last_at <= $1 order by last_at limit $2 for update skip locked
        )
        "#,
        now - WINDOW,
        i64::from(limit),
    )
    .execute(pool)
    .instrument(statement("delete invitation_count"))
    .await?;
    Ok(deleted.rows_affected())
}
