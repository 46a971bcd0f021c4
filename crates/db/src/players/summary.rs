//! The counts of what awaits a player.

use mancala_domain::{PlayerId, RUNNING_GAMES_MAX};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// The counts of everything that waits for a player.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Summary {
    /// Active games in which the player is to move.
    pub to_move: i64,
    /// Active games.
    pub active: i64,
    /// The player's open games without an opponent.
    pub open: i64,
    /// Open games to which players that are not muted have invited the player, among the newest thousand.
    pub invitations: i64,
    /// Offers of opponents that are not muted and await the player's answer, including a rematch of one of the last games.
    pub offers: i64,
    /// The newest games with such offers.
    pub offered_in: Vec<Uuid>,
    /// The nearest deadline among the games in which the player is to move.
    pub next_deadline: Option<OffsetDateTime>,
}

/// How many invitations are counted.
const INVITATIONS_MAX: i64 = 1000;

/// How many of the games with offers are named.
const OFFERED_IN_MAX: i64 = 100;

/// How many of the player's last finished games, in either seat, are searched for the offer of a rematch.
const FINISHED_MAX: i64 = 50;

/// Reads the summary with one query over the player's unfinished games.
pub async fn find(pool: &PgPool, player: PlayerId) -> Result<Summary, DbError> {
    let summary = sqlx::query_as!(
        Summary,
        r#"
        with active as (
            (select id, turn_seat = 0 or seat_0_player_id = seat_1_player_id as to_move, deadline, offers, 0 as seat,
                seat_1_player_id as opponent
             from game
             where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'active'
             order by id desc limit $2)
            union all
            (select id, turn_seat = 1, deadline, offers, 1, seat_0_player_id from game
             where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
               and game_status(started_at, finished_at, aborted_at) = 'active'
             order by id desc limit $2)
        ), finished as (
            (select id, offers, 0 as seat, seat_1_player_id as opponent from game
             where seat_0_player_id = $1 and finished_at is not null order by finished_at desc, id desc limit $4)
            union all
            (select id, offers, 1, seat_0_player_id from game
             where seat_1_player_id = $1 and finished_at is not null and seat_0_player_id is distinct from seat_1_player_id
             order by finished_at desc, id desc limit $4)
        ), waiting as (
            select id, offers, seat, opponent from active where offers is not null
            union all
            select finished.id, offers, seat, opponent from finished join player on player.id = opponent
            where offers is not null and player.kind <> 'deleted'
        ), offered as (
            select waiting.id from waiting cross join lateral jsonb_array_elements(offers) as offer
            where (offer ->> 'seat')::integer <> waiting.seat
                and (select true from player_mute where muter_id = $1 and muted_id = waiting.opponent) is null
        )
        select
            (select count(*) from active where to_move) as "to_move!",
            (select count(*) from active) as "active!",
            (select count(*) from (
                (select from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'open'
                 order by id desc limit $2)
                union all
                (select from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
                   and game_status(started_at, finished_at, aborted_at) = 'open'
                 order by id desc limit $2)
            ) unjoined) as "open!",
            (select count(*) from (
                select coalesce(seat_0_player_id, seat_1_player_id) as inviter from game
                where invited_player_id = $1 and started_at is null and aborted_at is null order by id desc limit $3
            ) invited
            where (select true from player_mute where muter_id = $1 and muted_id = inviter) is null) as "invitations!",
            (select count(*) from offered) as "offers!",
            array(select distinct id from offered order by id desc limit $5) as "offered_in!",
            (select min(deadline) from active where to_move) as next_deadline
        "#,
        player.0,
        i64::from(RUNNING_GAMES_MAX),
        INVITATIONS_MAX,
        FINISHED_MAX,
        OFFERED_IN_MAX,
    );
    Ok(summary.fetch_one(pool).instrument(statement("count what waits for a player")).await?)
}
