//! Studying games: analyses, the explorer, notes and pictures.

pub mod analyses;
pub mod analysis_queue;
pub mod analysis_workers;
mod by_hand;
pub mod drawings;
pub mod explorer;
mod explorer_damage;
pub mod explorer_index;
pub mod explorer_packing;
pub mod explorer_removal;
pub mod hints;
pub mod notes;
pub mod pictures;
pub mod png;
pub mod practice_analyses;
pub mod rebuild;
pub mod share;
