//! Suspensions: which players may not reach others for some time, or for good.

use mancala_domain::{PlayerId, Remark};
use sqlx::{PgConnection, PgPool, postgres::types::PgInterval};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// A suspension, or a ban, or one that was lifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspension {
    /// The reason that the player reads.
    pub reason: Remark,
    /// When it began.
    pub begun_at: OffsetDateTime,
    /// When it ends; `None`: a ban.
    pub until: Option<OffsetDateTime>,
    /// The treatment of the games that have begun.
    pub games: SuspendedGames,
    /// Whether an operator has ended it.
    pub is_lifted: bool,
    /// When it was made or changed, by the database's clock.
    pub changed_at: OffsetDateTime,
}

/// The treatment of a suspended player's games that have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspendedGames {
    /// The player still moves in them.
    PlayOn,
    /// The player does not move, and the clocks are stopped until the suspension ends.
    Stop,
    /// The games end, as they do with a ban.
    End,
}

impl SuspendedGames {
    /// All of them.
    pub const ALL: [SuspendedGames; 3] = [SuspendedGames::PlayOn, SuspendedGames::Stop, SuspendedGames::End];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            SuspendedGames::PlayOn => "play_on",
            SuspendedGames::Stop => "stop",
            SuspendedGames::End => "end",
        }
    }
}

impl Suspension {
    /// Whether it counts at a moment.
    pub fn is_active(&self, now: OffsetDateTime) -> bool {
        self.term().is_active(now)
    }

    /// The part of a suspension that every process keeps in memory.
    pub const fn term(&self) -> Term {
        Term {
            until: self.until,
            plays_on: matches!(self.games, SuspendedGames::PlayOn),
            is_lifted: self.is_lifted,
            changed_at: self.changed_at,
        }
    }
}

/// A suspension without its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// When it ends; `None`: a ban.
    pub until: Option<OffsetDateTime>,
    /// Whether the player may still move in games that have begun.
    pub plays_on: bool,
    /// Whether an operator has ended it.
    pub is_lifted: bool,
    /// When it was made or changed, by the database's clock.
    pub changed_at: OffsetDateTime,
}

impl Term {
    /// Whether it counts at a moment.
    pub fn is_active(&self, now: OffsetDateTime) -> bool {
        !self.is_lifted && self.until.is_none_or(|until| now < until)
    }
}

/// A player's suspension, if it counts at a moment.
pub async fn find_active(pool: &PgPool, player: PlayerId, now: OffsetDateTime) -> Result<Option<Suspension>, DbError> {
    Ok(find(pool, player).await?.filter(|found| found.is_active(now)))
}

/// A player's suspension, also one that is over.
pub async fn find(pool: &PgPool, player: PlayerId) -> Result<Option<Suspension>, DbError> {
    find_within(&mut *pool.acquire().await?, player).await
}

pub(crate) async fn find_within(
    connection: &mut PgConnection,
    player: PlayerId,
) -> Result<Option<Suspension>, DbError> {
    let row = sqlx::query_as!(
        SuspensionRow,
        "select player_id, reason, begun_at, until, games, lifted_at, changed_at from player_suspension where player_id = $1",
        player.0,
    )
    .fetch_optional(connection)
    .instrument(statement("select player_suspension"))
    .await?;
    row.map(SuspensionRow::into_suspension).transpose()
}

/// Stores a suspension, and replaces an earlier one. The caller has locked the player's row.
pub(crate) async fn store(
    connection: &mut PgConnection,
    player: PlayerId,
    reason: &Remark,
    begun_at: OffsetDateTime,
    until: Option<OffsetDateTime>,
    games: SuspendedGames,
) -> Result<Suspension, DbError> {
    let row = sqlx::query_as!(
        SuspensionRow,
        r#"
        insert into player_suspension (player_id, reason, begun_at, until, games, lifted_at, changed_at)
        values ($1, $2, $3, $4, $5, null, clock_timestamp())
        on conflict (player_id) do update
        set reason = excluded.reason, begun_at = excluded.begun_at, until = excluded.until, games = excluded.games, lifted_at = null,
            changed_at = excluded.changed_at
        returning player_id, reason, begun_at, until, games, lifted_at, changed_at
        "#,
        player.0,
        reason.as_str(),
        begun_at,
        until,
        games.as_str(),
    )
    .fetch_one(connection)
    .instrument(statement("insert player_suspension"))
    .await?;
    row.into_suspension()
}

/// Ends a suspension. The caller has locked the player's row. `None` if there is none that was not lifted.
pub(crate) async fn lift(
    connection: &mut PgConnection,
    player: PlayerId,
    now: OffsetDateTime,
) -> Result<Option<Suspension>, DbError> {
    let row = sqlx::query_as!(
        SuspensionRow,
        r#"
        update player_suspension set lifted_at = $2, changed_at = clock_timestamp()
        where player_id = $1 and lifted_at is null
        returning player_id, reason, begun_at, until, games, lifted_at, changed_at
        "#,
        player.0,
        now,
    )
    .fetch_optional(connection)
    .instrument(statement("update player_suspension"))
    .await?;
    row.map(SuspensionRow::into_suspension).transpose()
}

/// Lists up to `limit` players whose suspension is in force, and was made or changed since a moment of the database's clock. The suspension
/// still has games to end or to stop: open games and invitations, and depending on it active games or running clocks.
pub async fn list_unfinished(
    pool: &PgPool,
    since: OffsetDateTime,
    limit: u32,
) -> Result<Vec<(PlayerId, SuspendedGames)>, DbError> {
    let rows = sqlx::query!(
        r#"
        select player_id, games from player_suspension
        where (changed_at >= $1 or games = 'stop') and lifted_at is null and coalesce(until, 'infinity') > now() and (
            exists (
                select from game where seat_0_player_id = player_id
                    and game_status(started_at, finished_at, aborted_at) = 'open'
            ) or exists (
                select from game where seat_1_player_id = player_id and seat_0_player_id is distinct from seat_1_player_id
                    and game_status(started_at, finished_at, aborted_at) = 'open'
            ) or exists (
                select from game where invited_player_id = player_id and started_at is null and aborted_at is null
            ) or games <> 'play_on' and (
                exists (
                    select from game where seat_0_player_id = player_id
                        and game_status(started_at, finished_at, aborted_at) = 'active' and (games = 'end' or deadline is not null)
                ) or exists (
                    select from game where seat_1_player_id = player_id and seat_0_player_id is distinct from seat_1_player_id
                        and game_status(started_at, finished_at, aborted_at) = 'active' and (games = 'end' or deadline is not null)
                )
            )
        )
        order by changed_at limit $2
        "#,
        since,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select suspended players"))
    .await?;
    rows.into_iter().map(|row| Ok((PlayerId(row.player_id), games(row.player_id, &row.games)?))).collect()
}

/// Whether a suspension stops a player's games now, by the database's clock.
pub async fn stops_games(pool: &PgPool, player: PlayerId) -> Result<bool, DbError> {
    let stops = sqlx::query_scalar!(
        r#"
        select exists (
            select from player_suspension where player_id = $1 and games = 'stop' and lifted_at is null and until > now()
        ) as "stops!"
        "#,
        player.0,
    );
    stops.fetch_one(pool).instrument(statement("select player_suspension")).await.map_err(Into::into)
}

/// The suspensions in force, by the database's clock.
pub(super) async fn in_force(connection: &mut PgConnection) -> Result<Vec<(PlayerId, Term)>, DbError> {
    let rows = sqlx::query!(
        r#"
        select player_id, until, games = 'play_on' as "plays_on!", changed_at from player_suspension
        where lifted_at is null and coalesce(until, 'infinity') > now()
        "#,
    )
    .fetch_all(connection)
    .instrument(statement("select player_suspension"))
    .await?;
    let terms = rows.into_iter().map(|row| {
        let term = Term { until: row.until, plays_on: row.plays_on, is_lifted: false, changed_at: row.changed_at };
        (PlayerId(row.player_id), term)
    });
    Ok(terms.collect())
}

/// The suspensions that were made or changed within this time, also those that were lifted.
pub(super) async fn changed(
    connection: &mut PgConnection,
    within: PgInterval,
) -> Result<Vec<(PlayerId, Term)>, DbError> {
    let rows = sqlx::query!(
        r#"
        select player_id, until, games = 'play_on' as "plays_on!", lifted_at is not null as "is_lifted!", changed_at
        from player_suspension where changed_at > now() - $1::interval
        "#,
        within,
    )
    .fetch_all(connection)
    .instrument(statement("select player_suspension"))
    .await?;
    let terms = rows.into_iter().map(|row| {
        let term =
            Term { until: row.until, plays_on: row.plays_on, is_lifted: row.is_lifted, changed_at: row.changed_at };
        (PlayerId(row.player_id), term)
    });
    Ok(terms.collect())
}

/// A row of `player_suspension`.
struct SuspensionRow {
    player_id: Uuid,
    reason: String,
    begun_at: OffsetDateTime,
    until: Option<OffsetDateTime>,
    games: String,
    lifted_at: Option<OffsetDateTime>,
    changed_at: OffsetDateTime,
}

impl SuspensionRow {
    fn into_suspension(self) -> Result<Suspension, DbError> {
        let suspension = Suspension {
            reason: Remark::from_stored(self.reason),
            begun_at: self.begun_at,
            until: self.until,
            games: games(self.player_id, &self.games)?,
            is_lifted: self.lifted_at.is_some(),
            changed_at: self.changed_at,
        };
        Ok(suspension)
    }
}

fn games(player: Uuid, text: &str) -> Result<SuspendedGames, DbError> {
    let found = SuspendedGames::ALL.into_iter().find(|games| games.as_str() == text);
    found.ok_or_else(|| DbError::inconsistent("player_suspension", "games", player, text))
}
