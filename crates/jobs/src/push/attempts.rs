//! The attempts under one lease: the due notices of a device are sent one after the other.

use std::{
    collections::{HashMap, HashSet},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use mancala_db::{
    outbound::Lane,
    push::sending::{DeviceState, DueDevice, DueNotice, KEPT, Sent, waiting},
};
use mancala_domain::{DeviceKind, GameId, NoticeKind};
use mancala_outbound::push::{Cause, News, Notification, Outcome, Pusher, Subject, Target, Urgency};
use mancala_process::{
    clock::now,
    metrics::{DeliveryOutcome, Metrics},
    repeats,
};
use mancala_texts::Language;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use super::schedule::{Proof, after_failure};

/// After this time no further notification is sent under a lease. With the last attempt it is far shorter than the lease.
const RUN_TIME: Duration = Duration::from_secs(10);

/// A device that answers later than this is slow.
const QUICK: Duration = Duration::from_secs(1);

/// The number of games with due notices from which on a device shows one notification for all of them.
const DIGEST_MIN: usize = 5;

/// The settings of the job.
#[derive(Clone, Debug)]
pub struct Settings {
    pub pusher: Pusher,
    pub metrics: Arc<Metrics>,
    /// How many devices are served altogether. Each holds a connection and a TLS session: about 50 KiB.
    pub attempts_max: usize,
}

/// Sends the due notices of a device, until an attempt fails.
pub(super) async fn send_due(pool: &PgPool, settings: &Settings, device: DueDevice) -> Sent {
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
    for part in parts(&device, wanted) {
        if begun.elapsed() > RUN_TIME {
            break;
        }
        // Meanwhile a turn may be played, the device removed, or the player erased.
        let versions: Vec<_> = part.iter().map(|notice| notice.version).collect();
        let Ok(waiting) = waiting(pool, device.id, device.lease, &versions).await else { break };
        let part: Vec<_> = part.iter().copied().filter(|notice| waiting.contains(&notice.version)).collect();
        // Notices that are gone already, and reminders of deadlines that the games no longer have.
        sent.dropped.extend(versions.iter().filter(|version| !waiting.contains(version)));
        if part.is_empty() {
            continue;
        }
        let attempted = Instant::now();
        let outcome = attempt(settings, &device, &notification(&device, &part)).await;
        settings.metrics.push_sent(match outcome {
            Outcome::Taken => DeliveryOutcome::Delivered,
            Outcome::Failed { .. } | Outcome::Postponed(_) => DeliveryOutcome::Retried,
            Outcome::Refused | Outcome::Gone | Outcome::Foreign => DeliveryOutcome::Failed,
        });
        if matches!(outcome, Outcome::Taken | Outcome::Refused) {
            sent.ended.extend(part.iter().map(|notice| notice.version));
        }
        let lane = if attempted.elapsed() < QUICK { Lane::Quick } else { Lane::Unproven };
        sent.state = state_after(outcome, &device, sent.state, lane);
        if outcome != Outcome::Taken {
            break;
        }
    }
    sent
}

/// The state of a device after an attempt. `before` is the state after earlier attempts under the lease, and `lane` is the lane of a
/// working device.
fn state_after(outcome: Outcome, device: &DueDevice, before: DeviceState, lane: Lane) -> DeviceState {
    let fails = |proof, retry_after_s| after_failure(device, proof, retry_after_s, rand::random(), now());
    let of_kind = if device.kind == DeviceKind::Web { Proof::OfDevice } else { Proof::OfService };
    match outcome {
        Outcome::Taken => DeviceState::Works { lane, paused_until: None },
        Outcome::Gone => DeviceState::Gone,
        // If the device has worked before, the server's settings have changed.
        Outcome::Foreign if device.last_success_at.is_none() => DeviceState::Gone,
        Outcome::Foreign => {
            warn(
                device,
                "the service does not know a device that it knew: is the project, topic or environment another?",
            );
            fails(Proof::OfDevice, None)
        }
        Outcome::Refused => fails(of_kind, None),
        Outcome::Failed { retry_after_s, cause } => {
            report(device, cause);
            fails(of_kind, retry_after_s)
        }
        Outcome::Postponed(pause) => {
            let paused_until = now() + pause;
            match before {
                DeviceState::Works { lane, .. } => DeviceState::Works { lane, paused_until: Some(paused_until) },
                _ => DeviceState::Paused(paused_until),
            }
        }
    }
}

/// Logs why an attempt failed. Players name the hosts of browsers, so their failures are no warnings.
fn report(device: &DueDevice, cause: Cause) {
    if device.kind != DeviceKind::Web {
        warn(device, &cause.to_string());
    } else if let Some(line) = repeats::admit("push notifications to browsers fail", &cause.to_string()) {
        let host = &device.host;
        tracing::info!(left_out = line.left_out, host, %cause, "a push notification to a browser fails");
    }
}

fn warn(device: &DueDevice, cause: &str) {
    let (kind, host) = (device.kind.as_str(), &device.host);
    if let Some(line) = repeats::admit("push notifications to apps fail", &format!("{kind} {cause}")) {
        tracing::warn!(left_out = line.left_out, kind, host, cause, "a push notification to an app fails");
    }
}

/// Groups the notices of each notification: all games together if they are many, otherwise each game. A turn and the reminder of its
/// deadline belong to one game.
fn parts<'a>(device: &DueDevice, wanted: Vec<&'a DueNotice>) -> Vec<Vec<&'a DueNotice>> {
    // A device with a digest shows one notification for two games already.
    let digest_min = if device.digest_minutes.is_some() { 2 } else { DIGEST_MIN };
    let mut games: Vec<Vec<&DueNotice>> = vec![];
    let mut places: HashMap<GameId, usize> = HashMap::new();
    for notice in &wanted {
        let place = *places.entry(notice.game).or_insert(games.len());
        if place == games.len() {
            games.push(vec![]);
        }
        games[place].push(*notice);
    }
    if games.len() >= digest_min { vec![wanted] } else { games }
}

/// When a device may show something, if not now: after quiet hours, and with a digest after its time. A reminder of a
/// deadline does not wait for a digest.
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

/// Makes the notification for one game, or for several. For one game, a due deadline reminder takes precedence.
fn notification(device: &DueDevice, part: &[&DueNotice]) -> Notification {
    let games: HashSet<_> = part.iter().map(|notice| notice.game).collect();
    let last = part.iter().max_by_key(|notice| (notice.deadline.is_some(), notice.due_at)).filter(|_| games.len() == 1);
    let subject = if let Some(notice) = last {
        Subject::Game { id: notice.game.0.to_string(), title: notice.variant.clone(), kind: notice.kind.as_str() }
    } else {
        let is_turn = |kind| matches!(kind, NoticeKind::YourTurn | NoticeKind::DeadlineSoon);
        let are_turns = part.iter().all(|notice| is_turn(notice.kind));
        Subject::Digest { games: games.len(), news: if are_turns { News::Turns } else { News::Several } }
    };
    let deadline = part.iter().filter_map(|notice| notice.deadline).min();
    let urgency = if deadline.is_some() { Urgency::High } else { Urgency::Normal };
    let useful_until = deadline.filter(|_| games.len() == 1);
    Notification { subject, language: Language::of_range(&device.language).unwrap_or_default(), useful_until, urgency }
}

async fn attempt(settings: &Settings, device: &DueDevice, notification: &Notification) -> Outcome {
    let target = match (device.kind, &device.keys) {
        (DeviceKind::Web, Some((public_key, secret))) => Target::Web { address: &device.address, public_key, secret },
        // A device that was stored without keys cannot be reached.
        (DeviceKind::Web, None) => return Outcome::Gone,
        (DeviceKind::Fcm, _) => Target::Fcm { token: &device.address },
        (DeviceKind::Apns, _) => Target::Apns { token: &device.address },
    };
    let sending = AssertUnwindSafe(settings.pusher.send(target, notification, now())).catch_unwind();
    sending.await.unwrap_or_else(|_| {
        let id: Uuid = device.id;
        tracing::error!(device.id = %id, "sending a push notification panicked");
        Outcome::of_server()
    })
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::{super::fixtures::due_device, *};

    const NOW: OffsetDateTime = datetime!(2026-11-26 12:00 UTC);
    const HOUR: time::Duration = time::Duration::HOUR;

    fn device(digest_minutes: Option<i16>) -> DueDevice {
        DueDevice { digest_minutes, ..due_device() }
    }

    /// A notice of the game with this number, due so long ago.
    fn notice(game: u128, kind: NoticeKind, deadline: Option<OffsetDateTime>, ago: time::Duration) -> DueNotice {
        let game = GameId(Uuid::from_u128(game));
        DueNotice { game, kind, variant: "Kalah".to_owned(), deadline, due_at: NOW - ago, version: Uuid::nil() }
    }

    fn turn(game: u128) -> DueNotice {
        notice(game, NoticeKind::YourTurn, None, HOUR)
    }

    /// The numbers of games that are shown together.
    fn shown_together(device: &DueDevice, notices: &[DueNotice]) -> Vec<Vec<u128>> {
        let parts = parts(device, notices.iter().collect());
        parts.iter().map(|part| part.iter().map(|notice| notice.game.0.as_u128()).collect()).collect()
    }

    #[test]
    fn many_games_are_one_notification_and_with_a_digest_two_are() {
        let turns: Vec<_> = [1, 2, 1, 3, 4].map(turn).into();
        assert_eq!(shown_together(&device(None), &turns), [vec![1, 1], vec![2], vec![3], vec![4]]);
        assert_eq!(shown_together(&device(Some(60)), &turns[..1]), [[1]]);
        assert_eq!(shown_together(&device(Some(60)), &turns[..2]), [[1, 2]]);
        let more: Vec<_> = (1..=DIGEST_MIN as u128).map(turn).collect();
        assert_eq!(shown_together(&device(None), &more), [[1, 2, 3, 4, 5]]);
    }

    #[test]
    fn a_digest_waits_for_its_time_and_quiet_hours_for_their_end() {
        let urgent = notice(1, NoticeKind::DeadlineSoon, Some(NOW + HOUR), HOUR);
        let turn = turn(1);
        let wait = |device: &DueDevice, notice| not_before(device, &[notice], NOW);
        let shown_before = |ago| DueDevice { last_success_at: Some(NOW - ago), ..device(Some(60)) };
        assert_eq!(wait(&device(Some(60)), &turn), None, "the first comes at once");
        assert_eq!(wait(&shown_before(HOUR / 4), &turn), Some(NOW + HOUR * 3 / 4));
        assert_eq!(wait(&shown_before(HOUR), &turn), None);
        assert_eq!(wait(&shown_before(HOUR / 4), &urgent), None, "a deadline does not wait for a digest");
        assert_eq!(wait(&DueDevice { digest_minutes: None, ..shown_before(HOUR / 4) }, &turn), None);
        let quiet = DueDevice { quiet_until: Some(NOW + HOUR * 8), ..shown_before(HOUR / 4) };
        for notice in [&turn, &urgent] {
            assert_eq!(wait(&quiet, notice), Some(NOW + HOUR * 8), "nothing is shown in quiet hours");
        }
    }

    #[test]
    fn what_is_of_yesterday_or_too_late_is_not_sent() {
        let deadline = |after| notice(1, NoticeKind::DeadlineSoon, Some(NOW + after), HOUR);
        assert!(is_wanted(&turn(1), NOW) && is_wanted(&deadline(HOUR), NOW));
        assert!(!is_wanted(&deadline(time::Duration::ZERO), NOW));
        let of = |ago| notice(1, NoticeKind::Finished, None, ago);
        assert!(is_wanted(&of(KEPT), NOW) && !is_wanted(&of(KEPT + HOUR), NOW));
    }

    #[test]
    fn a_notification_tells_of_one_game_or_how_many_there_are() {
        let deadline = Some(NOW + HOUR);
        let reminder = notice(1, NoticeKind::DeadlineSoon, deadline, HOUR * 2);
        let (turn, invited) = (turn(1), notice(2, NoticeKind::Invited, None, HOUR));
        let shown = |part: &[&DueNotice]| {
            let Notification { subject, useful_until, urgency, .. } = notification(&device(None), part);
            (subject, useful_until, urgency)
        };
        let game = |kind| Subject::Game { id: Uuid::from_u128(1).to_string(), title: "Kalah".to_owned(), kind };
        let several = |news| Subject::Digest { games: 2, news };
        assert_eq!(shown(&[&turn]), (game("game.your_turn"), None, Urgency::Normal));
        assert_eq!(shown(&[&reminder, &turn]), (game("game.deadline_soon"), deadline, Urgency::High));
        assert_eq!(shown(&[&turn, &invited]), (several(News::Several), None, Urgency::Normal));
        let other = notice(2, NoticeKind::YourTurn, None, HOUR);
        assert_eq!(shown(&[&reminder, &other]), (several(News::Turns), None, Urgency::High));
    }
}
