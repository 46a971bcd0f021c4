//! The rules, tested from outside and without any I/O.
//!
//! `vectors` replays whole games that were worked out elsewhere, `perft` and `solving` compare with known numbers,
//! `properties` states what holds for every game, `import`, `options` and `notation` go through the text forms, `oware`
//! and `congkak` through what only those games have.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod congkak;
mod effects;
mod import;
mod notation;
mod options;
mod oware;
mod perft;
mod properties;
mod solving;
mod vectors;
