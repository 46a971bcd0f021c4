//! The health of endpoints, by the results of attempts; and the lock of a webhook's row, under which its health and its
//! deliveries change.

use std::collections::HashMap;

use mancala_domain::PlayerId;
use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, columns, statement},
    outbound::{Backoff, Lane},
};

/// An endpoint that answers within this time gets more attempts at once.
const QUICK_MAX: Duration = Duration::seconds(1);

/// How long an endpoint is left alone after a failed attempt.
const BACKOFF: Backoff = Backoff { min: Duration::seconds(5), max: Duration::minutes(5) };

/// How long an endpoint may fail without a success before it is disabled.
const FAILING_FOR: Duration = Duration::days(5);

/// Failures that are further apart are separate: nothing was tried between them.
const FAILING_GAP: Duration = Duration::days(2);

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptOutcome {
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// Why it failed, in a word.
    pub error: Option<&'static str>,
    /// The endpoint's `Retry-After`.
    pub retry_after: Duration,
    /// The next step.
    pub next: NextStep,
}

/// The next step after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The attempt succeeded.
    Delivered,
    /// The delivery is retried at this time.
    Again(OffsetDateTime),
    /// The last attempt has failed.
    GivenUp,
    /// The endpoint is gone: it answered 410.
    Gone,
}

/// The health of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// How many attempts in a row have failed, when the last of them, and since when.
    pub failures: i32,
    pub failed_at: Option<OffsetDateTime>,
    pub failing_since: Option<OffsetDateTime>,
    /// Nothing is sent before this time.
    pub paused_until: Option<OffsetDateTime>,
    /// Whether the last attempt succeeded quickly.
    pub is_quick: bool,
    /// Why the webhook is to be disabled.
    pub disabled: Option<&'static str>,
}

impl Health {
    const fn lane(&self) -> Lane {
        match (self.is_quick, self.failures) {
            (true, _) => Lane::Quick,
            (false, 0) => Lane::Unproven,
            (false, _) => Lane::Failing,
        }
    }

    /// The health after one more attempt.
    #[must_use]
    pub fn after(&self, outcome: &AttemptOutcome, took: Duration, now: OffsetDateTime) -> Self {
        if outcome.next == NextStep::Delivered {
            return Self { is_quick: took <= QUICK_MAX, ..Self::default() };
        }
        let is_one_spell = self.failed_at.is_some_and(|last| now - last <= FAILING_GAP);
        let failing_since = self.failing_since.filter(|_| is_one_spell).unwrap_or(now);
        let pause = BACKOFF.after(self.failures).max(outcome.retry_after);
        Self {
            failures: self.failures.saturating_add(1),
            failed_at: Some(now),
            failing_since: Some(failing_since),
            paused_until: Some(now + pause),
            is_quick: false,
            disabled: match outcome.next {
                NextStep::Gone => Some("gone"),
                _ if now - failing_since >= FAILING_FOR => Some("failing"),
                _ => None,
            },
        }
    }
}

/// A webhook whose row is locked until the transaction ends.
#[derive(Clone)]
pub(crate) struct Locked {
    pub(crate) url: String,
    pub(crate) health: Health,
}

/// Locks the rows of webhooks, in the order of their ids. Deleted ones are missing in the answer.
pub(crate) async fn lock(connection: &mut PgConnection, ids: &[Uuid]) -> Result<HashMap<Uuid, Locked>, DbError> {
    let rows = sqlx::query!(
        r#"
        select id, url, failures, failed_at, failing_since, paused_until, lane from webhook where id = any($1)
        order by id for no key update
        "#,
        ids,
    )
    .fetch_all(connection)
    .instrument(statement("select webhook for update"))
    .await?;
    let locked = rows.into_iter().map(|row| {
        let health = Health {
            failures: row.failures,
            failed_at: row.failed_at,
            failing_since: row.failing_since,
            paused_until: row.paused_until,
            is_quick: row.lane == Lane::Quick.number(),
            disabled: None,
        };
        (row.id, Locked { url: row.url, health })
    });
    Ok(locked.collect())
}

/// Makes a webhook due, and locks its row.
pub(crate) async fn touch(connection: &mut PgConnection, id: Uuid, now: OffsetDateTime) -> Result<(), DbError> {
    touch_all(connection, &[id], now).await
}

/// Makes several webhooks due, whose rows are locked already. A webhook that is due already stays before later ones.
pub(crate) async fn touch_all(connection: &mut PgConnection, ids: &[Uuid], now: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!(
        "update webhook set due_at = least(due_at, greatest($2, paused_until)), touched = touched + 1 where id = any($1)",
        ids,
        now,
    )
    .execute(connection)
    .instrument(statement("update webhook due_at"))
    .await?;
    Ok(())
}

/// Makes a player's webhook due on request, even during its backoff; returns whether it exists and is enabled and verified.
pub(crate) async fn wake(
    connection: &mut PgConnection,
    player: PlayerId,
    id: Uuid,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let woken = sqlx::query!(
        r#"
        update webhook set due_at = least(due_at, $3), touched = touched + 1, paused_until = null
        where id = $2 and player_id = $1 and disabled_at is null and verified_at is not null
        "#,
        player.0,
        id,
        now,
    )
    .execute(connection)
    .instrument(statement("update webhook due_at"))
    .await?;
    Ok(woken.rows_affected() > 0)
}

columns! {
    /// The health of a webhook's endpoint.
    struct HealthRow => HealthColumns {
        id: Uuid,
        failures: i32,
        failed_at: Option<OffsetDateTime>,
        failing_since: Option<OffsetDateTime>,
        paused_until: Option<OffsetDateTime>,
        lane: i16,
        disabled: Option<&'static str>,
    }
}

/// Stores the health of endpoints, whose rows are locked already; their deliveries are scanned again.
pub(crate) async fn set_health(
    connection: &mut PgConnection,
    all: impl Iterator<Item = (Uuid, &Health)>,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    let new = HealthColumns::of(all.map(|(id, health)| HealthRow {
        id,
        failures: health.failures,
        failed_at: health.failed_at,
        failing_since: health.failing_since,
        paused_until: health.paused_until,
        lane: health.lane().number(),
        disabled: health.disabled,
    }));
    sqlx::query!(
        r#"
        update webhook set
            failures = given.failures, failed_at = given.failed_at, failing_since = given.failing_since,
            paused_until = given.paused_until, lane = given.lane, due_at = case
                when given.paused_until is null then least(due_at, $8)
                else greatest($8::timestamptz, given.paused_until)
            end,
            touched = touched + 1,
            disabled_at = case when given.disabled is null then disabled_at else coalesce(disabled_at, $8) end,
            disabled_reason = coalesce(disabled_reason, given.disabled)
        from (
            select
                unnest($1::uuid[]) as id,
                unnest($2::integer[]) as failures,
                unnest($3::timestamptz[]) as failed_at,
                unnest($4::timestamptz[]) as failing_since,
                unnest($5::timestamptz[]) as paused_until,
                unnest($6::smallint[]) as lane,
                unnest($7::text[]) as disabled
        ) given
        where webhook.id = given.id
        "#,
        &new.id,
        &new.failures,
        &new.failed_at as &[Option<OffsetDateTime>],
        &new.failing_since as &[Option<OffsetDateTime>],
        &new.paused_until as &[Option<OffsetDateTime>],
        &new.lane,
        &new.disabled as &[Option<&str>],
        now,
    )
    .execute(connection)
    .instrument(statement("update webhook health"))
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(next: NextStep) -> AttemptOutcome {
        AttemptOutcome { status: None, error: None, retry_after: Duration::ZERO, next }
    }

    #[test]
    fn an_endpoint_that_fails_backs_off_and_is_disabled_after_five_days() {
        let mut now = OffsetDateTime::UNIX_EPOCH;
        let failed = outcome(NextStep::Again(now));
        let mut health = Health { is_quick: true, ..Health::default() };
        for pause in [5, 10, 20, 40, 80, 160, 300, 300] {
            health = health.after(&failed, Duration::ZERO, now);
            assert_eq!(health.paused_until, Some(now + Duration::seconds(pause)));
            assert_eq!((health.is_quick, health.disabled), (false, None));
        }
        let asked = AttemptOutcome { retry_after: Duration::hours(1), ..failed.clone() };
        assert_eq!(health.after(&asked, Duration::ZERO, now).paused_until, Some(now + Duration::hours(1)));
        for day in 1..=5 {
            now += Duration::days(1);
            health = health.after(&failed, Duration::ZERO, now);
            assert_eq!(health.disabled, (day == 5).then_some("failing"));
        }
        assert_eq!(health.failing_since, Some(OffsetDateTime::UNIX_EPOCH));
    }

    #[test]
    fn failures_that_are_far_apart_are_not_one_spell() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let failed = outcome(NextStep::GivenUp);
        let health = Health::default().after(&failed, Duration::ZERO, now);
        let later = now + Duration::days(150);
        let health = health.after(&failed, Duration::ZERO, later);
        assert_eq!((health.failing_since, health.disabled), (Some(later), None));
    }

    #[test]
    fn one_success_resets_the_health_and_a_fast_one_makes_it_quick() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let failed = Health::default().after(&outcome(NextStep::Gone), Duration::ZERO, now);
        assert_eq!(failed.disabled, Some("gone"));
        for (took, is_quick) in [(Duration::seconds(1), true), (Duration::milliseconds(1001), false)] {
            let well = Health { is_quick, ..Health::default() };
            assert_eq!(failed.after(&outcome(NextStep::Delivered), took, now), well);
        }
    }
}
