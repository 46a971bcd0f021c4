//! Identities: which persons of which issuers of sign-in are which players. It knows hashes of the issuers' ids, and no token.

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;

use super::{
    refresh_tokens::Hash,
    rows::{OwnPlayer, OwnPlayerRow},
};
use crate::connection::{DbError, statement};

/// How many identities of a player are listed: more than there are issuers.
const LISTED_MAX: i64 = 100;

/// A person as an issuer knows them.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// The issuer's URL.
    pub issuer: &'a str,
    /// SHA-256 of the issuer and of its id of the person.
    pub subject: &'a Hash,
}

/// An identity of a player.
#[derive(Clone, Debug)]
pub struct LinkedIdentity {
    /// The issuer's URL.
    pub issuer: String,
    /// When it was linked.
    pub created_at: OffsetDateTime,
}

/// The result of linking an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    /// The identity is the player's from now on.
    Stored,
    /// The player had this identity before.
    Known,
    /// Another player has this identity.
    Taken,
    /// The player has another identity of this issuer.
    HasAnother,
    /// The player's credentials were revoked since it was read.
    Gone,
}

/// The result of unlinking an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlinked {
    /// The identity is no longer the player's.
    Done,
    /// The player has no identity of this issuer.
    Unknown,
    /// Without it the player could not sign in.
    LastWayIn,
    /// The player's credentials were revoked since it was read.
    Gone,
}

/// The player of an identity.
pub async fn find(pool: &PgPool, identity: Identity<'_>) -> Result<Option<OwnPlayer>, DbError> {
    let row = sqlx::query_as!(
        OwnPlayerRow,
        r#"
        select player.id, player.kind, player.name, player.created_at, player.credentials_version,
            player.network is not null as "has_network!"
        from player_identity identity join player on player.id = identity.player_id
        where identity.issuer = $1 and identity.subject_hash = $2 and player.kind in ('guest', 'account')
        "#,
        identity.issuer,
        &identity.subject[..],
    )
    .fetch_optional(pool)
    .instrument(statement("select player_identity"))
    .await?;
    row.map(OwnPlayer::try_from).transpose()
}

/// The identities of a player, the oldest first.
pub async fn list(pool: &PgPool, player: PlayerId) -> Result<Vec<LinkedIdentity>, DbError> {
    let rows = sqlx::query_as!(
        LinkedIdentity,
        "select issuer, created_at from player_identity where player_id = $1 order by created_at, issuer limit $2",
        player.0,
        LISTED_MAX,
    )
    .fetch_all(pool)
    .instrument(statement("select player_identity"))
    .await?;
    Ok(rows)
}

/// Whether a player has an identity of any of these issuers.
pub async fn has_any(pool: &PgPool, player: PlayerId, issuers: &[String]) -> Result<bool, DbError> {
    let has = sqlx::query_scalar!(
        r#"select exists (select from player_identity where player_id = $1 and issuer = any($2)) as "has!""#,
        player.0,
        issuers,
    );
    Ok(has.fetch_one(pool).instrument(statement("select player_identity")).await?)
}

/// Links an identity to a player. `own` is the player's row as it was read.
pub async fn link(
    pool: &PgPool,
    own: &OwnPlayer,
    identity: Identity<'_>,
    now: OffsetDateTime,
) -> Result<Linked, DbError> {
    // A conflict is with either key: the identity is another player's, or the player has another one of the issuer.
    let row = sqlx::query!(
        r#"
        with held as (
            select id from player
            where id = $1 and credentials_version = $2 and kind in ('guest', 'account') for share
        ), stored as (
            insert into player_identity (issuer, subject_hash, player_id, created_at)
            select $3, $4, id, $5 from held on conflict do nothing returning player_id
        )
        select exists (select from held) as "is_there!", exists (select from stored) as "is_stored!",
            (select player_id from player_identity where issuer = $3 and subject_hash = $4) as owner
        "#,
        own.player.id.0,
        own.credentials_version,
        identity.issuer,
        &identity.subject[..],
        now,
    )
    .fetch_one(pool)
    .instrument(statement("insert player_identity"))
    .await?;
    let owner = match row.owner {
        Some(owner) => Some(owner),
        // The row may have been stored while this statement waited for it.
        None if row.is_there && !row.is_stored => find(pool, identity).await?.map(|owner| owner.player.id.0),
        None => None,
    };
    Ok(match (row.is_there, row.is_stored, owner) {
        (false, ..) => Linked::Gone,
        (true, true, _) => Linked::Stored,
        (true, false, Some(owner)) if owner == own.player.id.0 => Linked::Known,
        (true, false, Some(_)) => Linked::Taken,
        (true, false, None) => Linked::HasAnother,
    })
}

/// Unlinks the identity of an issuer, unless the player could not sign in afterwards. A player signs in with a password, or with identities
/// of the `offered` issuers. An identity of another issuer can always be unlinked.
pub async fn unlink(pool: &PgPool, own: &OwnPlayer, issuer: &str, offered: &[String]) -> Result<Unlinked, DbError> {
    let player = own.player.id.0;
    let mut transaction = pool.begin().await?;
    // A separate statement: of two concurrent calls, the second sees the changes of the first.
    let locked = sqlx::query_scalar!(
        "select id from player where id = $1 and credentials_version = $2 and kind in ('guest', 'account') for no key update",
        player,
        own.credentials_version,
    );
    if locked.fetch_optional(&mut *transaction).instrument(statement("lock player")).await?.is_none() {
        return Ok(Unlinked::Gone);
    }
    let row = sqlx::query!(
        r#"
        with ways as (
            select $2 <> all($3) or exists (select from account where player_id = $1) or exists (
                select from player_identity where player_id = $1 and issuer <> $2 and issuer = any($3)
            ) as has_another
        ), gone as (
            delete from player_identity using ways
            where player_id = $1 and issuer = $2 and ways.has_another returning issuer
        )
        select exists (select from player_identity where player_id = $1 and issuer = $2) as "was_there!",
            exists (select from gone) as "is_gone!"
        "#,
        player,
        issuer,
        offered,
    )
    .fetch_one(&mut *transaction)
    .instrument(statement("delete player_identity"))
    .await?;
    transaction.commit().await?;
    Ok(match (row.was_there, row.is_gone) {
        (false, _) => Unlinked::Unknown,
        (true, true) => Unlinked::Done,
        (true, false) => Unlinked::LastWayIn,
    })
}

/// Unlinks all identities of a player, whose row is locked; returns how many.
pub(crate) async fn unlink_all(connection: &mut PgConnection, player: PlayerId) -> Result<u64, DbError> {
    let unlinked = sqlx::query!("delete from player_identity where player_id = $1", player.0);
    Ok(unlinked.execute(connection).instrument(statement("delete player_identity")).await?.rows_affected())
}

/// Notes that a session of sign-in is used; returns whether it was not before.
pub async fn use_session(pool: &PgPool, hash: &Hash, expires_at: OffsetDateTime) -> Result<bool, DbError> {
    let stored = sqlx::query!(
        "insert into used_sign_in (hash, expires_at) values ($1, $2) on conflict do nothing",
        &hash[..],
        expires_at,
    );
    let stored = stored.execute(pool).instrument(statement("insert used_sign_in")).await?;
    Ok(stored.rows_affected() > 0)
}

/// The session may be used again, because its issuer did not answer.
pub async fn release_session(pool: &PgPool, hash: &Hash) -> Result<(), DbError> {
    let released = sqlx::query!("delete from used_sign_in where hash = $1", &hash[..]);
    released.execute(pool).instrument(statement("delete used_sign_in")).await?;
    Ok(())
}

/// Deletes up to `limit` sessions that have run out; returns how many.
pub async fn purge_sessions(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let purged = sqlx::query!(
        r#"
        delete from used_sign_in where hash in (
            select hash from used_sign_in where expires_at <= $1 order by expires_at limit $2 for update skip locked
        )
        "#,
        now,
        i64::from(limit),
    );
    Ok(purged.execute(pool).instrument(statement("delete used_sign_in")).await?.rows_affected())
}
