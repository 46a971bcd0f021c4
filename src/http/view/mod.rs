//! Views: the wire types of games, moves, events and options, which several resources share. Knows no request.

pub(crate) mod board;
pub(crate) mod clock;
pub(crate) mod event;
pub(crate) mod game;
pub(crate) mod moves;
pub(crate) mod options;
pub(crate) mod shown_game;
pub(crate) mod wire;
