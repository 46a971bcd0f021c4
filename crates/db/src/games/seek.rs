//! Pairing: a player joins the oldest open game that fits, or opens one, in one transaction.
//!
//! Seeks for the same kind of game follow each other, by an advisory lock that ends with the transaction. So none opens a
//! game while another one is about to open one that fits.

use mancala_domain::{Event, Game, GameId, PlayerId, Seat, Terms};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    append::{self, Append},
    columns::seat_number,
    find::{Histories, load},
    insert::insert,
    term_rows::TermsText,
};
use crate::{
    connection::{DbError, statement},
    idempotency::{self, Keyed},
};

/// What a player seeks.
#[derive(Debug)]
pub struct Seek<'a> {
    /// The seeking player.
    pub player: PlayerId,
    /// The game to open if none fits: variant, preset, options and clock are those of a game that fits.
    pub game: &'a Game,
    /// Its first event.
    pub created: &'a Event,
    /// The seats in which the creator of a game that fits may sit.
    pub creator_seats: &'a [Seat],
    /// The time of the request.
    pub now: OffsetDateTime,
}

/// What a seek has led to.
#[derive(Debug)]
pub enum Sought {
    /// The player has joined a game, which is the one after it.
    Joined(Box<Game>),
    /// The new game is stored.
    Opened,
    /// The player already waits in this game.
    Waiting(GameId),
    /// A version conflict: another request has changed the game that fits. Nothing was stored.
    Conflict,
    /// Another request used the same idempotency key, and nothing was stored.
    KeyUsed,
}

/// The most games that fit and are tried, the oldest first: the query knows nearly all that a join depends on.
const TRIES_MAX: i64 = 5;

/// Joins or opens a game. `join` says which events a join leads to, or `None` if the game cannot be joined: then the next one is
/// tried, a bounded number of times. `keyed` makes what is stored under the request's key, of the game that was found or opened.
pub async fn seek(
    pool: &PgPool,
    seek: &Seek<'_>,
    join: impl Fn(&Game) -> Option<(Game, Vec<Event>)>,
    keyed: impl Fn(GameId) -> Option<Keyed>,
) -> Result<Sought, DbError> {
    let terms = TermsText::of(seek.game.terms());
    let mut transaction = pool.begin().await?;
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended($1, 0))", kind_of(&terms))
        .execute(&mut *transaction)
        .instrument(statement("select pg_advisory_xact_lock"))
        .await?;
    let mut joined = None;
    for id in oldest(&mut transaction, seek, &terms, Whose::Others, TRIES_MAX).await? {
        let fit = load(&mut *transaction, &[id], Histories::Skipped).await?.pop();
        joined = fit.and_then(|fit| join(&fit.game));
        if joined.is_some() {
            break;
        }
    }
    let own = match joined {
        None => oldest(&mut transaction, seek, &terms, Whose::Own, 1).await?.pop().map(GameId),
        Some(_) => None,
    };
    let found = joined.as_ref().map(|(game, _)| game.id()).or(own).unwrap_or(seek.game.id());
    if let Some(keyed) = keyed(found)
        && !idempotency::claim(&mut *transaction, &keyed, seek.now).await?
    {
        return Ok(Sought::KeyUsed);
    }
    let sought = match (joined, own) {
        (Some((game, events)), _) => {
            if append::store(&mut transaction, &[&Append::of(&game, &events)]).await?.games.is_empty() {
                return Ok(Sought::Conflict);
            }
            Sought::Joined(Box::new(game))
        }
        (None, Some(own)) => Sought::Waiting(own),
        (None, None) => {
            insert(&mut *transaction, seek.game, seek.created, None, None).await?;
            Sought::Opened
        }
    };
    transaction.commit().await?;
    Ok(sought)
}

/// Whose games are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Others,
    Own,
}

/// The oldest open games that fit, of other players or own ones. A player that has blocked the seeking one, or is blocked by it, counts as absent.
/// So does one that is apart from it by an app.
async fn oldest(
    connection: &mut PgConnection,
    seek: &Seek<'_>,
    terms: &TermsText,
    whose: Whose,
    limit: i64,
) -> Result<Vec<Uuid>, DbError> {
    let is_own = whose == Whose::Own;
    // An own game that waits has the wanted seat for the player itself.
    let seats = seek.creator_seats.iter().map(|seat| seat_number(if is_own { seat.other() } else { *seat }));
    sqlx::query_scalar!(
        r#"
        select found.id as "id!" from unnest($1::smallint[]) as wanted (seat)
        cross join lateral (
            select id from game
            where variant = $2 and preset = $3 and options = $4 and coalesce(clock, '') = $5 and creator_seat = wanted.seat
              and visibility = 'public' and opponent = 'open' and start is null
              and started_at is null and aborted_at is null
              and rules_version = $6 and expires_at > $7
              and (coalesce(seat_0_player_id, seat_1_player_id) = $8) = $9
              -- No block is between the two, nor an app. Each is looked up by its key, and only of a game that fits otherwise.
              and ($9 or (
                  (select true from player_block
                   where blocker_id = $8 and blocked_id = coalesce(seat_0_player_id, seat_1_player_id)) is null
                  and (select true from player_block
                   where blocker_id = coalesce(seat_0_player_id, seat_1_player_id) and blocked_id = $8) is null
                  -- The same as `players_are_apart`, with what is true of the seeking player looked up once.
                  and (not (select exists (select from app where plays_within))
                      or (select app.id from app_player join app on app.id = app_id
                          where player_id = coalesce(seat_0_player_id, seat_1_player_id) and plays_within)
                        is not distinct from
                        (select app.id from app_player join app on app.id = app_id where player_id = $8 and plays_within))
              ))
            order by id limit $10
        ) found
        order by found.id limit $10
        "#,
        &seats.collect::<Vec<_>>(),
        terms.variant,
        terms.preset,
        terms.options,
        terms.clock.as_deref().unwrap_or_default(),
        terms.rules_version,
        seek.now,
        seek.player.0,
        is_own,
        limit,
    )
    .fetch_all(connection)
    .instrument(statement("select game id to join"))
    .await
    .map_err(DbError::from)
}

/// What the lock of a kind of games is named after.
fn kind_of(TermsText { variant, preset, options, clock, .. }: &TermsText) -> String {
    format!("seek\n{variant}\n{preset}\n{options}\n{clock:?}")
}

/// The seats in which the creator of a game may sit for a player that wants a side of the opening.
pub fn creator_seats(terms: &Terms, is_side_wanted: bool) -> Vec<Seat> {
    if is_side_wanted { vec![terms.creator.other()] } else { Seat::ALL.to_vec() }
}
