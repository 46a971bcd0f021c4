//! Which result and which termination a game can have. Knows how the rules end a game, and no text.

use super::{EndingError, RecordResult, Termination};
use crate::{AnyPosition, EndReason};

/// Checks that a game with this last position can have this result: any, unless the rules have ended it.
pub(super) fn check_result(last: &AnyPosition, result: RecordResult) -> Result<(), EndingError> {
    match last.outcome().map(RecordResult::from) {
        Some(expected) if expected != result => Err(EndingError::Result { expected }),
        _ => Ok(()),
    }
}

/// The termination of a game with this last position and this result, if it can have the given one.
///
/// A game that begins where it is over has no reason of its own, so any rule may be named. A game that the rules have
/// not ended may still have a result, with or without a termination.
pub(super) fn check_termination(
    last: &AnyPosition,
    result: RecordResult,
    given: Option<Termination>,
) -> Result<Option<Termination>, EndingError> {
    if let Some(outcome) = last.outcome() {
        return match (outcome.reason, given) {
            (Some(expected), Some(termination)) if termination != Termination::Rule(expected) => {
                Err(EndingError::Reason { expected })
            }
            (None, Some(termination @ (Termination::Resignation | Termination::Timeout))) => {
                Err(EndingError::OverFromTheStart { termination })
            }
            (reason, given) => Ok(given.or(reason.map(Termination::Rule))),
        };
    }
    match (given, result) {
        (None, _) => Ok(None),
        (Some(termination), RecordResult::Unfinished) => Err(EndingError::Undecided { termination }),
        (Some(Termination::Rule(reason)), _) if reason != EndReason::Agreement => Err(EndingError::NotOver { reason }),
        (Some(termination @ (Termination::Resignation | Termination::Timeout)), RecordResult::Draw) => {
            Err(EndingError::NoWinner { termination })
        }
        (given, _) => Ok(given),
    }
}
