//! A played game as a record: one text that people and other programs read.

use mancala_rules::{
    EndReason, Move, Side,
    notation::{EndingError, NameError, Record, RecordError, RecordResult, Termination},
};
use thiserror::Error;

use crate::{BySeat, Game, Played, Ply, Reason, Seat, history::line};

/// Why there is no record of a game.
#[derive(Debug, Error)]
pub enum RecordingError {
    #[error(transparent)]
    Moves(#[from] RecordError),
    #[error(transparent)]
    Ending(#[from] EndingError),
    #[error(transparent)]
    Name(#[from] NameError),
}

/// The record of a game with its whole history: the moves that count, without those that were taken back, and how it stands or ended.
///
/// What the rules ask of the positions before begins anew when a ply is taken back. Should the moves lead elsewhere without that, the
/// record begins with the position that was there again.
///
/// # Errors
///
/// A record does not hold so many moves, or a name.
pub fn record(game: &Game, plies: &[Ply], names: &BySeat<String>) -> Result<Record, RecordingError> {
    let opening = game.terms.opening();
    let whole = Record::new(&opening, moves(&line(plies)));
    let record = match whole {
        Ok(record) if record.last().to_string() == game.position.to_string() => record,
        Err(error @ RecordError::TooManyMoves) => return Err(error.into()),
        whole => match plies.iter().rposition(|ply| matches!(ply.mv, Played::Takeback { .. })) {
            Some(last) => Record::new(&plies[last].position, moves(&plies[last + 1..].iter().collect::<Vec<_>>()))?,
            None => whole?,
        },
    };
    // The names tell where people sat at the start of the record.
    let first_is_south = !record.start().swapped();
    let (south, north) = if first_is_south { (Seat::First, Seat::Second) } else { (Seat::Second, Seat::First) };
    let record = record.with_names(&names[south], &names[north])?;
    let Some(result) = game.result.as_ref().filter(|_| record.last().outcome().is_none()) else { return Ok(record) };
    let termination = match result.reason {
        Reason::Rules(reason) => Some(Termination::Rule(reason)),
        Reason::Resignation => Some(Termination::Resignation),
        Reason::Timeout => Some(Termination::Timeout),
        Reason::Agreement => Some(Termination::Rule(EndReason::Agreement)),
        Reason::Unknown => None,
    };
    let result = match result.winner {
        Some(Side::South) => RecordResult::South,
        Some(Side::North) => RecordResult::North,
        None => RecordResult::Draw,
    };
    Ok(record.ended(result, termination)?)
}

fn moves(plies: &[&Ply]) -> Vec<Move> {
    let played = plies.iter().filter_map(|ply| match ply.mv {
        Played::Move(mv) => Some(mv),
        Played::Takeback { .. } => None,
    });
    played.collect()
}
