//! Deletes expired rows in small batches.

use mancala_db::{
    DbError, email,
    games::open_games,
    idempotency,
    players::{
        self, friends, identities, invitation_counts, kept_suspensions, player_keys, refresh_tokens, report_quotas,
        revocations, sign_in_networks,
    },
    push::sending,
    study::analyses,
    webhooks::deliveries,
};
use mancala_domain::PlayerId;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

/// The most rows that one statement deletes, so that it holds its locks only briefly.
const BATCH: u32 = 1000;

/// The most statements of one kind in one round; the next round deletes the rest.
const BATCHES_MAX: u32 = 100;

/// How long rows are kept.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Guests without a game that were last seen this long ago are deleted; `None`: never.
    pub guest_retention: Option<Duration>,
}

/// The pause between two scans of all guests.
const GUESTS_PAUSE: Duration = Duration::days(1);

/// The pause between two scans of new accounts.
const NEW_ACCOUNTS_PAUSE: Duration = Duration::hours(1);

/// The positions of the scans of guests and of new accounts.
#[derive(Debug, Default)]
pub struct Guests {
    guests: Scan,
    new_accounts: Scan,
}

/// The position of a scan of players: each round scans a part, and a new scan starts some time after the last one.
#[derive(Debug, Default)]
struct Scan {
    after: Option<PlayerId>,
    again_at: Option<OffsetDateTime>,
}

/// Runs a round.
pub async fn run(pool: &PgPool, settings: Settings, guests: &mut Guests, now: OffsetDateTime) -> Result<(), DbError> {
    in_batches(async || refresh_tokens::purge(pool, now, BATCH).await).await?;
    in_batches(async || revocations::purge(pool, BATCH).await).await?;
    in_batches(async || idempotency::purge(pool, now, BATCH).await).await?;
    in_batches(async || player_keys::purge(pool, now, BATCH).await).await?;
    in_batches(async || identities::purge_sessions(pool, now, BATCH).await).await?;
    in_batches(async || deliveries::purge(pool, now, BATCH).await).await?;
    in_batches(async || deliveries::purge_long_logs(pool, now, BATCH).await).await?;
    in_batches(async || sending::purge(pool, now, BATCH).await).await?;
    in_batches(async || deliveries::purge_abandoned(pool, now, BATCH).await).await?;
    in_batches(async || analyses::purge(pool, now, BATCH).await).await?;
    in_batches(async || friends::purge(pool, now, BATCH).await).await?;
    in_batches(async || invitation_counts::purge(pool, now, BATCH).await).await?;
    in_batches(async || kept_suspensions::purge(pool, now, BATCH).await).await?;
    in_batches(async || open_games::purge(pool, now, BATCH).await).await?;
    in_batches(async || email::purge(pool, now, BATCH).await).await?;
    in_batches(async || players::forget_networks(pool, now, BATCH).await).await?;
    in_batches(async || sign_in_networks::purge(pool, now, BATCH).await).await?;
    in_batches(async || report_quotas::forget_networks(pool, now, BATCH).await).await?;
    let establish = async |after| Ok(players::establish(pool, now, after, BATCH).await?.last);
    guests.new_accounts.go_on(now, NEW_ACCOUNTS_PAUSE, establish).await?;
    let Some(retention) = settings.guest_retention else { return Ok(()) };
    let purge = async |after| players::purge_guests(pool, now - retention, after, BATCH).await;
    guests.guests.go_on(now, GUESTS_PAUSE, purge).await
}

/// Deletes batch by batch, until there is nothing more, or until the round has had its share.
async fn in_batches(mut purge: impl AsyncFnMut() -> Result<u64, DbError>) -> Result<(), DbError> {
    for _ in 0..BATCHES_MAX {
        if purge().await? == 0 {
            break;
        }
    }
    Ok(())
}

impl Scan {
    /// Scans part by part, until the end or until the round has had its share. `scan` returns the last player of a part.
    async fn go_on(
        &mut self,
        now: OffsetDateTime,
        pause: Duration,
        mut scan: impl AsyncFnMut(Option<PlayerId>) -> Result<Option<PlayerId>, DbError>,
    ) -> Result<(), DbError> {
        if self.again_at.is_some_and(|again_at| now < again_at) {
            return Ok(());
        }
        for _ in 0..BATCHES_MAX {
            self.after = scan(self.after).await?;
            if self.after.is_none() {
                self.again_at = Some(now + pause);
                break;
            }
        }
        Ok(())
    }
}
