//! Frequent positions: those whose counts are stored.
//!
//! A frequent position has rows in `explored_move`, which count the moves of all its games. A rare position has no rows: its moves are read
//! from the logs of its few games. So most plies of a game take no row.

use std::collections::{BTreeSet, HashSet};

use sqlx::PgConnection;
use tokio::task::spawn_blocking;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    chunk::Entry,
    entries,
    explored_games::{CountedGame, StoredGame, read},
    tallies::Tallies,
};
use crate::connection::{DbError, statement};

/// The number of games from which on a position has rows. The position keeps them when some of the games are deleted.
pub(super) const FREQUENT_FROM: u8 = 6;

/// The most games of a position without rows.
const RARE_MAX: u8 = FREQUENT_FROM - 1;

/// How many games are read at once: 40,000 plies of the longest ones.
const READ_AT_ONCE: usize = 20;

/// The counts that games add to the rows of positions. A position that becomes frequent gets rows for its earlier games as well.
///
/// Must be called before the entries of these games are stored. The entries are given in their order.
pub(super) async fn tallies(
    connection: &mut PgConnection,
    games: &[CountedGame],
    entries: &[Entry],
) -> Result<Tallies, DbError> {
    let positions: Vec<i64> = entries.chunk_by(|one, other| one.0 == other.0).map(|entries| entries[0].0).collect();
    let mut counted = with_rows(connection, &positions).await?;
    let rare: Vec<i64> = positions.into_iter().filter(|position| !counted.contains(position)).collect();
    let earlier = entries::find(connection, &rare, i64::from(RARE_MAX)).await?;
    let (promoted, earlier) = promoted(entries, &earlier, &rare);
    let mut tallies = Tallies::default();
    for ids in earlier.chunks(READ_AT_ONCE) {
        for game in read_counted(connection, ids).await? {
            tallies.add(&game, |position| promoted.contains(&position));
        }
    }
    counted.extend(promoted);
    for game in games {
        tallies.add(game, |position| counted.contains(&position));
    }
    Ok(tallies)
}

/// Which rare positions become frequent, and the earlier games of these.
fn promoted(entries: &[Entry], earlier: &[Entry], rare: &[i64]) -> (HashSet<i64>, Vec<Uuid>) {
    let (mut promoted, mut games) = (HashSet::new(), BTreeSet::new());
    let (mut entries, mut earlier) = (entries, earlier);
    for position in rare {
        let added = take(&mut entries, *position);
        let known = take(&mut earlier, *position);
        if added.len() + known.len() >= usize::from(FREQUENT_FROM) {
            promoted.insert(*position);
            games.extend(known.iter().map(|(_, game)| *game));
        }
    }
    (promoted, games.into_iter().collect())
}

/// The entries of a position. Takes them and those before them out of the sorted ones.
fn take<'a>(entries: &mut &'a [Entry], position: i64) -> &'a [Entry] {
    let begin = entries.partition_point(|entry| entry.0 < position);
    let length = entries[begin..].iter().take_while(|entry| entry.0 == position).count();
    let (own, behind) = entries[begin..].split_at(length);
    *entries = behind;
    own
}

/// Returns the positions that have rows.
async fn with_rows(connection: &mut PgConnection, positions: &[i64]) -> Result<HashSet<i64>, DbError> {
    let known = sqlx::query_scalar!(
        r#"
        select given as "position!" from unnest($1::bigint[]) as given
        where exists (select from explored_move where position = given)
        "#,
        positions,
    )
    .fetch_all(connection)
    .instrument(statement("select explored_move"))
    .await?;
    Ok(known.into_iter().collect())
}

/// Games that were counted. One whose log cannot be read any more is logged and left out.
pub(super) async fn read_counted(connection: &mut PgConnection, ids: &[Uuid]) -> Result<Vec<CountedGame>, DbError> {
    let stored = read(connection, ids).await?;
    // A request waits for it, on a thread that others share.
    spawn_blocking(move || count_all(stored)).await.map_err(|_| DbError::silent())
}

fn count_all(stored: Vec<StoredGame>) -> Vec<CountedGame> {
    let mut games = vec![];
    for game in stored {
        let id = game.id();
        match CountedGame::of_earlier(game) {
            Ok(game) => games.extend(game),
            Err(error) => {
                tracing::error!(game.id = %id, "the explorer cannot read a game that it has counted: {error}");
            }
        }
    }
    games
}

/// The counts of the games of a position without rows, for one origin, and the number of plies that were read for them.
pub(super) async fn tallies_of_rare(
    connection: &mut PgConnection,
    position: i64,
    is_imported: bool,
) -> Result<(Tallies, u32), DbError> {
    let entries = entries::find(connection, &[position], i64::from(RARE_MAX)).await?;
    let ids: Vec<Uuid> = entries.into_iter().map(|(_, game)| game).rev().take(usize::from(RARE_MAX)).collect();
    let (mut tallies, mut plies) = (Tallies::default(), 0_u32);
    if ids.is_empty() {
        return Ok((tallies, plies));
    }
    let wanted = sqlx::query!(
        "select id, ply from game where id = any($1) and (opponent = 'imported') = $2",
        &ids,
        is_imported,
    )
    .fetch_all(&mut *connection)
    .instrument(statement("select game"))
    .await?;
    for row in &wanted {
        plies = plies.saturating_add(u32::try_from(row.ply).unwrap_or_default());
    }
    let ids: Vec<_> = wanted.into_iter().map(|row| row.id).collect();
    for game in read_counted(connection, &ids).await? {
        tallies.add(&game, |other| other == position);
    }
    Ok((tallies, plies))
}
