//! How strong the computer plays.

use thiserror::Error;
use uuid::Uuid;

use super::{PlayerId, PlayerName};

/// How strong the computer plays: from 1, a beginner, to 8, as strong as it can within about a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Level(u8);

/// There is no such level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a level is from 1 to 8")]
pub struct LevelError;

/// The id of the computer of level 0, if there were one; the last byte is the level. A UUIDv7 of the first moment that it can tell:
/// older than any player.
const PLAYER: u128 = 0x0000_0000_0000_7000_8000_0000_0000_0000;

impl Level {
    /// The strongest.
    pub const MAX: u8 = 8;

    /// From 1 to 8.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Who plays at this level: always the same player.
    pub fn player(self) -> PlayerId {
        PlayerId(Uuid::from_u128(PLAYER | u128::from(self.0)))
    }

    /// What that player is called.
    pub fn name(self) -> PlayerName {
        PlayerName::recorded(format!("Computer {}", self.0))
    }

    /// The level at which a player plays, who is a computer.
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
