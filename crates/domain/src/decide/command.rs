//! The commands of players to a game.

use super::{JoinContext, OfferContext, Subject};
use crate::{OfferKind, PlayerId, Ply};

/// A player's request to change a game.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The requesting player.
    pub player: PlayerId,
    /// The versions at which the game may be; `None`: any.
    pub if_version: Option<&'a [u32]>,
    /// The action.
    pub action: Action<'a>,
}

/// An action, with the data beside the game on which the decision depends.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Take the free seat.
    Join {
        /// The join code that the player gave.
        join_code: Option<&'a str>,
        /// The data on which the decision depends.
        context: JoinContext,
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
        /// The ply that the log already has under this number, if any. By it, a repeated request is recognised.
        recorded: &'a [Ply],
    },
    /// Play several plies of one turn: all of them, or none.
    PlayTurn {
        /// The number that the first ply gets.
        ply: u32,
        /// The moves as the player wrote them, in order.
        words: &'a [String],
        /// The plies that the log has under these numbers.
        recorded: &'a [Ply],
    },
    /// Propose something to the other player. If the other player has proposed the same, this accepts it.
    Offer {
        /// The subject of the proposal.
        subject: Subject<'a>,
        /// The data on which the decision depends.
        context: OfferContext,
    },
    /// Accept the other player's offer.
    Accept(Subject<'a>),
    /// Decline the other player's offer of this kind.
    DeclineOffer(OfferKind),
    /// Withdraw the player's own offer of this kind, or end a pause.
    Withdraw {
        /// The kind of the offer.
        kind: OfferKind,
        /// Whether a suspended player of the game cannot move. In that case the pause goes on.
        has_suspended_player: bool,
    },
    /// Resign the game.
    Resign,
    /// End a game without a result, before the player's first move.
    Abort,
    /// Leave for good: abort or decline an open game, resign an active one.
    Leave,
}
