//! Values of columns that several kinds of rows have: numbers, seats, positions, and words of a closed list.

use std::fmt::Display;

use mancala_domain::Seat;
use mancala_rules::{AnyOptions, AnyPosition};
use uuid::Uuid;

use crate::connection::DbError;

pub(crate) fn column(count: u32) -> i32 {
    i32::try_from(count).expect("no game has two thousand million events")
}

pub(crate) fn seeds(count: u16) -> i16 {
    i16::try_from(count).expect("a board holds at most 288 seeds")
}

pub(crate) const fn seat_number(seat: Seat) -> i16 {
    match seat {
        Seat::First => 0,
        Seat::Second => 1,
    }
}

pub(crate) fn seat(table: &'static str, id: impl Display, number: i16) -> Result<Seat, DbError> {
    match number {
        0 => Ok(Seat::First),
        1 => Ok(Seat::Second),
        _ => Err(DbError::inconsistent(table, "seat", id, number)),
    }
}

pub(crate) fn number(table: &'static str, column: &'static str, id: impl Display, value: i32) -> Result<u32, DbError> {
    u32::try_from(value).map_err(|e| DbError::inconsistent(table, column, id, e))
}

pub(crate) fn position(
    table: &'static str,
    id: Uuid,
    options: &AnyOptions,
    text: &str,
) -> Result<AnyPosition, DbError> {
    AnyPosition::parse(options, text).map_err(|e| DbError::inconsistent(table, "position", id, e))
}

/// The value that a column's word names.
pub(crate) fn word<T: Copy>(
    table: &'static str,
    column: &'static str,
    id: Uuid,
    all: &[T],
    as_str: fn(T) -> &'static str,
    text: &str,
) -> Result<T, DbError> {
    all.iter()
        .copied()
        .find(|value| as_str(*value) == text)
        .ok_or_else(|| DbError::inconsistent(table, column, id, text))
}
