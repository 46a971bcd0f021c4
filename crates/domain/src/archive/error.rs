//! Why a log has no archive, or bytes are none.

use thiserror::Error;

/// Why a log cannot be written, or bytes cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ArchiveError {
    /// The log has something that the form cannot say.
    #[error("event {seq} cannot be archived: {detail}")]
    Unwritable {
        /// The event.
        seq: u32,
        /// The description of the error.
        detail: &'static str,
    },
    /// The log or the archive is longer than any game's.
    #[error("it is too long for an archive")]
    TooLong,
    /// A later release has written it, or it is no archive.
    #[error("the version of the archive is not known")]
    Version,
    /// The bytes end before the log does.
    #[error("the archive is cut off")]
    Cut,
    /// The bytes have something that no log has.
    #[error("the archive is damaged: {0}")]
    Invalid(&'static str),
    /// The bytes are not those that were written, or the rules no longer lead to the same positions.
    #[error("the archive does not lead to what was archived")]
    Checksum,
}
