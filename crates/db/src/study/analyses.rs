//! Analyses of games, and the queue of requests for them.
//!
//! A request is a row until its analysis is stored and announced. A worker extends its lease while it works; after a
//! crash the lease expires, and another worker takes the request.

use mancala_domain::{ANALYSIS_EDITION, Analysis, Game, GameId, PLIES_ANALYSED_MAX, PlayerId, PlyAction};
use serde_json::Value;
use sqlx::{PgConnection, PgPool, types::Json};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

pub use super::judged_plies::PartialAnalysis;
use super::judged_plies::{PartialText, PlyText, parse_plies};
use crate::{
    connection::{DbError, statement},
    games::{
        clock_rows::parse_played,
        columns::{column, number},
        logs::{Log, query_logs},
    },
    players::{Requester, lock_requester},
};

/// How many analyses an account may have queued: one thread completes them in some minutes.
pub const WAITING_MAX: i64 = 20;

/// How many analyses a guest may have queued.
pub const GUEST_WAITING_MAX: i64 = 3;

/// How many analyses all guests and new accounts of one network may have queued: a school class behind one address, a game of each.
pub const NETWORK_WAITING_MAX: i64 = 30;

/// The request of a guest or a new account counts as younger by this much. Within a round other accounts come before them, and
/// no guest waits for accounts for ever.
const GUEST_HANDICAP: Duration = Duration::seconds(30);

/// How many analyses may be queued by all players. From half of it on, a player may queue only one. So a few players,
/// or many guests of one person, do not shut out the others.
const ALL_WAITING_MAX: i64 = 10_000;

/// A round is closed to new requests while a request of a later round has waited for longer than this. Otherwise new players could
/// keep those of later rounds waiting for ever.
const OPEN_FOR: Duration = Duration::minutes(1);

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
    /// The progress of the request.
    pub progress: Progress,
}

/// The progress of a request.
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
    /// The analysis is requested now, or was already.
    Queued,
    /// The player has reached this limit.
    TooMany(i64),
    /// The guests and new accounts of the player's network have reached their limit.
    TooManyOfNetwork,
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
             where not other.has_failed and (other.round, other.order_at) < (request.round, request.order_at)) as "ahead!"
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

/// The takebacks of a game in order, each with its number and the last ply that it left standing.
pub async fn takebacks(pool: &PgPool, game: GameId) -> Result<Vec<(u32, u32)>, DbError> {
    let rows =
        query_logs!(plies of a game, "event where game_id = $1 and kind = 'moved' and move like 'takeback %'", "game_id = $1", game.0,)
            .fetch_all(pool)
            .instrument(statement("select takebacks"))
            .await?;
    let takeback = |ply, text: &str| match parse_played(text, game.0)? {
        PlyAction::Takeback { to_ply, .. } => Ok(Some((number("event", "ply", game.0, ply)?, to_ply))),
        PlyAction::Move(_) => Ok(None),
    };
    let plies = Log::of_one(rows).plies(game.0)?.into_iter();
    plies.filter_map(|(_, row)| takeback(row.ply, &row.mv).transpose()).collect()
}

/// Requests the analysis of a game in its current state. Several requests for one game share a row.
pub async fn request(
    pool: &PgPool,
    game: &Game,
    player: PlayerId,
    now: OffsetDateTime,
) -> Result<RequestOutcome, DbError> {
    let mut transaction = pool.begin().await?;
    let Some(requester) = lock_requester(&mut transaction, player).await? else { return Ok(RequestOutcome::NoPlayer) };
    if let Some(refused) = refused(&mut transaction, game.id(), player, &requester).await? {
        return Ok(refused);
    }
    // The present round, the next one if that is closed, or the one after the last game of the same account or network.
    sqlx::query!(
        r#"
        insert into analysis_request as kept (game_id, player_id, requested_at, round, ply, plies, round_key, order_at)
        select $1, $2, $3, greatest(
            coalesce((
                select present.round + case when exists (
                    select from analysis_request later
                    where not later.has_failed and later.round > present.round and later.order_at < $8
                ) then 1 else 0 end
                from (select min(round) as round from analysis_request where not has_failed) present
            ), 0),
            coalesce((select max(round) + 1 from analysis_request
                where round_key = $6 and not has_failed and game_id <> $1), 0)
        ), $4, $5, $6, $7
        on conflict (game_id) do update set
            ply = greatest(kept.ply, excluded.ply),
            round = case when kept.has_failed then excluded.round else least(kept.round, excluded.round) end,
            round_key = case when kept.has_failed or excluded.round < kept.round then excluded.round_key else kept.round_key end,
            order_at = case when kept.has_failed or excluded.round < kept.round then excluded.order_at else kept.order_at end,
            partial = case when not kept.has_failed then kept.partial end,
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
        requester.round_key,
        if requester.is_guest || requester.network.is_some() { now + GUEST_HANDICAP } else { now },
        now - OPEN_FOR,
    )
    .execute(&mut *transaction)
    .instrument(statement("insert analysis_request"))
    .await?;
    transaction.commit().await?;
    Ok(RequestOutcome::Queued)
}

/// Why a locked requester may not queue one more game; `None` if it may, or if the game is queued already.
async fn refused(
    connection: &mut PgConnection,
    game: GameId,
    player: PlayerId,
    requester: &Requester,
) -> Result<Option<RequestOutcome>, DbError> {
    let waiting = sqlx::query!(
        r#"
        select exists (select from analysis_request where game_id = $1 and not has_failed) as "is_asked_for!",
            (select count(*) from analysis_request where player_id = $2 and not has_failed) as "own!",
            (select count(*) from analysis_request where round_key = $3 and not has_failed) as "of_network!",
            (select count(*) from analysis_request where not has_failed) as "all!"
        "#,
        game.0,
        player.0,
        requester.network,
    )
    .fetch_one(connection)
    .instrument(statement("count analysis_request"))
    .await?;
    let own_max = if requester.is_guest { GUEST_WAITING_MAX } else { WAITING_MAX };
    let is_scarce = waiting.all >= ALL_WAITING_MAX / 2;
    Ok(if waiting.is_asked_for {
        None
    } else if waiting.all >= ALL_WAITING_MAX || is_scarce && waiting.own.max(waiting.of_network) >= 1 {
        Some(RequestOutcome::Full)
    } else if waiting.own >= own_max {
        Some(RequestOutcome::TooMany(own_max))
    } else if waiting.of_network >= NETWORK_WAITING_MAX {
        Some(RequestOutcome::TooManyOfNetwork)
    } else {
        None
    })
}

/// Takes the next request, and leases it until `until`.
pub async fn take(pool: &PgPool, now: OffsetDateTime, until: OffsetDateTime) -> Result<Option<GameId>, DbError> {
    loop {
        let taken = sqlx::query!(
            r#"
            with next as (
                select game_id from analysis_request
                where not has_failed and (taken_until is null or taken_until < least($1, now()))
                order by round, order_at limit 1
                for no key update skip locked
            )
            update analysis_request set
                taken_until = $2, plies_done = case when partial is null then 0 else plies_done end,
                round_key = coalesce(round_key, player_id), attempts = attempts + 1, has_failed = attempts >= $3
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

/// The part of a game's analysis that is stored with its request. One that cannot be read counts as missing.
pub async fn partial(pool: &PgPool, game: GameId) -> Result<Option<PartialAnalysis>, DbError> {
    let text = sqlx::query_scalar!(
        r#"select partial as "partial: Json<Value>" from analysis_request where game_id = $1"#,
        game.0
    );
    let text = text.fetch_optional(pool).instrument(statement("select analysis_request")).await?.flatten();
    let partial = text.and_then(|Json(text)| serde_json::from_value::<PartialText>(text).ok());
    Ok(partial.and_then(|partial| partial.parse(game).ok()))
}

/// Stores the part of a game's analysis that is done, with its request.
pub async fn keep(pool: &PgPool, game: GameId, partial: &PartialAnalysis) -> Result<(), DbError> {
    sqlx::query!(
        "update analysis_request set partial = $2, plies_done = $3 where game_id = $1",
        game.0,
        Json(PartialText::of(partial)) as Json<PartialText>,
        column(partial.done),
    )
    .execute(pool)
    .instrument(statement("update analysis_request"))
    .await?;
    Ok(())
}

/// Whether a guest has requested the analysis of a game.
pub async fn is_of_guest(pool: &PgPool, game: GameId) -> Result<bool, DbError> {
    let kind = sqlx::query_scalar!(
        "select kind from analysis_request join player on player.id = player_id where game_id = $1",
        game.0
    );
    let kind = kind.fetch_optional(pool).instrument(statement("select analysis_request")).await?;
    Ok(kind.is_some_and(|kind| kind == "guest"))
}

/// Whether requests of others than the requester of a game wait for a worker.
pub async fn do_others_wait(pool: &PgPool, game: GameId) -> Result<bool, DbError> {
    let exists = sqlx::query_scalar!(
        r#"
        select exists (
            select from analysis_request own join analysis_request other
                on other.round_key is distinct from own.round_key and not other.has_failed
                    and (other.taken_until is null or other.taken_until < now())
            where own.game_id = $1
        ) as "exists!"
        "#,
        game.0
    );
    Ok(exists.fetch_one(pool).instrument(statement("select analysis_request")).await?)
}

/// Ends the lease of a request that gives way to others. The request moves into the next round, with all others of the
/// same account or network.
pub async fn give_way(pool: &PgPool, game: GameId) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        update analysis_request set round = analysis_request.round + 1
        from analysis_request own
        where own.game_id = $1 and analysis_request.round_key = own.round_key and not analysis_request.has_failed
        "#,
        game.0
    )
    .execute(pool)
    .instrument(statement("update analysis_request"))
    .await?;
    release(pool, game).await
}

/// Stores an analysis, replacing one that covers less. Among equal ones the first stays: it may have been announced. The lock
/// is for a deletion of the game: it either finds this analysis, or there is no game any more.
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
