//! In which form a position is searched. Knows which games have a packed one, and nothing of searching.

use super::{
    Engine,
    general::General,
    packed::{DependsOn, Packed},
    table::Table,
    tree::Tree,
};
use crate::rules::{
    AnyPosition, OptionValue,
    packed::{Congkak, Kalah, Oware, Path},
};

/// What can be done with a game in whatever form.
pub(super) trait Task {
    /// What it leads to.
    type Output;

    /// Does it from a position on that is not over.
    fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Self::Output;
}

impl Engine {
    /// Does something with a position, in its packed form if it has one. `None` if the game is over.
    pub(super) fn run<K: Task>(&mut self, position: &AnyPosition, task: K) -> Option<K::Output> {
        if position.outcome().is_some() {
            return None;
        }
        let game = (position.options(), position.board().total());
        if self.game.replace(game) != Some(game) {
            self.table.clear();
        }
        Some(run(position, task, &mut self.table))
    }
}

fn run<K: Task>(any: &AnyPosition, task: K, table: &mut Table) -> K::Output {
    match any {
        AnyPosition::Kalah(position) => {
            if let Some(game) = Kalah::new(position)
                && let Some(start) = game.pack(position)
            {
                let majority_end = ("majority_end", OptionValue::Boolean(true));
                let has_majority_end = any.options().values().contains(&majority_end);
                let depends_on = if has_majority_end { DependsOn::Stores } else { DependsOn::Pits };
                return task.run(Packed::new(game, any, depends_on, Path::default()), start, table);
            }
        }
        AnyPosition::Oware(position, history) => {
            if let Some(game) = Oware::new(position)
                && let Some((start, path)) = game.pack(position, history)
            {
                return task.run(Packed::new(game, any, DependsOn::History, path), start, table);
            }
        }
        AnyPosition::Congkak(position) => {
            if let Some(game) = Congkak::new(position)
                && let Some(start) = game.pack(position)
            {
                return task.run(Packed::new(game, any, DependsOn::Pits, Path::default()), start, table);
            }
        }
    }
    task.run(General::new(any), General::start(any), table)
}

/// Whether a position is searched in packed form, which is the fast one.
pub(super) fn has_packed_form(position: &AnyPosition) -> bool {
    match position {
        AnyPosition::Kalah(position) => Kalah::new(position).is_some_and(|game| game.pack(position).is_some()),
        AnyPosition::Oware(position, history) => {
            Oware::new(position).is_some_and(|game| game.pack(position, history).is_some())
        }
        AnyPosition::Congkak(position) => Congkak::new(position).is_some_and(|game| game.pack(position).is_some()),
    }
}
