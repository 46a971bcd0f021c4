//! Revoked credentials: which access tokens are refused before they expire.
//!
//! A trigger of the database stores a row whenever a player's `credentials_version` rises: with a new password, by signing
//! out everywhere, and by an erasure.

use mancala_domain::PlayerId;
use sqlx::{PgPool, postgres::types::PgInterval};
use time::Duration;
use tracing::Instrument;

use super::{
    name_filter::{self, StoredFilter},
    suspensions::{self, Term},
};
use crate::connection::{Database, DbError, DedicatedConnection, sight::Sight, statement};

/// How long a revocation is kept: longer than access tokens and streams live.
pub const KEPT: Duration = Duration::hours(1);

/// The credentials of a player up to a version are revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// The player.
    pub player: PlayerId,
    /// The least version that is accepted.
    pub least_version: i32,
}

/// Reads revocations on a dedicated connection, so that no other work delays it.
pub struct Reader(DedicatedConnection);

impl Reader {
    /// The connection opens with the first read.
    pub fn new(database: Database) -> Self {
        Self(DedicatedConnection::new(database))
    }

    /// Reads the database's current state, and notifies its observers if the database was set back.
    pub async fn look(&mut self) -> Result<Sight, DbError> {
        self.0.look().await
    }

    /// The revocations of the time `within` before now, by the database's clock.
    pub async fn read(&mut self, within: Duration) -> Result<Vec<Revocation>, DbError> {
        self.0
            .run(async |connection| {
                let rows = sqlx::query!(
                    "select player_id, least_version from revoked_credentials where revoked_at > now() - $1::interval",
                    interval(within),
                )
                .fetch_all(connection)
                .instrument(statement("select revoked_credentials"))
                .await?;
                let revocation = |player, least_version| Revocation { player: PlayerId(player), least_version };
                Ok(rows.into_iter().map(|row| revocation(row.player_id, row.least_version)).collect())
            })
            .await
    }

    /// The suspensions that were made, changed or lifted within this time before now; without a time, all that are in force.
    pub async fn read_suspensions(&mut self, within: Option<Duration>) -> Result<Vec<(PlayerId, Term)>, DbError> {
        let Some(within) = within else { return self.0.run(suspensions::in_force).await };
        self.0.run(async |connection| suspensions::changed(connection, interval(within)).await).await
    }

    /// The list of refused names, if it has been changed since a revision.
    pub async fn read_name_filter(&mut self, revision: i64) -> Result<Option<StoredFilter>, DbError> {
        self.0.run(async |connection| name_filter::find_changed(connection, revision).await).await
    }
}

/// Deletes up to `limit` old revocations; returns how many.
pub async fn purge(pool: &PgPool, limit: u32) -> Result<u64, DbError> {
    let deleted = sqlx::query!(
        r#"
        delete from revoked_credentials where player_id in (
            select player_id from revoked_credentials where revoked_at <= now() - $1::interval order by revoked_at limit $2
            for update skip locked
        )
        "#,
        interval(KEPT),
        i64::from(limit),
    )
    .execute(pool)
    .instrument(statement("delete revoked_credentials"))
    .await?;
    Ok(deleted.rows_affected())
}

fn interval(length: Duration) -> PgInterval {
    let microseconds = i64::try_from(length.whole_microseconds()).unwrap_or(i64::MAX);
    PgInterval { months: 0, days: 0, microseconds }
}
