//! The schedule after a failed attempt: when the next one is made, and when a device is forgotten.

use mancala_db::{
    outbound::Backoff,
    push::sending::{DeviceState, DueDevice},
};
use time::{Duration, OffsetDateTime};

/// How long a device is left alone after a failed attempt.
const BACKOFF: Backoff = Backoff { min: Duration::seconds(5), max: Duration::hours(1) };

/// The longest pause that a push service is granted: longer waiting notices are dropped anyway.
const RETRY_AFTER_MAX: Duration = Duration::hours(24);

/// How long a device may fail, if anything ever arrived there, and if not. Nothing says that an address that never worked is a push
/// service's.
const FAILING_MAX: Duration = Duration::days(7);
const UNPROVEN_MAX: Duration = Duration::days(1);

/// How many failures it takes at least: they may lie days apart, because nothing was sent between them.
const FAILURES_MIN: i32 = 5;

/// Whether failures alone may prove that a device is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// A player has named the address, or the service says that the token is another app's.
    OfDevice,
    /// The operator has named the service, so its failures say nothing of the device.
    OfService,
}

/// The state of a device after a failed attempt. `chance`, from 0 to 1, makes the pause up to a fifth longer. The devices of a service that
/// was away then do not come in step.
pub(super) fn after_failure(
    device: &DueDevice,
    proof: Proof,
    retry_after_s: Option<u32>,
    chance: f64,
    now: OffsetDateTime,
) -> DeviceState {
    let failing_max = if device.last_success_at.is_some() { FAILING_MAX } else { UNPROVEN_MAX };
    let is_old = device.failing_since.is_some_and(|since| now - since >= failing_max);
    if proof == Proof::OfDevice && is_old && device.failures + 1 >= FAILURES_MIN {
        return DeviceState::Gone;
    }
    let wanted = retry_after_s.map_or(Duration::ZERO, |seconds| Duration::seconds(seconds.into()));
    let pause = BACKOFF.after(device.failures).max(wanted.min(RETRY_AFTER_MAX));
    DeviceState::Fails(now + pause + pause * (chance / 5.0))
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::{super::fixtures::due_device, *};

    const NOW: OffsetDateTime = datetime!(2026-11-26 12:00 UTC);

    fn device(failures: i32, failing_for: Duration, is_proven: bool) -> DueDevice {
        DueDevice {
            failures,
            failing_since: (failures > 0).then_some(NOW - failing_for),
            last_success_at: is_proven.then_some(NOW),
            ..due_device()
        }
    }

    #[test]
    fn pauses_double_and_a_push_service_may_ask_for_a_longer_one() {
        let never = Duration::ZERO;
        for (failures, retry_after_s, pause) in [
            (0, None, 5),
            (1, None, 10),
            (4, None, 80),
            (30, None, 3600),
            (0, Some(1), 5),
            (0, Some(120), 120),
            (30, Some(7200), 7200),
            (0, Some(u32::MAX), 24 * 3600),
        ] {
            let state = after_failure(&device(failures, never, true), Proof::OfDevice, retry_after_s, 0.0, NOW);
            assert_eq!(state, DeviceState::Fails(NOW + Duration::seconds(pause)), "{failures} {retry_after_s:?}");
        }
    }

    #[test]
    fn chance_makes_a_pause_up_to_a_fifth_longer() {
        let state = after_failure(&device(0, Duration::ZERO, true), Proof::OfDevice, Some(100), 1.0, NOW);
        assert_eq!(state, DeviceState::Fails(NOW + Duration::seconds(120)));
    }

    #[test]
    fn a_device_that_fails_for_long_is_forgotten_one_that_never_worked_sooner() {
        for (failures, hours, is_proven, is_gone) in [
            (4, 24, false, true),
            (4, 23, false, false),
            (3, 24, false, false),
            (4, 24, true, false),
            (4, 168, true, true),
        ] {
            let state =
                after_failure(&device(failures, Duration::hours(hours), is_proven), Proof::OfDevice, None, 0.0, NOW);
            assert_eq!(state == DeviceState::Gone, is_gone, "{failures} {hours} {is_proven}");
        }
    }

    #[test]
    fn failures_of_a_service_forget_no_device() {
        let (device, pause) = (device(1000, Duration::days(300), false), NOW + BACKOFF.max);
        assert_eq!(after_failure(&device, Proof::OfService, None, 0.0, NOW), DeviceState::Fails(pause));
        assert_eq!(after_failure(&device, Proof::OfDevice, None, 0.0, NOW), DeviceState::Gone);
    }
}
