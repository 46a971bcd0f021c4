//! How often a player has invited another one recently. Knows no game.

use mancala_domain::{Player, PlayerId};
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    networks::{HASHES_END, Network},
    rows::PlayerRow,
};
use crate::connection::{DbError, statement};

/// How many times a player may invite the same other player within [`WINDOW`]: more games than two people play in a day, and no nuisance.
pub const INVITATIONS_MAX: u32 = 20;

/// The time within which invitations count.
pub const WINDOW: Duration = Duration::days(1);

/// How many invitations all players of one network may send to one player within [`WINDOW`]. Enough for a class and its teacher, and too few for
/// a script that makes guests.
pub const NETWORK_INVITATIONS_MAX: u32 = 60;

/// How many each account may send when its network has sent [`NETWORK_INVITATIONS_MAX`]. So a script cannot silence the accounts of a school.
pub const ACCOUNT_INVITATIONS_KEPT: u32 = 2;

/// How many all players of one network may send, those of accounts beyond [`NETWORK_INVITATIONS_MAX`] included: accounts are free, too.
pub const NETWORK_INVITATIONS_KEPT_MAX: u32 = 240;

/// Distinguishes these advisory locks from others.
const LOCK: i64 = 0x696e_7669_7465;

/// An invitation that is about to be stored.
#[derive(Clone, Copy, Debug)]
pub struct NewInvitation {
    /// The inviting player.
    pub inviter: PlayerId,
    /// The invited player.
    pub invited: PlayerId,
    /// The network from which it comes, if networks are counted. The one from which a guest was made takes precedence, and players of apps are
    /// counted by none: each app has quotas of its own.
    pub network: Option<Network>,
    /// The present moment.
    pub now: OffsetDateTime,
}

/// Counts an invitation that is about to be stored. If there are too many, it is not counted, and the answer says when there is room. Also
/// one counts that is declined, withdrawn or not stored in the end. Invitations of a network to one player follow each other, and so do those of the
/// two, so each counts the ones before it. The players are locked as well, so an erasure of either has happened by now, or deletes the row. Nothing
/// is counted of an erased player.
pub async fn count(pool: &PgPool, new: &NewInvitation) -> Result<Result<(), OffsetDateTime>, DbError> {
    let mut transaction = pool.begin().await?;
    let inviter =
        sqlx::query!(r#"select network, kind = 'account' as "is_account!" from player where id = $1"#, new.inviter.0);
    let inviter = inviter.fetch_optional(&mut *transaction).instrument(statement("select player")).await?;
    let Some(inviter) = inviter else { return Ok(Ok(())) };
    let network = inviter.network.or(new.network.map(|network| network.0)).filter(|network| *network < HASHES_END);
    let key = format!("{} {}", network.unwrap_or(new.inviter.0), new.invited.0);
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended($1, $2))", key, LOCK)
        .execute(&mut *transaction)
        .instrument(statement("select pg_advisory_xact_lock"))
        .await?;
    if let Some(until) = quota_used_until(&mut transaction, new, network, inviter.is_account).await? {
        return Ok(Err(until));
    }
    sqlx::query!(
        r#"
        insert into invitation_count as kept (inviter_id, invited_id, made_at, last_at, network)
        select $1, $2, array[$3::timestamptz], $3, $5
        where (
            select count(*) from (
                select from player where id in ($1, $2) and kind in ('guest', 'account') order by id for share
            ) people
        ) = 2
        on conflict (inviter_id, invited_id) do update
        set made_at = array(select at from unnest(kept.made_at) as at where at > $4) || excluded.made_at, last_at = excluded.last_at,
            network = coalesce(excluded.network, kept.network)
        "#,
        new.inviter.0,
        new.invited.0,
        new.now,
        new.now - WINDOW,
        network,
    )
    .execute(&mut *transaction)
    .instrument(statement("insert invitation_count"))
    .await?;
    transaction.commit().await?;
    Ok(Ok(()))
}

/// When there is room for another invitation, if a quota is used up. The quotas are that of the two players, and that of the network and the
/// invited player.
async fn quota_used_until(
    connection: &mut PgConnection,
    new: &NewInvitation,
    network: Option<Uuid>,
    is_account: bool,
) -> Result<Option<OffsetDateTime>, DbError> {
    // For each quota, the invitation that exhausted it, if any.
    let used = sqlx::query!(
        r#"
        with own as (
            select at from invitation_count, unnest(made_at) as at where inviter_id = $1 and invited_id = $2 and at > $4
        ), shared as (
            select at from invitation_count, unnest(made_at) as at where invited_id = $2 and network = $3 and at > $4
        )
        select (select at from own order by at desc offset $5 limit 1) as own,
            (select at from own order by at desc offset $6 limit 1) as kept,
            (select at from shared order by at desc offset $7 limit 1) as shared,
            (select at from shared order by at desc offset $8 limit 1) as kept_shared
        "#,
        new.inviter.0,
        new.invited.0,
        network,
        new.now - WINDOW,
        i64::from(INVITATIONS_MAX - 1),
        i64::from(ACCOUNT_INVITATIONS_KEPT - 1),
        i64::from(NETWORK_INVITATIONS_MAX - 1),
        i64::from(NETWORK_INVITATIONS_KEPT_MAX - 1),
    )
    .fetch_one(connection)
    .instrument(statement("select invitation_count"))
    .await?;
    // `None` sorts first: the quota has room. An account may use its network's quota, or the part that is reserved for accounts.
    let of_network = if is_account { used.shared.min(used.kept.max(used.kept_shared)) } else { used.shared };
    Ok(used.own.max(of_network).map(|oldest| oldest + WINDOW))
}

/// The recent invitations of a player to another one.
#[derive(Clone, Debug)]
pub struct CountedInvitations {
    /// The invited player.
    pub player: Player,
    /// The times of the invitations, oldest first.
    pub made_at: Vec<OffsetDateTime>,
    /// The network of the last invitation, if it is known.
    pub network: Option<Network>,
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
            array(select at from unnest(made_at) as at where at > $3 order by at) as "made_at!",
            invitation_count.network
        from invitation_count join player on player.id = invited_id
        where inviter_id = $1 and last_at > $3 order by last_at desc, invited_id desc limit $2
        "#,
        inviter.0,
        i64::from(limit),
        now - WINDOW,
    );
    let rows = rows.fetch_all(pool).instrument(statement("select invitation_count player")).await?;
    let rows = rows.into_iter().map(|row| {
        let player = PlayerRow { id: row.id, kind: row.kind, name: row.name, created_at: row.created_at };
        (player, row.made_at, row.network.map(Network))
    });
    rows.map(|(row, made_at, network)| Ok(CountedInvitations { player: row.try_into()?, made_at, network })).collect()
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
