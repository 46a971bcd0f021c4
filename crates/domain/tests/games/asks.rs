//! Actions of players, and what they depend on.

use mancala_domain::{
    Action, ComputerGames, Event, Game, GameId, JoinContext, OfferAnswer, OfferContext, OfferKind, PlayerKind, Ply,
    RematchContext, RematchOpponent, Sharing, Subject, TakebackContext,
};
use uuid::Uuid;

/// What joining depends on, for a player without other games.
const FREE: JoinContext = JoinContext { running_games: 0, is_blocked: false };

pub const JOIN: Action<'static> = Action::Join { join_code: None, context: FREE };

pub const fn join_with(join_code: &str, is_blocked: bool) -> Action<'_> {
    Action::Join { join_code: Some(join_code), context: JoinContext { is_blocked, ..FREE } }
}

pub const fn play(ply: u32, word: &str) -> Action<'_> {
    Action::Play { ply, word, recorded: &[] }
}

pub const fn offer(subject: Subject<'_>) -> Action<'_> {
    Action::Offer { subject, context: OfferContext { offers_made: 0, is_blocked: false } }
}

pub const fn answer(subject: Subject<'_>, answer: OfferAnswer) -> Action<'_> {
    match answer {
        OfferAnswer::Accept => Action::Accept(subject),
        OfferAnswer::Decline => Action::DeclineOffer(subject.kind()),
        OfferAnswer::Withdraw => Action::Withdraw { kind: subject.kind(), has_suspended_player: false },
    }
}

/// A rematch against a player who is there.
pub const REMATCH: Subject<'static> = rematch(0, RematchOpponent::Person { is_erased: false, is_blocked: false });

pub const fn rematch(running_games: u32, opponent: RematchOpponent) -> Subject<'static> {
    Subject::Rematch(RematchContext { new_game_id: || GameId(Uuid::from_u128(9)), running_games, opponent })
}

/// What an offer in this game is about.
pub fn subject<'a>(kind: OfferKind, game: &Game, newest_plies: &'a [Ply], log: &'a [Event]) -> Subject<'a> {
    match kind {
        OfferKind::Draw => Subject::Draw,
        OfferKind::End => Subject::End,
        OfferKind::Pause => Subject::Pause,
        OfferKind::Takeback => Subject::Takeback(TakebackContext { newest_plies, log }),
        OfferKind::Rematch if game.is_practice() => rematch(0, RematchOpponent::Computer(computer_games(0, 0))),
        OfferKind::Rematch => REMATCH,
    }
}

/// Games of a guest against the computer, in a network that may have ten.
pub const fn computer_games(own: u32, shared: u32) -> ComputerGames {
    ComputerGames { kind: PlayerKind::Guest, own, shared, sharing: Sharing::Network { games_max: 10 } }
}
