//! Tests of Bao and Omweso through their public interface.
//!
//! - `vectors` replays whole games from independent programs; `perft` compares with known numbers.
//! - `effects` redraws a board from the effects of a move.

mod effects;
mod perft;
mod vectors;
