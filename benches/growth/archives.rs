//! The archives of the games that are over, made directly: to archive ten million logs as the service does takes hours.

use std::fmt::Write;

use futures_util::TryStreamExt;
use mancala_server::{
    domain::{ArchivedLog, Clock, Created, Event, Fact, GameResult, Opponent, Reason, Seat, Terms, Visibility, encode},
    rules::{AnyOptions, BySide, Side},
};
use sqlx::{FromRow, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    Failure,
    filled::{Recorded, player_id},
};

/// The games whose logs are not archived.
pub const IS_LOGGED: &str = "status in ('open', 'active')";

/// The games whose logs are.
const PLANNED: &str = "
select id, recorded, status = 'finished' as is_finished, visibility, seat, ply, plies, won, begun_s, step_s, created_at,
    one as creator, other
from game_plan where status in ('finished', 'aborted') order by n";

const COPY: &str = "copy archived_log (game_id, last_at, written_by, events, log) from stdin";

/// How many bytes are sent at once.
const SENT: usize = 1 << 20;

#[derive(FromRow)]
struct Planned {
    id: Uuid,
    recorded: i32,
    is_finished: bool,
    visibility: String,
    seat: i16,
    ply: i32,
    plies: i32,
    won: f64,
    begun_s: f64,
    step_s: f64,
    created_at: OffsetDateTime,
    creator: i32,
    other: i32,
}

/// Stores the archive of each game of `game_plan` that is over.
pub async fn fill(pool: &PgPool, recorded: &[Recorded]) -> Result<(), Failure> {
    let written_by: String = sqlx::query_scalar("select pg_current_xact_id()::xid::text").fetch_one(pool).await?;
    let mut copying = pool.acquire().await?;
    let mut copy = copying.copy_in_raw(COPY).await?;
    let mut planned = sqlx::query_as::<_, Planned>(PLANNED).fetch(pool);
    let mut rows = String::new();
    while let Some(game) = planned.try_next().await? {
        let of = usize::try_from(game.recorded)?;
        write_row(&mut rows, &game, &recorded[of], &written_by)?;
        if rows.len() >= SENT {
            copy.send(std::mem::take(&mut rows).into_bytes()).await?;
        }
    }
    copy.send(rows.into_bytes()).await?;
    copy.finish().await?;
    Ok(())
}

/// A row in PostgreSQL's text format.
fn write_row(rows: &mut String, game: &Planned, recorded: &Recorded, written_by: &str) -> Result<(), Failure> {
    let events = game.events(recorded)?;
    let (count, last_at) = (events.len(), events.last().ok_or("a log has events")?.at);
    let log = encode(&ArchivedLog { events, details: vec![] })?;
    write!(rows, "{}\t{last_at}\t{written_by}\t{count}\t\\\\x", game.id)?;
    for byte in log {
        write!(rows, "{byte:02x}")?;
    }
    rows.push('\n');
    Ok(())
}

impl Planned {
    /// The log, as the statements in `events.sql` would make it.
    fn events(&self, recorded: &Recorded) -> Result<Vec<Event>, Failure> {
        let seat = if self.seat == 0 { Seat::First } else { Seat::Second };
        let terms = Terms {
            options: AnyOptions::parse(recorded.variant, "standard", "")?,
            rules_version: 1,
            opponent: Opponent::Open,
            clock: Clock::Unlimited,
            visibility: match &*self.visibility {
                "public" => Visibility::Public,
                "unlisted" => Visibility::Unlisted,
                _ => Visibility::Private,
            },
            creator: seat,
            start: None,
            is_practice: false,
        };
        let created = Created {
            terms,
            player: player_id(u32::try_from(self.creator)?),
            expires_at: None,
            returns_increments: false,
        };
        let mut facts = vec![(self.created_at, Fact::Created(created))];
        facts.push((self.at(0)?, Fact::Joined { seat: seat.other(), player: player_id(u32::try_from(self.other)?) }));
        let ended_at = self.at(self.plies + 1)?;
        if self.is_finished {
            for ply in 1..=self.ply {
                let (event, _) = &recorded.states[usize::try_from(ply)?];
                let fact = &event.as_ref().ok_or("a ply has an event")?.fact;
                facts.push((self.at(ply)?, fact.clone()));
            }
            let winner = if self.won < 0.5 { Some(Side::South) } else { (self.won < 0.96).then_some(Side::North) };
            let score = BySide { south: 0, north: 0 };
            facts.push((ended_at, Fact::Resigned { seat: Seat::First }));
            facts.push((ended_at, Fact::Finished(GameResult { winner, reason: Reason::Resignation, score })));
        } else {
            facts.push((ended_at, Fact::Aborted { seat }));
        }
        Ok((1..).zip(facts).map(|(seq, (at, fact))| Event { seq, at, fact }).collect())
    }

    /// The time of a step in whole milliseconds, as `pg_temp.at` computes it.
    fn at(&self, steps: i32) -> Result<OffsetDateTime, Failure> {
        let ms = ((self.begun_s + self.step_s * f64::from(steps)) * 1000.0).round_ties_even();
        #[expect(clippy::cast_possible_truncation, reason = "two years of milliseconds")]
        let ns = i128::from(ms as i64) * 1_000_000;
        Ok(OffsetDateTime::from_unix_timestamp_nanos(ns)?)
    }
}
