//! Analyses of games, and the queue of requests for them.
//!
//! A request is a row until its analysis is stored and announced. A worker extends its lease while it works; after a
//! crash the lease expires, and another worker takes the request.

use mancala_domain::{self, ANALYSIS_EDITION, Analysis, Class, Game, GameId, JudgedPly, PLIES_ANALYSED_MAX, PlayerId};
use mancala_rules::{Move, Side};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{PgPool, types::Json};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use crate::{
    connection::{DbError, statement},
    games::columns::{column, number, seat, seat_number, word},
};

/// How many analyses a player may have queued: what one thread does in some minutes.
pub const WAITING_MAX: i64 = 20;

/// How many analyses may be queued by all players. From half of it on, a player may queue only one, so that a few
/// players, or many guests of one person, do not shut out the others.
const ALL_WAITING_MAX: i64 = 10_000;

/// How long a failed request is kept for its status.
const FAILED_KEPT: Duration = Duration::days(7);

/// How many requests of a player are listed: more than are queued or have failed lately.
const LISTED_MAX: i64 = 1000;

/// After how many attempts without an end a request fails: the game itself may be the cause.
const ATTEMPTS_MAX: i16 = 3;

/// The analysis of a game and the request for one, if there are any.
#[derive(Clone, Debug, Default)]
pub struct AnalysisState {
    /// The stored analysis.
    pub analysis: Option<Analysis>,
    /// A request that is queued, running or failed.
    pub request: Option<Request>,
}

/// The progress of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it was requested.
    pub requested_at: OffsetDateTime,
    /// How many plies there are to judge, and how many are judged.
    pub plies: u32,
    /// How many plies are judged.
    pub plies_done: u32,
    /// How many other requests come first; 0 once it is running.
    pub ahead: u32,
    /// How far the request is.
    pub progress: Progress,
}

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// No worker has taken it.
    Queued,
    /// A worker holds its lease.
    Running,
    /// All attempts failed. It stays so until it is requested again.
    Failed,
}

/// The result of requesting an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// It is requested now, or was already.
    Queued,
    /// The player has reached the limit.
    TooMany,
    /// All players together have reached the limit.
    Full,
    /// The player is deleted.
    NoPlayer,
}

/// The analysis of a game, and the request for one.
pub async fn find(pool: &PgPool, game: GameId) -> Result<AnalysisState, DbError> {
    let row = sqlx::query!(
        r#"
        select analysis.ply as "ply?", analysis.edition as "edition?", analysis.analysed_at as "analysed_at?",
            analysis.plies as "judged?: Json<Value>",
            request.requested_at as "requested_at?", request.plies as "plies?", request.plies_done as "plies_done?",
            request.has_failed as "has_failed?", coalesce(request.taken_until > now(), false) as "is_taken!",
            (select count(*) from analysis_request other
             where not other.has_failed and (other.round, other.requested_at) < (request.round, request.requested_at)) as "ahead!"
        from (values ($1::uuid)) as wanted (id)
        left join analysis on analysis.game_id = wanted.id
        left join analysis_request request on request.game_id = wanted.id
        "#,
        game.0
    )
    .fetch_one(pool)
    .instrument(statement("select analysis analysis_request"))
    .await?;
    let analysis = match (row.ply, row.edition, row.analysed_at, row.judged) {
        (Some(ply), Some(edition), Some(at), Some(Json(plies))) => {
            let edition =
                u16::try_from(edition).map_err(|e| DbError::inconsistent("analysis", "edition", game.0, e))?;
            match parse_plies(game, plies) {
                Ok(plies) => Some(Analysis { ply: number("analysis", "ply", game.0, ply)?, edition, at, plies }),
                // An analysis that another edition has written in another form counts as missing.
                Err(_) if edition != ANALYSIS_EDITION => None,
                Err(error) => return Err(error),
            }
        }
        _ => None,
    };
    let request = match (row.requested_at, row.plies, row.plies_done, row.has_failed) {
        (Some(requested_at), Some(plies), Some(done), Some(has_failed)) => Some(Request {
            requested_at,
            plies: number("analysis_request", "plies", game.0, plies)?,
            plies_done: number("analysis_request", "plies_done", game.0, done)?,
            ahead: if row.is_taken || has_failed { 0 } else { u32::try_from(row.ahead).unwrap_or(u32::MAX) },
            progress: match (has_failed, row.is_taken) {
                (true, _) => Progress::Failed,
                (false, true) => Progress::Running,
                (false, false) => Progress::Queued,
            },
        }),
        _ => None,
    };
    Ok(AnalysisState { analysis, request })
}

/// Requests the analysis of a game as it is now. Several requests for one game share a row.
pub async fn request(
    pool: &PgPool,
    game: &Game,
    player: PlayerId,
    now: OffsetDateTime,
) -> Result<RequestOutcome, DbError> {
    let mut transaction = pool.begin().await?;
    // The lock serializes the requests of one player, so that each counts the ones before it.
    let asking = sqlx::query!("select id from player where id = $1 and kind <> 'deleted' for no key update", player.0);
    if asking.fetch_optional(&mut *transaction).instrument(statement("lock player")).await?.is_none() {
        return Ok(RequestOutcome::NoPlayer);
    }
    let waiting = sqlx::query!(
        r#"
        select exists (select from analysis_request where game_id = $1 and not has_failed) as "is_asked_for!",
            (select count(*) from analysis_request where player_id = $2 and not has_failed) as "own!",
            (select count(*) from analysis_request where not has_failed) as "all!"
        "#,
        game.id().0,
        player.0,
    )
    .fetch_one(&mut *transaction)
    .instrument(statement("count analysis_request"))
    .await?;
    let own_max = if waiting.all < ALL_WAITING_MAX / 2 { WAITING_MAX } else { 1 };
    if !waiting.is_asked_for && waiting.all >= ALL_WAITING_MAX {
        return Ok(RequestOutcome::Full);
    }
    if !waiting.is_asked_for && waiting.own >= own_max {
        return Ok(if own_max < WAITING_MAX { RequestOutcome::Full } else { RequestOutcome::TooMany });
    }
    // In the present round, or in the one after that of the player's last game.
    sqlx::query!(
        r#"
        insert into analysis_request as kept (game_id, player_id, requested_at, round, ply, plies)
        select $1, $2, $3, greatest(
            coalesce((select min(round) from analysis_request where not has_failed), 0),
            coalesce((select max(round) + 1 from analysis_request
                where player_id = $2 and not has_failed and game_id <> $1), 0)
        ), $4, $5
        on conflict (game_id) do update set
            ply = greatest(kept.ply, excluded.ply),
            round = case when kept.has_failed then excluded.round else least(kept.round, excluded.round) end,
            player_id = case when kept.has_failed then excluded.player_id else kept.player_id end,
            requested_at = case when kept.has_failed then excluded.requested_at else kept.requested_at end,
            plies = case when kept.taken_until is null or kept.has_failed then excluded.plies else kept.plies end,
            plies_done = case when kept.has_failed then 0 else kept.plies_done end,
            taken_until = case when not kept.has_failed then kept.taken_until end,
            attempts = case when kept.has_failed then 0 else kept.attempts end,
            has_failed = false
        "#,
        game.id().0,
        player.0,
        now,
        column(game.ply()),
        column(game.ply().min(PLIES_ANALYSED_MAX)),
    )
    .execute(&mut *transaction)
    .instrument(statement("insert analysis_request"))
    .await?;
    transaction.commit().await?;
    Ok(RequestOutcome::Queued)
}

/// Takes the next request, and leases it until `until`.
pub async fn take(pool: &PgPool, now: OffsetDateTime, until: OffsetDateTime) -> Result<Option<GameId>, DbError> {
    loop {
        let taken = sqlx::query!(
            r#"
            with next as (
                select game_id from analysis_request
                where not has_failed and (taken_until is null or taken_until < least($1, now()))
                order by round, requested_at limit 1
                for no key update skip locked
            )
            update analysis_request set
                taken_until = $2, plies_done = 0, attempts = attempts + 1, has_failed = attempts >= $3
            from next where analysis_request.game_id = next.game_id
            returning analysis_request.game_id, has_failed
            "#,
            now,
            until,
            ATTEMPTS_MAX,
        )
        .fetch_optional(pool)
        .instrument(statement("update analysis_request"))
        .await?;
        match taken {
            Some(row) if row.has_failed => {
                tracing::error!(game.id = %row.game_id, "the analysis of a game has failed {ATTEMPTS_MAX} times");
            }
            taken => return Ok(taken.map(|row| GameId(row.game_id))),
        }
    }
}

/// Stores the progress of a game's analysis, and extends the lease until `until`. `false` if the request is gone.
pub async fn advance(pool: &PgPool, game: GameId, done: u32, until: OffsetDateTime) -> Result<bool, DbError> {
    let advanced = sqlx::query!(
        "update analysis_request set plies_done = $2, taken_until = $3 where game_id = $1",
        game.0,
        column(done),
        until,
    )
    .execute(pool)
    .instrument(statement("update analysis_request"))
    .await?;
    Ok(advanced.rows_affected() > 0)
}

/// Ends the lease of a request that was not finished for no fault of the game, so that any worker can take it.
pub async fn release(pool: &PgPool, game: GameId) -> Result<(), DbError> {
    sqlx::query!(
        "update analysis_request set taken_until = null, attempts = greatest(attempts - 1, 0) where game_id = $1",
        game.0
    )
    .execute(pool)
    .instrument(statement("update analysis_request"))
    .await?;
    Ok(())
}

/// Stores an analysis, replacing one that covers less. Of several equal ones the first stays: it may have been
/// announced. The lock is for a deletion of the game: it either finds this analysis, or there is no game any more.
pub async fn store(pool: &PgPool, game: GameId, analysis: &Analysis) -> Result<(), DbError> {
    let plies: Vec<_> = analysis.plies.iter().map(PlyText::of).collect();
    sqlx::query!(
        r#"
        with present as (
            select id from game where id = $1 for key share
        )
        insert into analysis as kept (game_id, ply, edition, analysed_at, plies) select id, $2, $3, $4, $5 from present
        on conflict (game_id) do update set
            ply = excluded.ply, edition = excluded.edition, analysed_at = excluded.analysed_at, plies = excluded.plies
        where (kept.edition, kept.ply) < (excluded.edition, excluded.ply)
        "#,
        game.0,
        column(analysis.ply),
        i16::try_from(analysis.edition).expect("editions are counted from 1"),
        analysis.at,
        Json(&plies) as Json<&Vec<PlyText>>,
    )
    .execute(pool)
    .instrument(statement("insert analysis"))
    .await?;
    Ok(())
}

/// Deletes a request, once the analysis of the game up to a ply is stored. If the game has gone on and was requested
/// again meanwhile, its lease ends instead.
pub async fn end(pool: &PgPool, game: GameId, ply: u32) -> Result<(), DbError> {
    let ply = i32::try_from(ply).unwrap_or(i32::MAX);
    let ended = sqlx::query!("delete from analysis_request where game_id = $1 and ply <= $2", game.0, ply)
        .execute(pool)
        .instrument(statement("delete analysis_request"))
        .await?;
    if ended.rows_affected() == 0 { release(pool, game).await } else { Ok(()) }
}

/// The games of a player's requests, with the times of the requests; oldest first.
pub async fn list_requests(pool: &PgPool, player: PlayerId) -> Result<Vec<(GameId, OffsetDateTime)>, DbError> {
    let rows = sqlx::query!(
        "select game_id, requested_at from analysis_request where player_id = $1 order by requested_at limit $2",
        player.0,
        LISTED_MAX,
    )
    .fetch_all(pool)
    .instrument(statement("select analysis_request"))
    .await?;
    Ok(rows.into_iter().map(|row| (GameId(row.game_id), row.requested_at)).collect())
}

/// How many requests are queued or running.
pub async fn count_waiting(pool: &PgPool) -> Result<i64, DbError> {
    let count = sqlx::query_scalar!(r#"select count(*) as "count!" from analysis_request where not has_failed"#);
    Ok(count.fetch_one(pool).instrument(statement("count analysis_request")).await?)
}

/// Deletes up to `limit` failed requests that have been kept long enough; returns how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let purged = sqlx::query!(
        r#"
        delete from analysis_request using (
            select game_id from analysis_request where has_failed and requested_at < $1 limit $2
        ) old
        where analysis_request.game_id = old.game_id and has_failed
        "#,
        now - FAILED_KEPT,
        i64::from(limit),
    )
    .execute(pool)
    .instrument(statement("delete analysis_request"))
    .await?;
    Ok(purged.rows_affected())
}

fn parse_plies(game: GameId, plies: Value) -> Result<Vec<JudgedPly>, DbError> {
    let texts: Vec<PlyText> =
        serde_json::from_value(plies).map_err(|e| DbError::inconsistent("analysis", "plies", game.0, e))?;
    texts.into_iter().map(|ply| ply.parse(game)).collect()
}

/// A judged ply as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct PlyText {
    ply: u32,
    side: String,
    seat: i16,
    #[serde(rename = "move")]
    mv: String,
    /// Hundredths of a seed, and whether they are exact.
    best: (i32, bool),
    line: Vec<String>,
    value: (i32, bool),
    loss: i32,
    class: String,
}

impl PlyText {
    fn of(ply: &JudgedPly) -> Self {
        let value = |value: mancala_domain::Value| (value.points, value.is_exact);
        Self {
            ply: ply.number,
            side: ply.side.to_string(),
            seat: seat_number(ply.seat),
            mv: ply.mv.to_string(),
            best: value(ply.best),
            line: ply.line.iter().map(ToString::to_string).collect(),
            value: value(ply.value),
            loss: ply.loss,
            class: ply.class.as_str().to_owned(),
        }
    }

    fn parse(self, game: GameId) -> Result<JudgedPly, DbError> {
        let parse_move =
            |text: &String| text.parse::<Move>().map_err(|e| DbError::inconsistent("analysis", "plies", game.0, e));
        let value = |(points, is_exact)| mancala_domain::Value { points, is_exact };
        Ok(JudgedPly {
            number: self.ply,
            side: self.side.parse::<Side>().map_err(|e| DbError::inconsistent("analysis", "plies", game.0, e))?,
            seat: seat("analysis", game.0, self.seat)?,
            mv: parse_move(&self.mv)?,
            best: value(self.best),
            line: self.line.iter().map(parse_move).collect::<Result<_, _>>()?,
            value: value(self.value),
            loss: self.loss,
            class: word("analysis", "plies", game.0, &Class::ALL, Class::as_str, &self.class)?,
        })
    }
}
