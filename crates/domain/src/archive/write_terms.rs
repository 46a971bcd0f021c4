//! Writes the first event of a log: how a game was created.

use time::{Duration, OffsetDateTime};

use super::{bits::BitWriter, error::ArchiveError, form::OPPONENT_BITS, words};
use crate::{Clock, Created, Opponent, Seat, Start, Terms, Visibility};

/// The `seq` of the first event.
const FIRST: u32 = 1;

pub(super) fn write_created(writer: &mut BitWriter, created: &Created, at: OffsetDateTime) -> Result<(), ArchiveError> {
    let Created { terms, player, expires_at, returns_increments } = created;
    writer.id(player.0);
    writer.flag(expires_at.is_some());
    if let Some(expires_at) = expires_at {
        writer.signed(in_microseconds(FIRST, *expires_at - at)?);
    }
    let Terms { options, rules_version, opponent, clock, visibility, creator, start, is_practice } = terms;
    words::write(writer, &options.variant().to_string());
    words::write(writer, options.preset());
    words::write(writer, &options.overrides());
    writer.number(u64::from(*rules_version));
    write_opponent(writer, opponent);
    write_clock(writer, *clock, *returns_increments)?;
    let visibility = match visibility {
        Visibility::Public => 0,
        Visibility::Unlisted => 1,
        Visibility::Private => 2,
    };
    writer.bits(visibility, 2);
    write_seat(writer, *creator);
    writer.flag(*is_practice);
    writer.flag(start.is_some());
    if let Some(Start { position, from }) = start {
        writer.text(&position.to_string());
        writer.flag(from.is_some());
        if let Some((game, ply)) = from {
            writer.id(game.0);
            writer.number(u64::from(*ply));
        }
    }
    Ok(())
}

fn write_opponent(writer: &mut BitWriter, opponent: &Opponent) {
    let number = match opponent {
        Opponent::Open => 0,
        Opponent::Link { .. } => 1,
        Opponent::Player { .. } => 2,
        Opponent::Oneself => 3,
        Opponent::Computer { .. } => 4,
        Opponent::Imported { .. } => 5,
    };
    writer.bits(number, OPPONENT_BITS);
    match opponent {
        Opponent::Open | Opponent::Oneself => {}
        Opponent::Link { join_code } => writer.text(join_code),
        Opponent::Player { player } => writer.id(player.0),
        Opponent::Computer { level } => writer.number(u64::from(level.number())),
        Opponent::Imported { by } => {
            writer.flag(by.is_some());
            if let Some(by) = by {
                writer.id(by.0);
            }
        }
    }
}

fn write_clock(writer: &mut BitWriter, clock: Clock, returns_increments: bool) -> Result<(), ArchiveError> {
    let (number, times) = match clock {
        Clock::Unlimited => (0, vec![]),
        Clock::PerMove { allowance } => (1, vec![allowance]),
        Clock::Bank { initial, increment, max } => {
            (if returns_increments { 3 } else { 2 }, vec![initial, increment, max])
        }
    };
    writer.bits(number, 2);
    for time in times {
        let seconds =
            u32::try_from(time.whole_seconds()).ok().filter(|seconds| Duration::seconds((*seconds).into()) == time);
        let seconds =
            seconds.ok_or(ArchiveError::Unwritable { seq: FIRST, detail: "its clock has no whole seconds" })?;
        writer.number(u64::from(seconds));
    }
    Ok(())
}

pub(super) fn write_seat(writer: &mut BitWriter, seat: Seat) {
    writer.flag(seat == Seat::Second);
}

/// PostgreSQL and the archive keep microseconds.
pub(super) fn in_microseconds(seq: u32, span: Duration) -> Result<i64, ArchiveError> {
    let whole = span.whole_microseconds();
    let is_whole = whole * 1000 == span.whole_nanoseconds();
    i64::try_from(whole)
        .ok()
        .filter(|whole| is_whole && whole.unsigned_abs() < 1 << 62)
        .ok_or(ArchiveError::Unwritable { seq, detail: "its time has no whole microseconds" })
}
