//! Views: the wire types of games, moves, events and options, which several resources share. Knows no request.

pub mod board;
pub mod clock;
pub mod event;
pub mod exported_game;
pub mod game;
pub mod moves;
pub mod options;
pub mod shown_game;
pub mod wire;
