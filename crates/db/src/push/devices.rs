//! The devices of players: registered, listed, removed, handed over with a guest. Knows no notices.

use std::fmt;

use mancala_domain::{DeviceKind, PlayerId};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, statement},
    players::lock_requester,
    webhooks::flags::{FLAG_AGAIN_AFTER, flag_games, flag_now},
};

/// How many devices a player has at most: more than a person uses.
pub const DEVICES_MAX: u32 = 10;

/// How many devices all guests and new accounts of one network have at most.
pub const NETWORK_DEVICES_MAX: u32 = 200;

/// The address by which a device is reached.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// The service that reaches the device.
    pub kind: DeviceKind,
    /// The URL of a push service, or the token by which the service knows an app.
    pub address: String,
    /// The SHA-256 of the address and the keys.
    pub hash: [u8; 32],
    /// The host of the address, by which attempts are limited.
    pub host: String,
    /// For a browser: its public key, and the secret that authenticates its messages.
    pub keys: Option<(Vec<u8>, Vec<u8>)>,
}

/// Hides the address: anyone who knows it can send to the device.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// A device to register.
#[derive(Clone, Debug)]
pub struct NewDevice {
    /// The id of the device, unless the address is stored already.
    pub id: Uuid,
    /// Its player.
    pub player: PlayerId,
    /// The sign-in by which it is registered, if the token names one.
    pub sign_in: Option<Uuid>,
    /// The address of the device.
    pub address: Address,
    /// The language of its texts.
    pub language: &'static str,
    /// Now.
    pub created_at: OffsetDateTime,
}

/// A device of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The id.
    pub id: Uuid,
    /// The service that reaches the device.
    pub kind: DeviceKind,
    /// The host of the push service.
    pub host: String,
    /// The language of its texts.
    pub language: String,
    /// When it was registered first.
    pub created_at: OffsetDateTime,
    /// When a push service last took a notification for it.
    pub last_success_at: Option<OffsetDateTime>,
    /// Since when every attempt has failed.
    pub failing_since: Option<OffsetDateTime>,
}

/// Whether a device is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The device is registered, and was not before.
    New(Device),
    /// The player had registered it before: its language is the new one.
    Known(Device),
    /// The player has [`DEVICES_MAX`] others.
    TooMany,
    /// The guests and new accounts of the player's network have [`NETWORK_DEVICES_MAX`].
    TooManyOfNetwork,
    /// The player is deleted, or has revoked the credentials, or the sign-in has ended.
    NoPlayer,
}

struct Row {
    id: Uuid,
    kind: String,
    host: String,
    language: String,
    created_at: OffsetDateTime,
    last_success_at: Option<OffsetDateTime>,
    failing_since: Option<OffsetDateTime>,
}

impl Row {
    fn device(self) -> Result<Device, DbError> {
        Ok(Device {
            id: self.id,
            kind: kind_of(&self.kind)?,
            host: self.host,
            language: self.language,
            created_at: self.created_at,
            last_success_at: self.last_success_at,
            failing_since: self.failing_since,
        })
    }
}

/// The kind that a row names.
pub(super) fn kind_of(word: &str) -> Result<DeviceKind, DbError> {
    DeviceKind::of(word).ok_or_else(|| DbError::inconsistent("push_device", "kind", word, "it is unknown"))
}

/// Registers a device, and flags its player's games. A device that the player has registered with the same keys before keeps its row. A
/// device of another player becomes the player's, because its user is signed in as the player now. Only the browser itself knows its keys.
/// The device is stored only if the token's `credentials_version` is still the player's, and its sign-in has not ended: the device goes
/// with it.
pub async fn register(pool: &PgPool, new: &NewDevice, credentials_version: i32) -> Result<Registered, DbError> {
    let mut transaction = pool.begin().await?;
    let requester = lock_requester(&mut transaction, new.player).await?;
    let Some(requester) = requester.filter(|requester| requester.credentials_version == credentials_version) else {
        return Ok(Registered::NoPlayer);
    };
    if let Some(sign_in) = new.sign_in
        && !is_in_force(&mut transaction, new.player, sign_in).await?
    {
        return Ok(Registered::NoPlayer);
    }
    if let Some(known) = renew(&mut transaction, new).await? {
        transaction.commit().await?;
        return Ok(Registered::Known(known));
    }
    remove_former(&mut transaction, new).await?;
    let held = sqlx::query!(
        r#"
        select (select count(*) from push_device where player_id = $1) as "own!",
            (select count(*) from push_device where network = $2) as "of_network!"
        "#,
        new.player.0,
        requester.network,
    );
    let held = held.fetch_one(&mut *transaction).instrument(statement("count push_device")).await?;
    let refused = if held.own >= i64::from(DEVICES_MAX) {
        Some(Registered::TooMany)
    } else {
        (held.of_network >= i64::from(NETWORK_DEVICES_MAX)).then_some(Registered::TooManyOfNetwork)
    };
    if let Some(refused) = refused {
        // The device's former player is no longer signed in there, whether or not this player keeps it.
        transaction.commit().await?;
        return Ok(refused);
    }
    let stored = insert(&mut transaction, new, requester.network).await;
    let row = match stored {
        // Another request has registered it at the same moment.
        Err(DbError::Constraint { name }) if name == "push_device_address_key" => return Err(DbError::locked()),
        stored => stored?,
    };
    transaction.commit().await?;
    flag_now(pool, new.player).await;
    Ok(Registered::New(row))
}

/// Whether a sign-in is still in force. Its row is locked: if it ends later, the trigger sees what this transaction has stored.
async fn is_in_force(connection: &mut PgConnection, player: PlayerId, sign_in: Uuid) -> Result<bool, DbError> {
    let locked = sqlx::query_scalar!(
        "select id from refresh_family where id = $1 and player_id = $2 and revoked_at is null for share",
        sign_in,
        player.0,
    );
    Ok(locked.fetch_optional(connection).instrument(statement("lock refresh_family")).await?.is_some())
}

/// Removes the row of another player who had the device, and the player's own row of the same address with other keys. The notices that
/// wait for these rows go with them.
async fn remove_former(connection: &mut PgConnection, new: &NewDevice) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        delete from push_device where id = any(array(
            select id from push_device where address_hash = $1
            union all
            select id from push_device where player_id = $2 and address = $3
        ))
        "#,
        &new.address.hash,
        new.player.0,
        new.address.address,
    )
    .execute(connection)
    .instrument(statement("delete push_device"))
    .await?;
    Ok(())
}

/// Renews a device that the player has: stores its language and its sign-in. `None` if the player has no device with this address and these
/// keys. A pause stays, because clients register at each start.
async fn renew(connection: &mut PgConnection, new: &NewDevice) -> Result<Option<Device>, DbError> {
    let row = sqlx::query_as!(
        Row,
        r#"
        update push_device set language = $3, sign_in_id = coalesce($4, sign_in_id)
        where address_hash = $1 and player_id = $2
        returning id, kind, host, language, created_at, last_success_at, failing_since
        "#,
        &new.address.hash,
        new.player.0,
        new.language,
        new.sign_in,
    );
    let row = row.fetch_optional(connection).instrument(statement("update push_device")).await?;
    row.map(Row::device).transpose()
}

async fn insert(connection: &mut PgConnection, new: &NewDevice, network: Option<Uuid>) -> Result<Device, DbError> {
    let NewDevice { id, player, sign_in, ref address, language, created_at } = *new;
    let (public_key, secret) = address.keys.clone().unzip();
    sqlx::query!(
        r#"
        insert into push_device
            (id, player_id, kind, address, address_hash, host, public_key, secret, language, created_at, network, flag_at,
             sign_in_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        "#,
        id,
        player.0,
        address.kind.as_str(),
        address.address,
        &address.hash,
        address.host,
        public_key,
        secret,
        language,
        created_at,
        network,
        created_at + FLAG_AGAIN_AFTER,
        sign_in,
    )
    .execute(connection)
    .instrument(statement("insert push_device"))
    .await?;
    Ok(Device {
        id,
        kind: address.kind,
        host: address.host.clone(),
        language: language.to_owned(),
        created_at,
        last_success_at: None,
        failing_since: None,
    })
}

/// All devices of a player, newest first.
pub async fn list(pool: &PgPool, player: PlayerId) -> Result<Vec<Device>, DbError> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select id, kind, host, language, created_at, last_success_at, failing_since
        from push_device where player_id = $1 order by id desc limit $2
        "#,
        player.0,
        i64::from(DEVICES_MAX),
    )
    .fetch_all(pool)
    .instrument(statement("select devices of a player"))
    .await?;
    rows.into_iter().map(Row::device).collect()
}

/// Removes a device of a player with its queued notices; returns whether there was one.
pub async fn delete(pool: &PgPool, player: PlayerId, id: Uuid) -> Result<bool, DbError> {
    let deleted = sqlx::query!("delete from push_device where id = $1 and player_id = $2", id, player.0)
        .execute(pool)
        .instrument(statement("delete push_device"))
        .await?;
    Ok(deleted.rows_affected() > 0)
}

/// The devices of a guest become the account's, those that worked last up to the limit; the others are removed. A job flags the account's
/// games. After the webhooks of both, because all that locks webhooks and devices locks webhooks first. The guest's sign-ins are void: the
/// devices are of none until they are registered again.
pub(crate) async fn hand_over(
    connection: &mut PgConnection,
    guest: PlayerId,
    account: PlayerId,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    // The rows are locked in the order of their ids, as in all statements that lock several.
    let held = sqlx::query_scalar!(
        "select id from push_device where player_id = any($1) order by id for update",
        &[guest.0, account.0],
    );
    let held = held.fetch_all(&mut *connection).instrument(statement("lock push_device")).await?;
    if held.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        r#"
        with kept as (
            select id from push_device where player_id = any(array[$1, $2]::uuid[])
            order by coalesce(last_success_at, created_at) desc, id desc limit $3
        ), removed as (
            delete from push_device
            where player_id = any(array[$1, $2]::uuid[]) and not exists (select from kept where kept.id = push_device.id)
        )
        update push_device set player_id = $2, network = (select network from player where id = $2), sign_in_id = null, flag_at = $4 from kept
        where push_device.id = kept.id and push_device.player_id = $1
        "#,
        guest.0,
        account.0,
        i64::from(DEVICES_MAX),
        now,
    )
    .execute(connection)
    .instrument(statement("update push_device player_id"))
    .await?;
    Ok(())
}

/// Flags the games of players whose devices were registered a while ago, for games that were stored at that moment. A game whose row is
/// locked is flagged later.
pub async fn flag_again(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<(), DbError> {
    let due = sqlx::query!(
        r#"select id, player_id, flag_at as "flag_at!" from push_device where flag_at <= $1 order by flag_at limit $2"#,
        now,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select devices to flag games of"))
    .await?;
    for device in due {
        let is_all = match flag_games(pool, PlayerId(device.player_id)).await {
            Ok(is_all) => is_all,
            Err(error) => {
                tracing::warn!(device.id = %device.id, "not all games of a device's player are flagged yet: {error}");
                false
            }
        };
        let again_at = (!is_all).then_some(now + FLAG_AGAIN_AFTER);
        sqlx::query!(
            "update push_device set flag_at = $3 where id = $1 and flag_at = $2",
            device.id,
            device.flag_at,
            again_at,
        )
        .execute(pool)
        .instrument(statement("update push_device flag_at"))
        .await?;
    }
    Ok(())
}
