//! Players, and the accounts of those who can sign in.

pub mod refresh_tokens;
pub mod stats;
pub mod summary;

use mancala_domain::{Player, PlayerId, PlayerKind, PlayerName};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use self::refresh_tokens::Hash;
use crate::connection::{DbError, statement};

/// The constraint that a second account of one name would break.
const NAME_CONSTRAINT: &str = "account_name_key_key";

/// How many finished games in a seat are counted for a profile: some ten milliseconds' work.
const COUNTED_MAX: i64 = 100_000;

/// How many notes of unused guests are deleted by one statement: a few milliseconds' work.
const NOTES_AT_ONCE: i64 = 1000;

/// A player with what is not shown to others.
#[derive(Clone, Debug)]
pub struct OwnPlayer {
    pub player: Player,
    /// Raised when the password changes: sign-ins under an older one are void.
    pub credentials_version: i32,
}

/// Whether an account could be stored under its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Stored,
    /// Another account has a name that reads the same.
    Taken,
    /// The player is not as it was when it was read: nothing was stored.
    Changed,
}

/// Stores a new player, with an account if there is a password, and the first token of a first sign-in.
pub async fn insert(
    pool: &PgPool,
    player: &Player,
    password_hash: Option<&str>,
    sign_in: &SignIn,
) -> Result<Named, DbError> {
    let stored = sqlx::query!(
        r#"
        with made as (
            insert into player (id, kind, name, created_at) values ($1, $2, $3, $4) returning id
        ), account as (
            insert into account (player_id, name_key, password_hash)
            select made.id, $5, $6 from made where $6::text is not null
        ), family as (
            insert into refresh_family (id, player_id, used_generation) select $7, made.id, 0 from made returning id
        )
        insert into refresh_token (hash, family_id, generation, expires_at) select $8, family.id, 1, $9 from family
        "#,
        player.id.0,
        player.kind.as_str(),
        player.name.as_str(),
        player.created_at,
        player.name.key(),
        password_hash,
        sign_in.family,
        &sign_in.first,
        sign_in.expires_at,
    )
    .execute(pool)
    .instrument(statement("insert player"))
    .await;
    named(stored.map(|done| done.rows_affected()))
}

/// A sign-in with its first refresh token.
#[derive(Clone, Copy, Debug)]
pub struct SignIn {
    pub family: Uuid,
    /// Of the token that its holder gets.
    pub first: Hash,
    pub expires_at: OffsetDateTime,
}

/// A player by their id.
pub async fn find(pool: &PgPool, id: PlayerId) -> Result<Option<OwnPlayer>, DbError> {
    let row = sqlx::query_as!(
        OwnPlayerRow,
        "select id, kind, name, created_at, credentials_version from player where id = $1",
        id.0
    )
    .fetch_optional(pool)
    .instrument(statement("select player"))
    .await?;
    row.map(OwnPlayer::try_from).transpose()
}

/// The `credentials_version` of some players, of those who are not gone.
pub async fn credentials(pool: &PgPool, ids: &[PlayerId]) -> Result<Vec<(PlayerId, i32)>, DbError> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows =
        sqlx::query!("select id, credentials_version from player where id = any($1) and kind <> 'deleted'", &ids)
            .fetch_all(pool)
            .instrument(statement("select player credentials"))
            .await?;
    Ok(rows.into_iter().map(|row| (PlayerId(row.id), row.credentials_version)).collect())
}

/// The account of a name, and the hash of its password.
pub async fn find_account(pool: &PgPool, name: &PlayerName) -> Result<Option<(OwnPlayer, String)>, DbError> {
    let row = sqlx::query!(
        r#"
        select player.id, kind, name, created_at, credentials_version, password_hash
        from account join player on player.id = account.player_id where name_key = $1
        "#,
        name.key()
    )
    .fetch_optional(pool)
    .instrument(statement("select account"))
    .await?;
    row.map(|row| {
        let (id, kind, name, created_at) = (row.id, row.kind, row.name, row.created_at);
        let own = OwnPlayerRow { id, kind, name, created_at, credentials_version: row.credentials_version };
        Ok((own.try_into()?, row.password_hash))
    })
    .transpose()
}

/// How a player has fared against others; games against oneself do not count.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    pub active: u32,
    pub won: u32,
    pub lost: u32,
    pub drawn: u32,
}

/// Counts a player's games, up to 100,000 finished ones in each seat.
pub async fn count_games(pool: &PgPool, id: PlayerId) -> Result<Counts, DbError> {
    let row = sqlx::query!(
        r#"
        select
            (select count(*) from (
                (select from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'active'
                   and seat_1_player_id <> $1 limit $2)
                union all
                (select from game
                 where seat_1_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'active'
                   and seat_0_player_id is distinct from seat_1_player_id limit $2)
            ) active) as "active!",
            count(*) filter (where winner_seat = seat) as "won!",
            count(*) filter (where winner_seat <> seat) as "lost!",
            count(*) filter (where winner_seat is null) as "drawn!"
        from (
            (select 0 as seat, winner_seat from game
             where seat_0_player_id = $1 and finished_at is not null and seat_1_player_id <> $1 limit $2)
            union all
            (select 1 as seat, winner_seat from game
             where seat_1_player_id = $1 and finished_at is not null
               and seat_0_player_id is distinct from seat_1_player_id limit $2)
        ) finished
        "#,
        id.0,
        COUNTED_MAX,
    )
    .fetch_one(pool)
    .instrument(statement("count games of a player"))
    .await?;
    let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(Counts { active: count(row.active), won: count(row.won), lost: count(row.lost), drawn: count(row.drawn) })
}

/// Stores a player's new name, and a new password if there is one, which voids all sign-ins before. `before` is the player
/// as they were read.
pub async fn update(
    pool: &PgPool,
    before: &OwnPlayer,
    after: &Player,
    password_hash: Option<&str>,
) -> Result<Named, DbError> {
    // The last CTE keeps the account in step, which is made with the first password.
    let stored = sqlx::query!(
        r#"
        with changed as (
            update player set kind = $5, name = $6, credentials_version = credentials_version + ($8::text is not null)::integer
            where id = $1 and kind = $2 and name = $3 and credentials_version = $4
            returning id
        ), account as (
            insert into account (player_id, name_key, password_hash)
            select id, $7, coalesce($8, (select password_hash from account where player_id = $1))
            from changed where $5 = 'account'
            on conflict (player_id) do update
            set name_key = excluded.name_key, password_hash = excluded.password_hash
        )
        select id from changed
        "#,
        before.player.id.0,
        before.player.kind.as_str(),
        before.player.name.as_str(),
        before.credentials_version,
        after.kind.as_str(),
        after.name.as_str(),
        after.name.key(),
        password_hash,
    )
    .fetch_optional(pool)
    .instrument(statement("update player"))
    .await;
    named(stored.map(|row| u64::from(row.is_some())))
}

/// Erases a player: what remains is that somebody sat in their games. Those games are still to be ended.
pub async fn erase(pool: &PgPool, id: PlayerId, now: OffsetDateTime) -> Result<(), DbError> {
    let name = PlayerName::of_deleted();
    sqlx::query!(
        r#"
        with erased as (
            update player
            set kind = 'deleted', name = $2, erased_at = $3, credentials_version = credentials_version + 1
            where id = $1 and kind <> 'deleted' returning id
        ), account as (
            delete from account using erased where player_id = erased.id
        ), answers as (
            delete from idempotency_key using erased where player_id = erased.id
        ), analyses as (
            delete from analysis_request using erased where player_id = erased.id
        ), notes as (
            delete from note using erased where player_id = erased.id
        ), endpoints as (
            update webhook set player_id = null, url = '', secret = '', previous_secrets = '{}', previous_until = '{}',
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

/// Up to `limit` players who were erased since a moment and have games that are not over, or are invited to one.
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

/// Deletes guests who came before a moment, have not been seen since, and neither sit in a game nor are invited to
/// one; it looks at up to `limit` players
/// after the one given, and gives the last of them, or `None` at the end. Those who have notes lose them first, so many at a time, and are
/// deleted the next time that they are looked at.
pub async fn purge_guests(
    pool: &PgPool,
    before: OffsetDateTime,
    after: Option<PlayerId>,
    limit: u32,
) -> Result<Option<PlayerId>, DbError> {
    // Ids begin with the time at which they were made. A refresh token is as old as it has used up of its life.
    let first_kept = Uuid::from_u128(u128::try_from(before.unix_timestamp() * 1000).unwrap_or_default() << 80);
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
        first_kept,
        i64::from(limit),
        before + refresh_tokens::LIFETIME,
        NOTES_AT_ONCE,
    )
    .fetch_optional(pool)
    .instrument(statement("delete unused guests"))
    .await?;
    Ok(last.map(PlayerId))
}

fn named(stored: Result<u64, sqlx::Error>) -> Result<Named, DbError> {
    match stored.map_err(DbError::from) {
        Ok(0) => Ok(Named::Changed),
        Ok(_) => Ok(Named::Stored),
        Err(DbError::Constraint { name }) if name == NAME_CONSTRAINT => Ok(Named::Taken),
        Err(error) => Err(error),
    }
}

/// A player's row, also where a game's row brings its players along.
pub(crate) struct PlayerRow {
    pub id: Uuid,
    pub kind: String,
    pub name: String,
    pub created_at: OffsetDateTime,
}

impl TryFrom<PlayerRow> for Player {
    type Error = DbError;

    fn try_from(row: PlayerRow) -> Result<Self, DbError> {
        let kind = PlayerKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == row.kind)
            .ok_or_else(|| DbError::inconsistent("player", "kind", row.id, &row.kind))?;
        Ok(Player { id: PlayerId(row.id), kind, name: PlayerName::from_stored(row.name), created_at: row.created_at })
    }
}

/// A player's row with what is not shown to others.
pub(crate) struct OwnPlayerRow {
    pub id: Uuid,
    pub kind: String,
    pub name: String,
    pub created_at: OffsetDateTime,
    pub credentials_version: i32,
}

impl TryFrom<OwnPlayerRow> for OwnPlayer {
    type Error = DbError;

    fn try_from(row: OwnPlayerRow) -> Result<Self, DbError> {
        let player = PlayerRow { id: row.id, kind: row.kind, name: row.name, created_at: row.created_at };
        Ok(Self { player: player.try_into()?, credentials_version: row.credentials_version })
    }
}
