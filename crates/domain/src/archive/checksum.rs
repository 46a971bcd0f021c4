//! The checksum of an archive: of its bits, and of the moves and positions to which they lead.

use sha2::{Digest, Sha256};

use crate::{Event, Fact};

/// How many bytes of the hash are kept: damage goes unnoticed once in four thousand million times.
pub(super) const LENGTH: usize = 4;

pub(super) fn checksum(bits: &[u8], events: &[Event]) -> [u8; LENGTH] {
    let mut hash = Sha256::new_with_prefix(bits);
    for event in events {
        if let Fact::Moved(moved) = &event.fact {
            hash.update(format!("{} {}\n", moved.mv, moved.position));
        }
    }
    let hash = hash.finalize();
    std::array::from_fn(|byte| hash[byte])
}
