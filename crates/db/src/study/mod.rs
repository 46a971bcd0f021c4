//! Analyses, the opening explorer and notes.

pub mod analyses;
pub mod chunk;
pub mod entries;
mod entry_removal;
mod explored_games;
pub mod explorer;
mod explorer_batch;
pub mod explorer_index;
pub(crate) mod explorer_removal;
mod frequent;
mod judged_plies;
pub mod notes;
pub mod packing;
mod position_column;
pub mod rebuild;
mod tallies;
