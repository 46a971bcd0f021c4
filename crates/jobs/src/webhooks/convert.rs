//! Converts the appends of games into deliveries to the webhooks of their players.

use std::{collections::HashMap, panic::AssertUnwindSafe};

use futures_util::FutureExt;
use mancala_db::{
    DbError,
    events::game_log::{self, LogRange, LogSlice},
    games::{self, SeatedGame},
    webhooks::queue::{self, BacklogChecks, Batch, MessageContent, NewDelivery, Reminder, Subscriber},
};
use mancala_domain::{DeviceKind, GameId, Notice, NoticeKind, PlayerId, deadline_soon, notices};
use mancala_process::repeats;
use sqlx::PgPool;
use thiserror::Error;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::{muted::Muted, pushed::Pushed};

/// Writes the payload of a message. The caller provides it, because the jobs do not know the wire types.
pub type WriteMessage = fn(&MessageContent<'_>) -> Result<String, String>;

/// The results of converting appends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Targets<'a> {
    pub(super) write: WriteMessage,
    /// The kinds of devices that get push notifications.
    pub(super) devices: &'a [DeviceKind],
}

/// How many games one batch converts.
const BATCH: u32 = 100;

/// The largest difference between the clocks of servers. A webhook gets no events from longer before its creation.
const CLOCK_SKEW_MAX: Duration = Duration::minutes(1);

/// The pause before the appends of a game that failed are converted again.
const RETRY_AFTER: Duration = Duration::seconds(10);

/// The progress of the conversion.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The last game of the previous batch, if there may be more. The next batch starts after it, so that no game waits for ever.
    after: Option<GameId>,
    counted: BacklogChecks,
}

/// The result of converting a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Converted {
    /// Whether there was nothing to convert.
    pub(super) is_empty: bool,
    /// Whether there may be more to convert at once.
    pub(super) has_more: bool,
    /// Whether another process converts appends that came before.
    pub(super) is_contended: bool,
}

/// Converts the appends of one batch of games after the previous ones.
///
/// If the batch fails, each of its games is converted alone, and a game that fails is retried later.
pub(super) async fn convert(
    pool: &PgPool,
    progress: &mut Progress,
    targets: Targets<'_>,
    now: OffsetDateTime,
) -> Result<Converted, DbError> {
    let batch = Batch::begin(pool, progress.after.unwrap_or(GameId(Uuid::nil())), now, BATCH).await?;
    let games = batch.games();
    let converted = Converted {
        is_empty: games.is_empty(),
        has_more: batch.has_left || batch.last.is_some() || progress.after.is_some(),
        is_contended: batch.is_contended,
    };
    progress.after = batch.last;
    let counted = &mut progress.counted;
    if converted.is_empty {
        return Ok(converted);
    }
    if convert_batch(batch, counted, targets, now).await.is_err() {
        for game in games {
            if let Err(error) = convert_batch(Batch::of_game(pool, game).await?, counted, targets, now).await {
                if let Some(line) = repeats::admit("webhook messages of games", &error.to_string()) {
                    tracing::error!(left_out = line.left_out, game.id = %game.0, "the webhook messages of a game cannot be made yet: {error}");
                }
                queue::put_off(pool, game, now + RETRY_AFTER).await?;
            }
        }
    }
    Ok(converted)
}

/// Why appends cannot be converted.
#[derive(Debug, Error)]
enum ConvertError {
    #[error(transparent)]
    Database(#[from] DbError),
    #[error("the message cannot be written: {0}")]
    Unwritable(String),
    #[error("the conversion panicked")]
    Panicked,
}

async fn convert_batch(
    mut batch: Batch,
    counted: &mut BacklogChecks,
    targets: Targets<'_>,
    now: OffsetDateTime,
) -> Result<(), ConvertError> {
    let made = AssertUnwindSafe(make_deliveries(&mut batch, counted, targets, now)).catch_unwind().await;
    match made.unwrap_or(Err(ConvertError::Panicked)) {
        Ok(()) => Ok(batch.commit().await?),
        Err(error) => {
            batch.roll_back().await;
            Err(error)
        }
    }
}

async fn make_deliveries(
    batch: &mut Batch,
    counted: &mut BacklogChecks,
    targets: Targets<'_>,
    now: OffsetDateTime,
) -> Result<(), ConvertError> {
    let ids = batch.games();
    let (connection, pending) = batch.parts();
    let games: HashMap<_, _> =
        games::find_all(&mut *connection, &ids).await?.into_iter().map(|seated| (seated.game.id(), seated)).collect();
    let players: Vec<PlayerId> = games.values().flat_map(of_game).flatten().collect();
    let subscribers = queue::subscribers(&mut *connection, &players).await?;
    let pushed = Pushed::find(&mut *connection, &players, targets.devices).await?;
    // The events of each append, with the state before them.
    let known = pending.iter().filter_map(|append| Some((append, games.get(&append.game)?)));
    let known: Vec<_> = if subscribers.is_empty() && pushed.is_empty() { vec![] } else { known.collect() };
    let wanted = known.iter().map(|(append, seated)| LogRange {
        game: &seated.game,
        after: u32::try_from(append.from_seq - 1).unwrap_or(0),
        until: u32::try_from(append.to_seq).unwrap_or(0),
    });
    let parts = game_log::read_all(&mut *connection, &wanted.collect::<Vec<_>>()).await?;
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    let muted = Muted::find(&mut *connection, known.iter().map(|(_, seated)| *seated).zip(&parts)).await?;
    let (mut deliveries, mut notices) = (vec![], vec![]);
    for ((_, seated), part) in known.iter().zip(&parts) {
        deliveries.extend(of_append(seated, part, (&subscribers, &muted), targets.write)?);
        notices.extend(pushed.notices(seated, part, &muted, now));
    }
    let present = games.values().flat_map(|seated| {
        let here = subscribers.iter().filter(|subscriber| of_game(seated).contains(&Some(subscriber.player)));
        here.map(|subscriber| (subscriber.webhook, seated.game.id(), seated.game.time().deadline))
    });
    let present: Vec<_> = present.collect();
    batch.store_deliveries(&deliveries, &present, counted, now).await?;
    // Devices come after the webhooks, because every transaction that locks both locks webhooks first.
    let (connection, _) = batch.parts();
    pushed.store(connection, notices, games.values(), targets.devices).await?;
    Ok(())
}

/// The people of a game.
fn of_game(seated: &SeatedGame) -> [Option<PlayerId>; 3] {
    let game = &seated.game;
    [game.players().first, game.players().second, game.invited()]
}

/// The deliveries of one append: its events, and the reminder of a deadline that it set. A player is not notified of what a
/// muted one does unasked.
fn of_append(
    seated: &SeatedGame,
    part: &LogSlice,
    (subscribers, muted): (&[Subscriber], &Muted),
    write: WriteMessage,
) -> Result<Vec<NewDelivery>, ConvertError> {
    let game = &seated.game;
    let mut deliveries = vec![];
    let mut previous = part.previous.clone();
    for event in &part.events {
        let of_event = |notice: &Notice| notice.seq == event.seq && muted.is_heard(game, event, notice);
        for notice in notices(game, &part.previous, &part.events).into_iter().filter(of_event) {
            let message = MessageContent { notice, at: event.at, happened: Some((event, &previous)), seated };
            deliveries.extend(for_subscribers(&message, None, subscribers, write)?);
        }
        previous = previous.after(event);
    }
    let last = part.events.last().filter(|last| last.seq == game.version());
    if let (Some(deadline), Some(last)) = (game.time().deadline, last)
        && let Some((player, at)) = deadline_soon(game, last.at)
    {
        let notice = Notice { player, kind: NoticeKind::DeadlineSoon, seq: last.seq };
        let message = MessageContent { notice, at, happened: None, seated };
        deliveries.extend(for_subscribers(&message, Some(Reminder { at, deadline }), subscribers, write)?);
    }
    Ok(deliveries)
}

/// Makes a delivery of a message for each webhook that wants it.
fn for_subscribers(
    message: &MessageContent<'_>,
    due: Option<Reminder>,
    subscribers: &[Subscriber],
    write: WriteMessage,
) -> Result<Vec<NewDelivery>, ConvertError> {
    let Notice { player, kind, seq } = message.notice;
    let wanting: Vec<_> = subscribers
        .iter()
        .filter(|subscriber| {
            subscriber.player == player
                && subscriber.wants(kind)
                && subscriber.created_at <= message.at + CLOCK_SKEW_MAX
        })
        .collect();
    if wanting.is_empty() {
        return Ok(vec![]);
    }
    let payload = write(message).map_err(ConvertError::Unwritable)?;
    let of_subscriber = |subscriber: &&Subscriber| NewDelivery {
        id: Uuid::now_v7(),
        webhook: subscriber.webhook,
        game: message.seated.game.id(),
        seq,
        kind,
        payload: payload.clone(),
        reminder: due,
    };
    Ok(wanting.iter().map(of_subscriber).collect())
}
