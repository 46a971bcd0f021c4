//! The actions that requests ask of a game, and the data on which the decision depends.

use std::sync::Arc;

use mancala_db::{
    DbError,
    events::game_log,
    games::{self, SeatedGame, computer_games},
    players::blocks,
};
use mancala_domain::{
    Action, Clock, ComputerGames, Event, Game, GameId, JoinContext, Level, OfferAnswer, OfferContext, OfferKind,
    Player, PlayerId, PlayerKind, Ply, RematchContext, RematchOpponent, Seat, Sharing, Status, Subject,
    TakebackContext,
};
use mancala_http::state::{AppState, recent::Remembered};
use mancala_process::clock::now;
use uuid::Uuid;

/// How many of the newest plies are searched for the turn that is taken back: more than any game between people has.
const TAKEBACK_PLIES_MAX: u32 = 1000;

/// The action that a request asks of a game. `load` adds the data on which the decision depends.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'a> {
    /// Joining, with the join code that the player gave.
    Join { join_code: Option<&'a str> },
    /// A ply.
    Play { ply: u32, word: &'a str },
    /// Plies of one turn.
    PlayTurn { ply: u32, words: &'a [String] },
    /// An offer.
    Offer { kind: OfferKind },
    /// An answer to an offer.
    Answer { kind: OfferKind, answer: OfferAnswer },
    /// An action that depends on the game alone.
    Action(Action<'a>),
}

impl Asked<'_> {
    /// Whether this may begin a rematch.
    pub(super) const fn begins_rematch(self) -> bool {
        matches!(
            self,
            Asked::Offer { kind: OfferKind::Rematch }
                | Asked::Answer { kind: OfferKind::Rematch, answer: OfferAnswer::Accept }
        )
    }
}

/// A player's request to change a game.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The player.
    pub player: PlayerId,
    /// The versions at which the game may be; `None`: any.
    pub if_version: Option<&'a [u32]>,
    /// The action that the player asks for.
    pub asked: Asked<'a>,
}

/// A game, with the data beside it on which the decision depends.
pub(super) struct Loaded {
    /// The game, from the cache or from the database.
    pub(super) found: Arc<Remembered>,
    /// For moves, the plies that the log has under their numbers. For a takeback, the newest plies.
    pub(super) plies: Vec<Ply>,
    /// For a takeback with a clock that has increments, the whole log.
    log: Vec<Event>,
    /// For joining and a rematch: unfinished games of the player that has most of them.
    running_games: u32,
    /// For practice: games against the computer.
    computer_games: Option<ComputerGames>,
    /// Whether a block or a suspension keeps the player from the action.
    is_blocked: bool,
    /// How many offers of the kind the player has made since the last ply.
    offers_made: u32,
    /// For the end of a pause: whether a suspended player of the game cannot move.
    has_suspended_player: bool,
}

impl Loaded {
    /// The action for a request, with the data on which the decision depends.
    pub(super) fn action<'a>(&'a self, asked: Asked<'a>) -> Action<'a> {
        let Self { plies, running_games, is_blocked, offers_made, has_suspended_player, .. } = self;
        let (running_games, is_blocked, offers_made) = (*running_games, *is_blocked, *offers_made);
        match asked {
            Asked::Join { join_code } => Action::Join { join_code, context: JoinContext { running_games, is_blocked } },
            Asked::Play { ply, word } => Action::Play { ply, word, recorded: plies },
            Asked::PlayTurn { ply, words } => Action::PlayTurn { ply, words, recorded: plies },
            Asked::Offer { kind } => {
                Action::Offer { subject: self.subject(kind), context: OfferContext { offers_made, is_blocked } }
            }
            Asked::Answer { kind, answer: OfferAnswer::Accept } => Action::Accept(self.subject(kind)),
            Asked::Answer { kind, answer: OfferAnswer::Decline } => Action::DeclineOffer(kind),
            Asked::Answer { kind, answer: OfferAnswer::Withdraw } => {
                Action::Withdraw { kind, has_suspended_player: *has_suspended_player }
            }
            Asked::Action(action) => action,
        }
    }

    fn subject(&self, kind: OfferKind) -> Subject<'_> {
        match kind {
            OfferKind::Draw => Subject::Draw,
            OfferKind::End => Subject::End,
            OfferKind::Pause => Subject::Pause,
            OfferKind::Takeback => Subject::Takeback(TakebackContext { newest_plies: &self.plies, log: &self.log }),
            OfferKind::Rematch => {
                let players = &self.found.seated.players;
                let is_deleted = |player: &Player| player.kind == PlayerKind::Deleted;
                let is_erased = Seat::ALL.into_iter().filter_map(|seat| players[seat].as_ref()).any(is_deleted);
                let person = RematchOpponent::Person { is_erased, is_blocked: self.is_blocked };
                Subject::Rematch(RematchContext {
                    new_game_id: || GameId(Uuid::now_v7()),
                    running_games: self.running_games,
                    opponent: self.computer_games.map_or(person, RematchOpponent::Computer),
                })
            }
        }
    }
}

/// Loads the game, and the data beside it on which the decision depends.
pub(super) async fn load(
    state: &AppState,
    id: GameId,
    cached: Option<Arc<Remembered>>,
    request: &Request<'_>,
) -> Result<Option<Loaded>, DbError> {
    let found = match cached {
        Some(cached) => Some(cached),
        None => read(state, id).await?,
    };
    let Some(found) = found else { return Ok(None) };
    let (game, asked) = (&found.seated.game, request.asked);
    let seat = Seat::ALL.into_iter().find(|seat| game.players()[*seat] == Some(request.player));
    let mut loaded = Loaded {
        found: Arc::clone(&found),
        plies: vec![],
        log: vec![],
        running_games: 0,
        computer_games: None,
        is_blocked: false,
        offers_made: 0,
        has_suspended_player: false,
    };
    match (asked, seat) {
        (Asked::Play { ply, .. }, Some(_)) => loaded.plies = recorded(state, game, ply, 1).await?,
        (Asked::PlayTurn { ply, words }, Some(_)) => loaded.plies = recorded(state, game, ply, words.len()).await?,
        (Asked::Join { .. }, None) => loaded.running_games = games::count_running(&state.db, request.player).await?,
        (
            Asked::Offer { kind: OfferKind::Takeback }
            | Asked::Answer { kind: OfferKind::Takeback, answer: OfferAnswer::Accept },
            Some(_),
        ) => {
            let after = game.ply().saturating_sub(TAKEBACK_PLIES_MAX);
            loaded.plies = games::plies(&state.db, game, after, TAKEBACK_PLIES_MAX).await?;
            if matches!(game.terms().clock, Clock::Bank { increment, .. } if increment.is_positive()) {
                loaded.log = game_log::read(&state.db, game, 0, game.version()).await?.events;
            }
        }
        (asked, Some(seat)) if asked.begins_rematch() && game.rematch().is_none() => {
            load_rematch(state, seat, &mut loaded).await?;
        }
        _ => {}
    }
    let suspension_of = |player| state.hub.audience().revocations().suspension(player, now());
    if matches!(asked, Asked::Answer { kind: OfferKind::Pause, answer: OfferAnswer::Withdraw }) {
        // The clock would run against a player who does not move.
        let players = Seat::ALL.into_iter().filter_map(|seat| game.players()[seat]);
        loaded.has_suspended_player = players.filter_map(suspension_of).any(|it| !it.plays_on);
    }
    // A game that begins with a suspended player would stand still, or be over at once.
    let begins = asked.begins_rematch() || matches!(asked, Asked::Join { .. });
    let approaches = begins || matches!(asked, Asked::Offer { .. });
    if let Some(other) = game.approached_by(request.player).filter(|_| approaches) {
        let is_suspended = begins && suspension_of(other).is_some();
        loaded.is_blocked = is_suspended || blocks::is_between(&state.db, request.player, other).await?;
        if let (Asked::Offer { kind }, Some(seat)) = (asked, seat) {
            loaded.offers_made = games::count_offers(&state.db, game.id(), seat, kind).await?;
        }
    }
    Ok(Some(loaded))
}

/// The plies that the log has under these numbers. Empty if it has no ply under the first number.
async fn recorded(state: &AppState, game: &Game, ply: u32, count: usize) -> Result<Vec<Ply>, DbError> {
    if !(1..=game.ply()).contains(&ply) {
        return Ok(vec![]);
    }
    games::plies(&state.db, game, ply - 1, u32::try_from(count).unwrap_or(u32::MAX)).await
}

/// Loads how many games the players of a rematch have. The computer has no limit.
async fn load_rematch(state: &AppState, seat: Seat, loaded: &mut Loaded) -> Result<(), DbError> {
    let SeatedGame { game, players, .. } = &loaded.found.seated;
    let is_person = |player: &PlayerId| Level::of_player(*player).is_none();
    for player in Seat::ALL.into_iter().filter_map(|seat| game.players()[seat]).filter(is_person) {
        loaded.running_games = loaded.running_games.max(games::count_running(&state.db, player).await?);
    }
    if game.is_practice()
        && game.status() == Status::Finished
        && let Some(player) = &players[seat]
    {
        loaded.computer_games = Some(computer_games(state, player).await?);
    }
    Ok(())
}

/// The games against the computer that bound how many more a player may begin.
pub(super) async fn computer_games(state: &AppState, player: &Player) -> Result<ComputerGames, DbError> {
    let running = computer_games::count(&state.db, player.id).await?;
    let network = Sharing::Network { games_max: state.settings.network_games_max };
    let sharing = if running.is_of_app { Sharing::App } else { network };
    Ok(ComputerGames { kind: player.kind, own: running.own, shared: running.shared, sharing })
}

async fn read(state: &AppState, id: GameId) -> Result<Option<Arc<Remembered>>, DbError> {
    let read = state.recent.begin_read();
    Ok(games::find_whole(&state.db, id).await?.map(|seated| Remembered::whole(seated, read)))
}
