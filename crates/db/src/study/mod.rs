//! Analyses, the opening explorer and notes.

pub mod analyses;
mod entries;
mod explored_games;
pub mod explorer;
mod explorer_batch;
pub mod explorer_index;
pub(crate) mod explorer_removal;
mod frequent;
mod judged_plies;
pub mod notes;
pub mod rebuild;
mod tallies;
