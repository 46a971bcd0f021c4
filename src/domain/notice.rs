//! What players are told of when they are not looking: which of them, of what, by which event.

use super::{Event, Fact, Game, Opponent, PlayerId, Seat};

/// What a player is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The player's turn has begun.
    YourTurn,
    /// A ply was played in a game of the player.
    Move,
    /// The other player offered something, or answered an offer.
    Offer,
    /// A game of the player, or one to which the player was invited, has ended.
    Finished,
    /// A game was created for the player.
    Invited,
}

impl NoticeKind {
    pub const ALL: [NoticeKind; 5] =
        [NoticeKind::YourTurn, NoticeKind::Move, NoticeKind::Offer, NoticeKind::Finished, NoticeKind::Invited];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            NoticeKind::YourTurn => "game.your_turn",
            NoticeKind::Move => "game.move",
            NoticeKind::Offer => "game.offer",
            NoticeKind::Finished => "game.finished",
            NoticeKind::Invited => "game.invited",
        }
    }
}

/// A player is to be told of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    pub player: PlayerId,
    pub kind: NoticeKind,
    /// The event's.
    pub seq: u32,
}

/// Who is to be told of events that were appended together. `before` is the game before the first of them, unless that created it,
/// `after` the game after the last.
pub fn notices(before: Option<&Game>, events: &[Event], after: &Game) -> Vec<Notice> {
    let mut notices: Vec<Notice> = vec![];
    // Against oneself both seats are one player's.
    let mut tell = |player: Option<PlayerId>, kind, seq| {
        let notice = player.map(|player| Notice { player, kind, seq });
        notices.extend(notice.filter(|notice| !notices.contains(notice)));
    };
    let player = |seat: Seat| after.players[seat];
    for &Event { seq, at, ref fact } in events {
        match fact {
            Fact::Moved(_) => {
                for seat in Seat::ALL {
                    tell(player(seat), NoticeKind::Move, seq);
                }
            }
            Fact::Offered { seat, .. }
            | Fact::OfferDeclined { seat, .. }
            | Fact::OfferWithdrawn { seat, .. }
            | Fact::Paused { seat }
            | Fact::Resumed { seat }
            | Fact::Rematched { seat, .. } => tell(player(seat.other()), NoticeKind::Offer, seq),
            Fact::Declined | Fact::Expired | Fact::Aborted { .. } | Fact::Finished(_) => {
                for seat in Seat::ALL {
                    tell(player(seat), NoticeKind::Finished, seq);
                }
                tell(after.invited(), NoticeKind::Finished, seq);
            }
            Fact::Created(created) => match created.terms.opponent {
                // Whoever has agreed to a rematch is there already: it does not wait for anybody.
                Opponent::Player { player } if created.expires_at.is_some_and(|end| end > at) => {
                    tell(Some(player), NoticeKind::Invited, seq);
                }
                _ => {}
            },
            Fact::Joined { .. } | Fact::CodeRenewed { .. } | Fact::Resigned { .. } | Fact::TimedOut { .. } => {}
        }
    }
    let to_move = after.seat_to_move();
    if let (Some(seat), Some(first)) = (to_move, events.first())
        && before.and_then(Game::seat_to_move) != to_move
    {
        // A move, the taking of a seat, or the beginning of a game with oneself is the first of its events.
        tell(player(seat), NoticeKind::YourTurn, first.seq);
    }
    notices
}
