//! Players that a player may look for: accounts by the beginning of their names, and recent opponents; and when a friend was last seen.

use mancala_domain::{GameId, Player, PlayerId, PlayerName};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use super::{refresh_tokens::LIFETIME, rows::PlayerRow};
use crate::connection::{DbError, statement};

/// How many accounts whose names begin so are read. Blocked and blocking ones are left out afterwards.
const CANDIDATES_MAX: i64 = 100;

/// How many of a player's newest games in each seat, active or finished, are searched for opponents.
const RECENT_GAMES_MAX: i64 = 100;

/// How many of a player's newest sign-ins are searched for the last use: those of the player's own list.
const SIGN_INS_MAX: i64 = 100;

/// A player whom a player has met.
#[derive(Clone, Debug)]
pub struct RecentOpponent {
    /// The opponent.
    pub player: Player,
    /// The newest game of the two.
    pub game: GameId,
}

/// Up to `limit` accounts that want to be found and whose names begin so, in the order of their names, for a player. That player is left
/// out, and so are accounts with a block or an app between, and banned ones.
pub async fn find_by_prefix(
    pool: &PgPool,
    prefix: &PlayerName,
    player: PlayerId,
    limit: u32,
) -> Result<Vec<Player>, DbError> {
    let first = prefix.key();
    // No name has this character, and none sorts behind it.
    let end = format!("{first}\u{10ffff}");
    let rows = sqlx::query_as!(
        PlayerRow,
        r#"
        select player.id, player.kind, player.name, player.created_at
        from (
            select player_id, name_key from account
            where is_findable and name_key collate "C" >= $1 and name_key collate "C" < $2
            order by name_key collate "C" limit $3
        ) candidate join player on player.id = candidate.player_id
        where candidate.player_id <> $4
            and (select true from player_block where blocker_id = $4 and blocked_id = candidate.player_id) is null
            and (select true from player_block where blocker_id = candidate.player_id and blocked_id = $4) is null
            and (select true from player_suspension where player_id = candidate.player_id and lifted_at is null and until is null) is null
            and not players_are_apart($4, candidate.player_id)
        order by candidate.name_key collate "C" limit $5
        "#,
        first,
        end,
        CANDIDATES_MAX,
        player.0,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select account by prefix"))
    .await?;
    rows.into_iter().map(Player::try_from).collect()
}

/// Up to `limit` people against whom a player has begun games, that of the newest game first. People with a block or an app between are
/// left out.
pub async fn list_opponents(pool: &PgPool, player: PlayerId, limit: u32) -> Result<Vec<RecentOpponent>, DbError> {
    let rows = sqlx::query!(
        r#"
        select player.id, player.kind, player.name, player.created_at, met.game_id as "game_id!"
        from (
            select opponent_id, (array_agg(id order by id desc))[1] as game_id from (
                (select id, seat_1_player_id as opponent_id from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'active'
                 order by id desc limit $2)
                union all
                (select id, seat_1_player_id from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'finished'
                 order by id desc limit $2)
                union all
                (select id, seat_0_player_id from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
                    and game_status(started_at, finished_at, aborted_at) = 'active'
                 order by id desc limit $2)
                union all
                (select id, seat_0_player_id from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
                    and game_status(started_at, finished_at, aborted_at) = 'finished'
                 order by id desc limit $2)
            ) recent
            where opponent_id <> $1
            group by opponent_id
        ) met join player on player.id = met.opponent_id
        where player.kind in ('guest', 'account')
            and (select true from player_block where blocker_id = $1 and blocked_id = met.opponent_id) is null
            and (select true from player_block where blocker_id = met.opponent_id and blocked_id = $1) is null
            and not players_are_apart($1, met.opponent_id)
        order by met.game_id desc limit $3
        "#,
        player.0,
        RECENT_GAMES_MAX,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select opponents"))
    .await?;
    let opponents = rows.into_iter().map(|row| {
        let player = PlayerRow { id: row.id, kind: row.kind, name: row.name, created_at: row.created_at };
        Ok(RecentOpponent { player: player.try_into()?, game: GameId(row.game_id) })
    });
    opponents.collect()
}

/// The account with this name, as its owner signs in.
pub async fn find_by_name(pool: &PgPool, name: &PlayerName) -> Result<Option<PlayerId>, DbError> {
    let id = sqlx::query_scalar!("select player_id from account where name_key = $1", name.key());
    Ok(id.fetch_optional(pool).instrument(statement("select account")).await?.map(PlayerId))
}

/// When a sign-in of a player last got new tokens, as a friend may see it; `None` for others, if the player hides it, or without a sign-in. Nothing
/// is stored for it.
pub async fn last_seen(pool: &PgPool, player: PlayerId, viewer: PlayerId) -> Result<Option<OffsetDateTime>, DbError> {
    let expires_at = sqlx::query_scalar!(
        r#"
        select (
            select max(newest.expires_at) from (
                select id from refresh_family family
                where family.player_id = $1 and family.credentials_version = player.credentials_version
                    and family.revoked_at is null
                order by id desc limit $3
            ) family cross join lateral (
                select expires_at from refresh_token where family_id = family.id order by generation desc limit 1
            ) newest
        )
        from player
        where id = $1 and not exists (select from hidden_last_seen where player_id = $1)
            and exists (
                select from friendship
                where accepted_at is not null
                    and (asker_id = $1 and asked_id = $2 or asker_id = $2 and asked_id = $1)
            )
        "#,
        player.0,
        viewer.0,
        SIGN_INS_MAX,
    )
    .fetch_optional(pool)
    .instrument(statement("select refresh_family of a friend"))
    .await?;
    Ok(expires_at.flatten().map(|expires_at| expires_at - LIFETIME))
}
