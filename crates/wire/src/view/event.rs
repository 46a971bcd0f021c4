//! Wire types of events, and what may still follow the last event of a game.

use mancala_db::{events::game_log::LogSlice, games::SeatedGame};
use mancala_domain::{Event, Fact, Game, Opponent, PLIES_MAX, Ply, Previous, Seat, Status, UnplayableError};
use mancala_rules::Side;
use serde::Serialize;
use thiserror::Error;
use time::{Duration, OffsetDateTime};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    board::{BoardView, legal_moves},
    clock::ClockView,
    game::ResultView,
    moves::MoveView,
    wire::{PlayerView, SideWord, Timestamp, TurnView},
};

/// Something that happened to a game. Clients ignore types that they do not know.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Event)]
pub struct EventView {
    pub game_id: Uuid,
    /// Its number in the game: 1, 2, 3, …; the game's `version` after it.
    #[schema(minimum = 1, example = 7)]
    pub seq: u32,
    at: Timestamp,
    #[serde(flatten)]
    pub fact: FactView,
    /// For `created` and `moved`: the seeds after the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    board: Option<BoardView>,
    /// For `created`, `joined`, `moved`, and each event that ends the game: the side to move after it; null if no side is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<SideWord>)]
    turn: Option<TurnView>,
    /// With `turn`: the moves that the side to move may play.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!(["A", "B", "D", "E", "F"]))]
    legal_moves: Option<Vec<String>>,
    /// The players' time after the event, if it is the game's newest. An earlier event has none, because a later one
    /// has the clock that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    clock: Option<ClockView>,
    /// For a move that ended the game: how. `finished`, which follows, has it as well.
    #[serde(rename = "result", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ended: Option<ResultView>,
}

/// What happened. Clients ignore types that they do not know.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = Fact)]
pub enum FactView {
    /// The game was created.
    Created {
        /// The creator's side; in a game against oneself, the side that opens.
        side: SideWord,
        player: PlayerView,
        /// `true` for practice against the computer, and otherwise absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        practice: Option<bool>,
    },
    /// The free seat was taken: the game began.
    Joined { side: SideWord, player: PlayerView },
    /// The invited player declined: the game ended without a result.
    Declined {},
    /// A ply was played.
    Moved {
        /// The ply as the history shows it.
        #[serde(rename = "move")]
        mv: Box<MoveView>,
    },
    /// A game by link has a new join code, which only its creator sees.
    CodeRenewed {},
    /// A player offered something.
    Offered {
        side: SideWord,
        #[schema(example = "takeback")]
        offer: &'static str,
        /// In a takeback, the ply after which the game would go on.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        to_ply: Option<u32>,
    },
    /// The other player declined an offer, explicitly or by a move.
    OfferDeclined {
        side: SideWord,
        #[schema(example = "draw")]
        offer: &'static str,
    },
    /// The player who made an offer withdrew it, or made it pointless.
    OfferWithdrawn {
        side: SideWord,
        #[schema(example = "draw")]
        offer: &'static str,
    },
    /// A guest that sat here was merged with an account, which sits here from now on.
    Reseated { side: SideWord, player: PlayerView },
    /// An offered pause was accepted: no time runs.
    Paused { side: SideWord },
    /// Time runs again.
    Resumed { side: SideWord },
    /// An offered rematch was accepted. This event comes after the game is over.
    Rematched { side: SideWord, rematch_game_id: Uuid },
    /// A player had no time left; `finished` follows, or `aborted` if it would have been the first move.
    TimedOut { side: SideWord },
    /// No second player joined in time: the game ended without a result.
    Expired {},
    /// A player gave up; `finished` follows.
    Resigned { side: SideWord },
    /// The game ended without a result.
    Aborted {
        /// The side whose player ended it.
        side: SideWord,
    },
    /// The game ended with a result.
    Finished { result: ResultView },
    /// The game's analysis is ready. This event comes after the game is over, or between the plies of a game against oneself or of practice.
    Analysed {},
}

impl FactView {
    /// The event's type on the wire.
    pub const fn word(&self) -> &'static str {
        match self {
            FactView::Created { .. } => "created",
            FactView::Joined { .. } => "joined",
            FactView::Declined {} => "declined",
            FactView::Moved { .. } => "moved",
            FactView::CodeRenewed {} => "code_renewed",
            FactView::Reseated { .. } => "reseated",
            FactView::Offered { .. } => "offered",
            FactView::OfferDeclined { .. } => "offer_declined",
            FactView::OfferWithdrawn { .. } => "offer_withdrawn",
            FactView::Paused { .. } => "paused",
            FactView::Resumed { .. } => "resumed",
            FactView::Rematched { .. } => "rematched",
            FactView::TimedOut { .. } => "timed_out",
            FactView::Expired {} => "expired",
            FactView::Resigned { .. } => "resigned",
            FactView::Aborted { .. } => "aborted",
            FactView::Finished { .. } => "finished",
            FactView::Analysed {} => "analysed",
        }
    }
}

/// A stored event that cannot be shown, because the log contradicts itself or the rules.
#[derive(Debug, Error)]
pub enum ViewError {
    #[error("event {seq} names a seat in which no player sits")]
    EmptySeat { seq: u32 },
    #[error(transparent)]
    Unplayable(#[from] UnplayableError),
}

/// The views of some events of a game, the same for every viewer.
pub fn views(seated: &SeatedGame, part: &LogSlice) -> Result<Vec<EventView>, ViewError> {
    let mut previous = part.previous.clone();
    part.events
        .iter()
        .map(|event| view(seated, event, &mut previous).map(|view| view.with_state(&seated.game, event, &previous)))
        .collect()
}

impl EventView {
    /// Adds what a client shows after the event. `after` is the last ply, the event included.
    fn with_state(self, game: &Game, event: &Event, after: &Previous) -> Self {
        let position = &after.position;
        let is_over = position.outcome().is_some();
        let (shows_board, turn, is_end) = match &event.fact {
            Fact::Created(created) => {
                let begins = matches!(created.terms.opponent, Opponent::Oneself | Opponent::Computer { .. });
                (true, Some(begins), false)
            }
            Fact::Moved(moved) => {
                let is_over = is_over || moved.ply >= PLIES_MAX;
                (true, Some(!is_over), is_over)
            }
            Fact::Joined { .. } => (false, Some(true), false),
            fact => (false, fact.ends_game().then_some(false), false),
        };
        let side = |goes_on: bool| TurnView::from(goes_on.then(|| position.turn()));
        Self {
            board: shows_board.then(|| BoardView::of(position)),
            turn: turn.map(side),
            legal_moves: turn.map(|goes_on| if goes_on { legal_moves(position) } else { vec![] }),
            clock: (event.seq == game.version()).then(|| ClockView::of(game)),
            ended: game.result().filter(|_| is_end).map(|result| ResultView::of(result, game)),
            ..self
        }
    }
}

/// The view of one event, without the state of the game after it. `previous` is the last ply before the event, and is updated if the event is a ply.
pub fn view(seated: &SeatedGame, event: &Event, previous: &mut Previous) -> Result<EventView, ViewError> {
    let game = &seated.game;
    // The side at that time, because a pie swap changes sides.
    let side = |seat| side_of(seat, previous).into();
    let player = |seat| {
        let player = seated.players[seat].as_ref().map(PlayerView::from);
        player.ok_or(ViewError::EmptySeat { seq: event.seq })
    };
    let fact = match &event.fact {
        Fact::Created(created) => {
            let seat = created.terms.creator;
            let practice = created.terms.is_practice.then_some(true);
            FactView::Created { side: side(seat), player: player(seat)?, practice }
        }
        Fact::Joined { seat, .. } => FactView::Joined { side: side(*seat), player: player(*seat)? },
        Fact::Declined => FactView::Declined {},
        Fact::Moved(moved) => {
            let ply = Ply::replay(game, previous, moved, event.at)?;
            let mv = MoveView::of(&ply).into();
            *previous = Previous { position: ply.position, at: ply.at };
            FactView::Moved { mv }
        }
        Fact::CodeRenewed { .. } => FactView::CodeRenewed {},
        Fact::Reseated { seat, .. } => FactView::Reseated { side: side(*seat), player: player(*seat)? },
        Fact::Offered { seat, kind, to_ply } => {
            FactView::Offered { side: side(*seat), offer: kind.as_str(), to_ply: *to_ply }
        }
        Fact::OfferDeclined { seat, kind } => FactView::OfferDeclined { side: side(*seat), offer: kind.as_str() },
        Fact::OfferWithdrawn { seat, kind } => FactView::OfferWithdrawn { side: side(*seat), offer: kind.as_str() },
        Fact::Paused { seat } => FactView::Paused { side: side(*seat) },
        Fact::Resumed { seat } => FactView::Resumed { side: side(*seat) },
        Fact::Rematched { seat, game } => FactView::Rematched { side: side(*seat), rematch_game_id: game.0 },
        Fact::TimedOut { seat } => FactView::TimedOut { side: side(*seat) },
        Fact::Expired => FactView::Expired {},
        Fact::Resigned { seat } => FactView::Resigned { side: side(*seat) },
        Fact::Aborted { seat } => FactView::Aborted { side: side(*seat) },
        Fact::Finished(result) => FactView::Finished { result: ResultView::of(result, game) },
        Fact::Analysed => FactView::Analysed {},
    };
    Ok(EventView {
        game_id: game.id().0,
        seq: event.seq,
        at: Timestamp(event.at),
        fact,
        board: None,
        turn: None,
        legal_moves: None,
        clock: None,
        ended: None,
    })
}

/// The side of the board at which a seat's player sat after a ply.
pub fn side_of(seat: Seat, after: &Previous) -> Side {
    let is_south = (seat == Seat::First) != after.position.swapped();
    if is_south { Side::South } else { Side::North }
}

/// The events that may still follow the last event of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// The game continues.
    Play,
    /// The game is over, and its players may still agree on a rematch.
    Rematch,
    /// Nothing for which clients wait.
    Nothing,
}

/// How long after a game's end its streams wait for a rematch. Clients find a later one when they read the game.
pub const REMATCH_AWAITED: Duration = Duration::minutes(10);

/// The events that may still follow the last event of a game, at a moment.
pub fn what_follows(game: &Game, now: OffsetDateTime) -> Follows {
    if !game.status().is_over() {
        return Follows::Play;
    }
    let is_recent = game.finished_at().is_some_and(|ended| now - ended < REMATCH_AWAITED);
    let is_open = game.status() == Status::Finished && game.rematch().is_none();
    if is_recent && is_open { Follows::Rematch } else { Follows::Nothing }
}

#[cfg(test)]
mod tests {
    use serde_json::to_value;

    use super::*;

    #[test]
    fn an_event_is_named_by_its_type() {
        for fact in [
            FactView::Declined {},
            FactView::Resigned { side: SideWord::South },
            FactView::Aborted { side: SideWord::North },
            FactView::CodeRenewed {},
            FactView::Offered { side: SideWord::South, offer: "takeback", to_ply: Some(3) },
            FactView::OfferDeclined { side: SideWord::South, offer: "draw" },
            FactView::OfferWithdrawn { side: SideWord::South, offer: "draw" },
            FactView::Paused { side: SideWord::South },
            FactView::Resumed { side: SideWord::South },
            FactView::Rematched { side: SideWord::South, rematch_game_id: Uuid::nil() },
            FactView::TimedOut { side: SideWord::South },
            FactView::Expired {},
            FactView::Analysed {},
        ] {
            assert_eq!(to_value(&fact).expect("a fact is JSON")["type"], fact.word());
        }
    }
}
