//! The networks of guests, as keyed hashes.

use std::fmt;

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// How long the network of a guest is kept: not less than the guest itself without any use, by default. Otherwise guests that
/// were made in advance would be free of the limits of their network.
pub const KEPT: Duration = Duration::days(90);

/// The ages of guests whose networks are searched, from [`KEPT`] on: ids begin with the time of creation. More than any server is off.
const SEARCHED: Duration = Duration::days(60);

/// The upper bound of the hashes of networks, whose first 8 bytes are zero. A value that is not below it is the id of an app. The players
/// of an app share what the guests of a network share. The id of an app is no secret, and is not forgotten.
pub(super) const HASHES_END: Uuid = Uuid::from_u128(1 << 64);

/// A keyed hash of a network. Without the key it does not tell the address.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Network(pub(crate) Uuid);

impl Network {
    /// The network with this hash.
    pub fn of_hash(hash: [u8; 8]) -> Self {
        Self(Uuid::from_u128(u64::from_be_bytes(hash).into()))
    }

    /// The hash in hexadecimal digits.
    pub fn to_hex(self) -> String {
        format!("{:016x}", self.0.as_u64_pair().1)
    }
}

/// Hides the hash: it stands for a person's address.
impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Network(…)")
    }
}

/// The network of a guest, if it is known. The player of an app has none.
pub async fn network(pool: &PgPool, player: PlayerId) -> Result<Option<Network>, DbError> {
    let network = sqlx::query_scalar!("select network from player where id = $1", player.0);
    let network = network.fetch_optional(pool).instrument(statement("select player network")).await?;
    Ok(network.flatten().filter(|network| *network < HASHES_END).map(Network))
}

/// Forgets the networks of up to `limit` guests that have been kept long enough; returns how many.
pub async fn forget_networks(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let forgotten = sqlx::query!(
        r#"
        with old as (
            select id from player where id >= $3 and id < $1 and network < $4 order by id limit $2
            for no key update skip locked
        ), games as (
            update computer_game set network = null from old where computer_game.player_id = old.id
        ), held as (
            -- In the order of their ids, as all that locks several.
            select webhook.id from old join webhook on webhook.player_id = old.id
            where webhook.network is not null order by webhook.id for no key update of webhook
        ), endpoints as (
            update webhook set network = null from held where webhook.id = held.id
        )
        update player set network = null from old where player.id = old.id
        "#,
        super::guests::first_id_at(now - KEPT),
        i64::from(limit),
        super::guests::first_id_at(now - KEPT - SEARCHED),
        HASHES_END,
    )
    .execute(pool)
    .instrument(statement("update player network"))
    .await?;
    Ok(forgotten.rows_affected())
}

/// A player who asks for something of which there is only so much, locked until the transaction ends.
pub(crate) struct Requester {
    /// Whether the player is a guest.
    pub is_guest: bool,
    /// The network of a guest, if it is known; of an app's player the app.
    pub network: Option<Uuid>,
    /// Whose turn it is in a round: the network or app, or else the player.
    pub round_key: Uuid,
    /// A token with an earlier one is void.
    pub credentials_version: i32,
}

/// Locks a player's row, so that of several requests each counts the ones before it. Of a network, a few more may succeed if several guests
/// request at once. `None` if the player is deleted.
pub(crate) async fn lock_requester(
    connection: &mut PgConnection,
    player: PlayerId,
) -> Result<Option<Requester>, DbError> {
    let row = sqlx::query!(
        "select kind, network, credentials_version from player where id = $1 and kind <> 'deleted' for no key update",
        player.0
    );
    let Some(row) = row.fetch_optional(connection).instrument(statement("lock player")).await? else {
        return Ok(None);
    };
    let round_key = row.network.unwrap_or(player.0);
    let (network, credentials_version) = (row.network, row.credentials_version);
    Ok(Some(Requester { is_guest: row.kind == "guest", network, round_key, credentials_version }))
}
