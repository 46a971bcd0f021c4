//! A player's results against others by variant, read off the finished games.

use mancala_domain::PlayerId;
use mancala_rules::Variant;
use sqlx::PgPool;
use tracing::Instrument;

use crate::{
    connection::{DbError, statement},
    kinds::OpponentKind,
};

/// How many of a player's last finished games are read: more than nearly all players have, and some forty milliseconds'
/// work.
pub const GAMES_MAX: u32 = 10_000;

/// A player's results.
#[derive(Clone, Debug)]
pub struct Stats {
    /// The variants of which there are games.
    pub variants: Vec<VariantStats>,
    /// Whether all of the player's finished games were read.
    pub is_complete: bool,
}

/// A player's results in one variant. Games against oneself, practice, and games that begin elsewhere than with the opening do
/// not count.
#[derive(Clone, Debug)]
pub struct VariantStats {
    /// The variant.
    pub variant: Variant,
    /// Finished games.
    pub games: u32,
    /// Games won.
    pub wins: u32,
    /// Draws.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// The lead of the player's store in seeds, on average over the games whose score is meaningful. Games that ended by
    /// resignation, by timeout or for an unknown reason are left out. A draw is 0.
    pub average_margin: Option<f64>,
    /// How the last games ended, and how many of them ended so in a row.
    pub current_streak: (Ending, u32),
    /// The largest number of games won in a row.
    pub longest_winning_streak: u32,
}

/// How a game ended for a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The player won.
    Win,
    /// A draw.
    Draw,
    /// The player lost.
    Loss,
}

impl Ending {
    /// The ending that the statement counts by this number.
    const fn of(sign: i32) -> Self {
        match sign {
            0 => Ending::Draw,
            1.. => Ending::Win,
            _ => Ending::Loss,
        }
    }
}

/// A variant's figures; null if there are no games.
struct Row {
    is_complete: bool,
    variant: Option<String>,
    games: Option<i64>,
    wins: Option<i64>,
    draws: Option<i64>,
    losses: Option<i64>,
    average_margin: Option<f64>,
    streak_ending: Option<i32>,
    streak_length: Option<i64>,
    longest_winning_streak: Option<i64>,
}

/// A player's results in the last `GAMES_MAX` finished games, or in those of them against these kinds of opponents.
pub async fn find(pool: &PgPool, player: PlayerId, opponents: Option<&[OpponentKind]>) -> Result<Stats, DbError> {
    let opponents: Option<Vec<&str>> = opponents.map(|kinds| kinds.iter().map(|kind| kind.as_str()).collect());
    // The limit is one row more than is counted, to see whether there are more. An ending is 1, 0 or -1. The number of a streak
    // counts the games of its variant, beginning with the last one, that ended otherwise than the one after them. The current
    // streak has 0.
    let rows = sqlx::query_as!(
        Row,
        r#"
        with newest as materialized (
            select *, row_number() over (order by finished_at desc, id desc) as place from (
                (select 0 as seat, id, finished_at, variant, opponent,
                    seat_0_player_id <> seat_1_player_id and practice is not true and start is null as is_counted,
                    winner_seat, result_winner, result_reason, result_score_south, result_score_north
                 from game
                 where seat_0_player_id = $1 and finished_at is not null
                 order by finished_at desc, id desc limit $2)
                union all
                (select 1 as seat, id, finished_at, variant, opponent, practice is not true and start is null as is_counted,
                    winner_seat, result_winner, result_reason, result_score_south, result_score_north
                 from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id and finished_at is not null
                 order by finished_at desc, id desc limit $2)
                order by finished_at desc, id desc limit $2
            ) finished
        ), judged as (
            select place, variant, ending,
                case when result_reason not in ('resignation', 'timeout', 'unknown') then
                    ending * case result_winner when 'south' then result_score_south - result_score_north
                        else result_score_north - result_score_south end
                end as margin
            from newest
            cross join lateral (
                select case when winner_seat is null then 0 when winner_seat = seat then 1 else -1 end as ending
            ) ended
            where place < $2 and is_counted and ($3::text[] is null or opponent = any($3))
        ), compared as (
            select *, (ending <> lag(ending) over (partition by variant order by place))::integer as is_other from judged
        ), numbered as (
            select *, coalesce(sum(is_other) over (partition by variant order by place), 0) as number from compared
        ), streak as (
            select variant, number, ending, count(*) as length, sum(margin) as margins, count(margin) as with_margin
            from numbered group by variant, number, ending
        ), figures as (
            select variant, sum(length)::bigint as games,
                coalesce(sum(length) filter (where ending = 1), 0)::bigint as wins,
                coalesce(sum(length) filter (where ending = 0), 0)::bigint as draws,
                coalesce(sum(length) filter (where ending = -1), 0)::bigint as losses,
                round(sum(margins) / nullif(sum(with_margin), 0), 2)::float8 as average_margin,
                max(ending) filter (where number = 0) as streak_ending,
                max(length) filter (where number = 0) as streak_length,
                coalesce(max(length) filter (where ending = 1), 0) as longest_winning_streak
            from streak group by variant
        )
        select (select count(*) from newest) < $2 as "is_complete!", variant as "variant?", games, wins, draws, losses,
            average_margin, streak_ending, streak_length, longest_winning_streak
        from (select) whole left join figures on true
        "#,
        player.0,
        i64::from(GAMES_MAX) + 1,
        opponents.as_deref() as Option<&[&str]>,
    )
    .fetch_all(pool)
    .instrument(statement("select stats of a player"))
    .await?;
    let is_complete = rows.iter().all(|row| row.is_complete);
    let variants = rows.into_iter().filter_map(|row| VariantStats::of(row, player).transpose());
    let mut variants = variants.collect::<Result<Vec<_>, _>>()?;
    variants.sort_by_key(|stats| Variant::ALL.iter().position(|variant| *variant == stats.variant));
    Ok(Stats { variants, is_complete })
}

impl VariantStats {
    fn of(row: Row, player: PlayerId) -> Result<Option<Self>, DbError> {
        let Some(variant) = row.variant else { return Ok(None) };
        let count = |count: Option<i64>| count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
        Ok(Some(Self {
            variant: variant.parse().map_err(|e| DbError::inconsistent("game", "variant", player.0, e))?,
            games: count(row.games),
            wins: count(row.wins),
            draws: count(row.draws),
            losses: count(row.losses),
            average_margin: row.average_margin,
            current_streak: (Ending::of(row.streak_ending.unwrap_or(0)), count(row.streak_length)),
            longest_winning_streak: count(row.longest_winning_streak),
        }))
    }
}
