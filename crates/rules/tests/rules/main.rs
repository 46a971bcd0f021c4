//! The rules, tested from outside and without any I/O.
//!
//! `vectors` replays whole games that were worked out elsewhere, `perft` and `solving` compare with known numbers,
//! `properties` states what holds for every game, `import`, `options` and `notation` go through the text forms, `record` and
//! `foreign` through those of whole games and of other programs, `corpus` through what fuzzing found, `oware` and `congkak`
//! through what only those games have. `packed` compares the two forms of the rules, `allocations` counts what they take from
//! the heap.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod allocations;
mod congkak;
mod corpus;
mod effects;
mod foreign;
mod import;
mod notation;
mod options;
mod oware;
mod packed;
mod perft;
mod properties;
mod readers;
mod record;
mod solving;
mod vectors;
