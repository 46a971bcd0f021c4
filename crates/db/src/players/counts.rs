//! How many games a player has won, lost and drawn.

use mancala_domain::PlayerId;
use sqlx::PgPool;
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// How many finished games in a seat are counted for a profile: some ten milliseconds' work.
const COUNTED_MAX: i64 = 100_000;

/// A player's results against others; games against oneself and practice do not count.
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
    // The indexes of finished games have all columns that are counted, except practice. So practice, which has an index of its own, is
    // subtracted.
    let row = sqlx::query!(
        r#"
        select
            (select count(*) from (
                (select from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'active'
                   and seat_1_player_id <> $1 and practice is not true limit $2)
                union all
                (select from game
                 where seat_1_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'active'
                   and seat_0_player_id is distinct from seat_1_player_id and practice is not true limit $2)
            ) active) as "active!",
            coalesce(sum(counts) filter (where winner_seat = seat), 0) as "won!",
            coalesce(sum(counts) filter (where winner_seat <> seat), 0) as "lost!",
            coalesce(sum(counts) filter (where winner_seat is null), 0) as "drawn!"
        from (
            (select 1 as counts, 0 as seat, winner_seat from game
             where seat_0_player_id = $1 and finished_at is not null and seat_1_player_id <> $1 limit $2)
            union all
            (select 1 as counts, 1 as seat, winner_seat from game
             where seat_1_player_id = $1 and finished_at is not null
               and seat_0_player_id is distinct from seat_1_player_id limit $2)
            union all
            (select -1 as counts, 0 as seat, winner_seat from game
             where seat_0_player_id = $1 and practice and finished_at is not null limit $2)
            union all
            (select -1 as counts, 1 as seat, winner_seat from game
             where seat_1_player_id = $1 and practice and finished_at is not null limit $2)
        ) finished
        "#,
        id.0,
        COUNTED_MAX,
    )
    .fetch_one(pool)
    .instrument(statement("count games of a player"))
    .await?;
    let count = |count: i64| u32::try_from(count.max(0)).unwrap_or(u32::MAX);
    Ok(Counts { active: count(row.active), won: count(row.won), lost: count(row.lost), drawn: count(row.drawn) })
}
