//! The terms of a game, which are fixed at its creation: its rules, its clock, its start, and which players may join and read it.

use mancala_rules::{AnyOptions, AnyPosition};

use crate::{Clock, GameId, Level, PlayerId, Seat, Slot};

/// The terms of a game, which are fixed when it is created. A game by link also has a join code, which may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Variant, preset and options.
    pub options: AnyOptions,
    /// The edition of the rules that the game is pinned to.
    pub rules_version: u16,
    /// Which opponent may take the second seat.
    pub opponent: Opponent,
    /// How much time the players have.
    pub clock: Clock,
    /// Which players may read the game.
    pub visibility: Visibility,
    /// The creator's seat.
    pub creator: Seat,
    /// Where the game begins, unless with the opening of its options.
    pub start: Option<Start>,
    /// Whether it is practice against the computer: the server helps, and the game counts in no figure and in no explorer. For
    /// an imported game: whether it was practice where it was played.
    pub is_practice: bool,
}

impl Terms {
    /// The position in which the game begins.
    pub fn opening(&self) -> AnyPosition {
        self.start.as_ref().map_or_else(|| AnyPosition::opening(&self.options), |start| start.position.clone())
    }

    /// The slot of a game on these terms: that of the game which it continues, or else its creator's.
    pub fn slot(&self, creator: PlayerId) -> Slot {
        let followed = self.start.as_ref().and_then(|start| start.from);
        followed.map_or_else(|| creator.slot(), |(game, _)| game.slot())
    }

    /// Whether the game has a first move: the rules may end a game in its opening position.
    pub fn can_be_played(&self) -> bool {
        self.opening().outcome().is_none()
    }
}

/// The start of a game that begins with another position than the opening. Positions before it do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The position, without history.
    pub position: AnyPosition,
    /// The game that the position is from, and the ply after which it stood there.
    pub from: Option<(GameId, u32)>,
}

/// Which opponent may take the free seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// Any player that can see the game.
    Open,
    /// Any player that holds the join code.
    Link {
        /// The code.
        join_code: String,
    },
    /// The player that the creator invited.
    Player {
        /// The invited player.
        player: PlayerId,
    },
    /// None: the creator plays both sides.
    Oneself,
    /// The server itself.
    Computer {
        /// The level of the computer.
        level: Level,
    },
    /// None: the game was played elsewhere and imported.
    Imported {
        /// The importing player; `None`: the operator.
        by: Option<PlayerId>,
    },
}

impl Opponent {
    /// Whether the game waits for a player to join.
    pub const fn is_awaited(&self) -> bool {
        matches!(self, Opponent::Open | Opponent::Link { .. } | Opponent::Player { .. })
    }
}

/// Which players may read a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// All players may read the game, and lists show it.
    Public,
    /// All players that know the game's id may read it.
    Unlisted,
    /// Its players, and the invited player.
    Private,
}

impl Visibility {
    /// Every visibility.
    pub const ALL: [Visibility; 3] = [Visibility::Public, Visibility::Unlisted, Visibility::Private];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Visibility::Public => "public",
            Visibility::Unlisted => "unlisted",
            Visibility::Private => "private",
        }
    }
}
