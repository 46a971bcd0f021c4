//! How many games against the computer a player may have at a time.

use thiserror::Error;

use crate::PlayerKind;

/// The most running games of an account against the computer: more than a person plays at once.
const ACCOUNT_MAX: u32 = 50;

/// The most running games of a guest against the computer: each of them may wait for the computer, and guests are free. New
/// accounts are free as well, but share a limit with their network.
const GUEST_MAX: u32 = 3;

/// How many all players of an app have together: thousands of users, of whom a few hundred play the computer at a time.
const APP_MAX: u32 = 1000;

/// Running games against the computer: those of a player, and those of all that share a limit with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputerGames {
    /// The kind of the player: a guest may have fewer.
    pub kind: PlayerKind,
    /// Running games of the player.
    pub own: u32,
    /// Running games of all that share a limit.
    pub shared: u32,
    /// The players that share the limit.
    pub sharing: Sharing,
}

/// The players that share a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The players of an app.
    App,
    /// The guests and new accounts of a network. An account that is not new shares none.
    Network {
        /// How many games they may have together.
        games_max: u32,
    },
}

/// The refusal of a further game against the computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{who} at most {games_max} games against the computer that are not over")]
pub struct TooManyComputerGames {
    who: &'static str,
    games_max: u32,
}

impl ComputerGames {
    /// Checks that the player may begin one more.
    pub const fn check(&self) -> Result<(), TooManyComputerGames> {
        let (own_max, word) = match self.kind {
            PlayerKind::Guest => (GUEST_MAX, "a guest has"),
            _ => (ACCOUNT_MAX, "a player has"),
        };
        let (shared_max, words) = match self.sharing {
            Sharing::App => (APP_MAX, "the players of one app have"),
            Sharing::Network { games_max } => (games_max, "the guests and new accounts of one network have"),
        };
        if self.own >= own_max {
            Err(TooManyComputerGames { who: word, games_max: own_max })
        } else if self.shared >= shared_max {
            Err(TooManyComputerGames { who: words, games_max: shared_max })
        } else {
            Ok(())
        }
    }
}
