//! The logs of finished games at rest: a row of `archived_log` in place of the rows of `event`.
//!
//! An archive is written, changed and removed under the lock of its game's row. Everything else that changes a log has that lock
//! too: an append updates the row, a deletion and a merge lock it first. So nothing comes between the reading of a log and the
//! deletion of its rows. Reading logs is in `games::logs`.

mod amending;
mod folding;
mod logs;
mod marking;
mod restoring;
mod scanning;
mod storing;
mod verifying;

pub(crate) use amending::amend_imports;
pub use marking::{excludes_former, is_settled, lower_mark};
pub(crate) use restoring::delete;
pub use restoring::{Restored, restore};
pub use scanning::{ArchiveCounts, Scanned, count, scan};
pub use storing::{Archived, archive};
pub(super) use verifying::{ArchiveColumns, list_orphans};
