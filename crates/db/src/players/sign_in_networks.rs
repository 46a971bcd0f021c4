//! The networks of an account's last successful sign-ins, as keyed hashes.

use std::fmt;

use mancala_domain::PlayerId;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// How long a network is kept after the last sign-in from it.
pub const KEPT: Duration = Duration::days(90);

/// How many networks of an account are kept: at home, at work, and on the phone.
const NETWORKS_MAX: i64 = 3;

/// A sign-in from a network that was noted within this time is not noted again.
const NOTED_FOR: Duration = Duration::hours(1);

/// A keyed hash of a player and of a network.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SignInNetwork(Uuid);

impl SignInNetwork {
    /// The network with this hash.
    pub fn of_hash(hash: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(hash))
    }

    /// The hash in hexadecimal digits.
    pub fn to_hex(self) -> String {
        self.0.simple().to_string()
    }
}

/// Hides the hash, which identifies a person's address.
impl fmt::Debug for SignInNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignInNetwork(…)")
    }
}

/// Notes that an account was signed in to from a network; of its networks, the last `NETWORKS_MAX` stay. A guest has none.
pub async fn note(pool: &PgPool, player: PlayerId, network: SignInNetwork, now: OffsetDateTime) -> Result<(), DbError> {
    // The player's row is locked, so that no erasure leaves the network behind.
    sqlx::query!(
        r#"
        with account as (
            select id from player where id = $1 and kind = 'account' for share
        ), noted as (
            insert into sign_in_network as kept (player_id, network, seen_at) select id, $2, $3 from account
            on conflict (player_id, network) do update set seen_at = excluded.seen_at where kept.seen_at < $4
        )
        delete from sign_in_network where player_id = $1 and network in (
            select network from sign_in_network where player_id = $1 and network <> $2 order by seen_at desc, network offset $5
        )
        "#,
        player.0,
        network.0,
        now,
        now - NOTED_FOR,
        NETWORKS_MAX - 1,
    )
    .execute(pool)
    .instrument(statement("insert sign_in_network"))
    .await?;
    Ok(())
}

/// Whether an account was recently signed in to from a network.
pub async fn is_known(
    pool: &PgPool,
    player: PlayerId,
    network: SignInNetwork,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let is_known = sqlx::query_scalar!(
        r#"
        select exists (select from sign_in_network where player_id = $1 and network = $2 and seen_at > $3) as "is_known!"
        "#,
        player.0,
        network.0,
        now - KEPT,
    );
    Ok(is_known.fetch_one(pool).instrument(statement("select sign_in_network")).await?)
}

/// The networks of an account, the last one first, each with when it was noted last.
pub async fn list(pool: &PgPool, player: PlayerId) -> Result<Vec<(SignInNetwork, OffsetDateTime)>, DbError> {
    let rows = sqlx::query!(
        "select network, seen_at from sign_in_network where player_id = $1 order by seen_at desc, network limit $2",
        player.0,
        NETWORKS_MAX,
    );
    let rows = rows.fetch_all(pool).instrument(statement("select sign_in_network")).await?;
    Ok(rows.into_iter().map(|row| (SignInNetwork(row.network), row.seen_at)).collect())
}

/// Deletes up to `limit` networks that were kept long enough; returns how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let purged = sqlx::query!(
        r#"
        delete from sign_in_network where (player_id, network) in (
            select player_id, network from sign_in_network where seen_at <= $1 order by seen_at limit $2
            for update skip locked
        )
        "#,
        now - KEPT,
        i64::from(limit),
    );
    Ok(purged.execute(pool).instrument(statement("delete sign_in_network")).await?.rows_affected())
}
