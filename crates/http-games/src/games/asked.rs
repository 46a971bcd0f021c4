//! The actions that requests ask of a game, and the data on which the decision depends.

use std::sync::Arc;

use mancala_db::{
    DbError,
    events::game_log,
    games::{self, SeatedGame, computer_games},
    players::blocks,
};
use mancala_domain::{
    Action, Clock, ComputerGames, Event, GameId, JoinContext, Level, OfferAnswer, OfferContext, OfferKind, Player,
    PlayerId, PlayerKind, Ply, RematchContext, RematchOpponent, Seat, Sharing, Status, Subject, TakebackContext,
};
use mancala_http::state::{AppState, recent::Remembered};
use mancala_process::clock::now;
use mancala_wire::live::Revocations;
use uuid::Uuid;

/// How many of the newest plies are searched for the turn that is taken back: more than any game between people has.
const TAKEBACK_PLIES_MAX: u32 = 1000;

/// The action that a request asks of a game. `load` adds the data on which the decision depends.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'a> {
    /// Joining, with the join code that the player gave.
    Join { join_code: Option<&'a str> },
    /// A new join code.
    RenewCode { join_code: &'a str },
    /// Declining an invitation.
    Decline,
    /// A ply.
    Play { ply: u32, word: &'a str },
    /// Plies of one turn.
    PlayTurn { ply: u32, words: &'a [String] },
    /// An offer.
    Offer { kind: OfferKind },
    /// An answer to an offer.
    Answer { kind: OfferKind, answer: OfferAnswer },
    /// Resigning.
    Resign,
    /// The end without a result, before the player's first move.
    Abort,
    /// Leaving for good, as a player who is erased does.
    Leave,
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

/// A game, and the action that is asked of it.
pub(super) struct Loaded<'a> {
    /// The game, from the cache or from the database.
    pub(super) found: Arc<Remembered>,
    asked: WithData<'a>,
}

/// An action with the data on which the decision depends. Each has what it needs.
enum WithData<'a> {
    Join {
        join_code: Option<&'a str>,
        context: JoinContext,
    },
    /// `recorded`: the plies that the log has under the number.
    Play {
        ply: u32,
        word: &'a str,
        recorded: Vec<Ply>,
    },
    PlayTurn {
        ply: u32,
        words: &'a [String],
        recorded: Vec<Ply>,
    },
    Offer {
        subject: OwnedSubject,
        context: OfferContext,
    },
    Accept(OwnedSubject),
    /// An action that depends on nothing else.
    Plain(Action<'a>),
}

/// A [`Subject`] with its data.
enum OwnedSubject {
    Draw,
    End,
    Pause,
    Takeback {
        newest_plies: Vec<Ply>,
        /// The whole log, if the clock has increments.
        log: Vec<Event>,
    },
    Rematch(RematchContext),
}

impl Loaded<'_> {
    /// The action, with the data on which the decision depends.
    pub(super) fn action(&self) -> Action<'_> {
        match &self.asked {
            &WithData::Join { join_code, context } => Action::Join { join_code, context },
            WithData::Play { ply, word, recorded } => Action::Play { ply: *ply, word, recorded },
            WithData::PlayTurn { ply, words, recorded } => Action::PlayTurn { ply: *ply, words, recorded },
            WithData::Offer { subject, context } => Action::Offer { subject: subject.borrowed(), context: *context },
            WithData::Accept(subject) => Action::Accept(subject.borrowed()),
            WithData::Plain(action) => *action,
        }
    }

    /// The plies that the log has under the numbers of the moves that are asked for.
    pub(super) fn into_recorded(self) -> (Arc<Remembered>, Vec<Ply>) {
        let recorded = match self.asked {
            WithData::Play { recorded, .. } | WithData::PlayTurn { recorded, .. } => recorded,
            _ => vec![],
        };
        (self.found, recorded)
    }
}

impl OwnedSubject {
    fn borrowed(&self) -> Subject<'_> {
        match self {
            Self::Draw => Subject::Draw,
            Self::End => Subject::End,
            Self::Pause => Subject::Pause,
            Self::Takeback { newest_plies, log } => Subject::Takeback(TakebackContext { newest_plies, log }),
            Self::Rematch(context) => Subject::Rematch(*context),
        }
    }
}

/// Loads the game, and the data beside it on which the decision depends.
pub(super) async fn load<'a>(
    state: &AppState,
    id: GameId,
    cached: Option<Arc<Remembered>>,
    request: &Request<'a>,
) -> Result<Option<Loaded<'a>>, DbError> {
    let found = match cached {
        Some(cached) => Some(cached),
        None => read(state, id).await?,
    };
    let Some(found) = found else { return Ok(None) };
    let asker = Asker::of(state, &found.seated, request.player);
    let asked = match request.asked {
        Asked::Join { join_code } => WithData::Join { join_code, context: asker.joining().await? },
        Asked::Play { ply, word } => WithData::Play { ply, word, recorded: asker.recorded(ply, 1).await? },
        Asked::PlayTurn { ply, words } => {
            WithData::PlayTurn { ply, words, recorded: asker.recorded(ply, words.len()).await? }
        }
        Asked::Offer { kind } => {
            let context = asker.offering(kind).await?;
            WithData::Offer { subject: asker.subject(kind, context.is_blocked).await?, context }
        }
        Asked::Answer { kind, answer: OfferAnswer::Accept } => {
            let is_blocked = kind == OfferKind::Rematch && asker.is_kept_from_a_game().await?;
            WithData::Accept(asker.subject(kind, is_blocked).await?)
        }
        Asked::Answer { kind, answer: OfferAnswer::Decline } => WithData::Plain(Action::DeclineOffer(kind)),
        Asked::Answer { kind, answer: OfferAnswer::Withdraw } => {
            let has_suspended_player = kind == OfferKind::Pause && asker.has_player_who_cannot_move();
            WithData::Plain(Action::Withdraw { kind, has_suspended_player })
        }
        Asked::RenewCode { join_code } => WithData::Plain(Action::RenewCode { join_code }),
        Asked::Decline => WithData::Plain(Action::Decline),
        Asked::Resign => WithData::Plain(Action::Resign),
        Asked::Abort => WithData::Plain(Action::Abort),
        Asked::Leave => WithData::Plain(Action::Leave),
    };
    Ok(Some(Loaded { found, asked }))
}

/// The player who asks something of a game, and where the data lies.
struct Asker<'a> {
    state: &'a AppState,
    seated: &'a SeatedGame,
    player: PlayerId,
    seat: Option<Seat>,
}

impl<'a> Asker<'a> {
    fn of(state: &'a AppState, seated: &'a SeatedGame, player: PlayerId) -> Self {
        let seat = Seat::ALL.into_iter().find(|seat| seated.game.players()[*seat] == Some(player));
        Self { state, seated, player, seat }
    }

    async fn joining(&self) -> Result<JoinContext, DbError> {
        if self.seat.is_some() {
            return Ok(JoinContext { running_games: 0, is_blocked: false });
        }
        let running_games = games::count_running(&self.state.db, self.player).await?;
        Ok(JoinContext { running_games, is_blocked: self.is_kept_from_a_game().await? })
    }

    /// How many offers of the kind the player has made since the last ply, and whether a block or a suspension forbids one.
    async fn offering(&self, kind: OfferKind) -> Result<OfferContext, DbError> {
        let game = &self.seated.game;
        let Some((seat, other)) = self.seat.zip(game.approached_by(self.player)) else {
            return Ok(OfferContext { offers_made: 0, is_blocked: false });
        };
        let is_blocked = match kind {
            OfferKind::Rematch => self.is_kept_from_a_game().await?,
            OfferKind::Draw | OfferKind::End | OfferKind::Pause | OfferKind::Takeback => {
                blocks::is_between(&self.state.db, self.player, other).await?
            }
        };
        let offers_made = games::count_offers(&self.state.db, game.id(), seat, kind).await?;
        Ok(OfferContext { offers_made, is_blocked })
    }

    async fn subject(&self, kind: OfferKind, is_blocked: bool) -> Result<OwnedSubject, DbError> {
        Ok(match kind {
            OfferKind::Draw => OwnedSubject::Draw,
            OfferKind::End => OwnedSubject::End,
            OfferKind::Pause => OwnedSubject::Pause,
            OfferKind::Takeback => self.takeback().await?,
            OfferKind::Rematch => OwnedSubject::Rematch(self.rematch(is_blocked).await?),
        })
    }

    /// The newest plies; with a clock that has increments, the whole log, too.
    async fn takeback(&self) -> Result<OwnedSubject, DbError> {
        let game = &self.seated.game;
        if self.seat.is_none() {
            return Ok(OwnedSubject::Takeback { newest_plies: vec![], log: vec![] });
        }
        let after = game.ply().saturating_sub(TAKEBACK_PLIES_MAX);
        let newest_plies = games::plies(&self.state.db, game, after, TAKEBACK_PLIES_MAX).await?;
        let log = if matches!(game.terms().clock, Clock::Bank { increment, .. } if increment.is_positive()) {
            game_log::read(&self.state.db, game, 0, game.version()).await?.events
        } else {
            vec![]
        };
        Ok(OwnedSubject::Takeback { newest_plies, log })
    }

    /// How many games the players of a rematch have. The computer has no limit.
    async fn rematch(&self, is_blocked: bool) -> Result<RematchContext, DbError> {
        let SeatedGame { game, players, .. } = self.seated;
        let is_deleted = |player: &Player| player.kind == PlayerKind::Deleted;
        let is_erased = Seat::ALL.into_iter().filter_map(|seat| players[seat].as_ref()).any(is_deleted);
        let mut context = RematchContext {
            new_game_id: || GameId(Uuid::now_v7()),
            running_games: 0,
            opponent: RematchOpponent::Person { is_erased, is_blocked },
        };
        let Some(seat) = self.seat.filter(|_| game.rematch().is_none()) else { return Ok(context) };
        let is_person = |player: &PlayerId| Level::of_player(*player).is_none();
        for player in Seat::ALL.into_iter().filter_map(|seat| game.players()[seat]).filter(is_person) {
            context.running_games = context.running_games.max(games::count_running(&self.state.db, player).await?);
        }
        if game.is_practice()
            && game.status() == Status::Finished
            && let Some(player) = &players[seat]
        {
            context.opponent = RematchOpponent::Computer(computer_games(self.state, player).await?);
        }
        Ok(context)
    }

    /// The plies that the log has under these numbers. Empty if it has no ply under the first number.
    async fn recorded(&self, ply: u32, count: usize) -> Result<Vec<Ply>, DbError> {
        let game = &self.seated.game;
        if self.seat.is_none() || !(1..=game.ply()).contains(&ply) {
            return Ok(vec![]);
        }
        games::plies(&self.state.db, game, ply - 1, u32::try_from(count).unwrap_or(u32::MAX)).await
    }

    /// Whether a block or a suspension keeps the player and the other one from a game. A game that begins with a suspended
    /// player would stand still, or be over at once.
    async fn is_kept_from_a_game(&self) -> Result<bool, DbError> {
        let Some(other) = self.seated.game.approached_by(self.player) else { return Ok(false) };
        Ok(self.revocations().suspension(other, now()).is_some()
            || blocks::is_between(&self.state.db, self.player, other).await?)
    }

    /// Whether a suspended player of the game cannot move. The clock would run against that player.
    fn has_player_who_cannot_move(&self) -> bool {
        let players = Seat::ALL.into_iter().filter_map(|seat| self.seated.game.players()[seat]);
        let mut suspensions = players.filter_map(|player| self.revocations().suspension(player, now()));
        suspensions.any(|suspension| !suspension.plays_on)
    }

    fn revocations(&self) -> &Revocations {
        self.state.hub.audience().revocations()
    }
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
