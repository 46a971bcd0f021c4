//! Ends and stops games of suspended players. Games that wait for an opponent are aborted, and invitations declined. Games that
//! have begun are played on, unless the player is banned or the suspension says otherwise. Then the job aborts what has hardly
//! begun and resigns the rest, or holds clocks until no suspension stops them.

use std::{sync::Arc, time::Duration as StdDuration};

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::{deadlines::settle_game, leaving::end_game, rounds::Rounds};
use mancala_db::{
    DbError, Writers,
    games::{self, held},
    players::suspensions::{self, SuspendedGames},
};
use mancala_domain::{Action, Event, Game, GameId, PlayerId};
use mancala_process::{clock::now, metrics::Metrics, repeats};

/// The pause between two rounds. Until a clock is held, it runs against a player who may not move.
const PAUSE: StdDuration = StdDuration::from_secs(10);

/// How long after a suspension the games that it ends are searched for. Later ones are invitations by others, which expire. Clocks that a
/// suspension stops are searched for while it lasts.
const SEARCHED_FOR: Duration = Duration::days(7);

/// How many players one round handles, and how many games of each; and how many held games one statement reads.
const PLAYERS_MAX: u32 = 100;
const GAMES_MAX: u32 = 1000;

/// Runs until it is dropped. The next round retries what a failed one has left.
pub async fn run(pool: PgPool, writers: Arc<Writers>, metrics: Arc<Metrics>) {
    let begins = "not all games of suspended players are ended or stopped";
    let ends = "the games of suspended players are ended and stopped";
    let rounds = Rounds::new(&metrics, "suspended_games", begins, ends);
    loop {
        tokio::time::sleep(PAUSE).await;
        rounds.run(settle_suspended(&pool, &writers, now())).await;
    }
}

/// Runs a round. A game with a version conflict or a failure is left to the next round. So are the games that a stopped
/// process has not ended. A ban that is lifted meanwhile leaves the games of this round ended.
pub async fn settle_suspended(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    for (player, games) in suspensions::list_unfinished(pool, now - SEARCHED_FOR, PLAYERS_MAX).await? {
        let (found, actions) = match games {
            SuspendedGames::End => {
                (games::list_unfinished(pool, player, GAMES_MAX).await?, [Action::Abort, Action::Leave])
            }
            SuspendedGames::Stop | SuspendedGames::PlayOn => {
                (games::list_open(pool, player, GAMES_MAX).await?, [Action::Abort, Action::Decline])
            }
        };
        for id in found {
            log_failure(id, end_game(pool, writers, player, id, &actions, now).await);
        }
        if games == SuspendedGames::Stop {
            for id in held::list_running(pool, player, GAMES_MAX).await? {
                log_failure(id, hold_clock(pool, writers, player, id).await);
            }
        }
    }
    let mut last = None;
    loop {
        let released = held::list_released(pool, last, GAMES_MAX).await?;
        for id in &released {
            log_failure(*id, release_clock(pool, writers, *id).await);
        }
        last = released.last().copied();
        if released.len() < GAMES_MAX as usize {
            return Ok(());
        }
    }
}

/// Stops the clock of a player's game, if a suspension of the player still says so. The game is noted first: so another process that
/// lets clocks run again finds it, even if this one is late or stops.
async fn hold_clock(pool: &PgPool, writers: &Writers, player: PlayerId, id: GameId) -> Result<(), DbError> {
    // A time that has run out takes precedence.
    settle_game(pool, writers, id, now()).await?;
    if suspensions::stops_games(pool, player).await? {
        held::note(pool, id).await?;
        change(pool, writers, id, |game| game.hold_clock(player, now())).await?;
    }
    Ok(())
}

/// Starts the clock of a game again, or deletes the game's row if the clock is not held.
async fn release_clock(pool: &PgPool, writers: &Writers, id: GameId) -> Result<(), DbError> {
    if change(pool, writers, id, |game| game.release_clock(now())).await? {
        Ok(())
    } else {
        held::forget(pool, id).await
    }
}

/// Changes a game by events, unless another change comes first. Returns whether there is something to change.
async fn change(
    pool: &PgPool,
    writers: &Writers,
    id: GameId,
    decide: impl Fn(&Game) -> Vec<Event>,
) -> Result<bool, DbError> {
    let Some(mut game) = games::find_whole(pool, id).await?.map(|seated| seated.game) else { return Ok(false) };
    let events = decide(&game);
    if !events.is_empty() && events.iter().all(|event| game.apply(event).is_ok()) {
        games::append(writers, &game, &events).await?;
    }
    Ok(!events.is_empty())
}

fn log_failure(id: GameId, settled: Result<(), DbError>) {
    if let Err(error) = settled
        && let Some(line) = repeats::admit("games of suspended players", &error.to_string())
    {
        tracing::warn!(left_out = line.left_out, game.id = %id.0, "a game of a suspended player is left to the next round: {error}");
    }
}
