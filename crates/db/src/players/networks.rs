//! The networks of guests and new accounts, as keyed hashes, and when an account is no longer new.
//!
//! A player with a network is a guest or a new account: both are free, so all of a network share some limits. An account that is not new has
//! none.

use std::fmt;

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::guests::first_id_at;
use crate::connection::{DbError, statement};

/// How long a network is kept: not less than the guest itself without any use, by default. Otherwise guests that
/// were made in advance would be free of the limits of their network.
pub const KEPT: Duration = Duration::days(90);

/// The ages of players whose networks are searched, from [`KEPT`] on: ids begin with the time of creation. More than any server is off.
const SEARCHED: Duration = Duration::days(60);

/// How long every account is new.
pub const NEW_FOR: Duration = Duration::days(1);

/// How many games with others make an account known: after them it is not new any more, even without a verified address and an
/// issuer.
const KNOWING_GAMES: i64 = 5;

/// How many different networks these other players must come from.
const KNOWING_NETWORKS: i64 = 3;

/// The fewest plies of a game that counts for [`KNOWING_GAMES`].
const KNOWING_PLIES: i32 = 10;

/// How many finished games of each seat are read, newest first.
const KNOWING_GAMES_READ: i64 = 500;

/// The upper bound of the hashes of networks, whose first 8 bytes are zero. A value that is not below it is the id of an app. The players
/// of an app share what the players of a network share. The id of an app is no secret, and is not forgotten.
pub(crate) const HASHES_END: Uuid = Uuid::from_u128(1 << 64);

/// A keyed hash of a network. Without the key the hash does not reveal the address.
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

/// Hides the hash, which identifies a person's address.
impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Network(…)")
    }
}

/// The network of a guest or a new account, if it is known. Players of apps have no network.
pub async fn network(pool: &PgPool, player: PlayerId) -> Result<Option<Network>, DbError> {
    let network = sqlx::query_scalar!("select network from player where id = $1", player.0);
    let network = network.fetch_optional(pool).instrument(statement("select player network")).await?;
    Ok(network.flatten().filter(|network| *network < HASHES_END).map(Network))
}

/// Deletes the networks of up to `limit` players that were kept long enough; returns how many.
pub async fn forget_networks(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let old = sqlx::query_scalar!(
        "select id from player where id >= $1 and id < $2 and network < $3 order by id limit $4",
        first_id_at(now - KEPT - SEARCHED),
        first_id_at(now - KEPT),
        HASHES_END,
        i64::from(limit),
    );
    let old = old.fetch_all(pool).instrument(statement("select player")).await?;
    forget(pool, &old).await
}

/// A part of all players, as scanned for accounts that are no longer new.
#[derive(Clone, Copy, Debug)]
pub struct Established {
    /// How many accounts are not new any more.
    pub accounts: u64,
    /// The last player of the part; `None` after the last part.
    pub last: Option<PlayerId>,
}

/// Scans up to `limit` players after the given one, and deletes the networks of accounts that no longer count as new. Such an account is
/// older than `NEW_FOR`, and has shown that a person uses it. Proofs are a verified address, an issuer, or games against enough other
/// networks. An opponent's account that is not new has no stored network, and counts as a network of its own.
pub async fn establish(
    pool: &PgPool,
    now: OffsetDateTime,
    after: Option<PlayerId>,
    limit: u32,
) -> Result<Established, DbError> {
    let oldest = first_id_at(now - KEPT - SEARCHED);
    let row = sqlx::query!(
        r#"
        with scanned as (
            select id, kind, network from player where id > $1 and id < $2 order by id limit $3
        ), known as (
            select id from scanned where kind = 'account' and network < $4 and (
                exists (select from account_email where player_id = scanned.id and address is not null)
                or exists (select from player_identity where player_id = scanned.id)
                or (
                    select count(*) >= $5 and count(distinct place) >= $6 from (
                        select coalesce(other.network, case other.kind when 'account' then other.id end) as place
                        from (
                            (select seat_1_player_id as other_id, ply from game
                             where seat_0_player_id = scanned.id and finished_at is not null
                             order by finished_at desc, id desc limit $8)
                            union all
                            (select seat_0_player_id, ply from game
                             where seat_1_player_id = scanned.id and finished_at is not null
                                and seat_0_player_id is distinct from seat_1_player_id
                             order by finished_at desc, id desc limit $8)
                        ) played
                        join player other on other.id = played.other_id and other.kind in ('guest', 'account')
                        where played.ply >= $7
                    ) placed
                    -- Null is the place of a guest whose network was forgotten.
                    where place <> scanned.network
                )
            )
        )
        select array(select id from known) as "known!", (select id from scanned order by id desc limit 1) as last
        "#,
        after.map_or(oldest, |player| player.0.max(oldest)),
        first_id_at(now - NEW_FOR),
        i64::from(limit),
        HASHES_END,
        KNOWING_GAMES,
        KNOWING_NETWORKS,
        KNOWING_PLIES,
        KNOWING_GAMES_READ,
    );
    let row = row.fetch_one(pool).instrument(statement("select new accounts")).await?;
    Ok(Established { accounts: forget(pool, &row.known).await?, last: row.last.map(PlayerId) })
}

/// Deletes the networks of these players, unless their rows are locked; returns how many. A trigger does the same for their devices.
async fn forget(pool: &PgPool, players: &[Uuid]) -> Result<u64, DbError> {
    if players.is_empty() {
        return Ok(0);
    }
    let forgotten = sqlx::query!(
        r#"
        with old as (
            select id from player where id = any($1) and network < $2 order by id for no key update skip locked
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
        players,
        HASHES_END,
    )
    .execute(pool)
    .instrument(statement("update player network"))
    .await?;
    Ok(forgotten.rows_affected())
}

/// A player who requests something that is limited, locked until the transaction ends.
pub(crate) struct Requester {
    /// Whether the player is a guest.
    pub is_guest: bool,
    /// The network of a guest or a new account, if it is known; for an app's player the app.
    pub network: Option<Uuid>,
    /// The key of the queue in a round: the network or app, or else the player.
    pub round_key: Uuid,
    /// A token with an earlier one is void.
    pub credentials_version: i32,
}

/// Locks a player's row, so that each of several requests counts the ones before it. In a network, a few more may succeed if
/// several players request at once. `None` if the player is deleted.
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
