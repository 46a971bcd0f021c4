//! Mutes: a player is not notified of the invitations, offers and requests of a muted player. Knows no game.

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;

use super::{
    listed::{self, Listed, Listing},
    rows::PlayerRow,
};
use crate::connection::{DbError, statement};

/// How many players one player may mute: the same number that it may block. Several new mutes at once may exceed it by a few.
pub const MUTES_MAX: u32 = 1000;

/// Stores a mute. Idempotent: an existing mute keeps its time.
pub async fn insert(pool: &PgPool, muter: PlayerId, muted: PlayerId, now: OffsetDateTime) -> Result<Listing, DbError> {
    let mut transaction = pool.begin().await?;
    if let Some(refused) = listed::lock(&mut transaction, muter, muted).await? {
        return Ok(refused);
    }
    let stored = sqlx::query!(
        r#"
        insert into player_mute as kept (muter_id, muted_id, muted_at)
        select $1, $2, $3
        where exists (select from player_mute where muter_id = $1 and muted_id = $2)
            or (select count(*) from (select from player_mute where muter_id = $1 limit $4) counted) < $4
        -- A row counts also if another transaction has stored it a moment ago.
        on conflict (muter_id, muted_id) do update set muted_at = kept.muted_at
        "#,
        muter.0,
        muted.0,
        now,
        i64::from(MUTES_MAX),
    )
    .execute(&mut *transaction)
    .instrument(statement("insert player_mute"))
    .await?;
    transaction.commit().await?;
    Ok(if stored.rows_affected() == 1 { Listing::Stored } else { Listing::TooMany })
}

/// Deletes a mute, if there is one.
pub async fn delete(pool: &PgPool, muter: PlayerId, muted: PlayerId) -> Result<(), DbError> {
    sqlx::query!("delete from player_mute where muter_id = $1 and muted_id = $2", muter.0, muted.0)
        .execute(pool)
        .instrument(statement("delete player_mute"))
        .await?;
    Ok(())
}

/// Up to `limit` players that a player has muted, the last one first, after the mute of this moment and player if one is given.
pub async fn list(
    pool: &PgPool,
    muter: PlayerId,
    after: Option<(OffsetDateTime, PlayerId)>,
    limit: u32,
) -> Result<Vec<Listed>, DbError> {
    let (at, id) = listed::place(after);
    let rows = sqlx::query!(
        r#"
        select player.id, player.kind, player.name, player.created_at, muted_at
        from player_mute join player on player.id = muted_id
        where muter_id = $1 and (muted_at, muted_id) < ($2, $3)
        order by muted_at desc, muted_id desc limit $4
        "#,
        muter.0,
        at,
        id,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select player_mute player"))
    .await?;
    let rows = rows.into_iter().map(|row| {
        (PlayerRow { id: row.id, kind: row.kind, name: row.name, created_at: row.created_at }, row.muted_at)
    });
    rows.map(|(row, at)| Ok(Listed { player: row.try_into()?, at })).collect()
}

/// Returns the pairs, of a player and another one, in which the first has muted the other.
pub async fn list_of_pairs(
    connection: &mut PgConnection,
    pairs: &[(PlayerId, PlayerId)],
) -> Result<Vec<(PlayerId, PlayerId)>, DbError> {
    let (muters, muted): (Vec<_>, Vec<_>) = pairs.iter().map(|(muter, muted)| (muter.0, muted.0)).unzip();
    let rows = sqlx::query!(
        r#"
        select muter_id as "muter_id!", muted_id as "muted_id!"
        from (select distinct muter, muted from unnest($1::uuid[], $2::uuid[]) as pair (muter, muted)) pair
        cross join lateral (
            select muter_id, muted_id from player_mute where muter_id = pair.muter and muted_id = pair.muted limit 1
        ) found
        "#,
        &muters,
        &muted,
    )
    .fetch_all(connection)
    .instrument(statement("select player_mute"))
    .await?;
    Ok(rows.into_iter().map(|row| (PlayerId(row.muter_id), PlayerId(row.muted_id))).collect())
}

/// The mutes of a guest, and those against it, become an account's. The caller has locked all players of these rows, so that none is added meanwhile.
pub(crate) async fn hand_over(
    connection: &mut PgConnection,
    guest: PlayerId,
    account: PlayerId,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with moved as (
            delete from player_mute where muter_id = $1 or muted_id = $1 returning muter_id, muted_id, muted_at
        )
        insert into player_mute (muter_id, muted_id, muted_at)
        select case muter_id when $1 then $2 else muter_id end, case muted_id when $1 then $2 else muted_id end, muted_at
        from moved where $2 not in (muter_id, muted_id)
        on conflict (muter_id, muted_id) do nothing
        "#,
        guest.0,
        account.0,
    )
    .execute(connection)
    .instrument(statement("delete insert player_mute"))
    .await?;
    Ok(())
}
