//! Push notifications: the notices that a player's devices show, and the kinds of device. Does not know how they are sent.

use crate::{Event, Fact, Game, Notice, NoticeKind, Opponent, PlayerId, Previous, Status, notices};

/// The service by which a device is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// A browser, through the push service that it names (Web Push).
    Web,
    /// An app, through Google's service (FCM).
    Fcm,
    /// An app, through Apple's service (APNs).
    Apns,
}

impl DeviceKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Web, Self::Fcm, Self::Apns];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Fcm => "fcm",
            Self::Apns => "apns",
        }
    }

    /// The kind of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Whether a player's devices may show notices of a game. Games that are played alone have none, because the player already looks at them.
pub fn is_pushed(game: &Game) -> bool {
    matches!(game.terms().opponent, Opponent::Open | Opponent::Link { .. } | Opponent::Player { .. })
}

/// Whether what a notice says is still so. A notice that is no longer true is not sent.
pub fn is_current(game: &Game, player: PlayerId, kind: NoticeKind) -> bool {
    match kind {
        NoticeKind::YourTurn | NoticeKind::DeadlineSoon => {
            game.seat_to_move().is_some_and(|seat| game.players()[seat] == Some(player))
        }
        NoticeKind::Invited => game.status() == Status::Open && game.invited() == Some(player),
        NoticeKind::Finished => true,
        NoticeKind::Move | NoticeKind::Offer | NoticeKind::Analysed => false,
    }
}

/// The notices of an append that devices show: for each player the last one, if it is still true. They are about turns, invitations, and
/// ends of games. The player that ended the game is not notified.
pub fn pushes(game: &Game, previous: &Previous, events: &[Event]) -> Vec<Notice> {
    if !is_pushed(game) {
        return vec![];
    }
    let actor = ending_player(game, previous, events);
    let mut shown: Vec<Notice> = vec![];
    for notice in notices(game, previous, events) {
        let is_own = notice.kind == NoticeKind::Finished && actor == Some(notice.player);
        if is_current(game, notice.player, notice.kind) && !is_own {
            shown.retain(|earlier| earlier.player != notice.player);
            shown.push(notice);
        }
    }
    shown
}

/// The player whose action ended the game, if any.
fn ending_player(game: &Game, previous: &Previous, events: &[Event]) -> Option<PlayerId> {
    if events.iter().any(|event| matches!(event.fact, Fact::TimedOut { .. })) {
        return None;
    }
    events.iter().find_map(|event| match event.fact {
        Fact::Resigned { seat } | Fact::Aborted { seat } => game.players()[seat],
        Fact::Moved(_) => game.players()[previous.seat_to_move()],
        Fact::Declined => game.invited(),
        _ => None,
    })
}
