//! The engine: a table of positions, kept from one question to the next. What can be asked stands in `explore`, `solve`,
//! `review` and `level`.

use mancala_rules::{AnyOptions, AnyPosition};

use crate::{
    form::{self, Task},
    table::Table,
};

/// The most memory that an engine may be given, in MiB: enough for the boards that can be solved at all.
pub const TABLE_MIB_MAX: usize = 8192;

/// What searches games, with a memory of positions that serves from one question to the next.
#[derive(Clone, Debug)]
pub struct Engine {
    table: Table,
    /// The game that the table is about: its options and all its seeds.
    game: Option<(AnyOptions, u16)>,
}

impl Engine {
    /// An engine that remembers positions in so many MiB, from 1 to [`TABLE_MIB_MAX`].
    #[must_use]
    pub fn new(table_mib: usize) -> Self {
        Self { table: Table::new(table_mib.clamp(1, TABLE_MIB_MAX) << 20), game: None }
    }

    /// Forgets all positions, so that the next answer is that of a fresh engine. Takes no time.
    pub fn forget(&mut self) {
        self.table.clear();
    }

    /// Does something with a position, in its packed form if it has one. `None` if the game is over.
    pub(crate) fn run<K: Task>(&mut self, position: &AnyPosition, task: K) -> Option<K::Output> {
        if position.outcome().is_some() {
            return None;
        }
        let game = (position.options(), position.board().total());
        if self.game.replace(game) != Some(game) {
            self.table.clear();
        }
        Some(form::run(position, task, &mut self.table))
    }
}
