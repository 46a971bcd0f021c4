//! Analyses, the opening explorer and notes.

pub mod analyses;
pub mod explorer;
pub mod explorer_index;
pub mod notes;
mod tallies;
