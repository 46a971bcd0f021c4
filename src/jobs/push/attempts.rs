//! The attempts under one lease: what is due for a device is sent, one after the other.

use std::{
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
    db::{
        push::sending::{DeviceState, DueDevice, DueNotice, KEPT, PushLane, Sent},
        webhooks::attempts::has_deadline,
    },
    domain::DeviceKind,
    metrics::DeliveryOutcome,
    push::{Language, Notification, Outcome, Subject, Target, Urgency},
};

/// After this time no further notification is sent under a lease. With the last attempt it is far shorter than the lease.
const RUN_TIME: Duration = Duration::from_secs(10);

/// A device that answers later than this is slow.
const QUICK: Duration = Duration::from_secs(1);

/// Sends what is due for a device, until an attempt fails.
pub(super) async fn serve(pool: &PgPool, settings: &Settings, device: DueDevice) -> Sent {
    let begun = Instant::now();
    let mut sent = Sent { device: device.id, lease: device.lease, ended: vec![], state: DeviceState::Untried };
    for notice in &device.notices {
        if begun.elapsed() > RUN_TIME {
            break;
        }
        if !is_wanted(pool, notice, now()).await {
            sent.ended.push(notice.version);
            continue;
        }
        let attempted = Instant::now();
        let outcome = attempt(settings, &device, &notification(&device, notice)).await;
        settings.metrics.push_sent(match outcome {
            Outcome::Taken => DeliveryOutcome::Delivered,
            Outcome::Failed { .. } => DeliveryOutcome::Retried,
            Outcome::Refused | Outcome::Gone => DeliveryOutcome::Failed,
        });
        if matches!(outcome, Outcome::Taken | Outcome::Refused) {
            sent.ended.push(notice.version);
        }
        sent.state = match outcome {
            Outcome::Taken if attempted.elapsed() < QUICK => DeviceState::Works(PushLane::Quick),
            Outcome::Taken => DeviceState::Works(PushLane::Unproven),
            Outcome::Gone => DeviceState::Gone,
            Outcome::Refused => after_failure(&device, None, now()),
            Outcome::Failed { retry_after_s } => after_failure(&device, retry_after_s, now()),
        };
        if outcome != Outcome::Taken {
            break;
        }
    }
    sent
}

/// Whether a notice is worth sending: it is of today, and its deadline is the game's. What the database does not say counts as wanted.
async fn is_wanted(pool: &PgPool, notice: &DueNotice, now: OffsetDateTime) -> bool {
    if now - notice.due_at > KEPT {
        return false;
    }
    match notice.deadline {
        Some(deadline) => deadline > now && has_deadline(pool, notice.game, deadline).await.unwrap_or(true),
        None => true,
    }
}

fn notification(device: &DueDevice, notice: &DueNotice) -> Notification {
    let subject =
        Subject::Game { id: notice.game.0.to_string(), title: notice.variant.clone(), kind: notice.kind.as_str() };
    let urgency = if notice.deadline.is_some() { Urgency::High } else { Urgency::Normal };
    Notification { subject, language: Language::of(&device.language), useful_until: notice.deadline, urgency }
}

async fn attempt(settings: &Settings, device: &DueDevice, notification: &Notification) -> Outcome {
    let target = match (device.kind, &device.keys) {
        (DeviceKind::Web, Some((public_key, secret))) => Target::Web { address: &device.address, public_key, secret },
        _ => return Outcome::Failed { retry_after_s: None },
    };
    let sending = AssertUnwindSafe(settings.pusher.send(target, notification, now())).catch_unwind();
    sending.await.unwrap_or_else(|_| {
        let id: Uuid = device.id;
        tracing::error!(device.id = %id, "sending a push notification panicked");
        Outcome::Failed { retry_after_s: None }
    })
}
