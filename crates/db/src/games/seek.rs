//! Pairing: a player joins the oldest open game that fits, or opens one, in one transaction.
//!
//! Seeks for the same kind of game follow each other, by an advisory lock that ends with the transaction. So none opens a
//! game while another one is about to open one that fits.

use mancala_domain::{Clock, Event, Game, GameId, PlayerId, Seat, Terms};
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    announcer::Announcer,
    append::{self, Append},
    columns::seat_number,
    find::{Histories, load},
    insert::{OpenGamesLimit, insert},
    open_games,
    term_rows::TermsText,
};
use crate::{
    connection::{DbError, statement},
    idempotency::{self, Keyed},
};

/// The wishes of a seeking player.
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
    /// Whether open games of guests and new accounts are counted.
    pub is_counted: bool,
    /// The time of the request.
    pub now: OffsetDateTime,
}

/// The result of a seek.
#[derive(Debug)]
pub enum Sought {
    /// The player has joined a game, which is the one after it.
    Joined(Box<Game>),
    /// The new game is stored.
    Opened,
    /// The player already waits in this game.
    Waiting(GameId),
    /// No game fits, and the player may open none. Nothing was stored.
    TooManyOpen(OpenGamesLimit),
    /// A version conflict: another request has changed the game that fits. Nothing was stored.
    Conflict,
    /// Another request used the same idempotency key, and nothing was stored.
    KeyUsed,
}

/// The most games that fit and are tried, the oldest first: the query knows nearly all that a join depends on.
const TRIES_MAX: i64 = 5;

/// The most fitting games that are read: this many of the oldest, and this many of the newest. The read takes some milliseconds under the
/// lock. If none can be joined, the seek opens a game. Games of absent players may fill one end of the range, and games of a script the
/// other.
pub const READ_MAX: i64 = 500;

/// How long after its last token a player counts as present. A client that is in use gets a token every 15 minutes.
pub const PRESENT_FOR: Duration = Duration::minutes(20);

/// How long a player counts as present if the first turn may take `LONG_TURN` or has no limit: such players look in once a day.
pub const PRESENT_FOR_LONG: Duration = Duration::hours(24);

/// The first turn of a game whose players are not expected to be there at the same time.
const LONG_TURN: Duration = Duration::days(1);

/// Joins or opens a game. `join` returns the events of a join, or `None` if the game cannot be joined. In that case the next game is tried,
/// a bounded number of times. `keyed` makes the answer that is stored under the request's key, from the found or opened game.
pub async fn seek(
    pool: &PgPool,
    announcer: &Announcer,
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
    for id in others_that_fit(&mut transaction, seek, &terms).await? {
        let fit = load(&mut *transaction, &[id], Histories::Skipped).await?.pop();
        joined = fit.and_then(|fit| join(&fit.game));
        if joined.is_some() {
            break;
        }
    }
    let own = match joined {
        None => own_that_waits(&mut transaction, seek, &terms).await?.map(GameId),
        Some(_) => None,
    };
    let found = joined.as_ref().map(|(game, _)| game.id()).or(own).unwrap_or(seek.game.id());
    if let Some(keyed) = keyed(found)
        && !idempotency::claim(&mut *transaction, &keyed, seek.now).await?
    {
        return Ok(Sought::KeyUsed);
    }
    let mut appended = None;
    let sought = match (joined, own) {
        (Some((game, events)), _) => {
            let append = Append::of(&game, &events);
            let stored = append::store(&mut transaction, &[&append]).await?;
            if stored.games.is_empty() {
                return Ok(Sought::Conflict);
            }
            appended = Some((append, stored));
            Sought::Joined(Box::new(game))
        }
        (None, Some(own)) => Sought::Waiting(own),
        (None, None) => {
            if seek.is_counted
                && let Some(limit) = open_games::count(&mut transaction, seek.game).await?
            {
                return Ok(Sought::TooManyOpen(limit));
            }
            insert(&mut *transaction, seek.game, seek.created, None, None).await?;
            Sought::Opened
        }
    };
    transaction.commit().await?;
    if let Some((append, stored)) = appended {
        announcer.appended([&append], &stored);
    } else if matches!(sought, Sought::Opened) {
        announcer.created(seek.game);
    }
    Ok(sought)
}

/// The oldest open games of other players that fit, and whose creators are present. A present creator was issued a token recently, or has a
/// device with push notifications. A player counts as absent if there is a block between the two, or if an app separates them. The games of
/// a closed app are one range of the index; the range of all others has none of them.
async fn others_that_fit(
    connection: &mut PgConnection,
    seek: &Seek<'_>,
    terms: &TermsText,
) -> Result<Vec<Uuid>, DbError> {
    let seats = seek.creator_seats.iter().copied().map(seat_number);
    let ids = sqlx::query_scalar!(
        r#"
        with fitting as not materialized (
            select id, creator_seat, coalesce(seat_0_player_id, seat_1_player_id) as creator_id from game
            where coalesce(within_app_id, '00000000-0000-0000-0000-000000000000')
                  = (select coalesce(app_that_encloses($8), '00000000-0000-0000-0000-000000000000'))
              and (start is null) = true
              and variant = $2 and preset = $3 and options = $4 and coalesce(clock, '') = $5
              and visibility = 'public' and opponent = 'open' and started_at is null and aborted_at is null
              and rules_version = $6 and expires_at > $7 and coalesce(seat_0_player_id, seat_1_player_id) <> $8
        )
        select found.id as "id!" from unnest($1::smallint[]) as wanted (seat)
        cross join lateral (
            (select id, creator_id from fitting where creator_seat = wanted.seat order by id limit $10)
            union
            (select id, creator_id from fitting where creator_seat = wanted.seat order by id desc limit $10)
        ) found
        -- Each creator is looked up by keys, and only of a game that fits otherwise.
        where (select true from player_block where blocker_id = $8 and blocked_id = creator_id) is null
          and (select true from player_block where blocker_id = creator_id and blocked_id = $8) is null
          and not players_are_apart($8, creator_id)
          and ((select true from refresh_family where player_id = creator_id and token_at > $11 and revoked_at is null limit 1)
            or (select true from app_player where player_id = creator_id and token_at > $11)
            or (select true from push_device where player_id = creator_id limit 1))
        order by found.id limit $9
        "#,
        &seats.collect::<Vec<_>>(),
        terms.variant,
        terms.preset,
        terms.options,
        terms.clock.as_deref().unwrap_or_default(),
        terms.rules_version,
        seek.now,
        seek.player.0,
        TRIES_MAX,
        READ_MAX,
        seek.now - present_for(seek.game.terms().clock),
    );
    Ok(ids.fetch_all(connection).instrument(statement("select game id to join")).await?)
}

/// How long after its last token the creator of a game counts as present.
fn present_for(clock: Clock) -> Duration {
    match clock {
        Clock::PerMove { allowance: turn } | Clock::Bank { initial: turn, .. } if turn < LONG_TURN => PRESENT_FOR,
        _ => PRESENT_FOR_LONG,
    }
}

/// The player's own oldest open game that fits, among its open games.
async fn own_that_waits(
    connection: &mut PgConnection,
    seek: &Seek<'_>,
    terms: &TermsText,
) -> Result<Option<Uuid>, DbError> {
    // Its creator has the wanted seat itself.
    let seats = seek.creator_seats.iter().map(|seat| seat_number(seat.other()));
    let id = sqlx::query_scalar!(
        r#"
        select id as "id!" from (
            select * from game
            where seat_0_player_id = $7 and game_status(started_at, finished_at, aborted_at) = 'open'
            union all
            select * from game
            where seat_1_player_id = $7 and game_status(started_at, finished_at, aborted_at) = 'open'
        ) own
        where variant = $2 and preset = $3 and options = $4 and coalesce(clock, '') = $5 and creator_seat = any($1)
          and visibility = 'public' and opponent = 'open' and start is null and rules_version = $6 and expires_at > $8
        order by id limit 1
        "#,
        &seats.collect::<Vec<_>>(),
        terms.variant,
        terms.preset,
        terms.options,
        terms.clock.as_deref().unwrap_or_default(),
        terms.rules_version,
        seek.player.0,
        seek.now,
    );
    Ok(id.fetch_optional(connection).instrument(statement("select own game id")).await?)
}

/// The name of the lock for a kind of games.
fn kind_of(TermsText { variant, preset, options, clock, .. }: &TermsText) -> String {
    format!("seek\n{variant}\n{preset}\n{options}\n{clock:?}")
}

/// The seats in which the creator of a game may sit for a player that wants a side of the opening.
pub fn creator_seats(terms: &Terms, is_side_wanted: bool) -> Vec<Seat> {
    if is_side_wanted { vec![terms.creator.other()] } else { Seat::ALL.to_vec() }
}
