//! Looking back at games: analyses, the opening explorer, notes, pictures, pages to share.

pub mod analyses;
pub mod explorer;
pub mod hints;
pub mod notes;
pub mod pictures;
pub mod share;
