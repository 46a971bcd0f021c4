//! The check after a part: every acknowledged move is in the database, and every game's log gives its row.

use std::{io, sync::Arc};

use mancala_db::{self as db, games};
use mancala_domain::{Event, Fact, Game, GameId, Moved, PlyAction, Status};
use sqlx::{PgPool, postgres::PgConnectOptions};

use crate::load::Record;

/// Tasks that read games at once.
const READERS: usize = 4;

/// Replays the log of every game, each move by the rules, and returns the number of moves.
pub async fn replay(options: PgConnectOptions, records: Vec<Record>) -> io::Result<usize> {
    let pool = db::pool(options, u32::try_from(READERS).expect("a handful"));
    let records = Arc::new(records);
    let readers: Vec<_> = (0..READERS)
        .map(|first| {
            let (pool, records) = (pool.clone(), records.clone());
            tokio::spawn(async move {
                let mut moves = 0;
                for record in records.iter().skip(first).step_by(READERS) {
                    replay_one(&pool, *record).await?;
                    moves += record.ply as usize;
                }
                Ok::<_, io::Error>(moves)
            })
        })
        .collect();
    let mut moves = 0;
    for reader in readers {
        moves += reader.await.map_err(io::Error::other)??;
    }
    pool.close().await;
    Ok(moves)
}

async fn replay_one(pool: &PgPool, record: Record) -> io::Result<()> {
    let Record { game: id, ply } = record;
    let log = games::log(pool, GameId(id)).await.map_err(io::Error::other)?;
    let row = games::find_whole(pool, GameId(id)).await.map_err(io::Error::other)?;
    let wrong = |what: &str| io::Error::other(format!("game {id}: {what}"));
    let row = row.ok_or_else(|| wrong("it is not in the database"))?.game;
    let replayed = replay_checked(GameId(id), &log)?;
    if replayed != row {
        return Err(wrong(&format!("its log and its row differ: {replayed:?}, {row:?}")));
    }
    if row.ply() != ply {
        return Err(wrong(&format!("{ply} moves were acknowledged, {} are stored", row.ply())));
    }
    if (row.status() == Status::Finished) != row.position().outcome().is_some() {
        return Err(wrong(&format!("it is {} and should not be", row.status().as_str())));
    }
    Ok(())
}

/// Replays a log, and checks that each move leads by the rules to the stored position.
fn replay_checked(id: GameId, log: &[Event]) -> io::Result<Game> {
    let mut game = Game::replay(id, log.iter().take(1)).map_err(io::Error::other)?;
    for event in log.iter().skip(1) {
        let after = match &event.fact {
            Fact::Moved(Moved { mv: PlyAction::Move(mv), .. }) => {
                Some(game.position().play(*mv).map_err(io::Error::other)?.0)
            }
            _ => None,
        };
        game.apply(event).map_err(io::Error::other)?;
        if after.is_some_and(|after| after.to_string() != game.position().to_string()) {
            return Err(io::Error::other(format!("game {}: event {} is not what the rules say", id.0, event.seq)));
        }
    }
    Ok(game)
}
