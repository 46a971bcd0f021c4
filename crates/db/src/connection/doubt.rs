//! Doubts of the process about the database, until a query settles them.

use std::{
    mem,
    sync::atomic::{AtomicBool, Ordering},
};

/// A doubt of the process.
pub(crate) struct Doubt(AtomicBool);

/// Whether the user lacks a right: a statement was refused for want of one. A process begins in doubt.
pub(crate) static RIGHTS: Doubt = Doubt(AtomicBool::new(true));

/// Whether a disk is full: a statement has failed for lack of room, and nothing that needs new room was written since.
pub(crate) static ROOM: Doubt = Doubt(AtomicBool::new(false));

impl Doubt {
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends the doubt.
    pub(crate) fn end(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Takes the doubt, if there is one, for the time of a query. The doubt returns unless the answer settles it.
    pub(crate) fn ask(&'static self) -> Option<Asked> {
        self.0.swap(false, Ordering::Relaxed).then_some(Asked(self))
    }
}

/// A doubt that a query to the database is about to settle. A doubt that is raised meanwhile is kept.
pub(crate) struct Asked(&'static Doubt);

impl Asked {
    /// The answer leaves no doubt.
    pub(crate) fn settle(self) {
        mem::forget(self);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.raise();
    }
}
