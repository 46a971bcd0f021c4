//! Lists of one player's games: which games a page has, read off an index each.

use mancala_domain::{PlayerId, RUNNING_GAMES_MAX, Status, Visibility};
use sqlx::PgPool;
use tracing::Instrument;

use super::{
    filter::{Filter, Of, Order},
    page::Found,
    scan::{END, SCAN_MAX, Window, pairs},
};
use crate::{
    connection::{DbError, statement},
    kinds::{ClockKind, OpponentKind},
};

/// A player's games, newest first.
pub(crate) async fn newest_of(pool: &PgPool, filter: &Filter, of: Of, window: &Window) -> Result<Vec<Found>, DbError> {
    let (seats, statuses) = pairs(&[0, 1], &filter.statuses());
    let found = sqlx::query_as!(
        Found,
        r#"
        select found.id as "id!", found.at as "at!", found.shown as "shown!", found.n = $1 as "last!"
        from unnest($2::smallint[], $3::text[]) as leg (seat, status)
        cross join lateral (
            select * from (
                select id, created_at as at, row_number() over (order by id desc) as n,
                    (($5::text is null or variant = $5)
                     and ($6::text is null or visibility = $6)
                     and (visibility = 'public' or $7 in (seat_0_player_id, seat_1_player_id, invited_player_id))
                     and ($8::uuid is null or $8 = case leg.seat when 0 then seat_1_player_id else seat_0_player_id end)
                     and ($9::text is null
                        or $9 = 'draw' and result_winner is null
                        or $9 = result_winner
                        or $9 = 'won' and winner_seat = leg.seat and seat_0_player_id <> seat_1_player_id
                        or $9 = 'lost' and winner_seat <> leg.seat and seat_0_player_id <> seat_1_player_id)
                     and (not $10 or $4 = case turn_seat when 0 then seat_0_player_id when 1 then seat_1_player_id end)
                     and created_at >= $11 and created_at < $12
                     and ($16::text is null or preset = $16)
                     and ($17::text is null or $17 = coalesce(split_part(clock, ' ', 1), 'unlimited'))
                     and ($18::text is null or opponent = $18)
                     and ($19::text is null or result_reason = $19)
                     and ply >= $20 and ply <= $21 and ($22::boolean is null or $22 = (opponent = 'imported'))
                     and ($23::boolean is null or $23 = (analysed_at is not null))) is true as shown
                from (
                    (select * from game
                     where leg.seat = 0 and seat_0_player_id = $4
                       and game_status(started_at, finished_at, aborted_at) = leg.status and id >= $13 and id < $14
                     order by id desc limit $1)
                    union all
                    (select * from game
                     where leg.seat = 1 and seat_1_player_id = $4 and seat_0_player_id is distinct from seat_1_player_id
                       and game_status(started_at, finished_at, aborted_at) = leg.status and id >= $13 and id < $14
                     order by id desc limit $1)
                ) scanned
            ) judged
            where shown or n = $1
            order by id desc limit $15
        ) found
        order by found.id desc limit $15
        "#,
        SCAN_MAX,
        &seats,
        &statuses as &[&str],
        of.player.0,
        filter.variant(),
        of.visibility.map(Visibility::as_str),
        filter.viewer(),
        of.opponent.map(|opponent| opponent.0),
        filter.ended(),
        of.to_move,
        window.since,
        window.until,
        window.first_id,
        window.end_id,
        window.rows,
        filter.preset,
        filter.clock.map(ClockKind::as_str),
        filter.open_to.map(OpponentKind::as_str),
        filter.reason.as_deref(),
        filter.plies.0,
        filter.plies.1,
        filter.imported,
        filter.analysed,
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}

/// The games that a player imported, newest first.
pub(crate) async fn newest_imported(
    pool: &PgPool,
    filter: &Filter,
    importer: PlayerId,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let found = sqlx::query_as!(
        Found,
        r#"
        select id as "id!", at as "at!", shown as "shown!", n = $1 as "last!" from (
            select id, created_at as at, row_number() over (order by id desc) as n,
                (($3::text is null or variant = $3)
                 and (visibility = 'public' or $4 = invited_player_id)
                 and ($5::text is null or status = $5)
                 and ($6::text is null
                    or $6 = 'draw' and result_winner is null
                    or $6 = result_winner)
                 and created_at >= $7 and created_at < $8
                 and ($12::text is null or preset = $12)
                 and ($13::text is null or result_reason = $13)
                 and ply >= $14 and ply <= $15
                 and ($16::boolean is null or $16 = (analysed_at is not null))) is true as shown
            from (
                select * from game
                where invited_player_id = $2 and opponent = 'imported' and id >= $9 and id < $10
                order by id desc limit $1
            ) scanned
        ) judged
        where shown or n = $1
        order by id desc limit $11
        "#,
        SCAN_MAX,
        importer.0,
        filter.variant(),
        filter.viewer(),
        filter.status.map(Status::as_str),
        filter.ended(),
        window.since,
        window.until,
        window.first_id,
        window.end_id,
        window.rows,
        filter.preset,
        filter.reason.as_deref(),
        filter.plies.0,
        filter.plies.1,
        filter.analysed,
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}

/// The games of two players, newest first.
pub(crate) async fn newest_of_pair(
    pool: &PgPool,
    filter: &Filter,
    of: Of,
    opponent: PlayerId,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let found = sqlx::query_as!(
        Found,
        r#"
        select id as "id!", at as "at!", shown as "shown!", n = $1 as "last!" from (
            select id, created_at as at, row_number() over (order by id desc) as n,
                (($4::text is null or variant = $4)
                 and ($5::text is null or visibility = $5)
                 and (visibility = 'public' or $6 in ($2, $3))
                 and ($7::text is null or status = $7)
                 and ($8::text is null
                    or $8 = 'draw' and result_winner is null
                    or $8 = result_winner
                    or $8 = 'won' and $2 <> $3
                        and $2 = case winner_seat when 0 then seat_0_player_id when 1 then seat_1_player_id end
                    or $8 = 'lost' and $2 <> $3
                        and $3 = case winner_seat when 0 then seat_0_player_id when 1 then seat_1_player_id end)
                 and created_at >= $9 and created_at < $10
                 and ($14::text is null or preset = $14)
                 and ($15::text is null or $15 = coalesce(split_part(clock, ' ', 1), 'unlimited'))
                 and ($16::text is null or opponent = $16)
                 and ($17::text is null or result_reason = $17)
                 and ply >= $18 and ply <= $19
                 and ($20::boolean is null or $20 = (opponent = 'imported'))
                 and ($21::boolean is null or $21 = (analysed_at is not null))) is true as shown
            from (
                select * from game
                where seat_0_player_id is not null and seat_1_player_id is not null
                  and least(seat_0_player_id, seat_1_player_id) = least($2::uuid, $3::uuid)
                  and greatest(seat_0_player_id, seat_1_player_id) = greatest($2::uuid, $3::uuid) and id >= $11 and id < $12
                order by id desc limit $1
            ) scanned
        ) judged
        where shown or n = $1
        order by id desc limit $13
        "#,
        SCAN_MAX,
        of.player.0,
        opponent.0,
        filter.variant(),
        of.visibility.map(Visibility::as_str),
        filter.viewer(),
        filter.status.map(Status::as_str),
        filter.ended(),
        window.since,
        window.until,
        window.first_id,
        window.end_id,
        window.rows,
        filter.preset,
        filter.clock.map(ClockKind::as_str),
        filter.open_to.map(OpponentKind::as_str),
        filter.reason.as_deref(),
        filter.plies.0,
        filter.plies.1,
        filter.imported,
        filter.analysed,
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}

/// A player's finished games, last finished first.
pub(crate) async fn finished_of(
    pool: &PgPool,
    filter: &Filter,
    of: Of,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let found = sqlx::query_as!(
        Found,
        r#"
        select found.id as "id!", found.at as "at!", found.shown as "shown!", found.n = $1 as "last!"
        from unnest(array[0, 1]) as leg (seat)
        cross join lateral (
            select * from (
                select id, finished_at as at, row_number() over (order by finished_at desc, id desc) as n,
                    (($3::text is null or variant = $3)
                     and ($4::text is null or visibility = $4)
                     and (visibility = 'public' or $5 in (seat_0_player_id, seat_1_player_id))
                     and ($6::uuid is null or $6 = case leg.seat when 0 then seat_1_player_id else seat_0_player_id end)
                     and ($7::text is null
                        or $7 = 'draw' and result_winner is null
                        or $7 = result_winner
                        or $7 = 'won' and winner_seat = leg.seat and seat_0_player_id <> seat_1_player_id
                        or $7 = 'lost' and winner_seat <> leg.seat and seat_0_player_id <> seat_1_player_id)
                     and ($12::text is null or preset = $12)
                     and ($13::text is null or $13 = coalesce(split_part(clock, ' ', 1), 'unlimited'))
                     and ($14::text is null or opponent = $14)
                     and ($15::text is null or result_reason = $15)
                     and ply >= $16 and ply <= $17
                     and ($18::boolean is null or $18 = (opponent = 'imported'))
                     and ($19::boolean is null or $19 = (analysed_at is not null))) is true as shown
                from (
                    (select * from game
                     where leg.seat = 0 and seat_0_player_id = $2
                       and finished_at >= $8 and (finished_at, id) < ($9, $10)
                     order by finished_at desc, id desc limit $1)
                    union all
                    (select * from game
                     where leg.seat = 1 and seat_1_player_id = $2 and seat_0_player_id is distinct from seat_1_player_id
                       and finished_at >= $8 and (finished_at, id) < ($9, $10)
                     order by finished_at desc, id desc limit $1)
                ) scanned
            ) judged
            where shown or n = $1
            order by at desc, id desc limit $11
        ) found
        order by found.at desc, found.id desc limit $11
        "#,
        SCAN_MAX,
        of.player.0,
        filter.variant(),
        of.visibility.map(Visibility::as_str),
        filter.viewer(),
        of.opponent.map(|opponent| opponent.0),
        filter.ended(),
        window.since,
        window.end_at.0,
        window.end_at.1,
        window.rows,
        filter.preset,
        filter.clock.map(ClockKind::as_str),
        filter.open_to.map(OpponentKind::as_str),
        filter.reason.as_deref(),
        filter.plies.0,
        filter.plies.1,
        filter.imported,
        filter.analysed,
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}

/// A player's active games, last changed first. No index has this order, for every move changes it: they are few enough to
/// be sorted.
///
/// By turn, the games in which the other is to move come after all others because their moments lie in another age.
pub(crate) async fn active_of(pool: &PgPool, filter: &Filter, of: Of, window: &Window) -> Result<Vec<Found>, DbError> {
    let found = sqlx::query_as!(
        Found,
        r#"
        select id as "id!", at as "at!", true as "shown!", false as "last!" from (
            select *, case
                when $18 and $1 = case turn_seat when 0 then seat_0_player_id when 1 then seat_1_player_id end
                    then coalesce(deadline, '5000-01-01Z')
                when $18 then coalesce(deadline + interval '4000 years', $14)
                when $13 then coalesce(deadline, $14)
                else updated_at
            end as at from (
            (select * from game
             where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'active'
             order by id desc limit $2)
            union all
            (select * from game
             where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
               and game_status(started_at, finished_at, aborted_at) = 'active'
             order by id desc limit $2)
            ) active
        ) active
        where ($3::text is null or variant = $3)
          and ($4::text is null or visibility = $4)
          and (visibility = 'public' or $5 in (seat_0_player_id, seat_1_player_id))
          and ($6::uuid is null or $6 = case when seat_0_player_id = $1 then seat_1_player_id else seat_0_player_id end)
          and (not $7 or $1 = case turn_seat when 0 then seat_0_player_id when 1 then seat_1_player_id end)
          and ($15::text is null or preset = $15)
          and ($16::text is null or $16 = coalesce(split_part(clock, ' ', 1), 'unlimited'))
          and ($17::text is null or opponent = $17)
          and ($19::text is null or result_reason = $19)
          and ply >= $20 and ply <= $21
          and ($22::boolean is null or $22 = (opponent = 'imported'))
          and ($23::boolean is null or $23 = (analysed_at is not null))
          and created_at >= $8 and created_at < $9
          and case when $13 then at > $10 or at = $10 and id < $11 else (at, id) < ($10, $11) end
        order by case when $13 then at end, at desc, id desc limit $12
        "#,
        of.player.0,
        2 * i64::from(RUNNING_GAMES_MAX),
        filter.variant(),
        of.visibility.map(Visibility::as_str),
        filter.viewer(),
        of.opponent.map(|opponent| opponent.0),
        of.to_move,
        window.since,
        window.until,
        window.end_at.0,
        window.end_at.1,
        window.rows,
        filter.order.is_ascending(),
        END,
        filter.preset,
        filter.clock.map(ClockKind::as_str),
        filter.open_to.map(OpponentKind::as_str),
        filter.order == Order::Turn,
        filter.reason.as_deref(),
        filter.plies.0,
        filter.plies.1,
        filter.imported,
        filter.analysed,
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}
