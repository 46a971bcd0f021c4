//! The next step after an attempt: success, a retry with backoff, or the end. Pure.

use mancala_db::webhooks::{
    attempts::Due,
    deliveries::KEPT,
    results::{AttemptOutcome, NextStep},
};
use mancala_outbound::webhook::{EndpointResponse, SendError};
use time::{Duration, OffsetDateTime};

/// The backoff after each failed attempt: the schedule that Standard Webhooks recommend, three days altogether.
const SCHEDULE: [Duration; 9] = [
    Duration::seconds(5),
    Duration::minutes(5),
    Duration::minutes(30),
    Duration::hours(2),
    Duration::hours(5),
    Duration::hours(10),
    Duration::hours(14),
    Duration::hours(20),
    Duration::hours(24),
];

/// The least age of a delivery that is given up, however many attempts it had.
const GIVEN_UP_AFTER: Duration = Duration::days(3);

/// The least age of a challenge that is given up: an endpoint that is being set up has a day. Its player may ask for another one.
const CHALLENGED_FOR: Duration = Duration::days(1);

/// The largest random addition to a backoff, as a share of it, so that deliveries that failed together do not return together.
const JITTER: f64 = 0.2;

/// The longest pause that an endpoint may ask for.
const RETRY_AFTER_MAX: Duration = Duration::hours(24);

/// The outcome of an attempt. `random` is from 0 to 1.
pub fn outcome_of(
    sent: Result<EndpointResponse, SendError>,
    due: &Due,
    now: OffsetDateTime,
    random: f64,
) -> AttemptOutcome {
    let outcome = |status, error, next| AttemptOutcome { status, error, retry_after: Duration::ZERO, next };
    let (answer, error) = match sent {
        Ok(answer) if answer.is_success() => return outcome(Some(answer.status), None, NextStep::Delivered),
        Ok(answer) if answer.is_gone() => return outcome(Some(answer.status), Some("gone"), NextStep::Gone),
        Ok(answer) if answer.lacks_challenge && matches!(answer.status, 200..=299) => (Some(answer), "challenge"),
        Ok(answer) => (Some(answer), "status"),
        Err(error) => (None, error.as_str()),
    };
    let retry_after = answer.and_then(|answer| answer.retry_after_s).map(|seconds| Duration::seconds(seconds.into()));
    let retry_after = retry_after.map_or(Duration::ZERO, |wanted| wanted.min(RETRY_AFTER_MAX));
    let tried = usize::try_from(due.attempt - due.attempts_before - 1).unwrap_or(0);
    let age = now - due.created_at;
    // A success of another delivery may bring this one forward, so the count of attempts alone is not enough. A delivery that
    // has waited for days behind others gets one attempt.
    let is_over = match due.challenge {
        Some(_) => age >= CHALLENGED_FOR,
        None => tried >= SCHEDULE.len() && age >= GIVEN_UP_AFTER || age >= KEPT,
    };
    let next = if is_over {
        NextStep::GivenUp
    } else {
        let pause = SCHEDULE[tried.min(SCHEDULE.len() - 1)];
        NextStep::Again(now + (pause * (1.0 + JITTER * random)).max(retry_after))
    };
    AttemptOutcome { status: answer.map(|answer| answer.status), error: Some(error), retry_after, next }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use mancala_domain::PlayerId;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn answered(status: u16, retry_after_s: Option<u32>) -> EndpointResponse {
        EndpointResponse { status, retry_after_s, lacks_challenge: false }
    }

    /// An attempt of a delivery that was created now.
    fn due(attempt: i32) -> Due {
        let (id, created_at) = (Uuid::nil(), NOW);
        let (payload, url, host, secret, previous) = (String::new(), String::new(), String::new(), vec![], vec![]);
        let (webhook, player, attempts_before, deadline, challenge) = (id, PlayerId(id), 0, None, None);
        Due {
            id,
            webhook,
            player,
            created_at,
            attempt,
            attempts_before,
            payload,
            url,
            host,
            secret,
            previous,
            deadline,
            challenge,
        }
    }

    #[test]
    fn a_failed_delivery_is_retried_for_three_days() {
        let mut at = NOW;
        let mut attempt = 1;
        while let NextStep::Again(next) = outcome_of(Err(SendError::Timeout), &due(attempt), at, 0.0).next {
            assert_eq!(next - at, SCHEDULE[usize::try_from(attempt - 1).expect("it is counted from 1")]);
            let latest = outcome_of(Ok(answered(500, None)), &due(attempt), at, 1.0).next;
            assert_eq!(latest, NextStep::Again(at + (next - at) * 1.2));
            (at, attempt) = (next, attempt + 1);
        }
        assert_eq!((attempt, (at - NOW).whole_hours()), (10, 75));
    }

    #[test]
    fn a_challenge_is_retried_for_a_day_until_it_is_repeated() {
        let challenge = Due { challenge: Some("abc".to_owned()), ..due(1) };
        let lacking = EndpointResponse { lacks_challenge: true, ..answered(200, None) };
        let outcome = outcome_of(Ok(lacking), &challenge, NOW, 0.0);
        assert_eq!((outcome.error, outcome.next), (Some("challenge"), NextStep::Again(NOW + SCHEDULE[0])));
        assert_eq!(outcome_of(Ok(answered(200, None)), &challenge, NOW, 0.0).next, NextStep::Delivered);
        assert_eq!(outcome_of(Ok(lacking), &challenge, NOW + CHALLENGED_FOR, 0.0).next, NextStep::GivenUp);
    }

    #[test]
    fn attempts_brought_forward_do_not_shorten_the_three_days() {
        let soon = outcome_of(Err(SendError::Timeout), &due(30), NOW + Duration::hours(1), 0.0).next;
        assert_eq!(soon, NextStep::Again(NOW + Duration::hours(25)));
    }

    #[test]
    fn a_redelivery_starts_the_schedule_anew() {
        let again = Due { attempts_before: 10, ..due(11) };
        let next = outcome_of(Err(SendError::Timeout), &again, NOW + GIVEN_UP_AFTER, 0.0).next;
        assert_eq!(next, NextStep::Again(NOW + GIVEN_UP_AFTER + SCHEDULE[0]));
    }

    #[test]
    fn a_delivery_that_waited_for_a_week_has_one_attempt() {
        assert_eq!(outcome_of(Err(SendError::Timeout), &due(1), NOW + KEPT, 0.0).next, NextStep::GivenUp);
    }

    #[test]
    fn an_endpoint_may_ask_for_a_pause_of_at_most_a_day() {
        for (wanted, seconds) in [(3, 5), (120, 120), (u32::MAX, 24 * 60 * 60)] {
            let outcome = outcome_of(Ok(answered(503, Some(wanted))), &due(1), NOW, 0.0);
            assert_eq!(outcome.next, NextStep::Again(NOW + Duration::seconds(seconds)));
            assert!(outcome.retry_after <= RETRY_AFTER_MAX);
        }
    }

    #[test]
    fn the_status_of_an_answer_decides_the_outcome() {
        for (status, next) in
            [(200, NextStep::Delivered), (204, NextStep::Delivered), (299, NextStep::Delivered), (410, NextStep::Gone)]
        {
            assert_eq!(outcome_of(Ok(answered(status, None)), &due(1), NOW, 0.0).next, next);
        }
        for status in [101, 301, 302, 307, 400, 404, 429, 500, 600] {
            assert!(
                matches!(outcome_of(Ok(answered(status, None)), &due(1), NOW, 0.0).next, NextStep::Again(_)),
                "{status}"
            );
            let last = outcome_of(Ok(answered(status, None)), &due(10), NOW + GIVEN_UP_AFTER, 0.0);
            assert_eq!(last.next, NextStep::GivenUp);
        }
    }
}
