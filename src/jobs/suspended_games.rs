//! Ends and stops games of suspended players. Those that wait for an opponent are aborted, and invitations declined. Games that
//! have begun are played on, unless the player is banned or the suspension says otherwise. Then the job aborts what has
//! hardly begun and resigns the rest, or holds their clocks until no suspension stops them.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::{deadlines::settle_game, leaving::end_game};
use crate::{
    db::{
        DbError, Writers,
        games::{self, Appended},
        players::suspensions::{self, SuspendedGames},
    },
    domain::{Action, Event, Game, GameId, PlayerId, Seat},
    repeats,
};

/// How long after a suspension its player's games are searched for. Later ones are invitations of others, which expire.
const SEARCHED_FOR: Duration = Duration::days(7);

/// How many players one round handles, and how many games of each.
const PLAYERS_MAX: u32 = 100;
const GAMES_MAX: u32 = 1000;

/// One round. A game with a version conflict or a failure is left to the next round. So is all that a stopped process
/// has not ended. A ban that is lifted meanwhile leaves the games of this round ended.
pub async fn settle(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    for (player, games) in suspensions::list_unfinished(pool, now - SEARCHED_FOR, PLAYERS_MAX).await? {
        let begun = match games {
            SuspendedGames::End => games::list_unfinished(pool, player, GAMES_MAX).await?,
            SuspendedGames::Stop => {
                hold_clocks(pool, writers, player, now).await?;
                vec![]
            }
            SuspendedGames::PlayOn => vec![],
        };
        for id in begun {
            let ended = end_game(pool, writers, player, id, &[Action::Abort, Action::Leave], now).await;
            log_failure(id, ended);
        }
        for id in games::list_open(pool, player, GAMES_MAX).await? {
            let ended = end_game(pool, writers, player, id, &[Action::Abort, Action::Decline], now).await;
            log_failure(id, ended);
        }
    }
    for player in suspensions::list_released(pool, PLAYERS_MAX).await? {
        if release_clocks(pool, writers, player, now).await? {
            suspensions::set_released(pool, player).await?;
        }
    }
    Ok(())
}

/// Stops the clocks of a player's games.
async fn hold_clocks(pool: &PgPool, writers: &Writers, player: PlayerId, now: OffsetDateTime) -> Result<(), DbError> {
    for id in games::list_unfinished(pool, player, GAMES_MAX).await? {
        let held = change(pool, writers, id, now, async |game| Ok(game.hold_clock(player, now))).await;
        log_failure(id, held);
    }
    Ok(())
}

/// Lets the clocks of a player's games run again, except those that stand for the opponent, too. Returns whether all of them do.
async fn release_clocks(
    pool: &PgPool,
    writers: &Writers,
    player: PlayerId,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let mut is_done = true;
    for id in games::list_unfinished(pool, player, GAMES_MAX).await? {
        let released = change(pool, writers, id, now, async |game| {
            for other in Seat::ALL.into_iter().filter_map(|seat| game.players()[seat]).filter(|other| *other != player)
            {
                let suspension = suspensions::find_active(pool, other, now).await?;
                if suspension.is_some_and(|suspension| suspension.games == SuspendedGames::Stop) {
                    return Ok(vec![]);
                }
            }
            Ok(game.release_clock(player, now))
        })
        .await;
        is_done &= matches!(released, Ok(true));
        log_failure(id, released);
    }
    Ok(is_done)
}

/// Changes a game by events, unless another change comes first. Returns whether the game is as it is to be.
async fn change(
    pool: &PgPool,
    writers: &Writers,
    id: GameId,
    now: OffsetDateTime,
    decide: impl AsyncFn(&Game) -> Result<Vec<Event>, DbError>,
) -> Result<bool, DbError> {
    // A time that has run out takes precedence.
    settle_game(pool, writers, id, now).await?;
    let Some(mut game) = games::find_whole(pool, id).await?.map(|seated| seated.game) else { return Ok(true) };
    let events = decide(&game).await?;
    let applied = events.iter().try_for_each(|event| game.apply(event));
    if applied.is_err() || events.is_empty() {
        return Ok(true);
    }
    Ok(games::append(writers, &game, &events).await? == Appended::Stored)
}

fn log_failure<T>(id: GameId, settled: Result<T, DbError>) {
    if let Err(error) = settled
        && let Some(line) = repeats::admit("games of suspended players", &error.to_string())
    {
        tracing::warn!(left_out = line.left_out, game.id = %id.0, "a game of a suspended player is left to the next round: {error}");
    }
}
