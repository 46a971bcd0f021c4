//! How many reports a player and a network may make, and the networks that are kept to count them.

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::networks::{HASHES_END, Network};
use crate::connection::{DbError, statement};

/// How many reports a player may make within [`QUOTA_WINDOW`]: a bad day. Each is read by a person.
pub const REPORTS_MAX: u32 = 20;

/// How many all players of one network may make: those of a school, or of a script that makes players.
pub const NETWORK_REPORTS_MAX: u32 = 60;

/// How many each account may make when its network has made [`NETWORK_REPORTS_MAX`]. So a script cannot silence the accounts of a school.
pub const ACCOUNT_REPORTS_KEPT: u32 = 2;

/// How many all players of one network may make, those of accounts beyond [`NETWORK_REPORTS_MAX`] included: accounts are free, too.
pub const NETWORK_REPORTS_KEPT_MAX: u32 = 240;

/// The period in which reports count towards the quotas, and for which the networks of reporters are stored.
pub const QUOTA_WINDOW: Duration = Duration::days(1);

/// The reporter to whom the quotas apply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reporter {
    pub id: PlayerId,
    pub is_account: bool,
    /// The network of a guest, or else that of the report, if it is known; for an app's player the app.
    pub network: Option<Uuid>,
}

/// Distinguishes these advisory locks from others.
const QUOTA_LOCK: i64 = 0x7265_706f_7274;

/// Reports of one player, and of the players of one network, wait for each other, so each counts the ones before it. The lock of the
/// reporter is taken first, then that of the network, and both before a player's row.
pub(super) async fn lock_quotas(
    connection: &mut PgConnection,
    reporter: PlayerId,
    network: Option<Network>,
) -> Result<(), DbError> {
    let own = sqlx::query_scalar!("select network from player where id = $1", reporter.0);
    let own = own.fetch_optional(&mut *connection).instrument(statement("select player")).await?.flatten();
    let network = own.or(network.map(|network| network.0));
    for key in [Some(reporter.0), network].into_iter().flatten() {
        sqlx::query!("select pg_advisory_xact_lock(hashtextextended($1::uuid::text, $2))", key, QUOTA_LOCK)
            .execute(&mut *connection)
            .instrument(statement("select pg_advisory_xact_lock"))
            .await?;
    }
    Ok(())
}

/// When the reporter may report again, if its quota or that of its network is used up.
pub(super) async fn quota_used_until(
    connection: &mut PgConnection,
    reporter: Reporter,
    now: OffsetDateTime,
) -> Result<Option<OffsetDateTime>, DbError> {
    let since = now - QUOTA_WINDOW;
    // For each quota, the report that exhausted it within the window, if any.
    let used = sqlx::query!(
        r#"
        select (select created_at from player_report where reporter_id = $1 and created_at > $3 order by created_at desc offset $4 limit 1) as own,
            (select created_at from player_report where reporter_id = $1 and created_at > $3 order by created_at desc offset $5 limit 1) as kept,
            (select created_at from player_report where network = $2 and created_at > $3 order by created_at desc offset $6 limit 1) as shared,
            (select created_at from player_report where network = $2 and created_at > $3 order by created_at desc offset $7 limit 1) as kept_shared
        "#,
        reporter.id.0,
        reporter.network,
        since,
        i64::from(REPORTS_MAX - 1),
        i64::from(ACCOUNT_REPORTS_KEPT - 1),
        i64::from(NETWORK_REPORTS_MAX - 1),
        i64::from(NETWORK_REPORTS_KEPT_MAX - 1),
    )
    .fetch_one(connection)
    .instrument(statement("count player_report"))
    .await?;
    // `None` sorts first: the quota has room. An account may use its network's quota, or the part that is reserved for accounts.
    let of_network = if reporter.is_account { used.shared.min(used.kept.max(used.kept_shared)) } else { used.shared };
    Ok(used.own.max(of_network).map(|oldest| oldest + QUOTA_WINDOW))
}

/// The networks from which a player has reported others, unless they were deleted. An app is not a network.
pub async fn networks_of_reporter(pool: &PgPool, reporter: PlayerId) -> Result<Vec<Network>, DbError> {
    let networks = sqlx::query_scalar!(
        r#"
        select distinct network as "network!" from player_report
        where reporter_id = $1 and network is not null and network < $2 order by network
        "#,
        reporter.0,
        HASHES_END,
    );
    let networks = networks.fetch_all(pool).instrument(statement("select player_report")).await?;
    Ok(networks.into_iter().map(Network).collect())
}

/// Deletes the networks of up to `limit` reports that no longer count; returns how many.
pub async fn forget_networks(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let forgotten = sqlx::query!(
        r#"
        update player_report set network = null where id in (
            select id from player_report where network is not null and created_at <= $1
            order by created_at limit $2 for no key update skip locked
        )
        "#,
        now - QUOTA_WINDOW,
        i64::from(limit),
    );
    let forgotten = forgotten.execute(pool).instrument(statement("update player_report")).await?;
    Ok(forgotten.rows_affected())
}
