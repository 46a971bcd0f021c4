//! A task of a search, independent of the form in which positions are searched.

use crate::{signal::Signal, table::Table, tree::Tree};

/// A task on a position, independent of its form.
pub(crate) trait Task {
    /// The task's result.
    type Output;

    /// The signal that stops it.
    fn signal(&self) -> &Signal;

    /// Runs the task from a position that is not over.
    fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Self::Output;
}
