//! What the explorer has counted for a position: the moves played there, and in which games.

use mancala_domain::{GameId, PositionKey};
use mancala_rules::Move;
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// How many games are kept as examples of a move.
pub(crate) const SAMPLE_GAMES: usize = 4;

/// More than there are moves in any position. It limits the rows if two positions have the same key.
const MOVES_MAX: i64 = 64;

/// The counts of a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PositionStats {
    /// Games that came to it.
    pub games: u64,
    /// Games that ended there.
    pub ended: u64,
    /// The moves that were played there, in no order.
    pub moves: Vec<MoveStats>,
}

/// The counts of a move in a position.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveStats {
    /// The move.
    pub mv: Move,
    /// Games in which it was played.
    pub games: u64,
    /// Those of them that South won.
    pub south_wins: u64,
    /// Those of them that North won.
    pub north_wins: u64,
    /// By how many seeds South was ahead in the end, on average over the games that were played to their end; `None` if
    /// none was.
    pub average_lead: Option<f64>,
    /// When it was last played.
    pub last_played_at: OffsetDateTime,
    /// The newest first.
    pub sample: Vec<GameId>,
}

/// Which games the explorer shows. Both are counted, each in rows of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Games that were played here.
    Here,
    /// Games that were played elsewhere and imported.
    Imported,
}

/// The counts of a position; all zero if no game came to it.
pub async fn find(pool: &PgPool, position: PositionKey, origin: Origin) -> Result<PositionStats, DbError> {
    let rows = sqlx::query!(
        r#"
        select move as mv, games, first_visits, south_wins, north_wins, last_played_at, sample_game_ids,
            lead_sum::double precision / nullif(played_out, 0) as average_lead
        from explored_move where position = $1 and is_imported = $2 order by move limit $3
        "#,
        position_column(position),
        origin == Origin::Imported,
        MOVES_MAX,
    )
    .fetch_all(pool)
    .instrument(statement("select explored_move"))
    .await?;
    let count = |column, value: i32| {
        u64::try_from(value).map_err(|e| DbError::inconsistent("explored_move", column, position, e))
    };
    let mut known = PositionStats::default();
    for row in rows {
        known.games += count("first_visits", row.first_visits)?;
        let games = count("games", row.games)?;
        if row.mv.is_empty() {
            known.ended = games;
            continue;
        }
        known.moves.push(MoveStats {
            mv: row.mv.parse().map_err(|e| DbError::inconsistent("explored_move", "move", position, e))?,
            games,
            south_wins: count("south_wins", row.south_wins)?,
            north_wins: count("north_wins", row.north_wins)?,
            average_lead: row.average_lead,
            last_played_at: row.last_played_at,
            sample: row.sample_game_ids.into_iter().map(GameId).collect(),
        });
    }
    Ok(known)
}

/// A key as its column holds it: PostgreSQL's integers are signed.
pub(crate) const fn position_column(position: PositionKey) -> i64 {
    position.0.cast_signed()
}
