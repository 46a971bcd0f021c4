//! Reads the first event of a log: how a game was created.

use mancala_rules::{AnyOptions, AnyPosition, Variant};
use time::{Duration, OffsetDateTime};

use super::{bits::BitReader, error::ArchiveError, form::OPPONENT_BITS, words};
use crate::{Clock, Created, GameId, Level, Opponent, PlayerId, Seat, Start, Terms, Visibility};

pub(super) fn read_created(reader: &mut BitReader<'_>, at: OffsetDateTime) -> Result<Created, ArchiveError> {
    let player = PlayerId(reader.id()?);
    let expires_at = if reader.flag()? {
        let after = Duration::microseconds(reader.signed()?);
        Some(at.checked_add(after).ok_or(ArchiveError::Invalid("a time is out of range"))?)
    } else {
        None
    };
    let variant: Variant = words::read(reader)?.parse().map_err(|_| ArchiveError::Invalid("a word is no variant"))?;
    let (preset, overrides) = (words::read(reader)?, words::read(reader)?);
    let options = AnyOptions::parse_recorded(variant, &preset, &overrides)
        .map_err(|_| ArchiveError::Invalid("the options are none of the game"))?;
    let rules_version =
        u16::try_from(reader.number()?).map_err(|_| ArchiveError::Invalid("an edition of the rules is too large"))?;
    let opponent = read_opponent(reader)?;
    let (clock, returns_increments) = read_clock(reader)?;
    let terms = Terms {
        options,
        rules_version,
        opponent,
        clock,
        visibility: read_visibility(reader)?,
        creator: read_seat(reader)?,
        is_practice: reader.flag()?,
        start: if reader.flag()? { Some(read_start(reader, &options)?) } else { None },
    };
    Ok(Created { terms, player, expires_at, returns_increments })
}

pub(super) fn read_seat(reader: &mut BitReader<'_>) -> Result<Seat, ArchiveError> {
    Ok(if reader.flag()? { Seat::Second } else { Seat::First })
}

fn read_opponent(reader: &mut BitReader<'_>) -> Result<Opponent, ArchiveError> {
    const LEVEL: ArchiveError = ArchiveError::Invalid("a level is none");
    Ok(match reader.bits(OPPONENT_BITS)? {
        0 => Opponent::Open,
        1 => Opponent::Link { join_code: reader.text()? },
        2 => Opponent::Player { player: PlayerId(reader.id()?) },
        3 => Opponent::Oneself,
        4 => {
            let number = u8::try_from(reader.number()?).map_err(|_| LEVEL)?;
            Opponent::Computer { level: Level::try_from(number).map_err(|_| LEVEL)? }
        }
        5 => Opponent::Imported { by: if reader.flag()? { Some(PlayerId(reader.id()?)) } else { None } },
        _ => return Err(ArchiveError::Invalid("an opponent is of no kind")),
    })
}

/// The clock, and whether takebacks take its increments back.
fn read_clock(reader: &mut BitReader<'_>) -> Result<(Clock, bool), ArchiveError> {
    let number = reader.bits(2)?;
    let mut time = || reader.small().map(|seconds| Duration::seconds(seconds.into()));
    let clock = match number {
        0 => Clock::Unlimited,
        1 => Clock::PerMove { allowance: time()? },
        2 | 3 => Clock::Bank { initial: time()?, increment: time()?, max: time()? },
        _ => return Err(ArchiveError::Invalid("a clock is of no kind")),
    };
    Ok((clock, number == 3))
}

fn read_visibility(reader: &mut BitReader<'_>) -> Result<Visibility, ArchiveError> {
    Ok(match reader.bits(2)? {
        0 => Visibility::Public,
        1 => Visibility::Unlisted,
        2 => Visibility::Private,
        _ => return Err(ArchiveError::Invalid("a visibility is none")),
    })
}

fn read_start(reader: &mut BitReader<'_>, options: &AnyOptions) -> Result<Start, ArchiveError> {
    let position = AnyPosition::parse(options, &reader.text()?);
    let position = position.map_err(|_| ArchiveError::Invalid("a text is no position"))?;
    let from = if reader.flag()? { Some((GameId(reader.id()?), reader.small()?)) } else { None };
    Ok(Start { position, from })
}
