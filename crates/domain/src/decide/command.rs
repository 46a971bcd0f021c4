//! What a player can ask of a game.

use crate::{OfferAnswer, OfferKind, PlayerId};

/// A player's request to change a game.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The requesting player.
    pub player: PlayerId,
    /// The versions at which the game may be; `None`: any.
    pub if_version: Option<&'a [u32]>,
    /// What to do.
    pub action: Action<'a>,
}

/// What to do.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Take the free seat.
    Join {
        /// The join code that the player gave.
        join_code: Option<&'a str>,
    },
    /// Give an open game by link a new join code: the old one is void.
    RenewCode {
        /// The new code.
        join_code: &'a str,
    },
    /// Decline an invitation.
    Decline,
    /// Play a ply.
    Play {
        /// The number that the ply gets.
        ply: u32,
        /// The move as the player wrote it.
        word: &'a str,
    },
    /// Play several plies of one turn: all of them, or none.
    PlayTurn {
        /// The number that the first ply gets.
        ply: u32,
        /// The moves as the player wrote them, in order.
        words: &'a [String],
    },
    /// Propose something to the other player. If the other player has proposed the same, this accepts it.
    Offer {
        /// What to propose.
        kind: OfferKind,
    },
    /// Accept or decline the other player's offer, or withdraw the own one.
    Answer {
        /// The kind of the offer.
        kind: OfferKind,
        /// What to do with it.
        answer: OfferAnswer,
    },
    /// Resign the game.
    Resign,
    /// End a game without a result, before the player's first move.
    Abort,
    /// Leave for good: abort or decline an open game, resign an active one.
    Leave,
}
