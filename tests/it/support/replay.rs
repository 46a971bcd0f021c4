//! The check that every stored game is the fold of its log.

use mancala_server::{
    db::games,
    domain::{Fact, Game, GameId, PlyAction, Seat},
};
use sqlx::PgPool;
use uuid::Uuid;

/// Asserts of every game in a database that its row is the fold of its log. The rules lead from each stored position to
/// the next. The log has neither gaps nor steps back in time. Every test ends with this.
pub async fn every_log_replays_to_its_row(db: &PgPool) -> usize {
    let ids: Vec<Uuid> = sqlx::query_scalar("select id from game").fetch_all(db).await.expect("games are listed");
    for id in &ids {
        let id = GameId(*id);
        let row = games::find_whole(db, id).await.expect("a row is a game").expect("the game is there").game;
        let log = games::log(db, id).await.expect("a log is events");
        assert_eq!(Game::replay(id, &log).expect("a log is a game"), row);
        assert!(log.is_sorted_by_key(|event| event.at));
        let mut position = row.terms().opening();
        let mut positions = vec![position.clone()];
        let mut plies = 0;
        for event in &log {
            if let Fact::Moved(moved) = &event.fact {
                plies += 1;
                assert_eq!(moved.ply, plies);
                position = match moved.mv {
                    PlyAction::Move(mv) => position.play(mv).expect("the log has legal moves").0,
                    PlyAction::Takeback { to_ply, .. } => positions[to_ply as usize].afresh(),
                };
                positions.push(position.clone());
                assert_eq!(position.to_string(), moved.position.to_string());
            }
        }
        assert_eq!((plies, position.to_string()), (row.ply(), row.position().to_string()));
        let seats = sqlx::query_as("select winner_seat, turn_seat from game where id = $1").bind(id.0);
        let seats: (Option<i16>, Option<i16>) = seats.fetch_one(db).await.expect("the game is there");
        let seat_at = |side| i16::from(row.seat_at(side) == Seat::Second);
        let winner = row.result().and_then(|result| result.winner);
        assert_eq!(seats, (winner.map(seat_at), row.turn().map(seat_at)));
    }
    let orphans = "select count(*) from (select game_id from event union all select game_id from archived_log) logged \
        where not exists (select from game where id = game_id)";
    let orphans: i64 = sqlx::query_scalar(orphans).fetch_one(db).await.expect("a count");
    assert_eq!(orphans, 0);
    ids.len()
}
