//! Views: how games, moves, events and options are shown. Types of the wire that several resources share.

pub(crate) mod board;
pub(crate) mod event;
pub(crate) mod game;
pub(crate) mod moves;
pub(crate) mod options;
pub(crate) mod wire;
