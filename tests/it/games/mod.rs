//! Games over HTTP: their life, their moves, their lists, and waiting for a change.

pub mod bounds;
pub mod clocks;
pub mod computer_limits;
pub mod computers;
pub mod concurrency;
pub mod four_rows;
pub mod hotseat;
pub mod invitations;
pub mod joining;
pub mod lifecycle;
pub mod list_cursors;
pub mod lists;
pub mod lobby;
pub mod me;
pub mod moves;
pub mod offers;
pub mod practice;
pub mod recent;
pub mod repetition;
pub mod seek;
pub mod slots;
pub mod starting;
pub mod turns;
pub mod tuzdyks;
pub mod vectors;
pub mod waiting;
