//! The flag of games whose players have webhooks. A new webhook flags its player's games.

use mancala_domain::PlayerId;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// After this time the games of a new webhook's player are flagged once more. It is longer than any statement that
/// stored a game meanwhile and did not see the webhook.
pub(crate) const FLAG_AGAIN_AFTER: Duration = Duration::seconds(15);

/// How many games of a player are scanned: all unfinished ones, which are bounded, and as many invitations.
const FLAGGED_MAX: i64 = 2000;

/// How many games one statement flags: moves in them wait for it.
const FLAGGED_AT_ONCE: i64 = 100;

/// Flags the games of players whose webhooks were made a while ago, for games that were stored at that moment. A game
/// whose row is locked is flagged later.
pub async fn flag_again(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<(), DbError> {
    let due = sqlx::query!(
        r#"
        select id, player_id as "player_id!", flag_at as "flag_at!" from webhook
        where flag_at <= $1 and player_id is not null order by flag_at limit $2
        "#,
        now,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select webhooks to flag games of"))
    .await?;
    for webhook in due {
        let is_all = match flag_games(pool, PlayerId(webhook.player_id)).await {
            Ok(is_all) => is_all,
            Err(error) => {
                tracing::warn!(webhook.id = %webhook.id, "not all games of a webhook's player are flagged yet: {error}");
                false
            }
        };
        let again_at = (!is_all).then_some(now + FLAG_AGAIN_AFTER);
        sqlx::query!(
            "update webhook set flag_at = $3 where id = $1 and flag_at = $2",
            webhook.id,
            webhook.flag_at,
            again_at,
        )
        .execute(pool)
        .instrument(statement("update webhook flag_at"))
        .await?;
    }
    Ok(())
}

/// Flags a player's games as far as possible now; `flag_again` flags the rest.
pub(crate) async fn flag_now(pool: &PgPool, player: PlayerId) {
    if let Err(error) = flag_games(pool, player).await {
        tracing::warn!(player.id = %player.0, "existing games are flagged for a new webhook some seconds later: {error}");
    }
}

/// Flags a player's unfinished games, so that their events are sent; returns whether all of them are flagged. Locked
/// rows are skipped.
pub(crate) async fn flag_games(pool: &PgPool, player: PlayerId) -> Result<bool, DbError> {
    loop {
        let some = flag_some(pool, player).await?;
        if some.flagged == 0 {
            return Ok(some.chosen == 0);
        }
    }
}

struct Flagged {
    chosen: i64,
    flagged: i64,
}

async fn flag_some(pool: &PgPool, player: PlayerId) -> Result<Flagged, DbError> {
    let some = sqlx::query_as!(
        Flagged,
        r#"
        with chosen as (
            select game.id from unnest(array['active', 'open']) as wanted (status)
            cross join lateral (
                (select id from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
                union all
                (select id from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
                   and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
            ) seated join game on game.id = seated.id where not has_webhooks
            union all
            select id from (
                select id, has_webhooks from game
                where invited_player_id = $1 and started_at is null and aborted_at is null order by id desc limit $2
            ) invited where not has_webhooks
        ), free as (
            select id from game where id in (select id from chosen) limit $3 for no key update skip locked
        ), flagged as (
            update game set has_webhooks = true from free where game.id = free.id returning 1
        )
        select (select count(*) from chosen) as "chosen!", (select count(*) from flagged) as "flagged!"
        "#,
        player.0,
        FLAGGED_MAX,
        FLAGGED_AT_ONCE,
    )
    .fetch_one(pool)
    .instrument(statement("update game has_webhooks"))
    .await?;
    Ok(some)
}
