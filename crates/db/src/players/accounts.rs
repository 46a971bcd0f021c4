//! Players and their accounts: created, read and renamed.

use mancala_domain::{Player, PlayerId, PlayerName};
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;

use super::{
    erasure::delete_webhooks,
    identities::{self, Identity},
    networks::Network,
    player_keys::{self, PlayerKey},
    refresh_tokens::{Hash, SignIn},
    rows::{OwnPlayer, OwnPlayerRow},
    settings::{Inviters, NewSettings},
};
use crate::connection::{DbError, statement};

/// The constraints that a second account violates if its name is the same, or reads alike; and a second new player of an identity.
const TAKEN_CONSTRAINTS: [&str; 3] = ["account_name_key_key", "name_claim_pkey", IDENTITY_CONSTRAINT];

/// The constraint that a second player of an identity violates.
const IDENTITY_CONSTRAINT: &str = "player_identity_pkey";

/// Whether a player could be stored under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The name was stored.
    Stored,
    /// Another account has a name that reads the same. For a new player also: another player has the identity.
    Taken,
    /// A version conflict: the player has changed since it was read, and nothing was stored.
    Changed,
}

/// The fate of a player's webhooks when the player's credentials are revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookChoice {
    /// The webhooks stay.
    Keep,
    /// The webhooks are deleted.
    Delete,
}

/// The fate of a player's identities when the player sets a new password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityChoice {
    /// The identities stay.
    Keep,
    /// All of them are unlinked.
    Unlink,
}

/// Data that a thief with a leaked token may have added, and that a new password revokes only on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leftovers {
    /// The webhooks.
    pub webhooks: WebhookChoice,
    /// The identities.
    pub identities: IdentityChoice,
}

impl Leftovers {
    /// All of it stays.
    pub const KEPT: Self = Self { webhooks: WebhookChoice::Keep, identities: IdentityChoice::Keep };
}

/// The result of changing a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Updated {
    /// Whether it was stored.
    pub named: Named,
    /// How many identities were unlinked.
    pub unlinked_identities: u64,
}

/// The first credentials of a new player.
#[derive(Clone, Copy, Debug)]
pub struct FirstCredentials<'a> {
    /// Set for accounts; guests have none.
    pub password_hash: Option<&'a str>,
    /// The network, if networks are counted. An account is new as long as it has one.
    pub network: Option<Network>,
    /// The hash of the recovery code.
    pub recovery: &'a Hash,
    /// The idempotency key of the request.
    pub key: Option<PlayerKey>,
    /// The identity by which the player signs in.
    pub identity: Option<Identity<'a>>,
    /// The refresh token of the first sign-in.
    pub sign_in: SignIn,
}

/// Stores a new player, with an account if there is a password. [`Named::Changed`] if another request used the same key.
pub async fn insert(pool: &PgPool, player: &Player, first: &FirstCredentials<'_>) -> Result<Named, DbError> {
    let FirstCredentials { password_hash, network, recovery, key, identity, sign_in } = *first;
    let stored = sqlx::query!(
        r#"
        with claimed as (
            insert into player_key as kept (key_hash, request_hash, player_id, created_at)
            select $13::bytea, $14::bytea, $1, $4 where $13 is not null
            on conflict (key_hash) do update
            set request_hash = excluded.request_hash, player_id = excluded.player_id, created_at = excluded.created_at
            where kept.created_at <= $15
            returning key_hash
        ), made as (
            insert into player (id, kind, name, created_at, network)
            select $1, $2, $3, $4, $11::uuid
            where $13 is null or exists (select from claimed)
            returning id
        ), recovery as (
            insert into recovery_code (player_id, hash, created_at) select made.id, $12, $4 from made
        ), account as (
            insert into account (player_id, name_key, password_hash, claims_of)
            select made.id, $5, $6, $5 from made where $6::text is not null
            returning player_id
        ), claim as (
            insert into name_claim (form, player_id) select unnest($10::text[]), account.player_id from account
        ), family as (
            insert into refresh_family (id, player_id, used_generation) select $7, made.id, 0 from made returning id
        ), identity as (
            insert into player_identity (issuer, subject_hash, player_id, created_at)
            select $16, $17, made.id, $4 from made where $16::text is not null
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
        &player.name.forms(),
        network.map(|network| network.0),
        &recovery[..],
        key.as_ref().map(|key| &key.key_hash[..]),
        key.as_ref().map(|key| &key.request_hash[..]),
        player.created_at - player_keys::KEPT,
        identity.map(|identity| identity.issuer),
        identity.map(|identity| &identity.subject[..]),
    )
    .execute(pool)
    .instrument(statement("insert player"))
    .await;
    named(stored.map(|done| done.rows_affected()))
}

/// A player by id.
pub async fn find(executor: impl PgExecutor<'_>, id: PlayerId) -> Result<Option<OwnPlayer>, DbError> {
    let row = sqlx::query_as!(
        OwnPlayerRow,
        r#"select id, kind, name, created_at, credentials_version, network is not null as "has_network!" from player where id = $1"#,
        id.0
    )
    .fetch_optional(executor)
    .instrument(statement("select player"))
    .await?;
    row.map(OwnPlayer::try_from).transpose()
}

/// The account with a name, and the hash of its password.
pub async fn find_account(pool: &PgPool, name: &PlayerName) -> Result<Option<(OwnPlayer, String)>, DbError> {
    let row = sqlx::query!(
        r#"
        select player.id, kind, name, created_at, credentials_version, player.network is not null as "has_network!", password_hash
        from account join player on player.id = account.player_id where name_key = $1
        "#,
        name.key()
    )
    .fetch_optional(pool)
    .instrument(statement("select account"))
    .await?;
    row.map(|row| {
        let (id, kind, name, created_at) = (row.id, row.kind, row.name, row.created_at);
        let (credentials_version, has_network) = (row.credentials_version, row.has_network);
        let own = OwnPlayerRow { id, kind, name, created_at, credentials_version, has_network };
        Ok((own.try_into()?, row.password_hash))
    })
    .transpose()
}

/// Stores a player's new name, a new password if there is one, and new settings. A new password voids all earlier sign-ins and the recovery
/// code of an account. `before` is the player as it was read, for optimistic locking.
pub async fn update(
    pool: &PgPool,
    before: &OwnPlayer,
    after: &Player,
    password_hash: Option<&str>,
    settings: NewSettings,
    leftovers: Leftovers,
    now: OffsetDateTime,
) -> Result<Updated, DbError> {
    let mut transaction = pool.begin().await?;
    let outcome = update_within(&mut transaction, before, after, password_hash, settings, leftovers, now).await?;
    if outcome.named == Named::Stored {
        transaction.commit().await?;
    }
    Ok(outcome)
}

/// Does the work of [`update`] within a transaction, which is of no use after [`Named::Taken`].
pub(crate) async fn update_within(
    connection: &mut PgConnection,
    before: &OwnPlayer,
    after: &Player,
    password_hash: Option<&str>,
    settings: NewSettings,
    leftovers: Leftovers,
    now: OffsetDateTime,
) -> Result<Updated, DbError> {
    // The CTE `account` keeps the account in step; it is created with the first password. Only a new name is claimed. The name of an
    // account may read like another one's from the time before claims. The password of such an account can still be changed.
    let is_new_name = before.player.kind != after.kind || before.player.name != after.name;
    let forms = is_new_name.then(|| after.name.forms());
    let stored = sqlx::query!(
        r#"
        with changed as (
            update player set kind = $5, name = $6, credentials_version = credentials_version + ($8::text is not null)::integer
            where id = $1 and kind = $2 and name = $3 and credentials_version = $4
            returning id
        ), account as (
            insert into account (player_id, name_key, password_hash, claims_of, is_findable)
            select id, $7, coalesce($8, (select password_hash from account where player_id = $1)),
                case when $9::text[] is not null then $7 end, coalesce($10, false)
            from changed where $5 = 'account'
            on conflict (player_id) do update
            set name_key = excluded.name_key, password_hash = excluded.password_hash,
                claims_of = coalesce(excluded.claims_of, account.claims_of),
                is_findable = coalesce($10, account.is_findable)
            returning player_id
        ), given_up as (
            delete from name_claim using account
            where name_claim.player_id = account.player_id and name_claim.form <> all($9)
        ), claim as (
            insert into name_claim (form, player_id)
            select wanted.form, account.player_id from account cross join unnest($9) as wanted (form)
            where not exists (
                select from name_claim held where held.form = wanted.form and held.player_id = account.player_id
            )
        ), codes as (
            delete from recovery_code using changed
            where $8::text is not null and $2 = 'account' and recovery_code.player_id = changed.id
        ), hidden as (
            insert into hidden_last_seen (player_id) select id from changed where not $11::boolean on conflict do nothing
        ), shown as (
            delete from hidden_last_seen using changed where $11 and player_id = changed.id
        ), policy as (
            insert into invitation_policy (player_id, inviters) select id, $12 from changed where $12::text <> 'everyone'
            on conflict (player_id) do update set inviters = excluded.inviters
        ), no_policy as (
            delete from invitation_policy using changed where $12 = 'everyone' and player_id = changed.id
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
        forms.as_deref() as Option<&[String]>,
        settings.is_findable,
        settings.shows_last_seen,
        settings.inviters.map(Inviters::as_str),
    )
    .fetch_optional(&mut *connection)
    .instrument(statement("update player"))
    .await;
    let named = named(stored.map(|row| u64::from(row.is_some())))?;
    let mut unlinked_identities = 0;
    if named == Named::Stored {
        if leftovers.webhooks == WebhookChoice::Delete {
            delete_webhooks(connection, before.player.id, now).await?;
        }
        // The identities follow the lock of the player's row: linking needs this lock, and the former credentials.
        if leftovers.identities == IdentityChoice::Unlink {
            unlinked_identities = identities::unlink_all(connection, before.player.id).await?;
        }
    }
    Ok(Updated { named, unlinked_identities })
}

/// Voids all sign-ins of an account or of a guest with an identity, and the recovery code. `before` is the player as it was read, for
/// optimistic locking. Returns the new
/// `credentials_version`; `None` if the player has changed since, or could not
/// sign in again.
pub async fn sign_out(
    pool: &PgPool,
    before: &OwnPlayer,
    webhooks: WebhookChoice,
    now: OffsetDateTime,
) -> Result<Option<i32>, DbError> {
    let mut transaction = pool.begin().await?;
    let version = sqlx::query_scalar!(
        r#"
        with changed as (
            update player set credentials_version = credentials_version + 1
            where id = $1 and credentials_version = $2 and (
                kind = 'account' or kind = 'guest' and exists (select from player_identity where player_id = $1)
            )
            returning id, credentials_version
        ), sign_ins as (
            update refresh_family set revoked_at = $3 from changed where player_id = changed.id and revoked_at is null
        ), codes as (
            delete from recovery_code using changed where recovery_code.player_id = changed.id
        )
        select credentials_version from changed
        "#,
        before.player.id.0,
        before.credentials_version,
        now,
    )
    .fetch_optional(&mut *transaction)
    .instrument(statement("update player credentials_version"))
    .await?;
    if version.is_some() && webhooks == WebhookChoice::Delete {
        delete_webhooks(&mut transaction, before.player.id, now).await?;
    }
    transaction.commit().await?;
    Ok(version)
}

fn named(stored: Result<u64, sqlx::Error>) -> Result<Named, DbError> {
    match stored.map_err(DbError::from) {
        Ok(0) => Ok(Named::Changed),
        Ok(_) => Ok(Named::Stored),
        Err(DbError::Constraint { name }) if TAKEN_CONSTRAINTS.contains(&name.as_str()) => Ok(Named::Taken),
        Err(error) => Err(error),
    }
}
