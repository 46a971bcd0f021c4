//! Looking back at games: analyses, the opening explorer, notes, pictures, pages to share.

pub(crate) mod analyses;
pub(crate) mod explorer;
pub(crate) mod hints;
pub(crate) mod notes;
pub(crate) mod pictures;
pub(crate) mod share;
