//! The engine: owns the transposition table and keeps it between questions. Does not know the questions: `explore`,
//! `solve`, `review` and `level` add them.

use std::sync::Arc;

use mancala_rules::{AnyOptions, AnyPosition};

use crate::{endgames::Endgames, form::Task, games, table::Table};

/// The most memory that an engine may have, in MiB: enough for every board that can be solved at all.
pub const TABLE_MIB_MAX: usize = 8192;

/// Searches games, with a transposition table that serves from one question to the next.
///
/// ```
/// use mancala_engine::{Engine, Level, Limits, Signal};
/// use mancala_rules::{AnyOptions, AnyPosition, Variant};
///
/// let options = AnyOptions::parse(Variant::Oware, "standard", "")?;
/// let opening = AnyPosition::opening(&options);
/// let (mut engine, signal) = (Engine::new(1), Signal::new());
///
/// let candidates = engine.candidates(&opening, Limits::nodes(10_000), &signal);
/// assert_eq!(candidates.len(), opening.legal_moves().len());
///
/// let m = engine.choose(&opening, Level::MIN, 1, &signal).expect("the game is not over");
/// assert!(opening.legal_moves().contains(&m));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Engine {
    table: Table,
    /// The game of the table's entries: its options, and all its seeds.
    game: Option<(AnyOptions, u16)>,
    pub(crate) endgames: Option<Arc<Endgames>>,
}

impl Engine {
    /// An engine with a table of `table_mib` MiB, clamped to 1 to [`TABLE_MIB_MAX`].
    #[must_use]
    pub fn new(table_mib: usize) -> Self {
        Self { table: Table::new(table_mib.clamp(1, TABLE_MIB_MAX) << 20), game: None, endgames: None }
    }

    /// The same engine with exact values of positions with few seeds, where the game has them. Other engines may share them.
    #[must_use]
    pub fn with_endgames(self, endgames: Arc<Endgames>) -> Self {
        Self { endgames: Some(endgames), ..self }
    }

    /// Clears the table, so that the next answer is that of a fresh engine. Takes constant time.
    pub fn forget(&mut self) {
        self.table.clear();
    }

    /// Runs a task on a position, in its packed form if it has one. `None` if the game is over.
    ///
    /// Clears the table first if its entries are of another game.
    pub(crate) fn run<K: Task>(&mut self, position: &AnyPosition, task: K) -> Option<K::Output> {
        let endgames = self.endgames.clone();
        self.run_with(position, task, endgames.as_deref())
    }

    /// Runs a task with these exact values of positions with few seeds.
    pub(crate) fn run_with<K: Task>(
        &mut self,
        position: &AnyPosition,
        task: K,
        endgames: Option<&Endgames>,
    ) -> Option<K::Output> {
        if position.outcome().is_some() {
            return None;
        }
        let game = (position.options(), position.total());
        if self.game.replace(game) != Some(game) {
            self.table.clear();
        }
        Some(games::run(position, task, &mut self.table, endgames))
    }
}
