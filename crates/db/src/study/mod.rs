//! Analyses, the opening explorer and notes.

pub mod analyses;
pub mod explorer;
pub mod explorer_index;
mod judged_plies;
pub mod notes;
mod tallies;
