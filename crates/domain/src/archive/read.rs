//! Reads a log. Any bytes are a log or an error: no length is believed before as many bits are there.

use mancala_rules::{AnyPosition, BySide, Side};
use time::{Duration, OffsetDateTime};

use super::{
    bits::{BitReader, width},
    checksum::{self, checksum},
    course::Course,
    error::ArchiveError,
    form::{ARCHIVE_VERSION, ArchivedLog, BYTES_MAX, COUNT_BITS, EVENTS_MAX, KIND_BITS, OFFER_BITS, UNITS, kind},
    read_terms::{read_created, read_seat},
    words,
};
use crate::{BySeat, Event, Fact, GameId, GameResult, Moved, OfferKind, PlayerId, PlyAction, Seat};

/// The log of an archive. Positions are without their histories, as a store has them.
///
/// # Errors
///
/// The bytes are no archive, or a later release has written them.
pub fn decode(bytes: &[u8]) -> Result<ArchivedLog, ArchiveError> {
    let (expected, bits) = parts(bytes)?;
    let log = read_bits(bits)?;
    if checksum(bits, &log.events) == *expected { Ok(log) } else { Err(ArchiveError::Checksum) }
}

/// Reads the log of an archive without checking its checksum, because the check takes most of the time. The caller compares the log with
/// the game.
///
/// # Errors
///
/// The bytes are no archive, or a later release has written them.
pub fn decode_unverified(bytes: &[u8]) -> Result<ArchivedLog, ArchiveError> {
    read_bits(parts(bytes)?.1)
}

/// The checksum and the bits of an archive.
fn parts(bytes: &[u8]) -> Result<(&[u8; checksum::LENGTH], &[u8]), ArchiveError> {
    let (version, rest) = bytes.split_first().ok_or(ArchiveError::Cut)?;
    if *version != ARCHIVE_VERSION {
        return Err(ArchiveError::Version);
    }
    if bytes.len() > BYTES_MAX {
        return Err(ArchiveError::TooLong);
    }
    rest.split_first_chunk().ok_or(ArchiveError::Cut)
}

fn read_bits(bits: &[u8]) -> Result<ArchivedLog, ArchiveError> {
    let mut reader = BitReader::new(bits);
    let log = read_log(&mut reader)?;
    reader.end()?;
    Ok(log)
}

fn read_log(reader: &mut BitReader<'_>) -> Result<ArchivedLog, ArchiveError> {
    let count = usize::try_from(reader.bits(COUNT_BITS)?).unwrap_or_default();
    if count == 0 || count > EVENTS_MAX {
        return Err(ArchiveError::TooLong);
    }
    let unit = UNITS[usize::try_from(reader.bits(width(UNITS.len()))?).unwrap_or_default()];
    let mut units = reader.signed()?;
    let at = moment(units, unit)?;
    let created = read_created(reader, at)?;
    let mut course = Course::of(&created);
    let mut events = vec![Event { seq: 1, at, fact: Fact::Created(created) }];
    for seq in (2..).take(count - 1) {
        let passed = i64::try_from(reader.number()?).map_err(|_| TIME)?;
        units = units.checked_add(passed).ok_or(TIME)?;
        let fact = read_event(reader, &mut course)?;
        events.push(Event { seq, at: moment(units, unit)?, fact });
    }
    let mut details = vec![];
    for _ in 0..reader.number()? {
        // Each takes some bits, so the loop ends with the bytes.
        details.push((reader.small()?, reader.text()?));
    }
    Ok(ArchivedLog { events, details })
}

const TIME: ArchiveError = ArchiveError::Invalid("a time is out of range");

fn moment(units: i64, unit: i64) -> Result<OffsetDateTime, ArchiveError> {
    let since = Duration::microseconds(units.checked_mul(unit).ok_or(TIME)?);
    OffsetDateTime::UNIX_EPOCH.checked_add(since).ok_or(TIME)
}

fn read_event(reader: &mut BitReader<'_>, course: &mut Course) -> Result<Fact, ArchiveError> {
    let legal = course.legal_moves();
    let number = usize::try_from(reader.bits(width(legal.len() + 1))?).unwrap_or(usize::MAX);
    if let Some(mv) = legal.get(number) {
        return course.play(*mv).map(Fact::Moved).ok_or(ArchiveError::Invalid("there are too many plies"));
    }
    if number > legal.len() {
        return Err(ArchiveError::Invalid("a move is not listed"));
    }
    match reader.bits(KIND_BITS)? {
        kind::MOVED => read_unusual(reader, course),
        kind => read_other(reader, kind),
    }
}

fn read_unusual(reader: &mut BitReader<'_>, course: &mut Course) -> Result<Fact, ArchiveError> {
    let (ply, seat) = (reader.small()?, read_seat(reader)?);
    let mv = if reader.flag()? {
        let to_ply = reader.small()?;
        let mut increments = BySeat::default();
        for seat in Seat::ALL.into_iter().filter(|_| course.returns_increments) {
            let time = i64::try_from(reader.number()?).map_err(|_| TIME)?;
            increments[seat] = Duration::microseconds(time);
        }
        PlyAction::Takeback { to_ply, increments }
    } else {
        let word = words::read(reader)?;
        PlyAction::Move(word.parse().map_err(|_| ArchiveError::Invalid("a word is no move"))?)
    };
    let position = if reader.flag()? {
        course.after(mv).ok_or(ArchiveError::Invalid("an action leads to no position"))?
    } else {
        let position = AnyPosition::parse(course.options(), &reader.text()?);
        position.map_err(|_| ArchiveError::Invalid("a text is no position"))?
    };
    let moved = Moved { ply, seat, mv, position };
    course.follow(&moved);
    Ok(Fact::Moved(Moved { position: moved.position.afresh(), ..moved }))
}

fn read_other(reader: &mut BitReader<'_>, number: u64) -> Result<Fact, ArchiveError> {
    Ok(match number {
        kind::JOINED => Fact::Joined { seat: read_seat(reader)?, player: PlayerId(reader.id()?) },
        kind::RESEATED => Fact::Reseated { seat: read_seat(reader)?, player: PlayerId(reader.id()?) },
        kind::CODE_RENEWED => Fact::CodeRenewed { join_code: reader.text()? },
        kind::OFFERED => Fact::Offered {
            seat: read_seat(reader)?,
            kind: read_offer(reader)?,
            to_ply: if reader.flag()? { Some(reader.small()?) } else { None },
        },
        kind::OFFER_DECLINED => Fact::OfferDeclined { seat: read_seat(reader)?, kind: read_offer(reader)? },
        kind::OFFER_WITHDRAWN => Fact::OfferWithdrawn { seat: read_seat(reader)?, kind: read_offer(reader)? },
        kind::PAUSED => Fact::Paused { seat: read_seat(reader)? },
        kind::RESUMED => Fact::Resumed { seat: read_seat(reader)? },
        kind::REMATCHED => Fact::Rematched { seat: read_seat(reader)?, game: GameId(reader.id()?) },
        kind::RESIGNED => Fact::Resigned { seat: read_seat(reader)? },
        kind::TIMED_OUT => Fact::TimedOut { seat: read_seat(reader)? },
        kind::EXPIRED => Fact::Expired,
        kind::ABORTED => Fact::Aborted { seat: read_seat(reader)? },
        kind::DECLINED => Fact::Declined,
        kind::ANALYSED => Fact::Analysed,
        kind::FINISHED => Fact::Finished(read_result(reader)?),
        _ => return Err(ArchiveError::Invalid("an event is of no kind")),
    })
}

fn read_offer(reader: &mut BitReader<'_>) -> Result<OfferKind, ArchiveError> {
    Ok(match reader.bits(OFFER_BITS)? {
        0 => OfferKind::Draw,
        1 => OfferKind::End,
        2 => OfferKind::Takeback,
        3 => OfferKind::Pause,
        4 => OfferKind::Rematch,
        _ => return Err(ArchiveError::Invalid("an offer is of no kind")),
    })
}

fn read_result(reader: &mut BitReader<'_>) -> Result<GameResult, ArchiveError> {
    let winner = match reader.bits(2)? {
        0 => None,
        1 => Some(Side::South),
        2 => Some(Side::North),
        _ => return Err(ArchiveError::Invalid("a winner is no side")),
    };
    let reason = words::read(reader)?.parse().map_err(|_| ArchiveError::Invalid("a word is no reason"))?;
    let mut seeds = || u16::try_from(reader.number()?).map_err(|_| ArchiveError::Invalid("a score is too large"));
    Ok(GameResult { winner, reason, score: BySide { south: seeds()?, north: seeds()? } })
}
