//! What players are told of when they are not looking: which of them, of what, by which event.

use time::{Duration, OffsetDateTime};

use super::{Event, Fact, Game, Opponent, PlayerId, Previous, Seat, history::seat_to_move};

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
    /// It is the player's turn, and time runs out.
    DeadlineSoon,
    /// The analysis of a game of the player is there.
    Analysed,
}

impl NoticeKind {
    pub const ALL: [NoticeKind; 7] = [
        NoticeKind::YourTurn,
        NoticeKind::Move,
        NoticeKind::Offer,
        NoticeKind::Finished,
        NoticeKind::Invited,
        NoticeKind::DeadlineSoon,
        NoticeKind::Analysed,
    ];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            NoticeKind::YourTurn => "game.your_turn",
            NoticeKind::Move => "game.move",
            NoticeKind::Offer => "game.offer",
            NoticeKind::Finished => "game.finished",
            NoticeKind::Invited => "game.invited",
            NoticeKind::DeadlineSoon => "game.deadline_soon",
            NoticeKind::Analysed => "game.analysed",
        }
    }
}

/// A player is to be told of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    pub player: PlayerId,
    pub kind: NoticeKind,
    /// The event's; of a notice that time runs out the last one's.
    pub seq: u32,
}

/// Who is to be told of events that were appended together; `previous` is the last ply before them. Of the game only what never changes
/// is asked, so it may be told later.
pub fn notices(game: &Game, previous: &Previous, events: &[Event]) -> Vec<Notice> {
    let mut notices: Vec<Notice> = vec![];
    // Against oneself both seats are one player's.
    let mut tell = |player: Option<PlayerId>, kind, seq| {
        let notice = player.map(|player| Notice { player, kind, seq });
        notices.extend(notice.filter(|notice| !notices.contains(notice)));
    };
    let player = |seat: Seat| game.players[seat];
    let is_over = events.iter().any(|event| ends(&event.fact));
    let mut to_move = previous.seat_to_move();
    for &Event { seq, at, ref fact } in events {
        let mut begins_turn = false;
        match fact {
            Fact::Moved(moved) => {
                for seat in Seat::ALL {
                    tell(player(seat), NoticeKind::Move, seq);
                }
                let next = seat_to_move(&moved.position);
                begins_turn = next != to_move;
                to_move = next;
            }
            Fact::Joined { .. } => begins_turn = true,
            Fact::Offered { seat, .. }
            | Fact::OfferDeclined { seat, .. }
            | Fact::OfferWithdrawn { seat, .. }
            | Fact::Paused { seat }
            | Fact::Resumed { seat }
            | Fact::Rematched { seat, .. } => tell(player(seat.other()), NoticeKind::Offer, seq),
            Fact::Created(created) => match created.terms.opponent {
                Opponent::Oneself | Opponent::Computer { .. } => begins_turn = true,
                // Whoever has agreed to a rematch is there already: it does not wait for anybody.
                Opponent::Player { player } if created.expires_at.is_some_and(|end| end > at) => {
                    tell(Some(player), NoticeKind::Invited, seq);
                }
                _ => {}
            },
            Fact::Analysed => {
                for seat in Seat::ALL {
                    tell(player(seat), NoticeKind::Analysed, seq);
                }
            }
            Fact::CodeRenewed { .. } | Fact::Resigned { .. } | Fact::TimedOut { .. } => {}
            Fact::Declined | Fact::Expired | Fact::Aborted { .. } | Fact::Finished(_) => {
                for seat in Seat::ALL {
                    tell(player(seat), NoticeKind::Finished, seq);
                }
                tell(game.invited(), NoticeKind::Finished, seq);
            }
        }
        if begins_turn && !is_over {
            tell(player(to_move), NoticeKind::YourTurn, seq);
        }
    }
    notices
}

fn ends(fact: &Fact) -> bool {
    matches!(fact, Fact::Declined | Fact::Expired | Fact::Aborted { .. } | Fact::Finished(_))
}

/// Time that is shorter runs out before a notice of it is read.
const WARNED_OF_MIN: Duration = Duration::hours(1);

/// The longest time before the end at which a player is told.
const WARNED_BEFORE_MAX: Duration = Duration::hours(12);

/// Who is told that their time runs out, and when: once a quarter of it is left, as it was at a moment of their turn, but not sooner than
/// twelve hours before the end, and not at all if it is less than an hour.
pub fn deadline_soon(game: &Game, at: OffsetDateTime) -> Option<(PlayerId, OffsetDateTime)> {
    let deadline = game.time.deadline?;
    let left: Duration = deadline - at;
    let player = game.players[game.seat_to_move()?]?;
    (left >= WARNED_OF_MIN).then(|| (player, deadline - (left / 4_i32).min(WARNED_BEFORE_MAX)))
}
