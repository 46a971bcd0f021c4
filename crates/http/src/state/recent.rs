//! The cache of recent games, as they were after this process's last change, or when it last read them.
//!
//! Another process may have changed a game since. A handler may decide on a cached game, because optimistic locking
//! guards the append. A handler shows one only after the database has confirmed that it is current.

use std::{
    mem::size_of,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use quick_cache::{Weighter, sync::Cache};
use time::{Duration, OffsetDateTime};

use super::history::History;
use mancala_db::games::SeatedGame;
use mancala_domain::{Game, GameId, PlayerId};
use mancala_process::{clock::now, metrics::CacheSize};
use mancala_rules as rules;
use mancala_rules::Effect;
use mancala_wire::view::{
    game::{MeView, join_code_for},
    moves::MoveJson,
    shown_game::ShownGame,
};

/// The size of the cache in bytes: some eight thousand games, which is all that are in play on a busy server. The games that
/// are requested most often stay.
const BYTES_MAX: u64 = 32 * 1024 * 1024;

/// A game's size without JSON, effects and history: the struct, the names and the place in the map.
const BYTES_EACH: usize = size_of::<Remembered>() + 512;

/// The size of most games' JSON. With it the cache makes room for the number of games that it will have.
const JSON_BYTES: usize = 1400;

/// The size of a position in a history.
const BYTES_A_POSITION: usize = 80;

/// The longest history of a cached game, in positions. Longer ones are very rare; those games are read anew for each move.
const HISTORY_CACHED_MAX: usize = 100;

/// How long an answer to a move may show a player's old name after another process has changed it.
const NAMES_SHOWN: Duration = Duration::MINUTE;

/// The cached games of a process.
#[derive(Debug)]
pub struct RecentGames {
    games: Cache<GameId, Arc<Remembered>, Weigher>,
    /// How often all games were evicted.
    epoch: AtomicU64,
}

/// When a read began.
#[derive(Clone, Copy, Debug)]
pub struct ReadBegin {
    at: OffsetDateTime,
    epoch: u64,
}

/// A cached game, with the state that it had when it was read.
#[derive(Debug)]
pub struct Remembered {
    pub seated: SeatedGame,
    /// When it was read, together with the players' names.
    pub read: ReadBegin,
    /// Whether the position has the history that the rules need. A game read for display does not have it.
    pub has_history: bool,
    /// All plies of a finished game, after they were first requested.
    pub history: Option<Arc<History>>,
    /// The view for all viewers except a creator with a join code.
    shown: OnceLock<ShownGame>,
}

impl Default for RecentGames {
    fn default() -> Self {
        let estimated = usize::try_from(BYTES_MAX).unwrap_or(usize::MAX) / (BYTES_EACH + JSON_BYTES);
        Self { games: Cache::with_weighter(estimated, BYTES_MAX, Weigher), epoch: AtomicU64::new(0) }
    }
}

impl RecentGames {
    /// Begins a read whose games may be cached. Call it before the database is asked.
    pub fn begin_read(&self) -> ReadBegin {
        ReadBegin { at: now(), epoch: self.epoch.load(Ordering::SeqCst) }
    }

    pub fn get(&self, id: GameId) -> Option<Arc<Remembered>> {
        self.games.get(&id).filter(|known| self.is_of_now(known))
    }

    /// Caches a game, unless its history is too long, a newer version is cached, or all games were evicted since its read began.
    pub fn keep(&self, game: &Arc<Remembered>) {
        let kept = &game.seated.game;
        let history = positions_before(kept);
        // A handler that reads may be overtaken by one that appends.
        let is_newest = || self.get(kept.id()).is_none_or(|known| known.seated.game.version() <= kept.version());
        if history <= HISTORY_CACHED_MAX && self.is_of_now(game) && is_newest() {
            // The weight of a cached game must not change.
            game.shown_to_all();
            self.games.insert(kept.id(), game.clone());
        }
    }

    /// Whether no eviction of all games came after the game's read began. One that comes between a check and an insertion
    /// makes the inserted game unfit for [`RecentGames::get`].
    fn is_of_now(&self, game: &Remembered) -> bool {
        game.read.epoch == self.epoch.load(Ordering::SeqCst)
    }

    /// Evicts a game that is deleted.
    pub fn remove(&self, id: GameId) {
        self.games.remove(&id);
    }

    /// Evicts all games, also those whose reads are under way.
    pub fn clear(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        self.games.clear();
    }

    /// Evicts all games that show a player's name.
    pub fn forget(&self, player: PlayerId) {
        self.games.retain(|_, remembered| {
            let game = &remembered.seated.game;
            !game.seats(player) && game.invited() != Some(player)
        });
    }

    pub fn size(&self) -> CacheSize {
        CacheSize { bytes: self.games.weight(), games: self.games.len() }
    }
}

impl Remembered {
    /// A game that was read with the history of its position.
    pub fn whole(seated: SeatedGame, read: ReadBegin) -> Arc<Self> {
        Arc::new(Self { seated, read, has_history: true, history: None, shown: OnceLock::new() })
    }

    /// A game that was read for display.
    pub fn looked_at(seated: SeatedGame, read: ReadBegin) -> Arc<Self> {
        let has_history = seated.game.history_from_seq().is_none();
        Arc::new(Self { seated, read, has_history, history: None, shown: OnceLock::new() })
    }

    /// A game after a move whose JSON exists already.
    pub fn after_move(seated: SeatedGame, read: ReadBegin, played: MoveJson) -> Arc<Self> {
        let shown = OnceLock::from(ShownGame::after_move(&seated, played));
        Arc::new(Self { seated, read, has_history: true, history: None, shown })
    }

    /// The same game with all its plies.
    pub fn with_history(&self, history: Arc<History>) -> Arc<Self> {
        let (seated, shown) = (self.seated.clone(), self.shown.clone());
        let Self { read, has_history, .. } = *self;
        Arc::new(Self { seated, read, has_history, history: Some(history), shown })
    }

    /// Whether the names are fresh enough to be shown unconfirmed. Another process may have changed or erased one since the read.
    pub fn is_recent(&self) -> bool {
        now() - self.read.at < NAMES_SHOWN
    }

    /// The view of a viewer.
    pub fn shown(&self, viewer: Option<PlayerId>) -> ShownGame {
        if join_code_for(&self.seated.game, viewer).is_some() {
            return ShownGame::of(&self.seated, viewer);
        }
        let shown = self.shown_to_all();
        match viewer {
            Some(viewer) => shown.with_me(&MeView::of(&self.seated, viewer)),
            None => shown.clone(),
        }
    }

    /// Appends the JSON of a viewer's view, and returns its digest.
    pub fn write_json(&self, viewer: Option<PlayerId>, json: &mut Vec<u8>) -> u64 {
        let write = |shown: &ShownGame, json: &mut Vec<u8>| {
            json.extend_from_slice(&shown.json);
            shown.digest
        };
        if join_code_for(&self.seated.game, viewer).is_some() {
            return write(&ShownGame::of(&self.seated, viewer), json);
        }
        let shown = self.shown_to_all();
        match viewer {
            Some(viewer) => shown.write_with_me(&MeView::of(&self.seated, viewer), json),
            None => write(shown, json),
        }
    }

    /// The view for all viewers except a creator with a join code.
    pub fn shown_to_all(&self) -> &ShownGame {
        self.shown.get_or_init(|| ShownGame::of(&self.seated, None))
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
        (BYTES_EACH + remembered.shown_to_all().json.len() + effects + positions + history) as u64
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use mancala_domain::{BySeat, Clock, GameState, Opponent, Seat, Terms, Visibility};
    use mancala_rules::{AnyOptions, Variant};

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

    fn remembered(game: Game, read: ReadBegin) -> Arc<Remembered> {
        let players = BySeat { first: None, second: None };
        Remembered::whole(SeatedGame { game, players, invited: None, last_ply: None, hotseat_name: None }, read)
    }

    #[test]
    fn the_cache_is_bounded_and_a_requested_game_stays() {
        let recent = RecentGames::default();
        let busy = remembered(new_game(), recent.begin_read());
        let bytes_each = (BYTES_EACH + busy.shown_to_all().json.len()) as u64;
        assert_eq!(Weigher.weight(&busy.seated.game.id(), &busy), bytes_each);
        recent.keep(&busy);
        for _ in 0..3 * BYTES_MAX / bytes_each {
            recent.keep(&remembered(new_game(), recent.begin_read()));
            assert!(recent.get(busy.seated.game.id()).is_some());
        }
        let CacheSize { bytes, games } = recent.size();
        assert!((BYTES_MAX / 2..=BYTES_MAX).contains(&bytes), "{bytes}");
        assert_eq!(games as u64, bytes / bytes_each);
    }

    #[test]
    fn a_read_that_began_before_an_eviction_of_all_keeps_nothing() {
        let recent = RecentGames::default();
        let (game, begun) = (new_game(), recent.begin_read());
        let is_cached = || recent.get(game.id()).is_some();
        recent.keep(&remembered(game.clone(), begun));
        assert!(is_cached());
        recent.clear();
        recent.keep(&remembered(game.clone(), begun));
        assert!(!is_cached());
        // As if the eviction came between the check and the insertion.
        recent.games.insert(game.id(), remembered(game.clone(), begun));
        assert!(!is_cached());
        recent.keep(&remembered(game.clone(), recent.begin_read()));
        assert!(is_cached());
    }

    #[test]
    fn an_earlier_version_does_not_replace_a_later_one() {
        let recent = RecentGames::default();
        let game = new_game();
        let version = || recent.get(game.id()).map(|known| known.seated.game.version());
        for (kept, known) in [(2, 2), (1, 2), (3, 3), (2, 3), (3, 3)] {
            let game = Game::from_stored(GameState { version: kept, ..game.state().clone() });
            recent.keep(&remembered(game, recent.begin_read()));
            assert_eq!(version(), Some(known));
        }
    }
}
