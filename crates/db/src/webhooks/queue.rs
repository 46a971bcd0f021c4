//! Appends of which players are yet to be told, and how they become deliveries.

use std::collections::HashSet;

use mancala_domain::{Event, GameId, Notice, NoticeKind, PlayerId, Previous};
use sqlx::{PgPool, Postgres, Transaction};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{endpoints::OVERFLOW, health};
use crate::{
    connection::{DbError, columns, statement},
    games::{SeatedGame, columns::column},
};

/// How many appends to a game are told at once.
const OF_GAME_MAX: i64 = 64;

/// How many deliveries wait for an endpoint at most: more than a player has games. One for which more wait is disabled.
pub const WAITING_MAX: i64 = 10_000;

/// Tells these locks from others.
const ADVISORY_LOCK: i64 = 0x7765_6268_6f6f_6b73;

/// Events of a game that were appended together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingEvents {
    pub game: GameId,
    pub from_seq: i32,
    pub to_seq: i32,
}

/// An endpoint that is to be told, and of what.
#[derive(Clone, Debug)]
pub struct Subscriber {
    pub webhook: Uuid,
    pub player: PlayerId,
    /// Of what happened before it is not told.
    pub created_at: OffsetDateTime,
    events: Option<Vec<String>>,
}

impl Subscriber {
    /// Whether it is to be told of such things.
    pub fn wants(&self, kind: NoticeKind) -> bool {
        self.events.as_ref().is_none_or(|events| events.iter().any(|event| event == kind.as_str()))
    }
}

/// A notice for one endpoint.
#[derive(Clone, Debug)]
pub struct NewDelivery {
    pub id: Uuid,
    pub webhook: Uuid,
    pub game: GameId,
    pub seq: u32,
    pub kind: NoticeKind,
    pub payload: String,
    /// Of a notice that time runs out.
    pub reminder: Option<Reminder>,
}

columns! {
    /// Events that become deliveries.
    struct TakenRow => TakenColumns {
        game_id: Uuid,
        from_seq: i32,
    }
}

columns! {
    /// The deadline that a game has now, for one webhook.
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

/// A player's time runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reminder {
    /// When the player is told.
    pub at: OffsetDateTime,
    /// When it has run out.
    pub deadline: OffsetDateTime,
}

/// What somebody is told of.
#[derive(Debug)]
pub struct MessageContent<'a> {
    pub notice: Notice,
    /// When it happened.
    pub at: OffsetDateTime,
    /// What happened, and the last ply before it; unless it is only that time goes by.
    pub happened: Option<(&'a Event, &'a Previous)>,
    /// The game as it is now, with its people.
    pub seated: &'a SeatedGame,
}

/// Some appends, and the right to tell of them: of several processes one has it.
#[derive(Debug)]
pub struct Batch {
    transaction: Transaction<'static, Postgres>,
    /// Those of a game in their order, from the first.
    pub pending: Vec<PendingEvents>,
    /// The last game that was looked at, if there may be more.
    pub last: Option<GameId>,
}

impl Batch {
    /// Those of up to `limit` games after one, of which no other process tells right now.
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
        Self::of(transaction, &ours, last).await
    }

    /// Those of one game, unless another process tells of it right now.
    pub async fn of_game(pool: &PgPool, game: GameId) -> Result<Self, DbError> {
        let mut transaction = pool.begin().await?;
        let is_ours = sqlx::query_scalar!(
            r#"select pg_try_advisory_xact_lock(hashtextextended($1::uuid::text, $2)) as "is_ours!""#,
            game.0,
            ADVISORY_LOCK,
        )
        .fetch_one(&mut *transaction)
        .await?;
        let ours = if is_ours { vec![game.0] } else { vec![] };
        Self::of(transaction, &ours, None).await
    }

    /// In a statement of its own, which sees what whoever had the lock before has told.
    async fn of(
        mut transaction: Transaction<'static, Postgres>,
        games: &[Uuid],
        last: Option<GameId>,
    ) -> Result<Self, DbError> {
        let rows = sqlx::query!(
            r#"
            select game_id, from_seq, to_seq from unnest($1::uuid[]) as wanted (id)
            cross join lateral (
                select * from webhook_event where game_id = wanted.id order by from_seq limit $2
            ) untold
            order by game_id, from_seq
            "#,
            games,
            OF_GAME_MAX,
        )
        .fetch_all(&mut *transaction)
        .instrument(statement("select webhook_event"))
        .await?;
        let pending = rows.into_iter();
        let pending =
            pending.map(|row| PendingEvents { game: GameId(row.game_id), from_seq: row.from_seq, to_seq: row.to_seq });
        Ok(Self { transaction, pending: pending.collect(), last })
    }

    /// Its games, each once.
    pub fn games(&self) -> Vec<GameId> {
        let mut games: Vec<_> = self.pending.iter().map(|events| events.game).collect();
        games.dedup();
        games
    }

    /// Makes the appends into deliveries. `present` says what deadline the games have now: what was to be told of another one is not.
    ///
    /// Of those that wait for an endpoint in a game only the first has a time. The next one gets it when that one has ended, and so that
    /// neither misses the other, whoever adds or ends some has the webhook's row locked, by a statement before.
    pub async fn store_deliveries(
        &mut self,
        deliveries: &[NewDelivery],
        present: &[(Uuid, GameId, Option<OffsetDateTime>)],
        now: OffsetDateTime,
    ) -> Result<(), DbError> {
        let webhooks: HashSet<Uuid> = present.iter().map(|(webhook, ..)| *webhook).collect();
        let open = self.lock(&webhooks.into_iter().collect::<Vec<_>>(), now).await?;
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
                delete from webhook_delivery using (
                    select
                        unnest($3::uuid[]) as webhook_id,
                        unnest($4::uuid[]) as game_id,
                        unnest($5::timestamptz[]) as deadline
                ) present
                where webhook_delivery.webhook_id = present.webhook_id and webhook_delivery.game_id = present.game_id
                  and webhook_delivery.deadline is not null and ended_at is null and leased_until is null
                  and webhook_delivery.deadline is distinct from present.deadline
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
                    and not exists (
                        select from webhook_delivery before
                        where before.webhook_id = notice.webhook_id and before.game_id = notice.game_id
                          and ended_at is null and in_order
                    ) then $14
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

    /// What was told stays.
    pub async fn commit(self) -> Result<(), DbError> {
        Ok(self.transaction.commit().await?)
    }

    /// Nothing was told, and any process may tell of these games at once: a transaction that is dropped ends a little later.
    pub async fn roll_back(self) {
        if let Err(error) = self.transaction.rollback().await {
            tracing::debug!("what could not be told ends with its connection: {error}");
        }
    }

    /// Locks webhooks; says which are sent to. One for which too much waits is disabled.
    async fn lock(&mut self, ids: &[Uuid], now: OffsetDateTime) -> Result<HashSet<Uuid>, DbError> {
        // Nobody waits for this, and it waits for several: longer than a request would.
        sqlx::query("set local lock_timeout = '2s'").execute(&mut *self.transaction).await?;
        let rows = sqlx::query!(
            r#"
            select id, (
                select count(*) from (
                    select from webhook_delivery where webhook_id = webhook.id and ended_at is null limit $2
                ) waiting
            ) as "waiting!"
            from webhook where id = any($1) and disabled_at is null and player_id is not null
            order by id for no key update
            "#,
            ids,
            WAITING_MAX,
        )
        .fetch_all(&mut *self.transaction)
        .instrument(statement("select webhook for update"))
        .await?;
        let (full, open): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.waiting >= WAITING_MAX);
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

/// Leaves the appends to a game alone until later.
pub async fn put_off(pool: &PgPool, game: GameId, until: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!("update webhook_event set put_off_until = $2 where game_id = $1", game.0, until)
        .execute(pool)
        .instrument(statement("update webhook_event put_off_until"))
        .await?;
    Ok(())
}

/// The endpoints of some players that are told of anything.
pub async fn subscribers(pool: &PgPool, players: &[PlayerId]) -> Result<Vec<Subscriber>, DbError> {
    let rows = sqlx::query!(
        r#"
        select webhook.id, player_id as "player_id!", webhook.created_at, events
        from webhook join player on player.id = player_id
        where player_id = any($1) and disabled_at is null and player.kind <> 'deleted'
        "#,
        &players.iter().map(|player| player.0).collect::<Vec<_>>(),
    )
    .fetch_all(pool)
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
