//! The data beside the game on which decisions depend: a type for each action that needs some. No type has a default, so a caller that
//! forgets to load the data does not compile.

use crate::{ComputerGames, Event, GameId, OfferKind, Ply};

/// How many offers of a kind a player makes between two plies: one, one more after a change of mind, and one by mistake. For
/// rematches it counts in the whole game, because they come after its last ply.
pub const OFFERS_MAX: u32 = 3;

/// The data on which joining depends.
#[derive(Clone, Copy, Debug)]
pub struct JoinContext {
    /// Unfinished games of the player.
    pub running_games: u32,
    /// Whether there is a block between the player and the one that [`Game::approached_by`](crate::Game::approached_by) names.
    pub is_blocked: bool,
}

/// The data on which an offer depends.
#[derive(Clone, Copy, Debug)]
pub struct OfferContext {
    /// How many offers of this kind the player has made since the last ply, whether pending or not.
    pub offers_made: u32,
    /// Whether there is a block between the two players.
    pub is_blocked: bool,
}

/// The data on which a takeback depends.
#[derive(Clone, Copy, Debug)]
pub struct TakebackContext<'a> {
    /// The newest plies, oldest first.
    pub newest_plies: &'a [Ply],
    /// The whole log, if the clock has increments. Otherwise the log is not read.
    pub log: &'a [Event],
}

/// The data on which a rematch depends.
#[derive(Clone, Copy, Debug)]
pub struct RematchContext {
    /// Makes the id of the game that a rematch begins. The decision puts it into the slot of the game before.
    pub new_game_id: fn() -> GameId,
    /// Unfinished games of the player that has more of them.
    pub running_games: u32,
    /// The opponent in the rematch.
    pub opponent: RematchOpponent,
}

/// The opponent in a rematch.
#[derive(Clone, Copy, Debug)]
pub enum RematchOpponent {
    /// A person.
    Person {
        /// Whether the account was erased.
        is_erased: bool,
        /// Whether a block or a suspension keeps the two players from a new game.
        is_blocked: bool,
    },
    /// The computer, in practice.
    Computer(ComputerGames),
}

/// The subject of an offer, with the data on which the agreement depends.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A draw.
    Draw,
    /// An agreed end by the rules.
    End,
    /// A stopped clock.
    Pause,
    /// A turn that is taken back.
    Takeback(TakebackContext<'a>),
    /// Another game.
    Rematch(RematchContext),
}

impl Subject<'_> {
    /// The kind of the offer.
    pub const fn kind(&self) -> OfferKind {
        match self {
            Self::Draw => OfferKind::Draw,
            Self::End => OfferKind::End,
            Self::Pause => OfferKind::Pause,
            Self::Takeback(_) => OfferKind::Takeback,
            Self::Rematch(_) => OfferKind::Rematch,
        }
    }
}
