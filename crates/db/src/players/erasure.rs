//! The erasure of players.

use mancala_domain::{PlayerId, PlayerName};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// Erases a player: the row stays, without a name, for the seats in games. Unfinished games are left to the caller.
pub async fn erase(pool: &PgPool, id: PlayerId, now: OffsetDateTime) -> Result<(), DbError> {
    let name = PlayerName::of_deleted();
    sqlx::query!(
        r#"
        with erased as (
            update player
            set kind = 'deleted', name = $2, erased_at = $3, credentials_version = credentials_version + 1,
                network = null
            where id = $1 and kind <> 'deleted' returning id
        ), account as (
            delete from account using erased where player_id = erased.id
        ), answers as (
            delete from idempotency_key using erased where player_id = erased.id
        ), analyses as (
            delete from analysis_request using erased where player_id = erased.id
        ), games as (
            update computer_game set network = null from erased where player_id = erased.id
        ), notes as (
            delete from note using erased where player_id = erased.id
        ), endpoints as (
            update webhook set player_id = null, network = null, url = '', secret = '', previous_secrets = '{}', previous_until = '{}',
                due_at = null, flag_at = null, disabled_at = $3, disabled_reason = 'deleted'
            from erased where player_id = erased.id
        )
        delete from refresh_family using erased where player_id = erased.id
        "#,
        id.0,
        name.as_str(),
        now,
    )
    .execute(pool)
    .instrument(statement("update player delete account"))
    .await?;
    Ok(())
}

/// Up to `limit` players who were erased since a moment and still have unfinished games or invitations.
pub async fn list_unfinished_erased(
    pool: &PgPool,
    since: OffsetDateTime,
    limit: u32,
) -> Result<Vec<PlayerId>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select id from player
        where erased_at >= $1 and (
            exists (
                select from game where seat_0_player_id = player.id
                    and game_status(started_at, finished_at, aborted_at) in ('active', 'open')
            ) or exists (
                select from game where seat_1_player_id = player.id and seat_0_player_id is distinct from seat_1_player_id
                    and game_status(started_at, finished_at, aborted_at) in ('active', 'open')
            ) or exists (
                select from game where invited_player_id = player.id and started_at is null and aborted_at is null
            )
        )
        order by erased_at limit $2
        "#,
        since,
        i64::from(limit),
    )
        .fetch_all(pool)
        .instrument(statement("select erased players"))
        .await?;
    Ok(ids.into_iter().map(PlayerId).collect())
}
