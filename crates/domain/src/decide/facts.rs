//! The facts that one action leads to, before they become events with numbers and times.

use mancala_rules::Effect;

use crate::Fact;

/// The facts that one action leads to.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) facts: Vec<Fact>,
    /// The effects on the board of the move among the facts.
    pub(super) effects: Vec<Effect>,
}

impl From<Vec<Fact>> for Facts {
    /// Facts without a move.
    fn from(facts: Vec<Fact>) -> Self {
        Self { facts, effects: vec![] }
    }
}
