//! Reports of players about other players, for the operators. Knows of games only their ids.

use mancala_domain::{GameId, PlayerId, Remark, ReportReason};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    networks::Network,
    report_quotas::{Reporter, lock_quotas, quota_used_until},
};
use crate::connection::{DbError, statement};

/// A report.
#[derive(Clone, Debug)]
pub struct Report {
    /// Its id, which begins with the time.
    pub id: Uuid,
    /// The reporter.
    pub reporter: Named,
    /// The reported player.
    pub reported: Named,
    /// The reason for the report.
    pub reason: ReportReason,
    /// The reporter's note.
    pub note: Option<Remark>,
    /// The game that shows it, and its version at the time of the report.
    pub game: Option<(GameId, u32)>,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// When it was closed; `None` while it is open.
    pub closed_at: Option<OffsetDateTime>,
    /// The operator's finding, as the word of a `Finding`, and the operator's remark.
    pub finding: Option<String>,
    /// See `finding`.
    pub remark: Option<String>,
}

/// A player, with the name that it had.
#[derive(Clone, Debug)]
pub struct Named {
    /// The player.
    pub id: PlayerId,
    /// The name at the time of the report.
    pub name: String,
}

/// A report that is to be stored.
#[derive(Clone, Debug)]
pub struct NewReport {
    /// Its id.
    pub id: Uuid,
    /// The reporter.
    pub reporter: PlayerId,
    /// The reported player.
    pub reported: PlayerId,
    /// The reason for the report.
    pub reason: ReportReason,
    /// The reporter's note.
    pub note: Option<Remark>,
    /// The game that shows it, and its version.
    pub game: Option<(GameId, u32)>,
    /// The network from which it comes, if networks are counted. The one from which a guest was made takes precedence.
    pub network: Option<Network>,
    /// The present moment.
    pub now: OffsetDateTime,
}

/// Whether a report is stored.
#[derive(Clone, Debug)]
pub enum Reporting {
    /// The report is stored.
    Stored(Report),
    /// The reporter already has an open report about the player and the same game. It stays as it is.
    Open(Report),
    /// The quota is used up until this moment.
    TooMany(OffsetDateTime),
    /// The reporting player is deleted.
    NoReporter,
    /// There is no player to report.
    NoPlayer,
    /// The player to report is no person that can play.
    NoPerson,
}

/// Stores a report, unless one about the same is open.
pub async fn insert(pool: &PgPool, new: &NewReport) -> Result<Reporting, DbError> {
    let mut transaction = pool.begin().await?;
    lock_quotas(&mut transaction, new.reporter, new.network).await?;
    let people = lock_people(&mut transaction, new.reporter, new.reported).await?;
    let find = |id: PlayerId| people.iter().find(|person| person.id == id);
    let Some(reporter) = find(new.reporter).filter(|reporter| reporter.can_play) else {
        return Ok(Reporting::NoReporter);
    };
    let reported = match find(new.reported) {
        None => return Ok(Reporting::NoPlayer),
        Some(reported) if !reported.can_play => return Ok(Reporting::NoPerson),
        Some(reported) => reported,
    };
    // Later statements see all that was stored before the lock.
    if let Some(open) = find_open(&mut transaction, new).await? {
        return Ok(Reporting::Open(open));
    }
    let network = reporter.network.or(new.network.map(|network| network.0));
    let by = Reporter { id: reporter.id, is_account: reporter.is_account, network };
    if let Some(until) = quota_used_until(&mut transaction, by, new.now).await? {
        return Ok(Reporting::TooMany(until));
    }
    sqlx::query!(
        r#"
        insert into player_report
            (id, reporter_id, reported_id, reporter_name, reported_name, network, reason, note, game_id, game_version, created_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        "#,
        new.id,
        new.reporter.0,
        new.reported.0,
        reporter.name,
        reported.name,
        network,
        new.reason.as_str(),
        new.note.as_ref().map(Remark::as_str),
        new.game.map(|(game, _)| game.0),
        new.game.map(|(_, version)| version.cast_signed()),
        new.now,
    )
    .execute(&mut *transaction)
    .instrument(statement("insert player_report"))
    .await?;
    transaction.commit().await?;
    let named = |person: &Person| Named { id: person.id, name: person.name.clone() };
    Ok(Reporting::Stored(Report {
        id: new.id,
        reporter: named(reporter),
        reported: named(reported),
        reason: new.reason,
        note: new.note.clone(),
        game: new.game,
        created_at: new.now,
        closed_at: None,
        finding: None,
        remark: None,
    }))
}

/// A player of a report, whose row is locked.
struct Person {
    id: PlayerId,
    name: String,
    /// The network of a guest, if it is known; for an app's player the app.
    network: Option<Uuid>,
    is_account: bool,
    can_play: bool,
}

/// Locks both players, in the order of their ids. So an erasure of either has already ended, or finds the report. A merge that holds one of
/// them may lock the other `for share` as well.
async fn lock_people(
    connection: &mut PgConnection,
    reporter: PlayerId,
    reported: PlayerId,
) -> Result<Vec<Person>, DbError> {
    let rows = sqlx::query!(
        r#"
        select id, name, network, kind = 'account' as "is_account!", kind in ('guest', 'account') as "is_person!"
        from player where id in ($1, $2) order by id for share
        "#,
        reporter.0,
        reported.0,
    )
    .fetch_all(&mut *connection)
    .instrument(statement("lock players"))
    .await?;
    // A separate statement: a merge may have stored a row during the wait for the locks.
    let merged =
        sqlx::query_scalar!("select guest_id from merged_guest where guest_id in ($1, $2)", reporter.0, reported.0);
    let merged = merged.fetch_all(connection).instrument(statement("select merged_guest")).await?;
    let person = rows.into_iter().map(|row| Person {
        id: PlayerId(row.id),
        name: row.name,
        network: row.network,
        is_account: row.is_account,
        can_play: row.is_person && !merged.contains(&row.id),
    });
    Ok(person.collect())
}

/// The reporter's open report about the same player and game.
async fn find_open(connection: &mut PgConnection, new: &NewReport) -> Result<Option<Report>, DbError> {
    let row = sqlx::query_as!(
        ReportRow,
        r#"
        select id, reporter_id, reported_id, reporter_name, reported_name, reason, note, game_id, game_version, created_at, closed_at, finding, remark
        from player_report
        where reporter_id = $1 and reported_id = $2
            and coalesce(game_id, '00000000-0000-0000-0000-000000000000') = coalesce($3, '00000000-0000-0000-0000-000000000000'::uuid)
            and closed_at is null
        "#,
        new.reporter.0,
        new.reported.0,
        new.game.map(|(game, _)| game.0),
    )
    .fetch_optional(connection)
    .instrument(statement("select player_report"))
    .await?;
    row.map(Report::try_from).transpose()
}

/// Up to `limit` reports that a player has made, the last one first.
pub async fn list_of_reporter(pool: &PgPool, reporter: PlayerId, limit: u32) -> Result<Vec<Report>, DbError> {
    let rows = sqlx::query_as!(
        ReportRow,
        r#"
        select id, reporter_id, reported_id, reporter_name, reported_name, reason, note, game_id, game_version, created_at, closed_at, finding, remark
        from player_report where reporter_id = $1 order by created_at desc, id desc limit $2
        "#,
        reporter.0,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select player_report"))
    .await?;
    rows.into_iter().map(Report::try_from).collect()
}

/// Which reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Open reports.
    Open,
    /// Closed reports.
    Closed,
    /// Reports about a player.
    About(PlayerId),
}

/// Lists up to `limit` reports after the one with this id. Open reports come oldest first, all others newest first.
pub async fn list(pool: &PgPool, which: Which, behind: Option<Uuid>, limit: u32) -> Result<Vec<Report>, DbError> {
    let (before, limit) = (behind.unwrap_or(Uuid::max()), i64::from(limit));
    let rows = match which {
        Which::Open => sqlx::query_as!(
            ReportRow,
            r#"
            select id, reporter_id, reported_id, reporter_name, reported_name, reason, note, game_id, game_version, created_at,
                closed_at, finding, remark
            from player_report where closed_at is null and id > $1 order by id limit $2
            "#,
            behind.unwrap_or(Uuid::nil()),
            limit,
        )
        .fetch_all(pool)
        .instrument(statement("select player_report"))
        .await?,
        Which::Closed => sqlx::query_as!(
            ReportRow,
            r#"
            select id, reporter_id, reported_id, reporter_name, reported_name, reason, note, game_id, game_version, created_at,
                closed_at, finding, remark
            from player_report where closed_at is not null and id < $1 order by id desc limit $2
            "#,
            before,
            limit,
        )
        .fetch_all(pool)
        .instrument(statement("select player_report"))
        .await?,
        Which::About(player) => sqlx::query_as!(
            ReportRow,
            r#"
            select id, reporter_id, reported_id, reporter_name, reported_name, reason, note, game_id, game_version, created_at,
                closed_at, finding, remark
            from player_report where reported_id = $1 and id < $2 order by id desc limit $3
            "#,
            player.0,
            before,
            limit,
        )
        .fetch_all(pool)
        .instrument(statement("select player_report"))
        .await?,
    };
    rows.into_iter().map(Report::try_from).collect()
}

/// The player that a report is about.
pub(crate) async fn reported_by(connection: &mut PgConnection, report: Uuid) -> Result<Option<PlayerId>, DbError> {
    let reported = sqlx::query_scalar!("select reported_id from player_report where id = $1", report);
    let reported = reported.fetch_optional(connection).instrument(statement("select player_report")).await?;
    Ok(reported.map(PlayerId))
}

/// The game that a report names, and whether the report is closed.
pub(crate) async fn game_of(
    connection: &mut PgConnection,
    report: Uuid,
) -> Result<Option<(Option<GameId>, bool)>, DbError> {
    let row = sqlx::query!(
        r#"select game_id, closed_at is not null as "is_closed!" from player_report where id = $1"#,
        report
    );
    let row = row.fetch_optional(connection).instrument(statement("select player_report")).await?;
    Ok(row.map(|row| (row.game_id.map(GameId), row.is_closed)))
}

/// Closes a report; returns whether it was open.
pub(crate) async fn close(
    connection: &mut PgConnection,
    report: Uuid,
    finding: &str,
    remark: Option<&Remark>,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let closed = sqlx::query!(
        "update player_report set closed_at = $2, finding = $3, remark = $4 where id = $1 and closed_at is null",
        report,
        now,
        finding,
        remark.map(Remark::as_str),
    )
    .execute(connection)
    .instrument(statement("update player_report"))
    .await?;
    Ok(closed.rows_affected() == 1)
}

/// The reports of a guest, and those against it, become an account's. The caller has locked all players of these rows, so that none is added
/// meanwhile.
pub(crate) async fn hand_over(
    connection: &mut PgConnection,
    guest: PlayerId,
    account: PlayerId,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    // Where the account has an open report about the same, the guest's is stored as closed.
    sqlx::query!(
        r#"
        with made as (
            delete from player_report where reporter_id = $1 returning *
        ), received as (
            delete from player_report where reported_id = $1 returning *
        ), moved as (
            select * from made union all select * from received
        ), renamed as (
            select id, case reporter_id when $1 then $2 else reporter_id end as reporter_id,
                case reported_id when $1 then $2 else reported_id end as reported_id,
                reporter_name, reported_name, network, reason, note, game_id, game_version, created_at, closed_at, finding, remark
            from moved where $2 not in (reporter_id, reported_id)
        )
        insert into player_report
            (id, reporter_id, reported_id, reporter_name, reported_name, network, reason, note, game_id, game_version, created_at, closed_at,
            finding, remark)
        select id, reporter_id, reported_id, reporter_name, reported_name, network, reason, note, game_id, game_version, created_at,
            case when exists (
                select from player_report own
                where own.reporter_id = renamed.reporter_id and own.reported_id = renamed.reported_id and own.closed_at is null
                    and coalesce(own.game_id, '00000000-0000-0000-0000-000000000000')
                        = coalesce(renamed.game_id, '00000000-0000-0000-0000-000000000000')
            ) then coalesce(closed_at, $3) else closed_at end,
            finding, remark
        from renamed
        "#,
        guest.0,
        account.0,
        now,
    )
    .execute(connection)
    .instrument(statement("delete insert player_report"))
    .await?;
    Ok(())
}

/// A row of `player_report`.
struct ReportRow {
    id: Uuid,
    reporter_id: Uuid,
    reported_id: Uuid,
    reporter_name: String,
    reported_name: String,
    reason: String,
    note: Option<String>,
    game_id: Option<Uuid>,
    game_version: Option<i32>,
    created_at: OffsetDateTime,
    closed_at: Option<OffsetDateTime>,
    finding: Option<String>,
    remark: Option<String>,
}

impl TryFrom<ReportRow> for Report {
    type Error = DbError;

    fn try_from(row: ReportRow) -> Result<Self, DbError> {
        let reason = ReportReason::of_word(&row.reason)
            .ok_or_else(|| DbError::inconsistent("player_report", "reason", row.id, &row.reason))?;
        Ok(Self {
            id: row.id,
            reporter: Named { id: PlayerId(row.reporter_id), name: row.reporter_name },
            reported: Named { id: PlayerId(row.reported_id), name: row.reported_name },
            reason,
            note: row.note.map(Remark::from_stored),
            game: row.game_id.zip(row.game_version).map(|(game, version)| (GameId(game), version.cast_unsigned())),
            created_at: row.created_at,
            closed_at: row.closed_at,
            finding: row.finding,
            remark: row.remark,
        })
    }
}
