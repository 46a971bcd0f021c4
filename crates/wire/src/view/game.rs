//! The wire type of a game: board, seats, legal moves and result.

use std::collections::BTreeMap;

use mancala_db::games::SeatedGame;
use mancala_domain::{
    Game, GameResult, Offer, Opponent, Permitted, PlayerId, PlayerKind, Seat, Start, Status, Terms, Visibility,
};
use mancala_process::clock::now;
use mancala_rules::{BySide, Side};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    board::{BoardView, ScoreView, legal_moves},
    clock::ClockView,
    moves::{MoveJson, MoveView},
    options::OptionValueView,
    wire::{PlayerView, SideWord, Timestamp},
};

/// A game: enough to draw it and to play, without any other call.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Game)]
pub struct GameView {
    pub id: Uuid,
    /// Raised by every change, by one or more.
    #[schema(minimum = 1, example = 7)]
    pub version: u32,
    #[schema(example = "kalah")]
    variant: String,
    #[schema(example = "standard")]
    preset: &'static str,
    /// Every option that matters in this game, with its value.
    options: BTreeMap<&'static str, OptionValueView>,
    /// The edition of the rules that the game is pinned to.
    #[schema(minimum = 1, example = 1)]
    rules_version: u16,
    status: StatusWord,
    /// The players at each side now: after a pie swap they have changed sides.
    seats: Seats,
    /// The number of the last ply; 0 before the first.
    #[schema(minimum = 0, example = 5)]
    pub ply: u32,
    board: BoardView,
    /// The position in text notation.
    #[schema(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: String,
    /// The side to move; null unless the game is active.
    #[schema(required = true)]
    turn: Option<SideWord>,
    /// The moves that the side to move may play; empty unless the game is active.
    #[schema(example = json!(["A", "B", "D", "E", "F"]))]
    legal_moves: Vec<String>,
    #[schema(required = true, value_type = Option<MoveView>)]
    last_move: Option<MoveJson>,
    /// Offers that wait for an answer: one of each kind at most.
    offers: Vec<OfferView>,
    clock: ClockView,
    /// Null until the game is finished.
    #[schema(required = true)]
    result: Option<ResultView>,
    /// The rematch of this game, after both players agreed to one.
    #[schema(required = true)]
    rematch_game_id: Option<Uuid>,
    /// The kind of the second player.
    opponent: OpponentView,
    /// Shown to the creator of a game by link only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    join_code: Option<String>,
    visibility: VisibilityWord,
    /// Whether it is practice against the computer: it counts in no figure and in no explorer.
    practice: bool,
    created_at: Timestamp,
    /// When the second seat was taken.
    #[schema(required = true)]
    started_at: Option<Timestamp>,
    updated_at: Timestamp,
    #[schema(required = true)]
    finished_at: Option<Timestamp>,
    /// When its analysis was made, if there is one.
    #[schema(required = true)]
    analysed_at: Option<Timestamp>,
    /// Where the game begins, if not with the opening of its options.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    start: Option<StartView>,
    /// When an open game ends unless a second player joins; null after one has.
    #[schema(required = true)]
    expires_at: Option<Timestamp>,
    /// What the caller is in this game; absent without a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    me: Option<MeView>,
}

/// What the caller is in a game, and may do now.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Me)]
pub struct MeView {
    /// The side at which the caller sits now. In a game against oneself, the side to move. Null without a seat.
    #[schema(required = true)]
    side: Option<SideWord>,
    is_my_turn: bool,
    /// `move`, `hint` (in practice), `resign`, `abort`, `join` (without a join code), `decline` (an invitation) or
    /// `renew_join_code`. Each type of offer has `offer_…`, `accept_…`, `decline_…` and `withdraw_…`, such as
    /// `offer_draw`. Clients ignore values that they do not know.
    #[schema(example = json!(["move", "resign", "offer_draw"]))]
    actions: Vec<&'static str>,
}

impl MeView {
    pub fn of(seated: &SeatedGame, viewer: PlayerId) -> Self {
        let SeatedGame { game, players, .. } = seated;
        let is_erased = |seat| players[seat].as_ref().is_some_and(|player| player.kind == PlayerKind::Deleted);
        let permitted = game.permitted(viewer, Seat::ALL.into_iter().any(is_erased), now());
        let sits = |side: &Side| game.player_at(*side) == Some(viewer);
        let mut sides = [Side::South, Side::North].into_iter().filter(sits);
        let side = match (sides.next(), sides.next()) {
            (Some(_), Some(_)) => game.turn(),
            (side, _) => side,
        };
        Self {
            side: side.map(SideWord::from),
            is_my_turn: permitted.contains(&Permitted::Move),
            actions: permitted.into_iter().map(Permitted::as_str).collect(),
        }
    }
}

/// The start of a game that does not begin with the opening.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Start)]
struct StartView {
    /// In text notation.
    #[schema(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: String,
    /// The game that it was taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    game_id: Option<Uuid>,
    /// The ply of that game after which the position stood.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0)]
    ply: Option<u32>,
}

impl StartView {
    fn of(start: &Start) -> Self {
        let (game_id, ply) = start.from.map(|(game, ply)| (game.0, ply)).unzip();
        Self { position: start.position.to_string(), game_id, ply }
    }
}

/// An offer that waits for an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Offer)]
struct OfferView {
    /// What is offered. Clients ignore values that they do not know.
    #[serde(rename = "type")]
    #[schema(example = "draw")]
    kind: &'static str,
    /// The side at which the player who made the offer sits now.
    side: SideWord,
    /// The player who made the offer.
    #[schema(required = true)]
    player_id: Option<Uuid>,
    at: Timestamp,
    /// In a takeback, the ply after which the game would go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0)]
    to_ply: Option<u32>,
}

impl OfferView {
    fn of(offer: &Offer, game: &Game) -> Self {
        let side = if game.seat_at(Side::South) == offer.seat { Side::South } else { Side::North };
        let player_id = game.players()[offer.seat].map(|player| player.0);
        Self { kind: offer.kind.as_str(), side: side.into(), player_id, at: Timestamp(offer.at), to_ply: offer.to_ply }
    }
}

/// The players at each side of the board; null where a seat is free.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct Seats {
    #[schema(required = true)]
    south: Option<PlayerView>,
    #[schema(required = true)]
    north: Option<PlayerView>,
}

/// How a game ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Result)]
pub struct ResultView {
    /// Null on a draw.
    #[schema(required = true)]
    winner: Option<SideWord>,
    #[schema(required = true)]
    winner_player_id: Option<Uuid>,
    /// `side_empty`, `no_move`, `no_feeding_move`, `majority`, `repetition`, `grand_slam_forfeit`, `front_empty`,
    /// `two_heads`, `akakyala`, `endless_move`, `agreement`, `resignation`, `timeout` or `ply_limit`. The last is a
    /// draw after 2,000 plies, or as many as an option says. `unknown` for an imported game whose record does not say
    /// it. Clients ignore values that they do not know.
    #[schema(required = true, example = "side_empty")]
    reason: Option<String>,
    score: ScoreView,
}

impl GameView {
    /// The view of `viewer`.
    pub fn of(seated: &SeatedGame, viewer: Option<PlayerId>) -> Self {
        let last_move = seated.last_ply.as_ref().map(MoveJson::of);
        let me = viewer.map(|viewer| MeView::of(seated, viewer));
        Self { me, ..Self::without_me(seated, viewer, last_move) }
    }

    pub(super) fn without_me(seated: &SeatedGame, viewer: Option<PlayerId>, last_move: Option<MoveJson>) -> Self {
        let SeatedGame { game, players, invited, .. } = seated;
        let seat = |side| {
            let seat = game.seat_at(side);
            let display_name = seated.hotseat_name_at(seat).map(ToString::to_string);
            players[seat].as_ref().map(|player| PlayerView { display_name, ..PlayerView::from(player) })
        };
        let Terms { options, rules_version, opponent, visibility, .. } = game.terms();
        let opponent = match opponent {
            Opponent::Open => OpponentView::Open {},
            Opponent::Link { .. } => OpponentView::Link {},
            Opponent::Player { player } => {
                OpponentView::Player { player_id: player.0, player: invited.as_ref().map(PlayerView::from) }
            }
            Opponent::Oneself => OpponentView::Oneself { name: seated.hotseat_name.as_ref().map(ToString::to_string) },
            Opponent::Computer { level } => OpponentView::Computer { level: level.number() },
            Opponent::Imported { by } => OpponentView::Imported { importer_id: by.map(|player| player.0) },
        };
        let turn = game.turn();
        Self {
            id: game.id().0,
            version: game.version(),
            variant: options.variant().to_string(),
            preset: options.preset(),
            options: options.values().into_iter().map(|(name, value)| (name, value.into())).collect(),
            rules_version: *rules_version,
            status: match game.status() {
                Status::Open => StatusWord::Open,
                Status::Active => StatusWord::Active,
                Status::Finished => StatusWord::Finished,
                Status::Aborted => StatusWord::Aborted,
            },
            seats: Seats { south: seat(Side::South), north: seat(Side::North) },
            ply: game.ply(),
            board: BoardView::of(game.position()),
            position: game.position().to_string(),
            turn: turn.map(SideWord::from),
            legal_moves: turn.map(|_| legal_moves(game.position())).unwrap_or_default(),
            last_move,
            offers: game.offers().iter().map(|offer| OfferView::of(offer, game)).collect(),
            clock: ClockView::of(game),
            result: game.result().map(|result| ResultView::of(result, game)),
            rematch_game_id: game.rematch().map(|game| game.0),
            opponent,
            join_code: join_code_for(game, viewer).map(str::to_owned),
            visibility: match visibility {
                Visibility::Public => VisibilityWord::Public,
                Visibility::Unlisted => VisibilityWord::Unlisted,
                Visibility::Private => VisibilityWord::Private,
            },
            practice: game.terms().is_practice,
            created_at: Timestamp(game.created_at()),
            started_at: game.started_at().map(Timestamp),
            updated_at: Timestamp(game.updated_at()),
            finished_at: game.finished_at().map(Timestamp),
            analysed_at: game.analysed_at().map(Timestamp),
            expires_at: game.expires_at().map(Timestamp),
            start: game.terms().start.as_ref().map(StartView::of),
            me: None,
        }
    }
}

/// The join code, which only the creator of a game by link sees.
pub fn join_code_for(game: &Game, viewer: Option<PlayerId>) -> Option<&str> {
    match &game.terms().opponent {
        Opponent::Link { join_code } if viewer.is_some() && game.players()[game.terms().creator] == viewer => {
            Some(join_code)
        }
        _ => None,
    }
}

impl ResultView {
    pub fn of(result: &GameResult, game: &Game) -> Self {
        Self::new(result.winner, Some(result.reason.to_string()), result.score, game)
    }

    pub fn new(winner: Option<Side>, reason: Option<String>, score: BySide<u16>, game: &Game) -> Self {
        Self {
            winner: winner.map(SideWord::from),
            winner_player_id: winner.and_then(|side| game.player_at(side)).map(|player| player.0),
            reason,
            score: ScoreView { south: score.south, north: score.north },
        }
    }
}

/// The status of a game. Clients ignore values that they do not know.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Status)]
pub enum StatusWord {
    /// A seat is free.
    Open,
    Active,
    /// Ended with a result.
    Finished,
    /// Ended without one.
    Aborted,
}

impl From<StatusWord> for Status {
    fn from(word: StatusWord) -> Self {
        match word {
            StatusWord::Open => Status::Open,
            StatusWord::Active => Status::Active,
            StatusWord::Finished => Status::Finished,
            StatusWord::Aborted => Status::Aborted,
        }
    }
}

/// The kind of the second player. Clients ignore types that they do not know.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[schema(as = Opponent)]
enum OpponentView {
    /// Any player who can see the game.
    Open {},
    /// A player with the join code.
    Link {},
    /// This player only, by invitation.
    Player {
        player_id: Uuid,
        /// Absent in the answer that creates the game.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        player: Option<PlayerView>,
    },
    /// The same player: one player plays both sides.
    #[serde(rename = "self")]
    Oneself {
        /// The name of the person at the other seat, if one was given.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        name: Option<String>,
    },
    /// The server.
    Computer {
        #[schema(minimum = 1, maximum = 8, example = 3)]
        level: u8,
    },
    /// None: the game was played elsewhere.
    Imported {
        /// The player who imported it; null if the operator did.
        #[schema(required = true)]
        importer_id: Option<Uuid>,
    },
}

/// Which callers may read the game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Visibility)]
pub enum VisibilityWord {
    /// Every caller; the game is listed.
    #[default]
    Public,
    /// Every caller with the game's id.
    Unlisted,
    /// Its players and the invited player.
    Private,
}

impl From<VisibilityWord> for Visibility {
    fn from(word: VisibilityWord) -> Self {
        match word {
            VisibilityWord::Public => Visibility::Public,
            VisibilityWord::Unlisted => Visibility::Unlisted,
            VisibilityWord::Private => Visibility::Private,
        }
    }
}
