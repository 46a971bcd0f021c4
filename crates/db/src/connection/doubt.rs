//! Whether the user of the database may lack a right.

use std::sync::atomic::{AtomicBool, Ordering};

/// A process begins in doubt.
static IN_DOUBT: AtomicBool = AtomicBool::new(true);

/// Notes that a statement was refused for want of a right, or that one is missing.
pub(crate) fn raise() {
    IN_DOUBT.store(true, Ordering::Relaxed);
}

/// Ends the doubt, and returns whether there was one.
pub(crate) fn take() -> bool {
    IN_DOUBT.swap(false, Ordering::Relaxed)
}
