//! How many open public games a guest or a new account has, and those of its network together.

use mancala_domain::{Event, Game, Opponent, PlayerName, Visibility};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;

use super::insert::{self, Inserted, OpenGamesLimit};
use crate::{
    connection::{DbError, statement},
    idempotency::Keyed,
    players::HASHES_END,
};

/// The most open public games of a guest or a new account: a few kinds of games at a time.
pub const OPEN_GAMES_MAX: u32 = 3;

/// The most open public games of all guests and new accounts of one network: enough for a class that looks for opponents.
pub const NETWORK_OPEN_GAMES_MAX: u32 = 20;

/// Distinguishes these advisory locks from others.
const LOCK: i64 = 0x6f70_656e;

/// Stores a new game as [`insert`](super::insert()) does, unless its creator has the most open games allowed.
pub async fn insert_counted(
    pool: &PgPool,
    game: &Game,
    created: &Event,
    keyed: Option<&Keyed>,
    hotseat_name: Option<&PlayerName>,
) -> Result<Inserted, DbError> {
    if game.terms().opponent != Opponent::Open || game.terms().visibility != Visibility::Public {
        return insert::insert(pool, game, created, keyed, hotseat_name).await;
    }
    let mut transaction = pool.begin().await?;
    if let Some(limit) = count(&mut transaction, game).await? {
        return Ok(Inserted::TooManyOpen(limit));
    }
    let inserted = insert::insert(&mut *transaction, game, created, keyed, hotseat_name).await?;
    if inserted == Inserted::Stored {
        transaction.commit().await?;
    }
    Ok(inserted)
}

/// Counts an open public game that is about to be stored in the same transaction; returns the limit that it would exceed. Games of one network
/// follow each other, so each counts the ones before it. Players of apps are not counted here, because each app has quotas of its own.
pub(super) async fn count(connection: &mut PgConnection, game: &Game) -> Result<Option<OpenGamesLimit>, DbError> {
    let (Some(creator), Some(expires_at)) = (game.players()[game.terms().creator], game.expires_at()) else {
        return Ok(None);
    };
    let counted = sqlx::query_scalar!(
        "select network from player where id = $1 and (network < $2 or network is null and kind = 'guest')",
        creator.0,
        HASHES_END,
    );
    let counted = counted.fetch_optional(&mut *connection).instrument(statement("select player network")).await?;
    let Some(network) = counted else { return Ok(None) };
    sqlx::query!(
        "select pg_advisory_xact_lock(hashtextextended($1::uuid::text, $2))",
        network.unwrap_or(creator.0),
        LOCK
    )
    .execute(&mut *connection)
    .instrument(statement("select pg_advisory_xact_lock"))
    .await?;
    // A separate statement sees all rows that were stored before the lock. A game that is stored again after a lost answer is not counted
    // twice.
    let open = sqlx::query!(
        r#"
        with listed as (
            select game_id, player_id from open_game where player_id = $1
            union
            select game_id, player_id from open_game where network = $2
        ), seen as (
            select game_id, player_id,
                game.id is not null and started_at is null and aborted_at is null and game.expires_at > $4 as is_open
            from listed left join game on game.id = game_id
        ), over as (
            delete from open_game using seen where open_game.game_id = seen.game_id and not is_open
        )
        select count(*) filter (where player_id = $1) as "own!", count(*) as "of_network!"
        from seen where is_open and game_id <> $3
        "#,
        creator.0,
        network,
        game.id().0,
        game.created_at(),
    )
    .fetch_one(&mut *connection)
    .instrument(statement("count open_game"))
    .await?;
    if open.own >= i64::from(OPEN_GAMES_MAX) {
        return Ok(Some(OpenGamesLimit::Player));
    }
    if open.of_network >= i64::from(NETWORK_OPEN_GAMES_MAX) {
        return Ok(Some(OpenGamesLimit::Network));
    }
    // The player's row is locked, so that no erasure leaves this one behind.
    sqlx::query!(
        r#"
        insert into open_game (game_id, player_id, network, expires_at)
        select $1, id, network, $3 from player where id = $2 and kind <> 'deleted' for share
        on conflict (game_id) do nothing
        "#,
        game.id().0,
        creator.0,
        expires_at,
    )
    .execute(connection)
    .instrument(statement("insert open_game"))
    .await?;
    Ok(None)
}

/// Deletes up to `limit` rows of games whose time to expire has passed; returns how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let deleted = sqlx::query!(
        r#"
        delete from open_game where game_id in (
            select game_id from open_game where expires_at <= $1 order by expires_at limit $2 for update skip locked
        )
        "#,
        now,
        i64::from(limit),
    );
    Ok(deleted.execute(pool).instrument(statement("delete open_game")).await?.rows_affected())
}
