//! Games by the public interface: what commands and time lead to, and that a game is the fold of its log.

mod asks;
mod beginning;
mod blocks;
mod clocks;
mod increments;
mod log;
mod offers;
mod practice;
mod push;
mod table;
mod unasked;
