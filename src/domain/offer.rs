//! Offers: what one player proposes and the other may accept.

use time::OffsetDateTime;

use super::Seat;

/// What can be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferKind {
    /// To end the game without a winner.
    Draw,
    /// To end the game where the rules let both agree to (Oware): each takes the own row.
    End,
    /// To undo the last turn of whoever asks, and what was played since.
    Takeback,
    /// To let no time run for now.
    Pause,
    /// To play the same again, with sides exchanged.
    Rematch,
}

impl OfferKind {
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

/// An offer that waits for an answer. Of each kind there is one at most: who offers what the other has offered accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub kind: OfferKind,
    /// Who made it.
    pub seat: Seat,
    pub at: OffsetDateTime,
    /// Of a takeback: the ply after which the game would go on.
    pub to_ply: Option<u32>,
}

/// What becomes of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// By the other side.
    Accept,
    /// By the other side.
    Decline,
    /// By whoever made it; of a pause that was accepted, by either.
    Withdraw,
}
