//! Players: which kinds there are, and how many games one may have.

use time::OffsetDateTime;

use crate::{PlayerId, PlayerName};

/// The most games of a player that are not over: active ones, and open ones that the player created. No person plays
/// more, and a list of them is sorted quickly. A few more may begin if several begin at once.
pub const RUNNING_GAMES_MAX: u32 = 1000;

/// A player: a person, the computer, or a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Player {
    /// The player's id.
    pub id: PlayerId,
    /// The kind of the player.
    pub kind: PlayerKind,
    /// The name that others see.
    pub name: PlayerName,
    /// When the player was created.
    pub created_at: OffsetDateTime,
}

/// The kinds of player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerKind {
    /// A person without a password: the token alone identifies a guest.
    Guest,
    /// A person with a password.
    Account,
    /// The server itself.
    Computer,
    /// A name in imported games.
    Imported,
    /// An erased player, whose games stay.
    Deleted,
    /// A service with players of its own. It sits in no game.
    App,
}

impl PlayerKind {
    /// Every kind.
    pub const ALL: [PlayerKind; 6] = [
        PlayerKind::Guest,
        PlayerKind::Account,
        PlayerKind::Computer,
        PlayerKind::Imported,
        PlayerKind::Deleted,
        PlayerKind::App,
    ];

    /// Whether it is a person that can play.
    pub const fn is_person(self) -> bool {
        matches!(self, PlayerKind::Guest | PlayerKind::Account)
    }

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            PlayerKind::Guest => "guest",
            PlayerKind::Account => "account",
            PlayerKind::Computer => "computer",
            PlayerKind::Imported => "imported",
            PlayerKind::Deleted => "deleted",
            PlayerKind::App => "app",
        }
    }
}
