//! Lists of public games: the rows of a page, read off an index each.

use sqlx::PgPool;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    condition::find_games,
    filter::Filter,
    page::Found,
    scan::{SCAN_MAX, Window, pairs},
};
use crate::connection::{DbError, statement};

/// How many open games of a closed app its lobby is made of: some ten milliseconds' work.
const WITHIN_MAX: i64 = 10_000;

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

/// The closed app to which a player belongs, if any. Such a player meets only players of that app.
pub(super) async fn app_that_encloses(pool: &PgPool, player: Uuid) -> Result<Option<Uuid>, DbError> {
    let app = sqlx::query_scalar!("select app_that_encloses($1)", player);
    Ok(app.fetch_one(pool).instrument(statement("select app_that_encloses")).await?)
}

/// The lobby of a closed app, newest first. All open games of the app are read, because the index for seeks has them in one range. If there
/// are more than the bound, the list has an arbitrary part of them.
pub(super) async fn open_within(
    pool: &PgPool,
    filter: &Filter,
    app: Uuid,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let found = find_games!(
        filter,
        window,
        WITHIN_MAX,
        r#"
        select id as "id!", created_at as "at!", true as "shown!", false as "last!" from (
            select id, created_at, variant, preset, clock, opponent, result_reason, ply, analysed_at, practice, result_winner,
                seat_0_player_id, seat_1_player_id
            from game
            where coalesce(within_app_id, '00000000-0000-0000-0000-000000000000') = $14
              and visibility = 'public' and opponent = 'open' and started_at is null and aborted_at is null
            limit $1
        ) scanned
        where (
        "#,
        "",
        r#"
            ) and variant = any($13) and created_at >= $15 and created_at < $16 and id >= $17 and id < $18
            and ($19::uuid is null or $19 is distinct from coalesce(seat_0_player_id, seat_1_player_id))
        order by id desc limit $2
        "#,
        {
            &filter.variants(),
            app,
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
