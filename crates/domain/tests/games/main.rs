//! Games by the public interface: what commands and time lead to, and that a game is the fold of its log.

mod beginning;
mod clocks;
mod log;
mod offers;
mod practice;
mod table;
