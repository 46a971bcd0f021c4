//! How many games a player has won, lost and drawn.

use mancala_domain::PlayerId;
use sqlx::PgPool;
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// How many finished games in a seat are counted for a profile: some ten milliseconds' work.
const COUNTED_MAX: i64 = 100_000;

/// A player's results against others; games against oneself do not count.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Active games.
    pub active: u32,
    /// Games won.
    pub won: u32,
    /// Games lost.
    pub lost: u32,
    /// Draws.
    pub drawn: u32,
}

/// Counts a player's games, up to 100,000 finished ones in each seat.
pub async fn count_games(pool: &PgPool, id: PlayerId) -> Result<Counts, DbError> {
    let row = sqlx::query!(
        r#"
        select
            (select count(*) from (
                (select from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'active'
                   and seat_1_player_id <> $1 limit $2)
                union all
                (select from game
                 where seat_1_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'active'
                   and seat_0_player_id is distinct from seat_1_player_id limit $2)
            ) active) as "active!",
            count(*) filter (where winner_seat = seat) as "won!",
            count(*) filter (where winner_seat <> seat) as "lost!",
            count(*) filter (where winner_seat is null) as "drawn!"
        from (
            (select 0 as seat, winner_seat from game
             where seat_0_player_id = $1 and finished_at is not null and seat_1_player_id <> $1 limit $2)
            union all
            (select 1 as seat, winner_seat from game
             where seat_1_player_id = $1 and finished_at is not null
               and seat_0_player_id is distinct from seat_1_player_id limit $2)
        ) finished
        "#,
        id.0,
        COUNTED_MAX,
    )
    .fetch_one(pool)
    .instrument(statement("count games of a player"))
    .await?;
    let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(Counts { active: count(row.active), won: count(row.won), lost: count(row.lost), drawn: count(row.drawn) })
}
