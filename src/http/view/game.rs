//! The wire type of a game: board, seats, legal moves, clock and result.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use actix_web::{http::header::EntityTag, web::Bytes};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    board::{BoardView, ScoreView, legal_moves},
    moves::{MoveJson, MoveView},
    options::OptionValueView,
    wire::{ALWAYS_JSON, PlayerView, SideWord, Timestamp},
};
use crate::{
    clock::now,
    db::{games::SeatedGame, idempotency::StoredAnswer},
    domain::{
        Clock, Game, GameId, GameResult, Offer, Opponent, Permitted, PlayerId, PlayerKind, Seat, Start, Status, Terms,
        Time, Visibility,
    },
    rules::{BySide, Side},
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
    /// The side at which the caller sits now. Of a game against oneself, the side to move. Null without a seat.
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
    /// Of a takeback: the ply after which the game would go on.
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

/// The players' time as of the last change. A client counts down to `deadline` by itself.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Clock)]
pub struct ClockView {
    #[serde(rename = "type")]
    kind: ClockWord,
    /// Of `per_move`: the time for each turn. Consecutive moves of one side are one turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 60, example = 86400)]
    move_s: Option<i64>,
    /// Of `bank`: the time that each side has left for all its turns, as of the beginning of its present or next turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    bank_s: Option<BanksView>,
    /// Of `bank`: the time of each side at the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 60, example = 259_200)]
    initial_s: Option<i64>,
    /// Of `bank`: the time added after each turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0, example = 3600)]
    increment_s: Option<i64>,
    /// Of `bank`: the most that a bank holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 60, example = 604_800)]
    max_s: Option<i64>,
    /// When the side to move runs out of time; null while no time runs.
    #[schema(required = true)]
    deadline: Option<Timestamp>,
    /// When the pause began; absent without a pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    paused_at: Option<Timestamp>,
    /// `true` in a pause for a player who is suspended: it ends with the suspension. Absent in one on which both players agreed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    is_held: Option<bool>,
    /// The time of the side to move when the pause ends; absent without a pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0)]
    left_s: Option<i64>,
}

/// The time in each side's bank, in seconds.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Banks)]
struct BanksView {
    #[schema(minimum = 0, example = 259_200)]
    south: i64,
    #[schema(minimum = 0, example = 259_200)]
    north: i64,
}

impl ClockView {
    pub fn of(game: &Game) -> Self {
        let Time { deadline, banks, pause } = game.time();
        let nothing = Self {
            kind: ClockWord::Unlimited,
            move_s: None,
            bank_s: None,
            initial_s: None,
            increment_s: None,
            max_s: None,
            deadline: deadline.map(Timestamp),
            paused_at: pause.map(|pause| Timestamp(pause.since)),
            is_held: pause.and_then(|pause| pause.is_held.then_some(true)),
            left_s: pause.map(|pause| pause.left.whole_seconds()),
        };
        let bank = |side| banks[game.seat_at(side)].whole_seconds();
        match game.terms().clock {
            Clock::Unlimited => nothing,
            Clock::PerMove { allowance } => {
                Self { kind: ClockWord::PerMove, move_s: Some(allowance.whole_seconds()), ..nothing }
            }
            Clock::Bank { initial, increment, max } => Self {
                kind: ClockWord::Bank,
                initial_s: Some(initial.whole_seconds()),
                bank_s: Some(BanksView { south: bank(Side::South), north: bank(Side::North) }),
                increment_s: Some(increment.whole_seconds()),
                max_s: Some(max.whole_seconds()),
                ..nothing
            },
        }
    }
}

/// The kind of a game's clock. Clients ignore values that they do not know.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ClockType)]
enum ClockWord {
    Unlimited,
    PerMove,
    Bank,
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

    fn without_me(seated: &SeatedGame, viewer: Option<PlayerId>, last_move: Option<MoveJson>) -> Self {
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

/// A game's JSON, and the tag of exactly that JSON.
#[derive(Clone, Debug)]
pub struct ShownGame {
    pub version: u32,
    pub etag: EntityTag,
    pub json: Bytes,
    /// The digest in the tag.
    pub digest: u64,
}

impl ShownGame {
    /// The view of `viewer`. The tag is `W/"<version>-<h>"`, where `h` is a digest of the JSON, with names and the viewer's own
    /// fields.
    pub fn of(seated: &SeatedGame, viewer: Option<PlayerId>) -> Self {
        let last_move = seated.last_ply.as_ref().map(MoveJson::of);
        let shown = Self::new(&GameView::without_me(seated, viewer, last_move));
        match viewer {
            Some(viewer) => shown.with_me(&MeView::of(seated, viewer)),
            None => shown,
        }
    }

    /// The game after a move whose JSON exists already, for every viewer but a creator with a join code.
    pub fn after_move(seated: &SeatedGame, played: MoveJson) -> Self {
        Self::new(&GameView::without_me(seated, None, Some(played)))
    }

    fn new(view: &GameView) -> Self {
        let mut json = Vec::with_capacity(GAME_BYTES);
        serde_json::to_writer(&mut json, view).expect(ALWAYS_JSON);
        let mut hasher = DefaultHasher::new();
        json.hash(&mut hasher);
        Self::tagged(view.version, json.into(), hasher.finish())
    }

    fn tagged(version: u32, json: Bytes, digest: u64) -> Self {
        Self { version, etag: EntityTag::new_weak(format!("{version}-{digest:016x}")), json, digest }
    }

    /// The view of everyone, with the fields that only one viewer sees.
    pub fn with_me(&self, me: &MeView) -> Self {
        let mut json = Vec::with_capacity(self.json.len() + ME_BYTES);
        let digest = self.write_with_me(me, &mut json);
        Self::tagged(self.version, json.into(), digest)
    }

    /// Appends the same JSON, and returns its digest.
    pub fn write_with_me(&self, me: &MeView, json: &mut Vec<u8>) -> u64 {
        json.extend_from_slice(self.open());
        json.extend_from_slice(ME);
        let begin = json.len();
        serde_json::to_writer(&mut *json, me).expect(ALWAYS_JSON);
        let mut hasher = DefaultHasher::new();
        (self.digest, &json[begin..]).hash(&mut hasher);
        json.push(b'}');
        hasher.finish()
    }

    /// The JSON without its closing brace.
    fn open(&self) -> &[u8] {
        self.json.strip_suffix(b"}").expect("a game is a JSON object")
    }

    /// The JSON without the effects of the last move, in two parts. An answer to a move has them beside the game.
    pub fn without_effects(&self) -> [&[u8]; 2] {
        // A quotation mark in a name is escaped, so only keys match.
        let find = |from: usize, key: &[u8]| memmem::find(&self.json[from..], key).map(|at| from + at);
        let last_move = find(0, br#""last_move":{"#);
        let begin = last_move.and_then(|last_move| Some(find(last_move, EFFECTS)? + EFFECTS.len()));
        let end = begin.and_then(|begin| find(begin, br#"],"position":"#));
        let (begin, end) = begin.zip(end).unwrap_or((self.json.len(), self.json.len()));
        [&self.json[..begin], &self.json[end..]]
    }

    /// The answer to the game's creation.
    pub fn as_created(&self, id: GameId) -> StoredAnswer {
        StoredAnswer {
            location: format!("/v1/games/{}", id.0),
            etag: self.etag.to_string(),
            body: String::from_utf8(self.json.to_vec()).expect(ALWAYS_JSON),
        }
    }
}

/// Room for what one viewer sees of a game besides what everyone does.
pub const ME_BYTES: usize = 96;

/// How the fields of one viewer begin, after those of everyone.
const ME: &[u8] = br#","me":"#;

/// How the effects of a move begin in JSON.
const EFFECTS: &[u8] = br#""effects":["#;

/// Room for nearly every game's JSON.
const GAME_BYTES: usize = 2048;

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
