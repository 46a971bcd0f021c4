//! The transposition table: results of the search by position, in bounded memory. Knows no game.

use crate::value::Bounds;

/// Entries of a bucket, which together fill a cache line of 64 bytes.
const WAYS: usize = 4;

/// Entries by their positions' keys. In a full bucket, the entry that took the least work is evicted.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    buckets: Vec<[PackedEntry; WAYS]>,
    /// Entries of other epochs are invalid, so that clearing the table takes constant time.
    epoch: u8,
}

impl Table {
    /// A table of at most `bytes` bytes, but at least one bucket.
    pub fn new(bytes: usize) -> Self {
        let buckets = (bytes / size_of::<[PackedEntry; WAYS]>()).max(1);
        Self { buckets: vec![[PackedEntry::EMPTY; WAYS]; buckets], epoch: 1 }
    }

    /// Removes all entries. Rewrites memory only when the epoch wraps, once in 255 times.
    pub fn clear(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == PackedEntry::EMPTY.epoch {
            self.buckets.fill([PackedEntry::EMPTY; WAYS]);
            self.epoch = self.epoch.wrapping_add(1);
        }
    }

    /// The entry of a position.
    #[inline]
    pub fn find(&self, key: Key) -> Option<Entry> {
        let bucket = &self.buckets[self.place(key)];
        let entry = bucket.iter().find(|entry| entry.tag == key.tag && entry.epoch == self.epoch)?;
        Some(entry.unpack())
    }

    /// Stores the result of a search that visited `nodes` positions. Bounds that were proven before stay proven.
    #[inline]
    pub fn store(&mut self, key: Key, mut entry: Entry, nodes: u64) {
        let (epoch, place) = (self.epoch, self.place(key));
        let mut work = u64::BITS - nodes.leading_zeros();
        let bucket = &mut self.buckets[place];
        let same = bucket.iter_mut().find(|packed| packed.tag == key.tag && packed.epoch == epoch);
        let packed = if let Some(packed) = same {
            let before = packed.unpack();
            entry.bounds = entry.bounds.and(before.bounds);
            if entry.best == MovePlace::NONE {
                entry.best = before.best;
            }
            work = work.max(packed.work());
            packed
        } else {
            let worth = |packed: &PackedEntry| if packed.epoch == epoch { 1 + packed.work() } else { 0 };
            let [first, rest @ ..] = bucket;
            rest.iter_mut().fold(first, |least, packed| if worth(packed) < worth(least) { packed } else { least })
        };
        *packed = PackedEntry::new(key.tag, epoch, entry, work);
    }

    /// The index of a key's bucket.
    #[inline]
    fn place(&self, key: Key) -> usize {
        // The quotient is below the number of buckets, which fits.
        usize::try_from((u128::from(key.place) * self.buckets.len() as u128) >> u64::BITS).unwrap_or(0)
    }
}

/// The key of a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    /// Identifies the position in its bucket. Unique among positions of few enough seeds; a hash for others.
    pub tag: u64,
    /// Selects the bucket. If the tag is a hash, this is an independent one.
    pub place: u64,
    /// Whether a proof for one position of this key holds for all. It does not where the value depends on more than the
    /// key.
    pub is_sound: bool,
}

/// The search's result for a position. All values are relative to its margin so far (`MarginRange`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Proven bounds, in seeds.
    pub bounds: Bounds,
    /// The value at `depth`, in points.
    pub estimate: i32,
    /// Whether `estimate` is the value at `depth`, or a bound of it.
    pub kind: BoundKind,
    /// How many plies the search looked ahead.
    pub depth: u8,
    /// The best move.
    pub best: MovePlace,
}

/// The place of a move among the legal moves of its position, from 0: all that an entry has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MovePlace(u8);

impl MovePlace {
    /// No move, or a move beyond the last place.
    pub const NONE: Self = Self(0x1f);

    /// The place of the move with this index.
    #[inline]
    pub fn of(index: usize) -> Self {
        u8::try_from(index).map_or(Self::NONE, |index| Self(index.min(Self::NONE.0)))
    }

    /// The index of the move.
    pub fn index(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0.into())
    }
}

/// The meaning of a search's result with a window for the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundKind {
    /// The value itself.
    Exact = 0,
    /// A lower bound: the value is this or more.
    AtLeast = 1,
    /// An upper bound: the value is this or less.
    AtMost = 2,
}

/// An entry with its position's tag, in sixteen bytes.
#[derive(Clone, Copy, Debug)]
struct PackedEntry {
    tag: u64,
    /// From the lowest: ten bits for each bound, five for the work, five for the best move, two for the kind.
    packed: u32,
    estimate: i16,
    depth: u8,
    epoch: u8,
}

impl PackedEntry {
    /// No entry: its epoch is never a current one.
    const EMPTY: Self = Self { tag: 0, packed: 0, estimate: 0, depth: 0, epoch: 0 };

    /// Added to a bound to make it positive. No board has as many seeds.
    const OFFSET: i32 = 512;

    #[inline]
    fn new(tag: u64, epoch: u8, entry: Entry, work: u32) -> Self {
        let bound = |seeds: i32| (seeds + Self::OFFSET).cast_unsigned() & 0x3ff;
        let packed = bound(entry.bounds.low)
            | bound(entry.bounds.high) << 10
            | work.min(0x1f) << 20
            | u32::from(entry.best.0) << 25
            | (entry.kind as u32) << 30;
        // The estimate fits: no board has enough seeds to overflow it.
        let estimate = i16::try_from(entry.estimate).unwrap_or(0);
        Self { tag, packed, estimate, depth: entry.depth, epoch }
    }

    #[inline]
    fn unpack(&self) -> Entry {
        let bound = |packed: u32| (packed & 0x3ff).cast_signed() - Self::OFFSET;
        let kind = match self.packed >> 30 {
            0 => BoundKind::Exact,
            1 => BoundKind::AtLeast,
            _ => BoundKind::AtMost,
        };
        Entry {
            bounds: Bounds { low: bound(self.packed), high: bound(self.packed >> 10) },
            estimate: self.estimate.into(),
            kind,
            depth: self.depth,
            best: MovePlace((self.packed >> 25).to_le_bytes()[0] & 0x1f),
        }
    }

    #[inline]
    const fn work(&self) -> u32 {
        self.packed >> 20 & 0x1f
    }
}
