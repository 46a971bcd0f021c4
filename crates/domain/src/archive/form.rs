//! The numbers of the form, which the writer and the reader share, and its bounds.

use crate::Event;

/// The newest version of the form, which [`encode`](super::encode()) writes.
pub const ARCHIVE_VERSION: u8 = 1;

/// The most bytes of an archive: several times those of the longest log.
pub(super) const BYTES_MAX: usize = 512 * 1024;

/// The most events of an archive: more than a log can have, so that a reader's memory has a bound.
pub(super) const EVENTS_MAX: usize = 16_384;

/// How many bits the number of events takes.
pub(super) const COUNT_BITS: u32 = 15;

/// How many bits the number of an opponent's kind takes.
pub(super) const OPPONENT_BITS: u32 = 3;

/// A log in the form in which archives are written and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedLog {
    /// All events, from the first one on.
    pub events: Vec<Event>,
    /// Texts that the store has for some events in place of those that follow from them, each with the event's `seq`.
    pub details: Vec<(u32, String)>,
}

/// The units of time, the longest first, in microseconds.
pub(super) const UNITS: [i64; 4] = [60_000_000, 1_000_000, 1_000, 1];

/// How many bits the number of an event's kind takes.
pub(super) const KIND_BITS: u32 = 5;

/// How many bits the number of an offer's kind takes.
pub(super) const OFFER_BITS: u32 = 3;

/// The kinds of event by their numbers: all but `created`, which is always the first event.
pub(super) mod kind {
    pub(in crate::archive) const JOINED: u64 = 0;
    pub(in crate::archive) const RESEATED: u64 = 1;
    pub(in crate::archive) const CODE_RENEWED: u64 = 2;
    pub(in crate::archive) const DECLINED: u64 = 3;
    pub(in crate::archive) const MOVED: u64 = 4;
    pub(in crate::archive) const OFFERED: u64 = 5;
    pub(in crate::archive) const OFFER_DECLINED: u64 = 6;
    pub(in crate::archive) const OFFER_WITHDRAWN: u64 = 7;
    pub(in crate::archive) const PAUSED: u64 = 8;
    pub(in crate::archive) const RESUMED: u64 = 9;
    pub(in crate::archive) const REMATCHED: u64 = 10;
    pub(in crate::archive) const RESIGNED: u64 = 11;
    pub(in crate::archive) const TIMED_OUT: u64 = 12;
    pub(in crate::archive) const EXPIRED: u64 = 13;
    pub(in crate::archive) const ABORTED: u64 = 14;
    pub(in crate::archive) const FINISHED: u64 = 15;
    pub(in crate::archive) const ANALYSED: u64 = 16;
}
