//! The words of games with four rows, translated to and from those of all games. Knows no rule.

use crate::{Effect, IllegalMove, Move, OptionsError, Pit, Place, Variant, four_row};

impl From<four_row::Variant> for Variant {
    fn from(variant: four_row::Variant) -> Self {
        match variant {
            four_row::Variant::Bao => Self::Bao,
            four_row::Variant::Omweso => Self::Omweso,
        }
    }
}

impl From<four_row::OptionsError> for OptionsError {
    fn from(error: four_row::OptionsError) -> Self {
        match error {
            four_row::OptionsError::UnknownPreset { variant, preset } => {
                Self::UnknownPreset { variant: variant.into(), preset }
            }
            four_row::OptionsError::UnknownOption { variant, option } => {
                Self::UnknownOption { variant: variant.into(), option }
            }
            four_row::OptionsError::Refused(error) => error,
        }
    }
}

impl From<four_row::Effect> for Effect {
    fn from(effect: four_row::Effect) -> Self {
        match effect {
            four_row::Effect::Place { pit, seeds } => Self::Place { pit: pit.into(), seeds },
            four_row::Effect::Lift { pit, seeds } => Self::Lift { pit: pit.into(), seeds },
            four_row::Effect::Tax { pit, seeds } => Self::Tax { pit: pit.into(), seeds },
            four_row::Effect::Relay { pit, seeds } => Self::Relay { pit: pit.into(), seeds },
            four_row::Effect::Resume { pit, seeds } => Self::Resume { pit: pit.into(), seeds },
            four_row::Effect::Sow { to } => Self::Sow { to: Place::Pit(to.into()) },
            four_row::Effect::Take { from, seeds } => {
                Self::Take { from: from.into_iter().map(Pit::from).collect(), seeds }
            }
            four_row::Effect::HouseLost { side } => Self::HouseLost { side },
            four_row::Effect::Pass => Self::Pass,
            four_row::Effect::ExtraTurn => Self::ExtraTurn,
            four_row::Effect::Reserve { side, seeds } => Self::Reserve { side, seeds },
            four_row::Effect::Unblock { pit } => Self::Unblock { pit: pit.into() },
            four_row::Effect::Block { pit } => Self::Block { pit: pit.into() },
            four_row::Effect::GameOver { reason } => Self::GameOver { reason },
        }
    }
}

/// The move in the words of games with four rows; refused if these boards have no such pit, or the games no such word.
pub(super) fn move_of(m: Move) -> Result<four_row::Move, IllegalMove> {
    let pit = |pit: Pit| four_row::Pit::new(pit.side, pit.index).ok_or(IllegalMove::NoSuchPit(pit));
    Ok(match m {
        Move::Sow(from) => four_row::Move::Sow { pit: pit(from)?, direction: None },
        Move::Decline(_) => return Err(IllegalMove::WrongForm),
        Move::SowTo { pit: from, direction } => four_row::Move::Sow { pit: pit(from)?, direction: Some(direction) },
        Move::Place { pit: to, seeds } => four_row::Move::Place { pit: pit(to)?, seeds },
        Move::Pass => four_row::Move::Pass,
        Move::Swap => four_row::Move::Swap,
        Move::Agree => four_row::Move::Agree,
    })
}

/// Why a move is refused. A reason that other games have too is theirs.
pub(super) fn refusal(reason: four_row::IllegalMove, m: Move) -> IllegalMove {
    match (reason, m.pit()) {
        (four_row::IllegalMove::NotYourPit, Some(pit)) => IllegalMove::NotYourPit(pit),
        (four_row::IllegalMove::EmptyPit, Some(pit)) => IllegalMove::EmptyPit(pit),
        (four_row::IllegalMove::GameOver, _) => IllegalMove::GameOver,
        (four_row::IllegalMove::NoAgree, _) => IllegalMove::NoAgree,
        (four_row::IllegalMove::WrongForm, _) => IllegalMove::WrongForm,
        (reason, _) => IllegalMove::FourRow(reason),
    }
}
