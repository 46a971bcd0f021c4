//! Lists of public games: the rows of a page, read off an index each.

use sqlx::PgPool;
use tracing::Instrument;

use super::{
    condition::find_games,
    filter::Filter,
    page::Found,
    scan::{SCAN_MAX, Window, pairs},
};
use crate::connection::{DbError, statement};

/// All public games, newest first.
pub(super) async fn newest_public(pool: &PgPool, filter: &Filter, window: &Window) -> Result<Vec<Found>, DbError> {
    let (variants, statuses) = pairs(&filter.variants(), &filter.statuses());
    let found = find_games!(
        filter,
        window,
        SCAN_MAX,
        r#"
        select found.id as "id!", found.at as "at!", found.shown as "shown!", found.n = $1 as "last!"
        from unnest($13::text[], $14::text[]) as leg (variant, status)
        cross join lateral (
            select * from (
                select id, created_at as at, row_number() over (order by id desc) as n, (
        "#,
        "",
        r#"
                    and created_at >= $15 and created_at < $16
                    and ($19::uuid is null or $19 is distinct from coalesce(seat_0_player_id, seat_1_player_id))) is true as shown
                from (
                    select id, created_at, preset, clock, opponent, result_reason, ply, analysed_at, practice, result_winner,
                        seat_0_player_id, seat_1_player_id
                    from game
                    where visibility = 'public' and variant = leg.variant
                      and game_status(started_at, finished_at, aborted_at) = leg.status and id >= $17 and id < $18
                    order by id desc limit $1
                ) scanned
            ) judged
            where shown or n = $1
            order by id desc limit $2
        ) found
        order by found.id desc limit $2
        "#,
        {
            &variants,
            &statuses as &[&str],
            window.since,
            window.until,
            window.first_id,
            window.end_id,
            filter.left_out(),
        }
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}

/// All public finished games, last finished first.
pub(super) async fn finished_publicly(pool: &PgPool, filter: &Filter, window: &Window) -> Result<Vec<Found>, DbError> {
    let found = find_games!(
        filter,
        window,
        SCAN_MAX,
        r#"
        select found.id as "id!", found.at as "at!", found.shown as "shown!", found.n = $1 as "last!"
        from unnest($13::text[]) as leg (variant)
        cross join lateral (
            select * from (
                select id, finished_at as at, row_number() over (order by finished_at desc, id desc) as n, (
        "#,
        "",
        r#"
                    ) is true as shown
                from (
                    select id, finished_at, preset, clock, opponent, result_reason, ply, analysed_at, practice, result_winner from game
                    where visibility = 'public' and variant = leg.variant
                      and finished_at >= $14 and (finished_at, id) < ($15, $16)
                    order by finished_at desc, id desc limit $1
                ) scanned
            ) judged
            where shown or n = $1
            order by at desc, id desc limit $2
        ) found
        order by found.at desc, found.id desc limit $2
        "#,
        {
            &filter.variants(),
            window.since,
            window.end_at.0,
            window.end_at.1,
        }
    );
    Ok(found.fetch_all(pool).instrument(statement("select game ids")).await?)
}
