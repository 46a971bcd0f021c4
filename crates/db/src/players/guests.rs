//! The purge of unused guests.

use mancala_domain::PlayerId;
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::refresh_tokens;
use crate::connection::{DbError, statement};

/// How many notes of unused guests are deleted by one statement: a few milliseconds' work.
const NOTES_AT_ONCE: i64 = 1000;

/// Deletes guests of no app who were created before a moment and have not been seen since. A guest that sits in a game, is invited to one
/// or has imported one stays. The call scans up to `limit` players after the given one, and returns the last of them, or `None` at the end.
/// A guest with notes loses them first, `NOTES_AT_ONCE` at a time, and is deleted by a later scan.
pub async fn purge_guests(
    pool: &PgPool,
    before: OffsetDateTime,
    after: Option<PlayerId>,
    limit: u32,
) -> Result<Option<PlayerId>, DbError> {
    // The age of a refresh token is the part of its lifetime that is over.
    let last = sqlx::query_scalar!(
        r#"
        with candidate as (
            select id from player where id > $1 and id < $2 order by id limit $3
        ), unused as (
            select player.id from candidate join player on player.id = candidate.id
            where kind = 'guest'
                and not exists (select from game where seat_0_player_id = player.id)
                and not exists (
                    select from game
                    where seat_1_player_id = player.id and seat_0_player_id is distinct from seat_1_player_id
                )
                and not exists (
                    select from game where invited_player_id = player.id and started_at is null and aborted_at is null
                )
                and not exists (select from game where invited_player_id = player.id and opponent = 'imported')
                -- The player of an app comes back by its app, and has no refresh token.
                and not exists (select from app_player where player_id = player.id)
                -- A player with an identity signs in by its issuer again.
                and not exists (select from player_identity where player_id = player.id)
                -- The names of a guest that was merged with an account may outlast its games.
                and not exists (
                    select from player named where named.kind = 'imported'
                        and coalesce(named.importer_id, '00000000-0000-0000-0000-000000000000') = player.id
                )
                and not exists (
                    select from refresh_family family join refresh_token token on token.family_id = family.id
                    where family.player_id = player.id and token.expires_at > $4
                )
        ), forgotten as (
            delete from note using (
                select note.player_id, note.game_id, note.ply from unused join note on note.player_id = unused.id limit $5
            ) old
            where note.player_id = old.player_id and note.game_id = old.game_id and note.ply = old.ply
        ), gone as (
            delete from player using unused
            where player.id = unused.id and kind = 'guest' and not exists (select from note where player_id = player.id)
        )
        select id from candidate order by id desc limit 1
        "#,
        after.map_or(Uuid::nil(), |player| player.0),
        first_id_at(before),
        i64::from(limit),
        before + refresh_tokens::LIFETIME,
        NOTES_AT_ONCE,
    )
    .fetch_optional(pool)
    .instrument(statement("delete unused guests"))
    .await?;
    Ok(last.map(PlayerId))
}

/// The first id that a player of this moment may have: ids begin with the time of their creation.
pub(super) fn first_id_at(moment: OffsetDateTime) -> Uuid {
    Uuid::from_u128(u128::try_from(moment.unix_timestamp() * 1000).unwrap_or_default() << 80)
}
