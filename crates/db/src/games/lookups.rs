//! Checks whether cached games are still current, many in one statement.

use std::{collections::HashMap, fmt, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;
use mancala_domain::{GameId, Player};
use sqlx::{PgExecutor, PgPool};
use time::OffsetDateTime;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use tracing::Instrument;
use uuid::Uuid;

use super::SeatedGame;
use crate::connection::{Database, DbError, DedicatedConnection, LastUse, statement};

/// How many games one statement looks up at most.
const GROUP_MAX: usize = 64;

/// How long a lookup waits for its reply: the same time as for a connection of a pool.
const WAIT: Duration = Duration::from_secs(3);

/// A task that looks games up, over a connection of its own. Lookups that arrive while a statement is in flight form
/// the next batch; if none is in flight, none waits. The task ends when its last handle is dropped.
pub struct Lookups {
    queue: mpsc::Sender<Lookup>,
    last_use: LastUse,
}

/// A queued lookup.
struct Lookup {
    game: Uuid,
    reply: oneshot::Sender<Result<Option<Fingerprint>, DbError>>,
}

/// Identifies the current state of a game: its version, and the names that are shown with it. A database that was set back may reuse a
/// version for other events, so the time of the last event is part of the fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    version: i32,
    updated_at: OffsetDateTime,
    /// Kind and name of the player in the first seat, in the second, and of the invited player.
    people: [Option<(String, String)>; 3],
}

impl Lookups {
    /// How many lookups are queued at most: more than a second's work. Further ones are refused.
    pub const QUEUE_MAX: usize = 4096;

    /// Starts the task on the present runtime.
    pub fn start(database: Database) -> Self {
        let (queue, queued) = mpsc::channel(Self::QUEUE_MAX);
        let last_use = LastUse::new();
        tokio::spawn(reply_to_all(DedicatedConnection::new(database), queued, last_use.clone()));
        Self { queue, last_use }
    }

    /// How many lookups are queued.
    pub fn queued(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// When the database last answered a lookup.
    pub const fn last_use(&self) -> &LastUse {
        &self.last_use
    }

    /// The fingerprint of a game as it is now, if there is such a game.
    pub async fn fingerprint(&self, game: GameId) -> Result<Option<Fingerprint>, DbError> {
        let (reply, replied) = oneshot::channel();
        self.queue.try_send(Lookup { game: game.0, reply }).map_err(|_| DbError::QueueFull)?;
        let replied = timeout(WAIT, replied).instrument(statement("select game player")).await;
        replied.map_err(|_| DbError::unreachable())?.unwrap_or_else(|_| Err(DbError::silent()))
    }
}

impl Fingerprint {
    /// Whether a cached game has this fingerprint.
    pub fn matches(&self, remembered: &SeatedGame) -> bool {
        let SeatedGame { game, players, invited, .. } = remembered;
        let known = [&players.first, &players.second, invited];
        let is_shown_so = |(sign, player): (&Option<(String, String)>, &Option<Player>)| match (sign, player) {
            (Some((kind, name)), Some(player)) => player.kind.as_str() == kind && player.name.as_str() == name,
            (None, None) => true,
            _ => false,
        };
        u32::try_from(self.version) == Ok(game.version())
            && self.updated_at == game.updated_at()
            && self.people.iter().zip(known).all(is_shown_so)
    }
}

/// Answers lookups until all handles are dropped.
async fn reply_to_all(mut connection: DedicatedConnection, mut queue: mpsc::Receiver<Lookup>, last_use: LastUse) {
    // Opens the connection before other clients of the database may take it.
    if connection.look().await.is_ok() {
        last_use.note();
    }
    let mut lookups = Vec::with_capacity(GROUP_MAX);
    while queue.recv_many(&mut lookups, GROUP_MAX).await > 0 {
        let ids: Vec<_> = lookups.iter().map(|lookup| lookup.game).collect();
        // A panic fails this batch, and none after it.
        let found =
            AssertUnwindSafe(connection.run(async |connection| find(connection, &ids).await)).catch_unwind().await;
        let found = found.unwrap_or_else(|_| Err(DbError::silent()));
        if found.is_ok() {
            last_use.note();
        }
        for Lookup { game, reply } in lookups.drain(..) {
            // A caller that is gone needs no reply.
            let _ = reply.send(found.clone().map(|found| found.get(&game).cloned()));
        }
    }
}

/// The present fingerprints of those games that exist.
pub async fn fingerprints(pool: &PgPool, games: &[GameId]) -> Result<HashMap<GameId, Fingerprint>, DbError> {
    let ids: Vec<_> = games.iter().map(|game| game.0).collect();
    let found = find(pool, &ids).instrument(statement("select game player")).await?;
    Ok(found.into_iter().map(|(id, fingerprint)| (GameId(id), fingerprint)).collect())
}

async fn find(executor: impl PgExecutor<'_>, ids: &[Uuid]) -> Result<HashMap<Uuid, Fingerprint>, DbError> {
    let rows = sqlx::query!(
        r#"
        select game.id as "id!", game.version as "version!", game.updated_at as "updated_at!",
            first.kind as "first_kind?", first.name as "first_name?",
            second.kind as "second_kind?", second.name as "second_name?",
            invited.kind as "invited_kind?", invited.name as "invited_name?"
        from game
        left join player first on first.id = game.seat_0_player_id
        left join player second on second.id = game.seat_1_player_id
        left join player invited on invited.id = game.invited_player_id
        where game.id = any($1)
        "#,
        ids,
    )
    .fetch_all(executor)
    .await?;
    let fingerprints = rows.into_iter().map(|row| {
        let people = [
            row.first_kind.zip(row.first_name),
            row.second_kind.zip(row.second_name),
            row.invited_kind.zip(row.invited_name),
        ];
        (row.id, Fingerprint { version: row.version, updated_at: row.updated_at, people })
    });
    Ok(fingerprints.collect())
}

impl fmt::Debug for Lookups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lookups").finish_non_exhaustive()
    }
}
