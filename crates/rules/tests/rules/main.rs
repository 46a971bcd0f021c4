//! Tests of the rules through their public interface. They do no I/O except to read the corpus.
//!
//! - `vectors` replays whole games from independent sources; `perft` and `solving` compare with known numbers.
//! - `properties` states what holds for every game; `effects` redraws a board from the effects of a move.
//! - `kalah`, `oware` and `congkak` test the rules that only those games have.
//! - `lockstep` tests the opening of Congkak in which both sides sow at once.
//! - `import`, `options` and `notation` test the text forms of positions, options and moves.
//! - `record` and `foreign` test the texts of whole games and the forms of other programs.
//! - `corpus` sends every text that fuzzing found to every reader in `readers`.
//! - `kumalak` tests Toguz Kumalak and Bestemshe, `four_row` Bao and Omweso, in modules of the same names.
//! - `packed` compares the two forms of the rules; `allocations` counts how often they allocate memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod allocations;
mod congkak;
mod corpus;
mod effects;
mod foreign;
mod four_row;
mod import;
mod kalah;
mod kumalak;
mod line;
mod lockstep;
mod notation;
mod options;
mod oware;
mod packed;
mod perft;
mod properties;
mod readers;
mod record;
mod record_properties;
mod solving;
mod vectors;
