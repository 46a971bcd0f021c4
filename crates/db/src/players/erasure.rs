//! The erasure of players.
//!
//! Nothing personal of an erased player is stored: [`personal_data`](super::personal_data) says how each column is erased. [`erase`]
//! deletes the rows that the release before knows. Triggers on `player.kind` delete the rows of later tables, also if an older release
//! erases. Every statement that inserts a row of a player locks the player's row first, at least `for share`, and inserts nothing for a
//! deleted player. The erasure locks it `for no key update`, and deletes by later statements. So either the erasure sees a row, or the row
//! is not stored.

use mancala_domain::{PlayerId, PlayerName};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;

use super::{
    kept_suspensions::{self, PersonKey},
    personal_data,
};
use crate::connection::{DbError, statement, wait_longer_for_locks};

/// Erases a player: the row stays, without a name, for the seats in games. Returns the new `credentials_version`, or `None` if
/// there is no such player any more. Unfinished games are left to the caller, and imported ones too: see
/// [`erase_imports`](crate::records::erase_imports). A suspension that counts is kept for the person, by
/// a hash with `persons`; a guest that was merged has none.
pub async fn erase(
    pool: &PgPool,
    id: PlayerId,
    persons: Option<PersonKey>,
    now: OffsetDateTime,
) -> Result<Option<i32>, DbError> {
    let mut transaction = pool.begin().await?;
    // Creations of the player hold the lock for a moment each, and there may be many.
    wait_longer_for_locks(&mut transaction).await?;
    let locked = sqlx::query!("select id from player where id = $1 and kind <> 'deleted' for no key update", id.0);
    if locked.fetch_optional(&mut *transaction).instrument(statement("lock player")).await?.is_none() {
        return Ok(None);
    }
    if let Some(persons) = persons {
        kept_suspensions::keep(&mut transaction, id, persons, now).await?;
    }
    let name = PlayerName::of_deleted();
    let version = sqlx::query_scalar!(
        r#"
        with games as (
            update computer_game set network = null where player_id = $1
        ), turns as (
            update computer_turn set round_key = player_id where player_id = $1
        ), imported as (
            -- The names that the player's imports brought: the player's own may be among them. They stay distinct until they are
            -- unlinked from the importer.
            update player set name = id::text
            where kind = 'imported' and coalesce(importer_id, '00000000-0000-0000-0000-000000000000') = $1
        )
        update player
        set kind = 'deleted', name = $2, erased_at = $3, credentials_version = credentials_version + 1,
            network = null
        where id = $1 returning credentials_version
        "#,
        id.0,
        name.as_str(),
        now,
    )
    .fetch_one(&mut *transaction)
    .instrument(statement("update player"))
    .await?;
    personal_data::delete_erased(&mut transaction, id).await?;
    delete_webhooks(&mut transaction, id, now).await?;
    transaction.commit().await?;
    Ok(Some(version))
}

/// Deletes all webhooks of a player, and the answers to their creation, which show secrets. The caller has locked the
/// player's row. Their rows are locked in the order of their ids, as by all that locks several.
pub(super) async fn delete_webhooks(
    connection: &mut PgConnection,
    player: PlayerId,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with answers as (
            delete from idempotency_key where player_id = $1 and location like '/v1/webhooks/%'
        ), held as (
            select id from webhook where player_id = $1 order by id for no key update
        )
        update webhook set player_id = null, network = null, url = '', secret = '', previous_secrets = '{}', previous_until = '{}',
            challenge = null, due_at = null, flag_at = null, disabled_at = $2, disabled_reason = 'deleted'
        from held where webhook.id = held.id
        "#,
        player.0,
        now,
    )
    .execute(connection)
    .instrument(statement("update webhook player_id"))
    .await?;
    Ok(())
}

/// Deletes up to `limit` players of an erased player's imports that are in no game. The others become deleted players.
/// To be called when [`erase_imports`](crate::records::erase_imports) finds no game any more. Returns how many players were found.
pub async fn erase_imported_players(pool: &PgPool, importer: PlayerId, limit: u32) -> Result<u64, DbError> {
    let nameless = PlayerName::of_deleted();
    let found = sqlx::query_scalar!(
        r#"
        with chosen as (
            select id, exists (select from game where seat_0_player_id = player.id) or exists (
                select from game
                where seat_1_player_id = player.id and seat_0_player_id is distinct from seat_1_player_id
            ) as is_seated
            from player
            where kind = 'imported' and coalesce(importer_id, '00000000-0000-0000-0000-000000000000') = $1 limit $2
        ), gone as (
            delete from player using chosen where player.id = chosen.id and not is_seated
        ), unlinked as (
            update player set kind = 'deleted', name = $3, importer_id = null from chosen
            where player.id = chosen.id and is_seated
        )
        select count(*) as "count!" from chosen
        "#,
        importer.0,
        i64::from(limit),
        nameless.as_str(),
    )
    .fetch_one(pool)
    .instrument(statement("delete imported players"))
    .await?;
    Ok(found.unsigned_abs())
}

/// Up to `limit` guests that are not erased yet, while the account that they were merged with was erased since a moment.
pub async fn list_guests_of_erased(pool: &PgPool, since: OffsetDateTime, limit: u32) -> Result<Vec<PlayerId>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select merged.guest_id from player
        join merged_guest merged on merged.player_id = player.id
        join player guest on guest.id = merged.guest_id
        where player.erased_at >= $1 and guest.kind <> 'deleted'
        order by player.erased_at limit $2
        "#,
        since,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select merged guests of erased players"))
    .await?;
    Ok(ids.into_iter().map(PlayerId).collect())
}

/// Up to `limit` players who were erased since a moment and whose imports are not erased yet.
pub async fn list_erased_importers(pool: &PgPool, since: OffsetDateTime, limit: u32) -> Result<Vec<PlayerId>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select id from player
        where erased_at >= $1 and exists (
            select from player named
            where named.kind = 'imported' and coalesce(named.importer_id, '00000000-0000-0000-0000-000000000000') = player.id
        )
        order by erased_at limit $2
        "#,
        since,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select erased importers"))
    .await?;
    Ok(ids.into_iter().map(PlayerId).collect())
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
