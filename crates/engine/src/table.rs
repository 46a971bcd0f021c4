//! The transposition table: what the search has found out about positions, in bounded memory. Knows no game.

use crate::{slot::Slot, value::Bounds};

/// Entries that share a place; as many as a line of the processor's cache holds.
const WAYS: usize = 4;

/// What is remembered of positions, by their keys. When it is full, what took the least work makes room.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    buckets: Vec<[Entry; WAYS]>,
    /// Entries of other epochs are as good as none, so that forgetting all takes no time.
    epoch: u8,
}

impl Table {
    /// A table that takes no more than this many bytes, but at least one bucket.
    pub fn new(bytes: usize) -> Self {
        let buckets = (bytes / size_of::<[Entry; WAYS]>()).max(1);
        Self { buckets: vec![[Entry::EMPTY; WAYS]; buckets], epoch: 1 }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == Entry::EMPTY.epoch {
            self.buckets.fill([Entry::EMPTY; WAYS]);
            self.epoch = self.epoch.wrapping_add(1);
        }
    }

    /// What is known of a position.
    #[inline]
    pub fn find(&self, key: Key) -> Option<Known> {
        let bucket = &self.buckets[self.place(key)];
        let entry = bucket.iter().find(|entry| entry.tag == key.tag && entry.epoch == self.epoch)?;
        Some(entry.known())
    }

    /// Remembers what a search has found out, and how many positions it took. Bounds that were proven before stay proven.
    #[inline]
    pub fn store(&mut self, key: Key, mut known: Known, nodes: u64) {
        let (epoch, place) = (self.epoch, self.place(key));
        let mut work = u64::BITS - nodes.leading_zeros();
        let bucket = &mut self.buckets[place];
        let same = bucket.iter_mut().find(|entry| entry.tag == key.tag && entry.epoch == epoch);
        let entry = if let Some(entry) = same {
            let before = entry.known();
            known.bounds = known.bounds.and(before.bounds);
            if known.slot == Slot::NONE {
                known.slot = before.slot;
            }
            work = work.max(entry.work());
            entry
        } else {
            let worth = |entry: &Entry| if entry.epoch == epoch { 1 + entry.work() } else { 0 };
            let [first, rest @ ..] = bucket;
            rest.iter_mut().fold(first, |least, entry| if worth(entry) < worth(least) { entry } else { least })
        };
        *entry = Entry::new(key.tag, epoch, known, work);
    }

    /// The bucket of a key.
    #[inline]
    fn place(&self, key: Key) -> usize {
        // The quotient is below the number of buckets, which fits.
        usize::try_from((u128::from(key.place) * self.buckets.len() as u128) >> u64::BITS).unwrap_or(0)
    }
}

/// What a position is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// What is compared. Never the same for two positions of few enough seeds; for others it is a hash.
    pub tag: u64,
    /// Where it lies. Where the tag is a hash, this is another one.
    pub place: u64,
    /// Whether what is proven in one such position is proven in all. It is not where more matters than the key says.
    pub is_sound: bool,
}

/// What is known of a position. All values are relative to its margin so far (`Standing`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Proven, in seeds.
    pub bounds: Bounds,
    /// Found by looking ahead by `depth`, in points.
    pub estimate: i32,
    /// Whether `estimate` is what was looked for, or only a bound of it.
    pub kind: Kind,
    pub depth: u8,
    /// The move that was best.
    pub slot: Slot,
}

/// What a search with a window says about the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is this.
    Exact = 0,
    /// It is this or more.
    AtLeast = 1,
    /// It is this or less.
    AtMost = 2,
}

/// A position and what is known of it, in sixteen bytes.
#[derive(Clone, Copy, Debug)]
struct Entry {
    tag: u64,
    /// From the lowest: ten bits for each bound, six for the work, four for the slot, two for the kind.
    packed: u32,
    estimate: i16,
    depth: u8,
    epoch: u8,
}

impl Entry {
    /// Of no epoch.
    const EMPTY: Self = Self { tag: 0, packed: 0, estimate: 0, depth: 0, epoch: 0 };

    /// Is added to a bound to make it positive. No board has as many seeds.
    const OFFSET: i32 = 512;

    #[inline]
    fn new(tag: u64, epoch: u8, known: Known, work: u32) -> Self {
        let bound = |seeds: i32| (seeds + Self::OFFSET).cast_unsigned() & 0x3ff;
        let packed = bound(known.bounds.low)
            | bound(known.bounds.high) << 10
            | work.min(0x3f) << 20
            | u32::from(known.slot.0) << 26
            | (known.kind as u32) << 30;
        // No board has so many seeds that it would not fit.
        let estimate = i16::try_from(known.estimate).unwrap_or(0);
        Self { tag, packed, estimate, depth: known.depth, epoch }
    }

    #[inline]
    fn known(&self) -> Known {
        let bound = |packed: u32| (packed & 0x3ff).cast_signed() - Self::OFFSET;
        let kind = match self.packed >> 30 {
            0 => Kind::Exact,
            1 => Kind::AtLeast,
            _ => Kind::AtMost,
        };
        Known {
            bounds: Bounds { low: bound(self.packed), high: bound(self.packed >> 10) },
            estimate: self.estimate.into(),
            kind,
            depth: self.depth,
            slot: Slot((self.packed >> 26).to_le_bytes()[0] & 0xf),
        }
    }

    #[inline]
    const fn work(&self) -> u32 {
        self.packed >> 20 & 0x3f
    }
}
