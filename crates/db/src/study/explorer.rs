//! The explorer's counts of a position: the moves played there, and the games with them.

use mancala_domain::{GameId, PositionKey};
use mancala_rules::Move;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{entries, frequent, position_column::position_column, tallies::Tally};
use crate::connection::{DbError, begin_snapshot, statement};

/// More than there are moves in any position, of either origin. It limits the rows if two positions have the same key.
const MOVES_MAX: i64 = 128;

/// The counts of a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PositionStats {
    /// Games that reached the position.
    pub games: u64,
    /// Games that ended there.
    pub ended: u64,
    /// The moves that were played there, in no order.
    pub moves: Vec<MoveStats>,
    /// How many plies of logs were read for them.
    pub plies_read: u32,
}

/// The counts of a move in a position.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveStats {
    /// The move.
    pub mv: Move,
    /// Games in which it was played.
    pub games: u64,
    /// How many of the games South won.
    pub south_wins: u64,
    /// How many of the games North won.
    pub north_wins: u64,
    /// South's lead in seeds at the end, on average over the games that were played to their end; `None` if none was.
    pub average_lead: Option<f64>,
    /// When it was last played.
    pub last_played_at: OffsetDateTime,
    /// The newest first.
    pub sample: Vec<GameId>,
}

/// Which games the explorer shows. Both are counted, each apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Games that were played here.
    Here,
    /// Games that were played elsewhere and imported.
    Imported,
}

/// The counts of a move in a position. An empty move counts the games that ended there.
struct Row {
    mv: String,
    is_imported: bool,
    games: i32,
    first_visits: i32,
    south_wins: i32,
    north_wins: i32,
    average_lead: Option<f64>,
    last_played_at: OffsetDateTime,
    /// The newest first.
    sample: Vec<Uuid>,
}

/// The counts of a position; all zero if no game came to it. The counts of a rare position are made here, from the logs of its
/// few games.
pub async fn find(pool: &PgPool, position: PositionKey, origin: Origin) -> Result<PositionStats, DbError> {
    let (is_imported, column) = (origin == Origin::Imported, position_column(position));
    // Most positions are frequent, or have no games. Each of these statements reads a snapshot of its own.
    let mut connection = pool.acquire().await?;
    let mut rows = frequent_rows(&mut connection, column).await?;
    let mut plies_read = 0;
    if rows.is_empty() && entries::may_have(&mut connection, column).await? {
        drop(connection);
        (rows, plies_read) = in_snapshot(pool, column, is_imported).await?;
    }
    rows.retain(|row| row.is_imported == is_imported);
    Ok(PositionStats { plies_read, ..stats(position, rows)? })
}

/// The rows of a position, and how many plies of logs were read for them.
async fn in_snapshot(pool: &PgPool, position: i64, is_imported: bool) -> Result<(Vec<Row>, u32), DbError> {
    // All reads need the same snapshot: numbers of games are given anew after deletions, and a reindex exchanges the tables.
    let mut connection = begin_snapshot(pool).await?;
    let (mut rows, mut plies_read) = (frequent_rows(&mut connection, position).await?, 0);
    if rows.is_empty() {
        (rows, plies_read) = rare_rows(&mut connection, position, is_imported).await?;
    }
    connection.commit().await?;
    Ok((rows, plies_read))
}

/// The rows of a position, of games of either origin. If there are any, all games of the position are in them.
async fn frequent_rows(connection: &mut PgConnection, position: i64) -> Result<Vec<Row>, DbError> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select move as mv, is_imported, games, first_visits, south_wins, north_wins, last_played_at, sample_game_ids as sample,
            lead_sum::double precision / nullif(played_out, 0) as average_lead
        from explored_move where position = $1 order by is_imported, move limit $2
        "#,
        position,
        MOVES_MAX,
    );
    Ok(rows.fetch_all(connection).instrument(statement("select explored_move")).await?)
}

async fn rare_rows(
    connection: &mut PgConnection,
    position: i64,
    is_imported: bool,
) -> Result<(Vec<Row>, u32), DbError> {
    let (tallies, plies) = frequent::tallies_of_rare(connection, position, is_imported).await?;
    let row = |((_, is_imported, mv), tally): ((i64, bool, String), Tally)| Row {
        mv,
        is_imported,
        games: tally.games,
        first_visits: tally.first_visits,
        south_wins: tally.south_wins,
        north_wins: tally.north_wins,
        #[expect(clippy::cast_precision_loss, reason = "few games lead by few seeds")]
        average_lead: (tally.played_out > 0).then(|| tally.lead_sum as f64 / f64::from(tally.played_out)),
        last_played_at: tally.last_played_at,
        sample: tally.sample.into_iter().rev().collect(),
    };
    Ok((tallies.0.into_iter().map(row).collect(), plies))
}

fn stats(position: PositionKey, rows: Vec<Row>) -> Result<PositionStats, DbError> {
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
            sample: row.sample.into_iter().map(GameId).collect(),
        });
    }
    Ok(known)
}
