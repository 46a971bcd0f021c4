//! Games that this process remembers: as they were after the last change through it, or when they were last read.
//!
//! Another process may have changed them since. So a remembered game may only lead to an append, which its version guards
//! (`change::execute`); and it is shown only after the database has said that it is still the present one.

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
        game::{ShownGame, join_code_for},
        moves::MoveJson,
    },
    metrics::CacheSize,
    rules::{self, Effect},
};

/// How much memory remembered games take, in bytes: some eight thousand of them, all that are played right now on a busy
/// server. Those that are asked for most stay.
const BYTES_MAX: u64 = 32 * 1024 * 1024;

/// What a game takes beside its effects and its history: itself, the names, and the JSON that it is shown as.
const BYTES_EACH: usize = size_of::<Remembered>() + 2 * 1024;

/// A position of a history.
const BYTES_A_POSITION: usize = 80;

/// How long a history may be that is remembered, in positions: longer than all but the oddest games have. Others are read anew
/// for each move.
const HISTORY_REMEMBERED_MAX: usize = 100;

/// How long a player's name may be shown, beside a move, after it was changed through another process.
const NAMES_SHOWN: Duration = Duration::MINUTE;

/// The games that a process remembers.
#[derive(Debug)]
pub struct RecentGames(Cache<GameId, Arc<Remembered>, Weigher>);

/// A game as it was at some moment.
#[derive(Debug)]
pub struct Remembered {
    pub seated: SeatedGame,
    /// When it was read, and the people's names with it.
    pub read_at: OffsetDateTime,
    /// Whether the position has the history that the rules ask for: whoever only looks at a game does not read it.
    pub has_history: bool,
    /// All its plies, of a game that is over and was asked for them.
    pub history: Option<Arc<History>>,
    /// How everybody sees it but a creator who holds a join code.
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

    /// Remembers a game, unless it has too long a history, or is known to be out of date.
    pub fn keep(&self, game: &Arc<Remembered>) {
        let kept = &game.seated.game;
        let history = positions_before(kept);
        // Whoever reads may be overtaken by whoever plays.
        let is_newest = || self.0.peek(&kept.id()).is_none_or(|known| known.seated.game.version() <= kept.version());
        if history <= HISTORY_REMEMBERED_MAX && is_newest() {
            self.0.insert(kept.id(), game.clone());
        }
    }

    /// Forgets all games that show a player's name.
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

    /// A game that was read to be shown.
    pub fn looked_at(seated: SeatedGame, read_at: OffsetDateTime) -> Arc<Self> {
        let has_history = seated.game.history_from_seq().is_none();
        Arc::new(Self { seated, read_at, has_history, history: None, shown: OnceLock::new() })
    }

    /// A game after a move, of which the JSON is there already.
    pub fn after_move(seated: SeatedGame, read_at: OffsetDateTime, played: MoveJson) -> Arc<Self> {
        let shown = OnceLock::from(ShownGame::after_move(&seated, played));
        Arc::new(Self { seated, read_at, has_history: true, history: None, shown })
    }

    /// The same with all its plies.
    pub fn with_history(&self, history: Arc<History>) -> Arc<Self> {
        let (seated, shown) = (self.seated.clone(), self.shown.clone());
        let Self { read_at, has_history, .. } = *self;
        Arc::new(Self { seated, read_at, has_history, history: Some(history), shown })
    }

    /// Whether the names may still be shown without asking. Another process may have changed or erased one since they were read.
    pub fn is_recent(&self) -> bool {
        now() - self.read_at < NAMES_SHOWN
    }

    /// The game as a viewer sees it.
    pub fn shown(&self, viewer: Option<PlayerId>) -> ShownGame {
        if join_code_for(&self.seated.game, viewer).is_some() {
            return ShownGame::of(&self.seated, viewer);
        }
        self.shown.get_or_init(|| ShownGame::of(&self.seated, None)).clone()
    }
}

/// How many positions before the present one a game holds.
fn positions_before(game: &Game) -> usize {
    game.position().history().map_or(0, rules::History::len)
}

/// How much memory a game takes, as far as that differs.
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
        };
        Game::create(GameId(Uuid::now_v7()), terms, PlayerId(Uuid::now_v7()), Duration::DAY, now()).0
    }

    fn remembered(game: Game) -> Arc<Remembered> {
        let players = BySeat { first: None, second: None };
        Remembered::whole(SeatedGame { game, players, invited: None, last_ply: None }, now())
    }

    #[test]
    fn however_many_games_are_remembered_they_take_no_more_than_the_most_and_one_that_is_asked_for_stays() {
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
    fn an_earlier_state_does_not_take_the_place_of_a_later_one() {
        let recent = RecentGames::new();
        let game = new_game();
        let version = || recent.get(game.id()).map(|known| known.seated.game.version());
        for (kept, known) in [(2, 2), (1, 2), (3, 3), (2, 3), (3, 3)] {
            recent.keep(&remembered(Game::from_stored(GameState { version: kept, ..game.state().clone() })));
            assert_eq!(version(), Some(known));
        }
    }
}
