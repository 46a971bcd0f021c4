//! The queue of events that become deliveries: it is filled by appends, and emptied in batches.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration as StdDuration, Instant},
};

use mancala_domain::{Event, GameId, Notice, NoticeKind, PlayerId, Previous};
use sqlx::{PgConnection, PgExecutor, PgPool, Postgres, Transaction};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    deliveries::{FOR_APP_MAX, FOR_ENDPOINT_MAX},
    endpoints::OVERFLOW,
    health,
};
use crate::{
    connection::{DbError, columns, statement, wait_longer_for_locks},
    games::{SeatedGame, columns::column},
};

/// About how many deliveries one batch makes. They are divided among the players in the first seats of its games, and then among the
/// games of each. An append counts once for each webhook of the game's players. At least one append of each game is converted.
const DELIVERIES_MAX: i64 = 400;

/// How many appends of one game it converts at most.
const OF_GAME_MAX: i64 = 64;

/// How long the count of an endpoint's queued deliveries stays valid. Counting reads all of these rows.
const COUNT_AGE_MAX: StdDuration = StdDuration::from_secs(1);

/// Distinguishes these advisory locks from others.
const ADVISORY_LOCK: i64 = 0x7765_6268_6f6f_6b73;

/// Queued events: those of one append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingEvents {
    /// The game.
    pub game: GameId,
    /// The first event.
    pub from_seq: i32,
    /// The last event.
    pub to_seq: i32,
}

/// An endpoint that may want messages.
#[derive(Clone, Debug)]
pub struct Subscriber {
    /// The webhook.
    pub webhook: Uuid,
    /// Its player, or a player of its app.
    pub player: PlayerId,
    /// Earlier events are not sent to it.
    pub created_at: OffsetDateTime,
    events: Option<Vec<String>>,
}

impl Subscriber {
    /// Whether it wants messages of this type.
    pub fn wants(&self, kind: NoticeKind) -> bool {
        self.events.as_ref().is_none_or(|events| events.iter().any(|event| event == kind.as_str()))
    }
}

/// A message for one endpoint.
#[derive(Clone, Debug)]
pub struct NewDelivery {
    /// The id of the delivery.
    pub id: Uuid,
    /// The webhook.
    pub webhook: Uuid,
    /// The game.
    pub game: GameId,
    /// The event.
    pub seq: u32,
    /// The type of the message.
    pub kind: NoticeKind,
    /// The message.
    pub payload: String,
    /// Only for a reminder of a deadline.
    pub reminder: Option<Reminder>,
}

columns! {
    /// Events that are converted.
    struct TakenRow => TakenColumns {
        game_id: Uuid,
        from_seq: i32,
    }
}

columns! {
    /// The present deadline of a game, for one webhook.
    struct DeadlineRow => DeadlineColumns {
        webhook_id: Uuid,
        game_id: Uuid,
        deadline: Option<OffsetDateTime>,
    }
}

columns! {
    /// A new row of `webhook_delivery`.
    struct DeliveryRow<'a> => DeliveryColumns {
        id: Uuid,
        webhook_id: Uuid,
        game_id: Uuid,
        seq: i32,
        kind: &'static str,
        payload: &'a str,
        due_at: Option<OffsetDateTime>,
        deadline: Option<OffsetDateTime>,
    }
}

impl NewDelivery {
    fn row(&self) -> DeliveryRow<'_> {
        DeliveryRow {
            id: self.id,
            webhook_id: self.webhook,
            game_id: self.game.0,
            seq: column(self.seq),
            kind: self.kind.as_str(),
            payload: &self.payload,
            due_at: self.reminder.map(|reminder| reminder.at),
            deadline: self.reminder.map(|reminder| reminder.deadline),
        }
    }
}

/// A reminder that a player's time is running out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reminder {
    /// When it is sent.
    pub at: OffsetDateTime,
    /// When the time has run out.
    pub deadline: OffsetDateTime,
}

/// The data from which a message is written.
#[derive(Debug)]
pub struct MessageContent<'a> {
    /// The player, the type of the message, and the event.
    pub notice: Notice,
    /// The time of the event.
    pub at: OffsetDateTime,
    /// The event, and the last ply before it; `None` for a reminder.
    pub happened: Option<(&'a Event, &'a Previous)>,
    /// The current state of the game, with its players.
    pub seated: &'a SeatedGame,
}

/// For each webhook, when this process last counted its queued deliveries.
#[derive(Debug, Default)]
pub struct BacklogChecks(HashMap<Uuid, Instant>);

impl BacklogChecks {
    /// Returns the webhooks that are to be counted now.
    fn due(&mut self, webhooks: &[Uuid]) -> Vec<Uuid> {
        self.0.retain(|_, at| at.elapsed() < COUNT_AGE_MAX);
        let due: Vec<_> = webhooks.iter().copied().filter(|id| !self.0.contains_key(id)).collect();
        self.0.extend(due.iter().map(|id| (*id, Instant::now())));
        due
    }
}

/// Queued events, and the advisory locks of their games, so that one process at a time converts them.
#[derive(Debug)]
pub struct Batch {
    transaction: Transaction<'static, Postgres>,
    /// Events to convert, each game's in their order, from the first.
    pub pending: Vec<PendingEvents>,
    /// Whether its games may have more events than were taken.
    pub has_left: bool,
    /// Whether another process converts events of games that it scanned.
    pub is_contended: bool,
    /// The last game that was scanned, if there may be more.
    pub last: Option<GameId>,
}

impl Batch {
    /// Takes the events of up to `limit` games after one, except those that another process has locked.
    pub async fn begin(pool: &PgPool, after: GameId, now: OffsetDateTime, limit: u32) -> Result<Self, DbError> {
        let mut transaction = pool.begin().await?;
        let rows = sqlx::query!(
            r#"
            select game_id, pg_try_advisory_xact_lock(hashtextextended(game_id::text, $3)) as "is_ours!"
            from (
                select distinct game_id from webhook_event
                where game_id > $4 and (put_off_until is null or put_off_until <= $1)
                order by game_id limit $2
            ) game
            order by game_id
            "#,
            now,
            i64::from(limit),
            ADVISORY_LOCK,
            after.0,
        )
        .fetch_all(&mut *transaction)
        .instrument(statement("select games of webhook_event"))
        .await?;
        let ours: Vec<_> = rows.iter().filter(|row| row.is_ours).map(|row| row.game_id).collect();
        let last = rows.last().filter(|_| rows.len() == limit as usize).map(|row| GameId(row.game_id));
        let is_contended = ours.len() < rows.len();
        Ok(Self { is_contended, last, ..Self::of(transaction, &ours).await? })
    }

    /// Takes the events of one game, unless another process has locked it.
    pub async fn of_game(pool: &PgPool, game: GameId) -> Result<Self, DbError> {
        let mut transaction = pool.begin().await?;
        let is_ours = sqlx::query_scalar!(
            r#"select pg_try_advisory_xact_lock(hashtextextended($1::uuid::text, $2)) as "is_ours!""#,
            game.0,
            ADVISORY_LOCK,
        )
        .fetch_one(&mut *transaction)
        .instrument(statement("lock webhook_event"))
        .await?;
        let ours = if is_ours { vec![game.0] } else { vec![] };
        Self::of(transaction, &ours).await
    }

    /// Reads them by a statement of its own, which sees what the previous holder of the lock has committed.
    async fn of(mut transaction: Transaction<'static, Postgres>, games: &[Uuid]) -> Result<Self, DbError> {
        let rows = sqlx::query!(
            r#"
            with wanted as (
                select given.id, seat_0_player_id, seat_1_player_id, invited_player_id,
                    coalesce(seat_0_player_id, seat_1_player_id, given.id) as opener
                from unnest($1::uuid[]) as given (id) left join game on game.id = given.id
            ), shared as (
                select id, greatest(1, least($3::bigint, $2::bigint / count(*) over (partition by opener)
                    / (select count(distinct opener) from wanted)
                    / greatest(1, (
                        select count(*) from webhook
                        where player_id in (seat_0_player_id, seat_1_player_id, invited_player_id) and disabled_at is null
                    ) + (
                        select count(*) from app_player join webhook on webhook.player_id = app_id
                        where app_player.player_id in (seat_0_player_id, seat_1_player_id, invited_player_id)
                          and webhook.disabled_at is null
                    )))) as most
                from wanted
            )
            select game_id, from_seq, to_seq, (count(*) over (partition by game_id) = most) as "is_most!"
            from shared cross join lateral (
                select * from webhook_event where game_id = shared.id order by from_seq limit most
            ) untold
            order by game_id, from_seq
            "#,
            games,
            DELIVERIES_MAX,
            OF_GAME_MAX,
        )
        .fetch_all(&mut *transaction)
        .instrument(statement("select webhook_event"))
        .await?;
        let has_left = rows.iter().any(|row| row.is_most);
        let pending = rows.into_iter();
        let pending =
            pending.map(|row| PendingEvents { game: GameId(row.game_id), from_seq: row.from_seq, to_seq: row.to_seq });
        Ok(Self { transaction, pending: pending.collect(), has_left, is_contended: false, last: None })
    }

    /// Its games, each once.
    pub fn games(&self) -> Vec<GameId> {
        let mut games: Vec<_> = self.pending.iter().map(|events| events.game).collect();
        games.dedup();
        games
    }

    /// The connection and the events of the batch. A batch reads everything on its own connection, because there may be no other.
    pub fn parts(&mut self) -> (&mut PgConnection, &[PendingEvents]) {
        (&mut self.transaction, &self.pending)
    }

    /// Replaces the queued events by deliveries. `present` has the deadlines that the games have now: reminders of
    /// other deadlines are deleted.
    ///
    /// Only the first delivery to an endpoint in a game is due; the next becomes due when it has ended. Both sides lock the
    /// webhook's row by an earlier statement, so that a new delivery and an ending one see each other.
    pub async fn store_deliveries(
        &mut self,
        deliveries: &[NewDelivery],
        present: &[(Uuid, GameId, Option<OffsetDateTime>)],
        counted: &mut BacklogChecks,
        now: OffsetDateTime,
    ) -> Result<(), DbError> {
        let webhooks: HashSet<Uuid> = present.iter().map(|(webhook, ..)| *webhook).collect();
        let webhooks: Vec<_> = webhooks.into_iter().collect();
        let open = self.lock(&webhooks, &counted.due(&webhooks), now).await?;
        let taken = self.pending.iter().map(|events| TakenRow { game_id: events.game.0, from_seq: events.from_seq });
        let taken = TakenColumns::of(taken);
        let deadlines = present.iter().map(|&(webhook, game, deadline)| DeadlineRow {
            webhook_id: webhook,
            game_id: game.0,
            deadline,
        });
        let deadlines = DeadlineColumns::of(deadlines);
        let deliveries = deliveries.iter().filter(|delivery| open.contains(&delivery.webhook));
        let new = DeliveryColumns::of(deliveries.map(NewDelivery::row));
        sqlx::query!(
            r#"
            with taken as (
                delete from webhook_event using (
                    select unnest($1::uuid[]) as game_id, unnest($2::integer[]) as from_seq
                ) given
                where webhook_event.game_id = given.game_id and webhook_event.from_seq = given.from_seq
            ), stale as (
                delete from webhook_delivery
                where id = any(array(
                    select outdated.id from (
                        select
                            unnest($3::uuid[]) as webhook_id,
                            unnest($4::uuid[]) as game_id,
                            unnest($5::timestamptz[]) as deadline
                    ) present cross join lateral (
                        -- The limits here and below keep PostgreSQL from reading all that waits for any endpoint instead.
                        select id from webhook_delivery
                        where webhook_id = present.webhook_id and game_id = present.game_id
                          and webhook_delivery.deadline is not null and ended_at is null and leased_until is null
                          and webhook_delivery.deadline is distinct from present.deadline
                        limit 100
                    ) outdated
                ))
                -- With "ended_at is null" PostgreSQL could read an index of all that waits instead of looking up these.
                and coalesce(ended_at, leased_until) is null
            ), notice as (
                select
                    unnest($6::uuid[]) as id,
                    unnest($7::uuid[]) as webhook_id,
                    unnest($8::uuid[]) as game_id,
                    unnest($9::integer[]) as seq,
                    unnest($10::text[]) as type,
                    unnest($11::text[]) as payload,
                    unnest($12::timestamptz[]) as due_at,
                    unnest($13::timestamptz[]) as deadline
            )
            insert into webhook_delivery
                (id, webhook_id, created_at, game_id, seq, type, payload, in_order, deadline, next_attempt_at)
            select id, webhook_id, $14, game_id, seq, type, payload, deadline is null, deadline, case
                when deadline is not null then due_at
                when row_number() over (partition by webhook_id, game_id, deadline is null order by seq, type) = 1
                    and (
                        select count(*) from (
                            select from webhook_delivery before
                            where before.webhook_id = notice.webhook_id and before.game_id = notice.game_id
                              and ended_at is null and in_order
                            limit 1
                        ) found
                    ) = 0 then $14
            end
            from notice
            on conflict (webhook_id, game_id, deadline) where deadline is not null do nothing
            "#,
            &taken.game_id,
            &taken.from_seq,
            &deadlines.webhook_id,
            &deadlines.game_id,
            &deadlines.deadline as &[Option<OffsetDateTime>],
            &new.id,
            &new.webhook_id,
            &new.game_id,
            &new.seq,
            &new.kind as &[&str],
            &new.payload as &[&str],
            &new.due_at as &[Option<OffsetDateTime>],
            &new.deadline as &[Option<OffsetDateTime>],
            now,
        )
        .execute(&mut *self.transaction)
        .instrument(statement("delete webhook_event insert webhook_delivery"))
        .await?;
        health::touch_all(&mut self.transaction, &open.into_iter().collect::<Vec<_>>(), now).await
    }

    /// Commits the deliveries.
    pub async fn commit(self) -> Result<(), DbError> {
        Ok(self.transaction.commit().await?)
    }

    /// Discards the deliveries and releases the locks at once: a dropped transaction ends a little later.
    pub async fn roll_back(self) {
        if let Err(error) = self.transaction.rollback().await {
            tracing::debug!("a batch failed to roll back, so its transaction ends with its connection: {error}");
        }
    }

    /// Locks webhooks; returns the enabled ones. A webhook of `to_count` with more queued deliveries than allowed is disabled.
    async fn lock(&mut self, ids: &[Uuid], to_count: &[Uuid], now: OffsetDateTime) -> Result<HashSet<Uuid>, DbError> {
        // No request waits for this, and it may wait for several locks: longer than a request would.
        wait_longer_for_locks(&mut self.transaction).await?;
        let rows = sqlx::query!(
            r#"
            select id, case when id = any($3) then (
                select count(*) from (
                    select from webhook_delivery where webhook_id = webhook.id and ended_at is null limit most.waiting
                ) waiting
            ) >= most.waiting else false end as "is_full!"
            from webhook cross join lateral (
                select case when exists (select from app where app.id = player_id) then $4::bigint else $2 end as waiting
            ) most
            where id = any($1) and disabled_at is null and player_id is not null
            order by id for no key update of webhook
            "#,
            ids,
            FOR_ENDPOINT_MAX,
            to_count,
            FOR_APP_MAX,
        )
        .fetch_all(&mut *self.transaction)
        .instrument(statement("select webhook for update"))
        .await?;
        let (full, open): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.is_full);
        if !full.is_empty() {
            sqlx::query!(
                "update webhook set disabled_at = $2, disabled_reason = $3 where id = any($1)",
                &full.iter().map(|row| row.id).collect::<Vec<_>>(),
                now,
                OVERFLOW,
            )
            .execute(&mut *self.transaction)
            .instrument(statement("update webhook disabled_at"))
            .await?;
        }
        Ok(open.into_iter().map(|row| row.id).collect())
    }
}

/// Puts off the queued events of a game.
pub async fn put_off(pool: &PgPool, game: GameId, until: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!("update webhook_event set put_off_until = $2 where game_id = $1", game.0, until)
        .execute(pool)
        .instrument(statement("update webhook_event put_off_until"))
        .await?;
    Ok(())
}

/// The enabled endpoints of players, and of the apps of players: an app's endpoint stands once for each of them.
pub async fn subscribers(executor: impl PgExecutor<'_>, players: &[PlayerId]) -> Result<Vec<Subscriber>, DbError> {
    let rows = sqlx::query!(
        r#"
        select webhook.id as "id!", player_id as "player_id!", webhook.created_at as "created_at!", events
        from webhook join player on player.id = player_id
        where player_id = any($1) and disabled_at is null and player.kind <> 'deleted'
        union all
        select webhook.id, app_player.player_id, webhook.created_at, events
        from app_player join app on app.id = app_id join webhook on webhook.player_id = app_id
        where app_player.player_id = any($1) and webhook.disabled_at is null and app.disabled_at is null
        "#,
        &players.iter().map(|player| player.0).collect::<Vec<_>>(),
    )
    .fetch_all(executor)
    .instrument(statement("select webhooks of players"))
    .await?;
    let subscribers = rows.into_iter().map(|row| Subscriber {
        webhook: row.id,
        player: PlayerId(row.player_id),
        created_at: row.created_at,
        events: row.events,
    });
    Ok(subscribers.collect())
}
