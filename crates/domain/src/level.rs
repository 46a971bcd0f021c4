//! The computer's levels, and the players that represent them. Does not know how the computer finds a move.

use thiserror::Error;
use uuid::Uuid;

use crate::{PlayerId, PlayerName};

/// How strong the computer plays: from 1, a beginner, to 8, as strong as it can within about a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Level(u8);

/// The number is that of no level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a level is from 1 to 8")]
pub struct LevelError;

/// The id of the computer of level 0, if there were one; the last byte is the level. It is a UUIDv7 of the first moment
/// that such an id can name: older than any player.
const PLAYER: u128 = 0x0000_0000_0000_7000_8000_0000_0000_0000;

impl Level {
    /// The strongest level.
    pub const MAX: u8 = 8;

    /// From 1 to 8.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The player of this level: always the same.
    pub fn player(self) -> PlayerId {
        PlayerId(Uuid::from_u128(PLAYER | u128::from(self.0)))
    }

    /// The name of that player.
    pub fn name(self) -> PlayerName {
        PlayerName::from_stored(format!("Computer {}", self.0))
    }

    /// The level of a player that is a computer.
    pub fn of_player(player: PlayerId) -> Option<Self> {
        (1..=Self::MAX).map(Self).find(|level| level.player() == player)
    }
}

impl TryFrom<u8> for Level {
    type Error = LevelError;

    fn try_from(number: u8) -> Result<Self, LevelError> {
        if (1..=Self::MAX).contains(&number) { Ok(Self(number)) } else { Err(LevelError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_from_1_to_8_and_has_a_player_of_its_own() {
        for number in 1..=8 {
            let level = Level::try_from(number).expect("a level");
            assert_eq!((level.number(), Level::of_player(level.player())), (number, Some(level)));
        }
        assert_eq!(Level::try_from(0), Err(LevelError));
        assert_eq!(Level::try_from(9), Err(LevelError));
        assert_eq!(Level::of_player(PlayerId(Uuid::nil())), None);
    }
}
