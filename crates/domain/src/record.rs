//! The record of a played game: one text that people and other programs read.

use mancala_rules::{
    EndReason, Move, Side,
    notation::{EndingError, NameError, Record, RecordError, RecordResult, Termination},
};
use thiserror::Error;

use crate::{BySeat, Game, Ply, PlyAction, Reason, Seat, game::standing_plies};

/// Why there is no record of a game.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The moves are too many for a record, or are not moves of the game.
    #[error(transparent)]
    Moves(#[from] RecordError),
    /// The ending does not fit the moves.
    #[error(transparent)]
    Ending(#[from] EndingError),
    /// A record cannot hold a name.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// The record of a game with its whole history: the moves without those that were taken back, and how the game stands
/// or ended.
///
/// A takeback begins the history of positions anew. If the moves lead elsewhere without that, the record begins with
/// the position that stood again.
///
/// # Errors
///
/// A record cannot hold so many moves, or a name.
pub fn record(game: &Game, plies: &[Ply], names: &BySeat<String>) -> Result<Record, RecordingError> {
    let opening = game.terms().opening();
    let whole = Record::new(&opening, moves(&standing_plies(plies)));
    let record = match whole {
        Ok(record) if record.last().to_string() == game.position().to_string() => record,
        Err(error @ RecordError::TooManyMoves) => return Err(error.into()),
        whole => match plies.iter().rposition(|ply| matches!(ply.mv, PlyAction::Takeback { .. })) {
            Some(last) => Record::new(&plies[last].position, moves(&plies[last + 1..].iter().collect::<Vec<_>>()))?,
            None => whole?,
        },
    };
    // Names go by the seats at the start of the record.
    let first_is_south = !record.start().swapped();
    let (south, north) = if first_is_south { (Seat::First, Seat::Second) } else { (Seat::Second, Seat::First) };
    let record = record.with_names(&names[south], &names[north])?.practised(game.terms().is_practice);
    let Some(result) = game.result().filter(|_| record.last().outcome().is_none()) else { return Ok(record) };
    let termination = match result.reason {
        Reason::Rules(reason) => Some(Termination::Rule(reason)),
        Reason::Resignation => Some(Termination::Resignation),
        Reason::Timeout => Some(Termination::Timeout),
        Reason::Agreement => Some(Termination::Rule(EndReason::Agreement)),
        // The format has no word for it.
        Reason::PlyLimit | Reason::Unknown => None,
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
        PlyAction::Move(mv) => Some(mv),
        PlyAction::Takeback { .. } => None,
    });
    played.collect()
}
