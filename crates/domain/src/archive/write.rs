//! Writes a log.

use mancala_rules::{AnyPosition, Side};
use time::OffsetDateTime;

use super::{
    bits::{BitWriter, width},
    checksum::checksum,
    course::Course,
    error::ArchiveError,
    form::{ARCHIVE_VERSION, ArchivedLog, BYTES_MAX, COUNT_BITS, EVENTS_MAX, KIND_BITS, OFFER_BITS, UNITS, kind},
    words,
    write_terms::{in_microseconds, write_created, write_seat},
};
use crate::{Event, Fact, GameResult, Moved, OfferKind, PlyAction, Seat};

/// The archive of a log, from its first event on. The caller decodes it and compares, before it relies on it.
///
/// # Errors
///
/// The log does not begin with `created`, has a gap or a step back in time, or something else that no game has.
pub fn encode(log: &ArchivedLog) -> Result<Vec<u8>, ArchiveError> {
    let events = &log.events;
    let Some(Event { seq: 1, at: begun_at, fact: Fact::Created(created) }) = events.first() else {
        return Err(ArchiveError::Unwritable { seq: 1, detail: "the log does not begin with it" });
    };
    if events.len() > EVENTS_MAX {
        return Err(ArchiveError::TooLong);
    }
    let times = Times::of(events)?;
    let mut writer = BitWriter::default();
    writer.bits(events.len() as u64, COUNT_BITS);
    writer.bits(times.unit as u64, width(UNITS.len()));
    writer.signed(times.begun);
    write_created(&mut writer, created, *begun_at)?;
    let mut course = Course::of(created);
    let mut elapsed = 0;
    for (expected, event) in (2_u32..).zip(&events[1..]) {
        if event.seq != expected {
            return Err(ArchiveError::Unwritable { seq: event.seq, detail: "it does not follow the event before it" });
        }
        let at = times.units_at(event)?;
        let passed = u64::try_from(at - elapsed)
            .map_err(|_| ArchiveError::Unwritable { seq: event.seq, detail: "it is dated before the one before it" })?;
        elapsed = at;
        writer.number(passed);
        write_event(&mut writer, &mut course, event)?;
    }
    writer.number(log.details.len() as u64);
    for (seq, text) in &log.details {
        writer.number(u64::from(*seq));
        writer.text(text);
    }
    let bits = writer.into_bytes();
    let mut bytes = vec![ARCHIVE_VERSION];
    bytes.extend(checksum(&bits, events));
    bytes.extend(bits);
    if bytes.len() > BYTES_MAX { Err(ArchiveError::TooLong) } else { Ok(bytes) }
}

/// The times of a log in the longest unit that keeps them.
struct Times {
    /// The unit's place among [`UNITS`].
    unit: usize,
    /// The first event's time in units since 1970.
    begun: i64,
}

impl Times {
    fn of(events: &[Event]) -> Result<Self, ArchiveError> {
        let all: Vec<_> = events.iter().map(|event| microseconds(event.seq, event.at)).collect::<Result<_, _>>()?;
        let fits = |unit: &i64| all.iter().all(|at| at % unit == 0);
        let unit = UNITS.iter().position(fits).unwrap_or(UNITS.len() - 1);
        Ok(Self { unit, begun: all.first().copied().unwrap_or_default() / UNITS[unit] })
    }

    /// An event's time, in units since the first event.
    fn units_at(&self, event: &Event) -> Result<i64, ArchiveError> {
        Ok(microseconds(event.seq, event.at)? / UNITS[self.unit] - self.begun)
    }
}

fn microseconds(seq: u32, at: OffsetDateTime) -> Result<i64, ArchiveError> {
    in_microseconds(seq, at - OffsetDateTime::UNIX_EPOCH)
}

fn write_event(writer: &mut BitWriter, course: &mut Course, event: &Event) -> Result<(), ArchiveError> {
    let legal = course.legal_moves();
    // The numbers of the legal moves, and one for all else.
    let move_bits = width(legal.len() + 1);
    let Fact::Moved(moved) = &event.fact else {
        writer.bits(legal.len() as u64, move_bits);
        return write_other(writer, event);
    };
    let listed = match moved.mv {
        PlyAction::Move(mv) => legal.iter().position(|legal| *legal == mv).zip(course.usual(mv)),
        PlyAction::Takeback { .. } => None,
    };
    if let Some((number, usual)) = listed
        && (usual.ply, usual.seat) == (moved.ply, moved.seat)
        && usual.position.to_string() == moved.position.to_string()
    {
        writer.bits(number as u64, move_bits);
        course.follow(&usual);
        return Ok(());
    }
    writer.bits(legal.len() as u64, move_bits);
    write_unusual(writer, course, event.seq, moved)
}

/// A ply that is not one of the legal moves with all that follows from it.
fn write_unusual(writer: &mut BitWriter, course: &mut Course, seq: u32, moved: &Moved) -> Result<(), ArchiveError> {
    writer.bits(kind::MOVED, KIND_BITS);
    writer.number(u64::from(moved.ply));
    write_seat(writer, moved.seat);
    match moved.mv {
        PlyAction::Move(mv) => {
            writer.flag(false);
            words::write(writer, &mv.to_string());
        }
        PlyAction::Takeback { to_ply, increments } => {
            writer.flag(true);
            writer.number(u64::from(to_ply));
            for seat in Seat::ALL.into_iter().filter(|_| course.returns_increments) {
                let time = u64::try_from(in_microseconds(seq, increments[seat])?);
                writer.number(time.map_err(|_| ArchiveError::Unwritable { seq, detail: "an increment is negative" })?);
            }
        }
    }
    let text = moved.position.to_string();
    let expected = course.after(moved.mv).filter(|expected| expected.to_string() == text);
    writer.flag(expected.is_some());
    let position = if let Some(position) = expected {
        position
    } else {
        writer.text(&text);
        let read = AnyPosition::parse(course.options(), &text).ok().filter(|read| read.to_string() == text);
        read.ok_or(ArchiveError::Unwritable { seq, detail: "its position is none of the game" })?
    };
    course.follow(&Moved { position, ..moved.clone() });
    Ok(())
}

/// An event that is not a ply.
fn write_other(writer: &mut BitWriter, event: &Event) -> Result<(), ArchiveError> {
    let of_seat = |writer: &mut BitWriter, kind, seat: Seat| {
        writer.bits(kind, KIND_BITS);
        write_seat(writer, seat);
    };
    match &event.fact {
        Fact::Joined { seat, player } | Fact::Reseated { seat, player } => {
            let is_new = matches!(event.fact, Fact::Joined { .. });
            of_seat(writer, if is_new { kind::JOINED } else { kind::RESEATED }, *seat);
            writer.id(player.0);
        }
        Fact::CodeRenewed { join_code } => {
            writer.bits(kind::CODE_RENEWED, KIND_BITS);
            writer.text(join_code);
        }
        Fact::Offered { seat, kind, to_ply } => {
            of_seat(writer, kind::OFFERED, *seat);
            write_offer(writer, *kind);
            writer.flag(to_ply.is_some());
            if let Some(to_ply) = to_ply {
                writer.number(u64::from(*to_ply));
            }
        }
        Fact::OfferDeclined { seat, kind } => {
            of_seat(writer, kind::OFFER_DECLINED, *seat);
            write_offer(writer, *kind);
        }
        Fact::OfferWithdrawn { seat, kind } => {
            of_seat(writer, kind::OFFER_WITHDRAWN, *seat);
            write_offer(writer, *kind);
        }
        Fact::Rematched { seat, game } => {
            of_seat(writer, kind::REMATCHED, *seat);
            writer.id(game.0);
        }
        Fact::Paused { seat } => of_seat(writer, kind::PAUSED, *seat),
        Fact::Resumed { seat } => of_seat(writer, kind::RESUMED, *seat),
        Fact::Resigned { seat } => of_seat(writer, kind::RESIGNED, *seat),
        Fact::TimedOut { seat } => of_seat(writer, kind::TIMED_OUT, *seat),
        Fact::Aborted { seat } => of_seat(writer, kind::ABORTED, *seat),
        Fact::Expired => writer.bits(kind::EXPIRED, KIND_BITS),
        Fact::Declined => writer.bits(kind::DECLINED, KIND_BITS),
        Fact::Analysed => writer.bits(kind::ANALYSED, KIND_BITS),
        Fact::Finished(result) => write_result(writer, result),
        Fact::Created(_) | Fact::Moved(_) => {
            return Err(ArchiveError::Unwritable { seq: event.seq, detail: "the game was created before" });
        }
    }
    Ok(())
}

fn write_offer(writer: &mut BitWriter, kind: OfferKind) {
    let number = match kind {
        OfferKind::Draw => 0,
        OfferKind::End => 1,
        OfferKind::Takeback => 2,
        OfferKind::Pause => 3,
        OfferKind::Rematch => 4,
    };
    writer.bits(number, OFFER_BITS);
}

fn write_result(writer: &mut BitWriter, result: &GameResult) {
    writer.bits(kind::FINISHED, KIND_BITS);
    let winner = match result.winner {
        None => 0,
        Some(Side::South) => 1,
        Some(Side::North) => 2,
    };
    writer.bits(winner, 2);
    words::write(writer, &result.reason.to_string());
    writer.number(u64::from(result.score.south));
    writer.number(u64::from(result.score.north));
}
