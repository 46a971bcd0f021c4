//! Omweso, complete: its options, its presets, its rules. Read it beside the chapter on games with four rows of
//! `docs/rules.md`, whose sections R19 to R33 the comments name. Knows nothing of Bao.

mod action;
mod captures;
mod game;
mod legal;
mod options;
mod position;
mod refusals;

pub use options::{Endless, Options, Preset, Reverse, Setup};
pub use position::Position;
