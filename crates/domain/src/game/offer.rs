//! Offers: proposals of one player that the other may accept.

use time::OffsetDateTime;

use crate::Seat;

/// The kinds of offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferKind {
    /// To end the game without a winner.
    Draw,
    /// To end the game where the rules let both players agree to it (Oware): each takes the seeds of the own row.
    End,
    /// To undo the last turn of the offering player, and all plies since.
    Takeback,
    /// To stop the clock for now.
    Pause,
    /// To play the same again, with sides exchanged.
    Rematch,
}

impl OfferKind {
    /// Every kind.
    pub const ALL: [OfferKind; 5] =
        [OfferKind::Draw, OfferKind::End, OfferKind::Takeback, OfferKind::Pause, OfferKind::Rematch];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            OfferKind::Draw => "draw",
            OfferKind::End => "end",
            OfferKind::Takeback => "takeback",
            OfferKind::Pause => "pause",
            OfferKind::Rematch => "rematch",
        }
    }
}

/// A pending offer. A game has at most one of each kind: offering what the other player has offered accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The kind of the offer.
    pub kind: OfferKind,
    /// The offering player's seat.
    pub seat: Seat,
    /// When it was offered.
    pub at: OffsetDateTime,
    /// In a takeback, the ply after which the game would go on.
    pub to_ply: Option<u32>,
}

/// The answers of a player to a pending offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferAnswer {
    /// By the other player.
    Accept,
    /// By the other player.
    Decline,
    /// By the offering player; a pause that was accepted, by either player.
    Withdraw,
}

impl OfferAnswer {
    /// Every answer.
    pub const ALL: [OfferAnswer; 3] = [OfferAnswer::Accept, OfferAnswer::Decline, OfferAnswer::Withdraw];
}
