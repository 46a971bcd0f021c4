//! Analyses of games, and who has asked for those that are not there yet.
//!
//! A request is a row until its analysis is stored and told of. Whoever works on it says so again and again; should they die, somebody
//! else takes it.

use serde::{Deserialize, Serialize};
use sqlx::{PgPool, types::Json};
use time::OffsetDateTime;
use tracing::Instrument;

use super::{
    DbError,
    game_rows::{column, number, seat, seat_number, word},
    statement,
};
use crate::{
    domain::{Analysis, Class, GameId, JudgedPly, PlayerId, Value},
    rules::{Move, Side},
};

/// How many analyses a player waits for at most: what one thread does in some minutes.
pub const WAITING_MAX: u32 = 20;

/// How many analyses are waited for at most: what one thread does in a day.
const ALL_WAITING_MAX: u32 = 10_000;

/// How often somebody takes a game and does not come to an end, until nobody takes it any more: it may be the game's fault.
const ATTEMPTS_MAX: i16 = 3;

/// What there is of a game's analysis.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub analysis: Option<Analysis>,
    /// That one is asked for.
    pub request: Option<Request>,
}

/// How far an analysis is that somebody has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub requested_at: OffsetDateTime,
    /// How many plies there are to judge, and how many are.
    pub plies: u32,
    pub plies_done: u32,
    /// How many others come first; 0 once it has begun.
    pub ahead: u32,
    pub progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Waits,
    Begun,
    /// Several have tried, and nobody does any more until it is asked for again.
    Failed,
}

/// What became of asking for an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It is asked for now, or was already.
    Waits,
    /// The player waits for as many as there may be.
    TooMany,
    /// All players together do.
    Full,
    /// There is no such player any more.
    NoPlayer,
}

/// The analysis of a game, and whether one is asked for.
pub async fn find(pool: &PgPool, game: GameId) -> Result<Known, DbError> {
    let row = sqlx::query!(
        r#"
        select analysis.ply as "ply?", analysis.edition as "edition?", analysis.analysed_at as "analysed_at?",
            analysis.plies as "judged?: Json<Vec<PlyText>>",
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
        (Some(ply), Some(edition), Some(at), Some(Json(plies))) => Some(Analysis {
            ply: number("analysis", "ply", game.0, ply)?,
            edition: u16::try_from(edition).map_err(|e| DbError::inconsistent("analysis", "edition", game.0, e))?,
            at,
            plies: plies.into_iter().map(|ply| ply.parse(game)).collect::<Result<_, _>>()?,
        }),
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
                (false, true) => Progress::Begun,
                (false, false) => Progress::Waits,
            },
        }),
        _ => None,
    };
    Ok(Known { analysis, request })
}

/// Asks for the analysis of a game with so many plies to judge.
pub async fn request(
    pool: &PgPool,
    game: GameId,
    player: PlayerId,
    plies: u32,
    now: OffsetDateTime,
) -> Result<Asked, DbError> {
    let mut transaction = pool.begin().await?;
    // Of several requests of one player at once one counts after the other.
    let asking = sqlx::query!("select id from player where id = $1 and kind <> 'deleted' for no key update", player.0);
    if asking.fetch_optional(&mut *transaction).await?.is_none() {
        return Ok(Asked::NoPlayer);
    }
    let waiting = sqlx::query!(
        r#"
        select exists (select from analysis_request where game_id = $1 and not has_failed) as "is_asked_for!",
            (select count(*) from analysis_request where player_id = $2 and not has_failed) as "own!",
            (select count(*) from analysis_request where not has_failed) as "all!"
        "#,
        game.0,
        player.0,
    )
    .fetch_one(&mut *transaction)
    .await?;
    if waiting.is_asked_for {
        return Ok(Asked::Waits);
    }
    if waiting.own >= WAITING_MAX.into() {
        return Ok(Asked::TooMany);
    }
    if waiting.all >= ALL_WAITING_MAX.into() {
        return Ok(Asked::Full);
    }
    // In the round that is served now, or in the one after that of the player's last game.
    sqlx::query!(
        r#"
        insert into analysis_request as kept (game_id, player_id, requested_at, round, plies)
        select $1, $2, $3, greatest(
            coalesce((select min(round) from analysis_request where not has_failed), 0),
            coalesce((select max(round) + 1 from analysis_request where player_id = $2 and not has_failed), 0)
        ), $4
        on conflict (game_id) do update set
            player_id = excluded.player_id, requested_at = excluded.requested_at, round = excluded.round,
            plies = excluded.plies, plies_done = 0, taken_until = null, attempts = 0, has_failed = false
        where kept.has_failed
        "#,
        game.0,
        player.0,
        now,
        column(plies),
    )
    .execute(&mut *transaction)
    .instrument(statement("insert analysis_request"))
    .await?;
    transaction.commit().await?;
    Ok(Asked::Waits)
}

/// Takes the game that is next; until `until` nobody else does.
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

/// Says how far the work on a game is, whose it is until `until`. `false` if nobody waits for it any more.
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

/// Leaves a game to others that somebody has taken and not finished, through no fault of the game's.
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

/// Stores an analysis, instead of one that says less. Of several that say the same the first stays: it may have been told of.
pub async fn store(pool: &PgPool, game: GameId, analysis: &Analysis) -> Result<(), DbError> {
    let plies: Vec<_> = analysis.plies.iter().map(PlyText::of).collect();
    sqlx::query!(
        r#"
        insert into analysis as kept (game_id, ply, edition, analysed_at, plies) values ($1, $2, $3, $4, $5)
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

/// Forgets a request, after its analysis is there.
pub async fn end(pool: &PgPool, game: GameId) -> Result<(), DbError> {
    sqlx::query!("delete from analysis_request where game_id = $1", game.0)
        .execute(pool)
        .instrument(statement("delete analysis_request"))
        .await?;
    Ok(())
}

/// A judged ply in words.
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
        let value = |value: Value| (value.points, value.is_exact);
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
        let value = |(points, is_exact)| Value { points, is_exact };
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
