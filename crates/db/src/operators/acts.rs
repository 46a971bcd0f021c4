//! Acts of operators: each changes something and adds a row to the log, in one transaction.

use mancala_domain::{GameId, Player, PlayerId, PlayerKind, PlayerName, Remark};
use serde_json::{Value, json};
use sqlx::{PgConnection, PgPool};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, statement},
    players::{
        self, Leftovers, Named, reports,
        settings::NewSettings,
        suspensions::{self, SuspendedGames, Suspension},
    },
};

/// An operator's act on a player.
#[derive(Clone, Debug)]
pub enum Deed {
    /// Warns the player.
    Warn,
    /// Gives the player another name.
    Rename(PlayerName),
    /// Suspends the player until a moment, and replaces an earlier suspension or ban.
    Suspend {
        /// The end.
        until: OffsetDateTime,
        /// The treatment of the games that have begun.
        games: SuspendedGames,
    },
    /// Suspends the player for good.
    Ban,
    /// Ends a suspension or a ban.
    Lift,
}

impl Deed {
    /// The words for all deeds.
    pub const WORDS: [&str; 5] = ["warn", "rename", "suspend", "ban", "lift"];

    const fn as_str(&self) -> &'static str {
        match self {
            Deed::Warn => "warn",
            Deed::Rename(_) => "rename",
            Deed::Suspend { .. } => "suspend",
            Deed::Ban => "ban",
            Deed::Lift => "lift",
        }
    }
}

/// The finding of an operator about a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The report is right.
    Upheld,
    /// The report is wrong, or has no consequence.
    Rejected,
}

impl Finding {
    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Finding::Upheld => "upheld",
            Finding::Rejected => "rejected",
        }
    }
}

/// The word for the act of closing a report.
pub const CLOSE_REPORT: &str = "close_report";

/// The word for the act of reading the game that a report names.
pub const READ_GAME: &str = "read_game";

/// A row of the log.
#[derive(Clone, Debug)]
pub struct Act {
    /// Its id, which begins with the time.
    pub id: Uuid,
    /// The operator's name.
    pub operator: String,
    /// The act: a word of [`Deed::WORDS`], [`CLOSE_REPORT`], [`READ_GAME`], or a word of [`keys`](super::keys) or
    /// [`name_filter`](super::name_filter).
    pub act: String,
    /// The time of the act.
    pub at: OffsetDateTime,
    /// The player that the act concerns. `None` if it concerns none, or once the player is erased: then nothing else is left of
    /// it.
    pub player: Option<PlayerId>,
    /// The report that was closed, or whose game was read.
    pub report: Option<Uuid>,
    /// The reason for the act.
    pub reason: Option<String>,
    /// The changed values, as they were before the act.
    pub before: Option<Value>,
    /// The changed values, as they are after the act.
    pub after: Option<Value>,
}

impl Act {
    /// An act on the server itself, and on no player.
    pub(super) fn of_server(operator: &str, act: &str, after: Value, now: OffsetDateTime) -> Self {
        Self {
            id: Uuid::now_v7(),
            operator: operator.to_owned(),
            act: act.to_owned(),
            at: now,
            player: None,
            report: None,
            reason: None,
            before: None,
            after: Some(after),
        }
    }
}

/// Whether an act is done.
#[derive(Clone, Debug)]
pub enum Acted {
    /// The act is stored. With the player's suspension if that has changed.
    Done(Box<Act>, Option<Suspension>),
    /// There is no such player or report.
    Unknown,
    /// The player is no person that can play.
    NoPerson,
    /// The name is another account's, or reads alike.
    NameTaken,
    /// There is nothing to lift, or the report is closed already.
    Nothing,
}

/// Does something to a player.
pub async fn act(
    pool: &PgPool,
    operator: &str,
    player: PlayerId,
    deed: &Deed,
    reason: &Remark,
    now: OffsetDateTime,
) -> Result<Acted, DbError> {
    let mut transaction = pool.begin().await?;
    let Some(can_play) = lock(&mut transaction, player).await? else { return Ok(Acted::Unknown) };
    if !can_play {
        return Ok(Acted::NoPerson);
    }
    let held = suspensions::find_within(&mut transaction, player).await?;
    let was = held.filter(|held| held.is_active(now));
    let (before, after, changed) = match deed {
        Deed::Warn => (None, None, None),
        Deed::Rename(name) => match rename(&mut transaction, player, name, now).await? {
            Ok(former) => (Some(json!({ "name": former })), Some(json!({ "name": name.as_str() })), None),
            Err(refused) => return Ok(refused),
        },
        Deed::Suspend { .. } | Deed::Ban => {
            let (until, games) = match deed {
                Deed::Suspend { until, games } => (Some(*until), *games),
                _ => (None, SuspendedGames::End),
            };
            let stored = suspensions::store(&mut transaction, player, reason, now, until, games).await?;
            (was.as_ref().map(described), Some(described(&stored)), Some(stored))
        }
        Deed::Lift => {
            let Some(was) = was else { return Ok(Acted::Nothing) };
            let lifted = suspensions::lift(&mut transaction, player, now).await?;
            (Some(described(&was)), None, lifted)
        }
    };
    let act = Act {
        id: Uuid::now_v7(),
        operator: operator.to_owned(),
        act: deed.as_str().to_owned(),
        at: now,
        player: Some(player),
        report: None,
        reason: Some(reason.as_str().to_owned()),
        before,
        after,
    };
    insert(&mut transaction, &act).await?;
    transaction.commit().await?;
    Ok(Acted::Done(Box::new(act), changed))
}

/// Closes a report. It stays, with the finding.
pub async fn close_report(
    pool: &PgPool,
    operator: &str,
    report: Uuid,
    finding: Finding,
    remark: Option<&Remark>,
    now: OffsetDateTime,
) -> Result<Acted, DbError> {
    let mut transaction = pool.begin().await?;
    let Some(reported) = reports::reported_by(&mut transaction, report).await? else { return Ok(Acted::Unknown) };
    // The player's row is locked before the report's, as by an erasure.
    if lock(&mut transaction, reported).await?.is_none() {
        return Ok(Acted::Unknown);
    }
    if !reports::close(&mut transaction, report, finding.as_str(), remark, now).await? {
        return Ok(Acted::Nothing);
    }
    let act = Act {
        id: Uuid::now_v7(),
        operator: operator.to_owned(),
        act: CLOSE_REPORT.to_owned(),
        at: now,
        player: Some(reported),
        report: Some(report),
        // The remark may name the reporter, and goes with the report when one of both is erased.
        reason: None,
        before: None,
        after: Some(json!({ "finding": finding.as_str() })),
    };
    insert(&mut transaction, &act).await?;
    transaction.commit().await?;
    Ok(Acted::Done(Box::new(act), None))
}

/// Whether an operator may read the game that a report names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The operator may read the game, and the log of acts has an entry.
    Allowed(GameId),
    /// There is no such report.
    Unknown,
    /// The report names no game.
    NoGame,
    /// The report is closed, and no longer opens its game.
    Closed,
}

/// Lets an operator read the game that an open report names, also a private one. The log has it before the game is read.
pub async fn read_game(pool: &PgPool, operator: &str, report: Uuid, now: OffsetDateTime) -> Result<Reading, DbError> {
    let mut transaction = pool.begin().await?;
    let Some(reported) = reports::reported_by(&mut transaction, report).await? else { return Ok(Reading::Unknown) };
    // The player's row is locked before the report's, as by an erasure.
    if lock(&mut transaction, reported).await?.is_none() {
        return Ok(Reading::Unknown);
    }
    let game = match reports::game_of(&mut transaction, report).await? {
        None => return Ok(Reading::Unknown),
        Some((_, true)) => return Ok(Reading::Closed),
        Some((None, false)) => return Ok(Reading::NoGame),
        Some((Some(game), false)) => game,
    };
    let act = Act {
        id: Uuid::now_v7(),
        operator: operator.to_owned(),
        act: READ_GAME.to_owned(),
        at: now,
        player: Some(reported),
        report: Some(report),
        reason: None,
        before: None,
        after: Some(json!({ "game_id": game.0 })),
    };
    insert(&mut transaction, &act).await?;
    transaction.commit().await?;
    Ok(Reading::Allowed(game))
}

/// The description of a suspension for the log.
fn described(suspension: &Suspension) -> Value {
    let text = |at: OffsetDateTime| at.format(&Rfc3339).unwrap_or_default();
    let mut described = json!({ "is_banned": suspension.until.is_none(), "reason": suspension.reason.as_str() });
    if let Some(until) = suspension.until {
        described["suspended_until"] = json!(text(until));
        described["games"] = json!(suspension.games.as_str());
    }
    described
}

/// Locks a player's row, so that an erasure is either complete, or sees what this transaction stores. Returns whether the player is a
/// person that can play.
async fn lock(connection: &mut PgConnection, player: PlayerId) -> Result<Option<bool>, DbError> {
    let kind = sqlx::query_scalar!("select kind from player where id = $1 for no key update", player.0);
    let kind = kind.fetch_optional(&mut *connection).instrument(statement("lock player")).await?;
    let Some(kind) = kind else { return Ok(None) };
    // A separate statement: a merge may have stored a row during the wait for the lock.
    let merged =
        sqlx::query_scalar!(r#"select exists (select from merged_guest where guest_id = $1) as "merged!""#, player.0);
    let merged = merged.fetch_one(connection).instrument(statement("select merged_guest")).await?;
    Ok(Some(["guest", "account"].contains(&kind.as_str()) && !merged))
}

/// Renames a player, whose row is locked; returns the former name.
async fn rename(
    connection: &mut PgConnection,
    player: PlayerId,
    name: &PlayerName,
    now: OffsetDateTime,
) -> Result<Result<String, Acted>, DbError> {
    let Some(before) = players::find(&mut *connection, player).await? else { return Ok(Err(Acted::Unknown)) };
    if before.player.kind == PlayerKind::Deleted {
        return Ok(Err(Acted::NoPerson));
    }
    let after = Player { name: name.clone(), ..before.player.clone() };
    Ok(
        match players::update_within(connection, &before, &after, None, NewSettings::default(), Leftovers::KEPT, now)
            .await?
            .named
        {
            Named::Stored => Ok(before.player.name.to_string()),
            Named::Taken => Err(Acted::NameTaken),
            Named::Changed => {
                return Err(DbError::inconsistent("player", "name", player.0, "a locked row has changed"));
            }
        },
    )
}

pub(super) async fn insert(connection: &mut PgConnection, act: &Act) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        insert into operator_act (id, operator, act, at, player_id, report_id, reason, before, after)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        "#,
        act.id,
        act.operator,
        act.act,
        act.at,
        act.player.map(|player| player.0),
        act.report,
        act.reason,
        act.before,
        act.after,
    )
    .execute(connection)
    .instrument(statement("insert operator_act"))
    .await?;
    Ok(())
}

/// Up to `limit` acts, the last one first, before the one with this id: of one player, or of all.
pub async fn list_acts(
    pool: &PgPool,
    player: Option<PlayerId>,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Act>, DbError> {
    let before = before.unwrap_or(Uuid::max());
    let rows = if let Some(player) = player {
        sqlx::query_as!(
            ActRow,
            r#"
            select id, operator, act, at, player_id, report_id, reason, before, after
            from operator_act where player_id = $1 and id < $2 order by id desc limit $3
            "#,
            player.0,
            before,
            i64::from(limit),
        )
        .fetch_all(pool)
        .instrument(statement("select operator_act"))
        .await?
    } else {
        sqlx::query_as!(
            ActRow,
            r#"
            select id, operator, act, at, player_id, report_id, reason, before, after
            from operator_act where id < $1 order by id desc limit $2
            "#,
            before,
            i64::from(limit),
        )
        .fetch_all(pool)
        .instrument(statement("select operator_act"))
        .await?
    };
    Ok(rows.into_iter().map(Act::from).collect())
}

/// When an operator has renamed a player since a moment, the last time.
pub async fn renamed_since(
    pool: &PgPool,
    player: PlayerId,
    since: OffsetDateTime,
) -> Result<Option<OffsetDateTime>, DbError> {
    let at = sqlx::query_scalar!(
        "select at from operator_act where player_id = $1 and act = 'rename' and at > $2 order by id desc limit 1",
        player.0,
        since,
    );
    Ok(at.fetch_optional(pool).instrument(statement("select operator_act")).await?)
}

/// The last warnings of a player, and of the guests that were merged with it, newest first.
pub async fn list_warnings(
    pool: &PgPool,
    player: PlayerId,
    limit: u32,
) -> Result<Vec<(OffsetDateTime, String)>, DbError> {
    let rows = sqlx::query!(
        r#"
        select at, reason as "reason!" from operator_act
        where player_id = any(array(select guest_id from merged_guest where player_id = $1) || $1::uuid)
            and act = 'warn' and reason is not null
        order by id desc limit $2
        "#,
        player.0,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select operator_act"))
    .await?;
    Ok(rows.into_iter().map(|row| (row.at, row.reason)).collect())
}

/// A row of `operator_act`.
struct ActRow {
    id: Uuid,
    operator: String,
    act: String,
    at: OffsetDateTime,
    player_id: Option<Uuid>,
    report_id: Option<Uuid>,
    reason: Option<String>,
    before: Option<Value>,
    after: Option<Value>,
}

impl From<ActRow> for Act {
    fn from(row: ActRow) -> Self {
        let ActRow { id, operator, act, at, player_id, report_id, reason, before, after } = row;
        Self { id, operator, act, at, player: player_id.map(PlayerId), report: report_id, reason, before, after }
    }
}
