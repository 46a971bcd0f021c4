//! Lists of one player's games: the rows of a page, read off an index each.

use mancala_domain::{PlayerId, RUNNING_GAMES_MAX, Visibility};
use sqlx::PgPool;
use tracing::Instrument;

use super::{
    condition::find_games,
    filter::{Filter, Order, PlayerGames},
    page::Found,
    scan::{END, SCAN_MAX, Window, pairs},
};
use crate::connection::{DbError, statement};

/// A player's games, newest first.
pub(super) async fn newest_of(
    pool: &PgPool,
    filter: &Filter,
    of: PlayerGames,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let (seats, statuses) = pairs(&[0, 1], &filter.statuses());
    let found = find_games!(
        filter,
        window,
        SCAN_MAX,
        r#"
        select found.id as "id!", found.at as "at!", found.shown as "shown!", found.n = $1 as "last!"
        from unnest($13::smallint[], $14::text[]) as leg (seat, status)
        cross join lateral (
            select * from (
                select id, created_at as at, row_number() over (order by id desc) as n, (
        "#,
        r#"
                    or $11 = 'won' and winner_seat = leg.seat and seat_0_player_id <> seat_1_player_id
                    or $11 = 'lost' and winner_seat <> leg.seat and seat_0_player_id <> seat_1_player_id
        "#,
        r#"
                    and ($16::text is null or variant = $16)
                    and ($17::text is null or visibility = $17)
                    and (visibility = 'public' or $18 in (seat_0_player_id, seat_1_player_id, invited_player_id))
                    and ($19::uuid is null or $19 = case leg.seat when 0 then seat_1_player_id else seat_0_player_id end)
                    and (not $20 or $15 = case turn_seat when 0 then seat_0_player_id when 1 then seat_1_player_id end)
                    and created_at >= $21 and created_at < $22) is true as shown
                from (
                    (select * from game
                     where leg.seat = 0 and seat_0_player_id = $15
                       and game_status(started_at, finished_at, aborted_at) = leg.status and id >= $23 and id < $24
                     order by id desc limit $1)
                    union all
                    (select * from game
                     where leg.seat = 1 and seat_1_player_id = $15 and seat_0_player_id is distinct from seat_1_player_id
                       and game_status(started_at, finished_at, aborted_at) = leg.status and id >= $23 and id < $24
                     order by id desc limit $1)
                ) scanned
            ) judged
            where shown or n = $1
            order by id desc limit $2
        ) found
        order by found.id desc limit $2
        "#,
        {
            &seats,
            &statuses as &[&str],
            of.player.0,
            filter.variant(),
            of.visibility.map(Visibility::as_str),
            filter.viewer(),
            of.opponent.map(|opponent| opponent.0),
            of.to_move,
            window.since,
            window.until,
            window.first_id,
            window.end_id,
        }
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}

/// The games that a player imported, newest first.
pub(super) async fn newest_imported(
    pool: &PgPool,
    filter: &Filter,
    importer: PlayerId,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let found = find_games!(
        filter,
        window,
        SCAN_MAX,
        r#"
        select id as "id!", at as "at!", shown as "shown!", n = $1 as "last!" from (
            select id, created_at as at, row_number() over (order by id desc) as n, (
        "#,
        "",
        r#"
                and ($14::text is null or variant = $14)
                and (visibility = 'public' or $15 = invited_player_id)
                and status = any($16)
                and created_at >= $17 and created_at < $18) is true as shown
            from (
                select * from game
                where invited_player_id = $13 and opponent = 'imported' and id >= $19 and id < $20
                order by id desc limit $1
            ) scanned
        ) judged
        where shown or n = $1
        order by id desc limit $2
        "#,
        {
            importer.0,
            filter.variant(),
            filter.viewer(),
            &filter.statuses() as &[&str],
            window.since,
            window.until,
            window.first_id,
            window.end_id,
        }
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}

/// The games of two players, newest first.
pub(super) async fn newest_of_pair(
    pool: &PgPool,
    filter: &Filter,
    of: PlayerGames,
    opponent: PlayerId,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let found = find_games!(
        filter,
        window,
        SCAN_MAX,
        r#"
        select id as "id!", at as "at!", shown as "shown!", n = $1 as "last!" from (
            select id, created_at as at, row_number() over (order by id desc) as n, (
        "#,
        r#"
                or $11 = 'won' and $13 <> $14
                    and $13 = case winner_seat when 0 then seat_0_player_id when 1 then seat_1_player_id end
                or $11 = 'lost' and $13 <> $14
                    and $14 = case winner_seat when 0 then seat_0_player_id when 1 then seat_1_player_id end
        "#,
        r#"
                and ($15::text is null or variant = $15)
                and ($16::text is null or visibility = $16)
                and (visibility = 'public' or $17 in ($13, $14))
                and status = any($18)
                and created_at >= $19 and created_at < $20) is true as shown
            from (
                select * from game
                where seat_0_player_id is not null and seat_1_player_id is not null
                  and least(seat_0_player_id, seat_1_player_id) = least($13::uuid, $14::uuid)
                  and greatest(seat_0_player_id, seat_1_player_id) = greatest($13::uuid, $14::uuid)
                  and id >= $21 and id < $22
                order by id desc limit $1
            ) scanned
        ) judged
        where shown or n = $1
        order by id desc limit $2
        "#,
        {
            of.player.0,
            opponent.0,
            filter.variant(),
            of.visibility.map(Visibility::as_str),
            filter.viewer(),
            &filter.statuses() as &[&str],
            window.since,
            window.until,
            window.first_id,
            window.end_id,
        }
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}

/// A player's finished games, last finished first.
pub(super) async fn finished_of(
    pool: &PgPool,
    filter: &Filter,
    of: PlayerGames,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let found = find_games!(
        filter,
        window,
        SCAN_MAX,
        r#"
        select found.id as "id!", found.at as "at!", found.shown as "shown!", found.n = $1 as "last!"
        from unnest(array[0, 1]) as leg (seat)
        cross join lateral (
            select * from (
                select id, finished_at as at, row_number() over (order by finished_at desc, id desc) as n, (
        "#,
        r#"
                    or $11 = 'won' and winner_seat = leg.seat and seat_0_player_id <> seat_1_player_id
                    or $11 = 'lost' and winner_seat <> leg.seat and seat_0_player_id <> seat_1_player_id
        "#,
        r#"
                    and ($14::text is null or variant = $14)
                    and ($15::text is null or visibility = $15)
                    and (visibility = 'public' or $16 in (seat_0_player_id, seat_1_player_id))
                    and ($17::uuid is null or $17 = case leg.seat when 0 then seat_1_player_id else seat_0_player_id end)
                    ) is true as shown
                from (
                    (select * from game
                     where leg.seat = 0 and seat_0_player_id = $13
                       and finished_at >= $18 and (finished_at, id) < ($19, $20)
                     order by finished_at desc, id desc limit $1)
                    union all
                    (select * from game
                     where leg.seat = 1 and seat_1_player_id = $13 and seat_0_player_id is distinct from seat_1_player_id
                       and finished_at >= $18 and (finished_at, id) < ($19, $20)
                     order by finished_at desc, id desc limit $1)
                ) scanned
            ) judged
            where shown or n = $1
            order by at desc, id desc limit $2
        ) found
        order by found.at desc, found.id desc limit $2
        "#,
        {
            of.player.0,
            filter.variant(),
            of.visibility.map(Visibility::as_str),
            filter.viewer(),
            of.opponent.map(|opponent| opponent.0),
            window.since,
            window.end_at.0,
            window.end_at.1,
        }
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}

/// A player's active games, last changed first. No index has this order, because every move changes it: the games are few
/// enough to be sorted.
///
/// By turn, the games in which the other player is to move come after all others, because their deadlines are moved by
/// 4000 years.
pub(super) async fn active_of(
    pool: &PgPool,
    filter: &Filter,
    of: PlayerGames,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let found = find_games!(
        filter,
        window,
        2 * i64::from(RUNNING_GAMES_MAX),
        r#"
        select id as "id!", at as "at!", true as "shown!", false as "last!" from (
            select *, case
                when $14 and $13 = case turn_seat when 0 then seat_0_player_id when 1 then seat_1_player_id end
                    then coalesce(deadline, '5000-01-01Z')
                when $14 then coalesce(deadline + interval '4000 years', $16)
                when $15 then coalesce(deadline, $16)
                else updated_at
            end as at from (
            (select * from game
             where seat_0_player_id = $13 and game_status(started_at, finished_at, aborted_at) = 'active'
             order by id desc limit $1)
            union all
            (select * from game
             where seat_1_player_id = $13 and seat_0_player_id is distinct from seat_1_player_id
               and game_status(started_at, finished_at, aborted_at) = 'active'
             order by id desc limit $1)
            ) active
        ) active
        where
        "#,
        "",
        r#"
          and ($17::text is null or variant = $17)
          and ($18::text is null or visibility = $18)
          and (visibility = 'public' or $19 in (seat_0_player_id, seat_1_player_id))
          and ($20::uuid is null or $20 = case when seat_0_player_id = $13 then seat_1_player_id else seat_0_player_id end)
          and (not $21 or $13 = case turn_seat when 0 then seat_0_player_id when 1 then seat_1_player_id end)
          and created_at >= $22 and created_at < $23
          and case when $15 then at > $24 or at = $24 and id < $25 else (at, id) < ($24, $25) end
        order by case when $15 then at end, at desc, id desc limit $2
        "#,
        {
            of.player.0,
            filter.order == Order::Turn,
            filter.order.is_ascending(),
            END,
            filter.variant(),
            of.visibility.map(Visibility::as_str),
            filter.viewer(),
            of.opponent.map(|opponent| opponent.0),
            of.to_move,
            window.since,
            window.until,
            window.end_at.0,
            window.end_at.1,
        }
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}
