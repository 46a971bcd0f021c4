//! Lists of public games: which games a page has, read off an index each.

use sqlx::PgPool;
use tracing::Instrument;

use super::{
    filter::Filter,
    page::Found,
    scan::{SCAN_MAX, Window, pairs},
};
use crate::{
    connection::{DbError, statement},
    kinds::{ClockKind, OpponentKind},
};

/// Everybody's public games, newest first.
pub(super) async fn newest_public(pool: &PgPool, filter: &Filter, window: &Window) -> Result<Vec<Found>, DbError> {
    let (variants, statuses) = pairs(&filter.variants(), &filter.statuses());
    let found = sqlx::query_as!(
        Found,
        r#"
        select found.id as "id!", found.at as "at!", found.shown as "shown!", found.n = $1 as "last!"
        from unnest($2::text[], $3::text[]) as leg (variant, status)
        cross join lateral (
            select * from (
                select id, created_at as at, row_number() over (order by id desc) as n,
                    (($4::text is null
                        or $4 = 'draw' and result_winner is null
                        or $4 = result_winner)
                     and created_at >= $5 and created_at < $6
                     and ($10::text is null or preset = $10)
                     and ($11::text is null or $11 = coalesce(split_part(clock, ' ', 1), 'unlimited'))
                     and ($12::text is null or opponent = $12)
                     and ($13::text is null or result_reason = $13)
                     and ply >= $14 and ply <= $15
                     and ($16::boolean is null or $16 = (opponent = 'imported'))
                     and ($17::boolean is null or $17 = (analysed_at is not null))) is true as shown
                from (
                    select id, created_at, result_winner, preset, clock, opponent, result_reason, ply, analysed_at from game
                    where visibility = 'public' and variant = leg.variant
                      and game_status(started_at, finished_at, aborted_at) = leg.status and id >= $7 and id < $8
                    order by id desc limit $1
                ) scanned
            ) judged
            where shown or n = $1
            order by id desc limit $9
        ) found
        order by found.id desc limit $9
        "#,
        SCAN_MAX,
        &variants,
        &statuses as &[&str],
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

/// Everybody's public finished games, last finished first.
pub(super) async fn finished_publicly(pool: &PgPool, filter: &Filter, window: &Window) -> Result<Vec<Found>, DbError> {
    let found = sqlx::query_as!(
        Found,
        r#"
        select found.id as "id!", found.at as "at!", found.shown as "shown!", found.n = $1 as "last!"
        from unnest($2::text[]) as leg (variant)
        cross join lateral (
            select * from (
                select id, finished_at as at, row_number() over (order by finished_at desc, id desc) as n,
                    (($3::text is null
                        or $3 = 'draw' and result_winner is null
                        or $3 = result_winner)
                     and ($8::text is null or preset = $8)
                     and ($9::text is null or $9 = coalesce(split_part(clock, ' ', 1), 'unlimited'))
                     and ($10::text is null or opponent = $10)
                     and ($11::text is null or result_reason = $11)
                     and ply >= $12 and ply <= $13
                     and ($14::boolean is null or $14 = (opponent = 'imported'))
                     and ($15::boolean is null or $15 = (analysed_at is not null))) is true as shown
                from (
                    select id, finished_at, result_winner, preset, clock, opponent, result_reason, ply, analysed_at from game
                    where visibility = 'public' and variant = leg.variant
                      and finished_at >= $4 and (finished_at, id) < ($5, $6)
                    order by finished_at desc, id desc limit $1
                ) scanned
            ) judged
            where shown or n = $1
            order by at desc, id desc limit $7
        ) found
        order by found.at desc, found.id desc limit $7
        "#,
        SCAN_MAX,
        &filter.variants(),
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
