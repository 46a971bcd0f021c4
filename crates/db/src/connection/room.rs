//! Whether a disk of the database may be full: PostgreSQL has said so, and nothing that needs new room was written since.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_DOUBTED: AtomicBool = AtomicBool::new(false);

/// A statement has failed for lack of room.
pub(super) fn doubt() {
    IS_DOUBTED.store(true, Ordering::Relaxed);
}

pub(crate) fn is_doubted() -> bool {
    IS_DOUBTED.load(Ordering::Relaxed)
}

/// Something was written that needs new room.
pub(crate) fn trust() {
    IS_DOUBTED.store(false, Ordering::Relaxed);
}
