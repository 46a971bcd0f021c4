//! The attempts under one lease: what is due for a device is sent, one after the other.

use std::{
    collections::HashSet,
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{schedule::after_failure, settings::Settings};
use crate::{
    clock::now,
    db::push::sending::{DeviceState, DueDevice, DueNotice, KEPT, PushLane, Sent, waiting},
    domain::{DeviceKind, NoticeKind},
    metrics::DeliveryOutcome,
    push::{Language, News, Notification, Outcome, Subject, Target, Urgency},
};

/// After this time no further notification is sent under a lease. With the last attempt it is far shorter than the lease.
const RUN_TIME: Duration = Duration::from_secs(10);

/// A device that answers later than this is slow.
const QUICK: Duration = Duration::from_secs(1);

/// From so many notices on that are due at once, a device shows one notification for all of them.
const DIGEST_MIN: usize = 5;

/// Sends what is due for a device, until an attempt fails.
pub(super) async fn serve(pool: &PgPool, settings: &Settings, device: DueDevice) -> Sent {
    let begun = Instant::now();
    let mut sent = Sent {
        device: device.id,
        lease: device.lease,
        ended: vec![],
        dropped: device.unknown.clone(),
        state: DeviceState::Untried(None),
    };
    let (wanted, unwanted): (Vec<_>, Vec<_>) = device.notices.iter().partition(|notice| is_wanted(notice, now()));
    sent.dropped.extend(unwanted.iter().map(|notice| notice.version));
    if let Some(later) = not_before(&device, &wanted, now()).filter(|_| !wanted.is_empty()) {
        sent.state = DeviceState::Untried(Some(later));
        return sent;
    }
    // With a digest, two are one already.
    let digest_min = if device.digest_minutes.is_some() { 2 } else { DIGEST_MIN };
    let parts: Vec<&[&DueNotice]> =
        if wanted.len() >= digest_min { vec![&wanted[..]] } else { wanted.chunks(1).collect() };
    for part in parts {
        if begun.elapsed() > RUN_TIME {
            break;
        }
        // Meanwhile a turn may be played, the device removed, or the player erased.
        let versions: Vec<_> = part.iter().map(|notice| notice.version).collect();
        let Ok(waiting) = waiting(pool, device.id, device.lease, &versions).await else { break };
        let part: Vec<_> = part.iter().copied().filter(|notice| waiting.contains(&notice.version)).collect();
        // What is gone already, and reminders of deadlines that the games have no longer.
        sent.dropped.extend(versions.iter().filter(|version| !waiting.contains(version)));
        if part.is_empty() {
            continue;
        }
        let attempted = Instant::now();
        let outcome = attempt(settings, &device, &notification(&device, &part)).await;
        settings.metrics.push_sent(match outcome {
            Outcome::Taken => DeliveryOutcome::Delivered,
            Outcome::Failed { .. } | Outcome::Postponed(_) => DeliveryOutcome::Retried,
            Outcome::Refused | Outcome::Gone => DeliveryOutcome::Failed,
        });
        if matches!(outcome, Outcome::Taken | Outcome::Refused) {
            sent.ended.extend(part.iter().map(|notice| notice.version));
        }
        sent.state = match outcome {
            Outcome::Taken if attempted.elapsed() < QUICK => DeviceState::Works(PushLane::Quick),
            Outcome::Taken => DeviceState::Works(PushLane::Unproven),
            Outcome::Gone => DeviceState::Gone,
            Outcome::Refused => after_failure(&device, None, rand::random(), now()),
            Outcome::Postponed(pause) => DeviceState::Untried(Some(now() + pause)),
            Outcome::Failed { retry_after_s } => after_failure(&device, retry_after_s, rand::random(), now()),
        };
        if outcome != Outcome::Taken {
            break;
        }
    }
    sent
}

/// When a device may show something, if not now: after quiet hours, and with a digest after its time. A reminder of a deadline does not wait for a digest.
fn not_before(device: &DueDevice, wanted: &[&DueNotice], now: OffsetDateTime) -> Option<OffsetDateTime> {
    if device.quiet_until.is_some() {
        return device.quiet_until;
    }
    let minutes = time::Duration::minutes(device.digest_minutes?.into());
    let next = device.last_success_at? + minutes;
    let is_urgent = wanted.iter().any(|notice| notice.deadline.is_some());
    Some(next).filter(|next| *next > now && !is_urgent)
}

/// Whether a notice is worth sending: it is of today, and its deadline has not passed.
fn is_wanted(notice: &DueNotice, now: OffsetDateTime) -> bool {
    let is_past = notice.deadline.is_some_and(|deadline| deadline <= now);
    now - notice.due_at <= KEPT && !is_past
}

/// One notification for one notice, or for several.
fn notification(device: &DueDevice, part: &[&DueNotice]) -> Notification {
    let subject = if let [notice] = part {
        Subject::Game { id: notice.game.0.to_string(), title: notice.variant.clone(), kind: notice.kind.as_str() }
    } else {
        let games: HashSet<_> = part.iter().map(|notice| notice.game).collect();
        let is_turn = |kind| matches!(kind, NoticeKind::YourTurn | NoticeKind::DeadlineSoon);
        let are_turns = part.iter().all(|notice| is_turn(notice.kind));
        Subject::Digest { games: games.len(), news: if are_turns { News::Turns } else { News::Several } }
    };
    let deadline = part.iter().filter_map(|notice| notice.deadline).min();
    let urgency = if deadline.is_some() { Urgency::High } else { Urgency::Normal };
    let useful_until = deadline.filter(|_| part.len() == 1);
    Notification { subject, language: Language::of(&device.language), useful_until, urgency }
}

async fn attempt(settings: &Settings, device: &DueDevice, notification: &Notification) -> Outcome {
    let target = match (device.kind, &device.keys) {
        (DeviceKind::Web, Some((public_key, secret))) => Target::Web { address: &device.address, public_key, secret },
        // It was stored without keys, which is of no use.
        (DeviceKind::Web, None) => return Outcome::Gone,
        (DeviceKind::Fcm, _) => Target::Fcm { token: &device.address },
        (DeviceKind::Apns, _) => Target::Apns { token: &device.address },
    };
    let sending = AssertUnwindSafe(settings.pusher.send(target, notification, now())).catch_unwind();
    sending.await.unwrap_or_else(|_| {
        let id: Uuid = device.id;
        tracing::error!(device.id = %id, "sending a push notification panicked");
        Outcome::Failed { retry_after_s: None }
    })
}
