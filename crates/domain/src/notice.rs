//! Notices, which webhooks deliver: which player gets one, of what kind, for which event. Does not know how they are
//! sent.

use time::{Duration, OffsetDateTime};

use crate::{Event, Fact, Game, Opponent, PlayerId, Previous, Seat, seat::seat_to_move};

/// The kinds of notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The player's turn has begun.
    YourTurn,
    /// A ply was played in a game of the player.
    Move,
    /// The other player offered something, or answered an offer.
    Offer,
    /// A game of the player, or one that the player was invited to, has ended.
    Finished,
    /// A game was created for the player.
    Invited,
    /// The player is to move, and little time is left.
    DeadlineSoon,
    /// The analysis of a game of the player was stored.
    Analysed,
}

impl NoticeKind {
    /// Every kind.
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

/// A message to a player about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The player that gets it.
    pub player: PlayerId,
    /// The kind of the notice.
    pub kind: NoticeKind,
    /// The event's `seq`; of [`NoticeKind::DeadlineSoon`], that of the last event.
    pub seq: u32,
}

/// The notices for events that were appended together; `previous` is the last ply before them. They depend only on facts of the game that
/// never change, so a job may make them later.
pub fn notices(game: &Game, previous: &Previous, events: &[Event]) -> Vec<Notice> {
    let mut notices: Vec<Notice> = vec![];
    // In a game against oneself both seats are one player's.
    let mut notify = |player: Option<PlayerId>, kind, seq| {
        let notice = player.map(|player| Notice { player, kind, seq });
        notices.extend(notice.filter(|notice| !notices.contains(notice)));
    };
    let player = |seat: Seat| game.players()[seat];
    let is_over = events.iter().any(|event| event.fact.ends_game());
    let mut to_move = previous.seat_to_move();
    for &Event { seq, at, ref fact } in events {
        let mut begins_turn = false;
        match fact {
            Fact::Moved(moved) => {
                for seat in Seat::ALL {
                    notify(player(seat), NoticeKind::Move, seq);
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
            | Fact::Rematched { seat, .. } => notify(player(seat.other()), NoticeKind::Offer, seq),
            Fact::Created(created) => match created.terms.opponent {
                Opponent::Oneself | Opponent::Computer { .. } => begins_turn = true,
                // A rematch expires at once: its players have agreed on it.
                Opponent::Player { player } if created.expires_at.is_some_and(|end| end > at) => {
                    notify(Some(player), NoticeKind::Invited, seq);
                }
                _ => {}
            },
            Fact::Analysed => {
                for seat in Seat::ALL {
                    notify(player(seat), NoticeKind::Analysed, seq);
                }
            }
            Fact::Reseated { .. } | Fact::CodeRenewed { .. } | Fact::Resigned { .. } | Fact::TimedOut { .. } => {}
            Fact::Declined | Fact::Expired | Fact::Aborted { .. } | Fact::Finished(_) => {
                for seat in Seat::ALL {
                    notify(player(seat), NoticeKind::Finished, seq);
                }
                notify(game.invited(), NoticeKind::Finished, seq);
            }
        }
        if begins_turn && !is_over {
            notify(player(to_move), NoticeKind::YourTurn, seq);
        }
    }
    notices
}

/// The player that reaches the other one by an event that the other has not asked for. Such events are an invitation,
/// its end before it was accepted, and an offer that is made or withdrawn. Its notices are not sent to one who has
/// muted that player.
pub fn unasked_from(game: &Game, event: &Event) -> Option<PlayerId> {
    match event.fact {
        Fact::Created(_) => game.invited().and(game.players()[game.terms().creator]),
        Fact::Aborted { .. } | Fact::Expired if Seat::ALL.into_iter().any(|seat| game.players()[seat].is_none()) => {
            game.invited().and(game.players()[game.terms().creator])
        }
        Fact::Offered { seat, .. } | Fact::OfferWithdrawn { seat, .. } => game.players()[seat],
        _ => None,
    }
}

/// The least time left that gets a notice: less runs out before a player reads it.
const LEFT_MIN: Duration = Duration::hours(1);

/// The longest time before the deadline at which the notice is sent.
const BEFORE_DEADLINE_MAX: Duration = Duration::hours(12);

/// The player that gets a notice of the deadline, and when. The notice is due once a quarter is left of the time that
/// the player has at `at`, a moment of the turn. It is at most twelve hours before the deadline. `None` if less than an
/// hour is left.
pub fn deadline_soon(game: &Game, at: OffsetDateTime) -> Option<(PlayerId, OffsetDateTime)> {
    let deadline = game.time().deadline?;
    let left: Duration = deadline - at;
    let player = game.players()[game.seat_to_move()?]?;
    (left >= LEFT_MIN).then(|| (player, deadline - (left / 4_i32).min(BEFORE_DEADLINE_MAX)))
}
