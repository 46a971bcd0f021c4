//! The cache of recent games, as they were after this process's last change, or when it last read them.
//!
//! Another process may have changed a game since. A handler may decide on a cached game, because optimistic locking
//! guards the append. A handler shows one only after the database has confirmed that it is current.

use std::{
    mem::size_of,
    sync::{Arc, OnceLock},
};

use quick_cache::{Weighter, sync::Cache};
use time::{Duration, OffsetDateTime};

use super::history::History;
use crate::{
    clock::now,
    db::games::SeatedGame,
    domain::{Game, GameId, PlayerId},
    http::view::{
        game::{MeView, ShownGame, join_code_for},
        moves::MoveJson,
    },
    metrics::CacheSize,
    rules::{self, Effect},
};

/// The size of the cache in bytes: some eight thousand games, which is all that are in play on a busy server. The games that
/// are requested most often stay.
const BYTES_MAX: u64 = 32 * 1024 * 1024;

/// A game's size without effects and history: the struct, the names and the JSON.
const BYTES_EACH: usize = size_of::<Remembered>() + 2 * 1024;

/// The size of a position in a history.
const BYTES_A_POSITION: usize = 80;

/// The longest history of a cached game, in positions. Longer ones are very rare; those games are read anew for each move.
const HISTORY_CACHED_MAX: usize = 100;

/// How long an answer to a move may show a player's old name after another process has changed it.
const NAMES_SHOWN: Duration = Duration::MINUTE;

/// The cached games of a process.
#[derive(Debug)]
pub struct RecentGames(Cache<GameId, Arc<Remembered>, Weigher>);

/// A game as it was at some moment.
#[derive(Debug)]
pub struct Remembered {
    pub seated: SeatedGame,
    /// When it was read, together with the players' names.
    pub read_at: OffsetDateTime,
    /// Whether the position has the history that the rules need. A game read for display does not have it.
    pub has_history: bool,
    /// All plies of a finished game, after they were first requested.
    pub history: Option<Arc<History>>,
    /// What every viewer sees but a creator with a join code.
    shown: OnceLock<ShownGame>,
}

impl RecentGames {
    pub fn new() -> Self {
        let estimated = usize::try_from(BYTES_MAX).unwrap_or(usize::MAX) / BYTES_EACH;
        Self(Cache::with_weighter(estimated, BYTES_MAX, Weigher))
    }

    pub fn get(&self, id: GameId) -> Option<Arc<Remembered>> {
        self.0.get(&id)
    }

    /// Caches a game, unless its history is too long or a newer version is cached.
    pub fn keep(&self, game: &Arc<Remembered>) {
        let kept = &game.seated.game;
        let history = positions_before(kept);
        // A handler that reads may be overtaken by one that appends.
        let is_newest = || self.0.peek(&kept.id()).is_none_or(|known| known.seated.game.version() <= kept.version());
        if history <= HISTORY_CACHED_MAX && is_newest() {
            self.0.insert(kept.id(), game.clone());
        }
    }

    /// Evicts a game that is deleted.
    pub fn remove(&self, id: GameId) {
        self.0.remove(&id);
    }

    /// Evicts all games.
    pub fn clear(&self) {
        self.0.clear();
    }

    /// Evicts all games that show a player's name.
    pub fn forget(&self, player: PlayerId) {
        self.0.retain(|_, remembered| {
            let game = &remembered.seated.game;
            !game.seats(player) && game.invited() != Some(player)
        });
    }

    pub fn size(&self) -> CacheSize {
        CacheSize { bytes: self.0.weight(), games: self.0.len() }
    }
}

impl Remembered {
    /// A game that was read with the history of its position.
    pub fn whole(seated: SeatedGame, read_at: OffsetDateTime) -> Arc<Self> {
        Arc::new(Self { seated, read_at, has_history: true, history: None, shown: OnceLock::new() })
    }

    /// A game that was read for display.
    pub fn looked_at(seated: SeatedGame, read_at: OffsetDateTime) -> Arc<Self> {
        let has_history = seated.game.history_from_seq().is_none();
        Arc::new(Self { seated, read_at, has_history, history: None, shown: OnceLock::new() })
    }

    /// A game after a move whose JSON exists already.
    pub fn after_move(seated: SeatedGame, read_at: OffsetDateTime, played: MoveJson) -> Arc<Self> {
        let shown = OnceLock::from(ShownGame::after_move(&seated, played));
        Arc::new(Self { seated, read_at, has_history: true, history: None, shown })
    }

    /// The same game with all its plies.
    pub fn with_history(&self, history: Arc<History>) -> Arc<Self> {
        let (seated, shown) = (self.seated.clone(), self.shown.clone());
        let Self { read_at, has_history, .. } = *self;
        Arc::new(Self { seated, read_at, has_history, history: Some(history), shown })
    }

    /// Whether the names are fresh enough to be shown unconfirmed. Another process may have changed or erased one since the read.
    pub fn is_recent(&self) -> bool {
        now() - self.read_at < NAMES_SHOWN
    }

    /// The view of a viewer.
    pub fn shown(&self, viewer: Option<PlayerId>) -> ShownGame {
        if join_code_for(&self.seated.game, viewer).is_some() {
            return ShownGame::of(&self.seated, viewer);
        }
        let shown = self.shown.get_or_init(|| ShownGame::of(&self.seated, None));
        match viewer {
            Some(viewer) => shown.with_me(&MeView::of(&self.seated, viewer)),
            None => shown.clone(),
        }
    }
}

/// The number of earlier positions that a game holds.
fn positions_before(game: &Game) -> usize {
    game.position().history().map_or(0, rules::History::len)
}

/// Weighs games by their size in memory.
#[derive(Clone, Debug)]
struct Weigher;

impl Weighter<GameId, Arc<Remembered>> for Weigher {
    fn weight(&self, _: &GameId, remembered: &Arc<Remembered>) -> u64 {
        let SeatedGame { game, last_ply, .. } = &remembered.seated;
        let effects = last_ply.as_ref().map_or(0, |ply| ply.effects.len() * size_of::<Effect>());
        let positions = positions_before(game) * BYTES_A_POSITION;
        let history = remembered.history.as_ref().map_or(0, |history| history.weight());
        (BYTES_EACH + effects + positions + history) as u64
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        domain::{BySeat, Clock, GameState, Opponent, Seat, Terms, Visibility},
        rules::{AnyOptions, Variant},
    };

    fn new_game() -> Game {
        let terms = Terms {
            options: AnyOptions::new(Variant::ALL[0], "standard", &[]).expect("every variant has it"),
            rules_version: 1,
            opponent: Opponent::Open,
            clock: Clock::Unlimited,
            visibility: Visibility::Public,
            creator: Seat::First,
            start: None,
            is_practice: false,
        };
        Game::create(GameId(Uuid::now_v7()), terms, PlayerId(Uuid::now_v7()), Duration::DAY, now()).0
    }

    fn remembered(game: Game) -> Arc<Remembered> {
        let players = BySeat { first: None, second: None };
        Remembered::whole(SeatedGame { game, players, invited: None, last_ply: None, hotseat_name: None }, now())
    }

    #[test]
    fn the_cache_is_bounded_and_a_requested_game_stays() {
        let recent = RecentGames::new();
        let busy = remembered(new_game());
        recent.keep(&busy);
        for _ in 0..3 * BYTES_MAX / BYTES_EACH as u64 {
            recent.keep(&remembered(new_game()));
            assert!(recent.get(busy.seated.game.id()).is_some());
        }
        let CacheSize { bytes, games } = recent.size();
        assert!((BYTES_MAX / 2..=BYTES_MAX).contains(&bytes), "{bytes}");
        assert_eq!(games as u64, bytes / BYTES_EACH as u64);
    }

    #[test]
    fn an_earlier_version_does_not_replace_a_later_one() {
        let recent = RecentGames::new();
        let game = new_game();
        let version = || recent.get(game.id()).map(|known| known.seated.game.version());
        for (kept, known) in [(2, 2), (1, 2), (3, 3), (2, 3), (3, 3)] {
            recent.keep(&remembered(Game::from_stored(GameState { version: kept, ..game.state().clone() })));
            assert_eq!(version(), Some(known));
        }
    }
}
