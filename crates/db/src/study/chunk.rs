//! A chunk of the explorer's entries in binary form: positions in their order, and for each the numbers of its games.
//!
//! Positions are hashes, so the distance between two neighbours is random. A Golomb-Rice code of it takes two bits more
//! than the average distance. An entry of one game takes about 62 bits, however many there are. More games have longer
//! numbers, and their positions are closer to each other. Knows no statement.

use uuid::Uuid;

use crate::connection::DbError;

/// A position, and a game that came to it.
pub(super) type Entry = (i64, Uuid);

/// No entry is before this one. The first chunk begins with it.
pub(super) const LEAST: Entry = (i64::MIN, Uuid::nil());

/// A position, and the number of a game that came to it.
pub type Numbered = (i64, u32);

/// A chunk that was read.
pub(super) struct Chunk {
    /// The key: no entry of the chunk is before it.
    pub(super) key: Entry,
    pub(super) entries: Vec<Numbered>,
}

impl Chunk {
    pub(super) fn parse(key: Entry, bytes: &[u8]) -> Result<Self, DbError> {
        let damaged = || DbError::inconsistent("explored_chunk", "entries", key.0, "it is no chunk");
        Ok(Self { key, entries: decode(key.0, bytes).ok_or_else(damaged)? })
    }

    /// The entries of a position.
    pub(super) fn of(&self, position: i64) -> &[Numbered] {
        let begin = self.entries.partition_point(|entry| entry.0 < position);
        let length = self.entries[begin..].iter().take_while(|entry| entry.0 == position).count();
        &self.entries[begin..begin + length]
    }
}

/// The longest chunk: four rows with such chunks fill a page, and none is stored apart from its row.
const BYTES_MAX: usize = 1_980;

/// No chunk has more entries.
const ENTRIES_MAX: usize = 2_000;

/// A position with this many games or fewer has all of them in one chunk.
const GAMES_TOGETHER: usize = 64;

/// The head of a chunk says how its bits are read. It has the bits of the rest of a distance, the bits of a number, and
/// the count of entries.
const HEAD: usize = 4;

/// The form of a chunk's bits.
struct Form {
    /// A distance is divided by two to the power of this.
    rest_bits: u32,
    number_bits: u32,
}

impl Form {
    fn of(base: i64, entries: &[Numbered]) -> Self {
        let groups = groups(entries).count().max(1) as u64;
        let last = entries.last().map_or(base, |entry| entry.0);
        let number = entries.iter().map(|entry| entry.1).max().unwrap_or_default();
        Self {
            rest_bits: (distance(base, last) / groups).max(1).ilog2(),
            number_bits: (u32::BITS - number.leading_zeros()).max(1),
        }
    }

    /// How many bits the entries take.
    fn bits(&self, base: i64, entries: &[Numbered]) -> u64 {
        let (mut before, mut bits) = (base, 0);
        for group in groups(entries) {
            let games = group.len() as u64;
            bits += (distance(before, group[0].0) >> self.rest_bits) + 1 + u64::from(self.rest_bits);
            bits += u64::from(2 * games.ilog2() + 1) + games * u64::from(self.number_bits);
            before = group[0].0;
        }
        bits
    }
}

/// Entries in order, divided by position.
fn groups(entries: &[Numbered]) -> impl Iterator<Item = &[Numbered]> {
    entries.chunk_by(|one, other| one.0 == other.0)
}

/// The distance from a position to a later one.
const fn distance(from: i64, to: i64) -> u64 {
    to.wrapping_sub(from).cast_unsigned()
}

/// How many of the first entries are to be the next chunk, of which none is before the position `base`. A position is divided only if it has
/// many games.
pub fn fill(base: i64, entries: &[Numbered]) -> usize {
    let mut count = entries.len().min(ENTRIES_MAX);
    loop {
        let most = (BYTES_MAX - HEAD) as u64 * 8;
        let bits = Form::of(base, &entries[..count]).bits(base, &entries[..count]);
        if bits <= most || count <= 1 {
            break;
        }
        let fits = usize::try_from(count as u64 * most / bits).unwrap_or(count);
        count = fits.clamp(1, count - 1);
    }
    let (Some((divided, _)), Some(next)) = (entries[..count].last(), entries.get(count)) else { return count };
    if next.0 != *divided {
        return count;
    }
    let begin = entries[..count].partition_point(|entry| entry.0 < *divided);
    let is_small = entries.get(begin + GAMES_TOGETHER).is_none_or(|entry| entry.0 != *divided);
    if is_small && begin > 0 { begin } else { count }
}

/// Encodes a chunk of these entries, which all are at the position `base` or after it. There are at most as many as `fill` allows.
pub fn encode(base: i64, entries: &[Numbered]) -> Vec<u8> {
    let form = Form::of(base, entries);
    let narrow = |bits: u32| u8::try_from(bits).expect("a number of bits");
    let count = u16::try_from(entries.len()).expect("a chunk has few entries");
    let mut bytes = vec![narrow(form.rest_bits), narrow(form.number_bits)];
    bytes.extend(count.to_be_bytes());
    let (mut writer, mut before) = (Writer { bytes, used: 0 }, base);
    for group in groups(entries) {
        let distance = distance(before, group[0].0);
        for _ in 0..distance >> form.rest_bits {
            writer.push(1, 1);
        }
        writer.push(0, 1);
        writer.push(distance, form.rest_bits);
        let games = group.len() as u64;
        writer.push(0, games.ilog2());
        writer.push(games, games.ilog2() + 1);
        for (_, number) in group {
            writer.push(u64::from(*number), form.number_bits);
        }
        before = group[0].0;
    }
    writer.bytes
}

/// The entries of a chunk; `None` if it is damaged.
pub fn decode(base: i64, bytes: &[u8]) -> Option<Vec<Numbered>> {
    let ([rest_bits, number_bits, high, low], bits) = bytes.split_first_chunk()?;
    let count = usize::from(u16::from_be_bytes([*high, *low]));
    let (mut reader, mut position) = (Reader { bytes: bits, at: 0 }, base);
    let mut entries = Vec::with_capacity(count);
    while entries.len() < count {
        let quotient = reader.run(1)?;
        let rest = reader.take(u32::from(*rest_bits))?;
        let distance = quotient.checked_shl(u32::from(*rest_bits))? | rest;
        position = position.checked_add_unsigned(distance)?;
        let length = u32::try_from(reader.run(0)?).ok()?;
        // The first bit of the number of games ended the run.
        let games = 1_u64.checked_shl(length)? | reader.take(length)?;
        if games > (count - entries.len()) as u64 {
            return None;
        }
        for _ in 0..games {
            entries.push((position, u32::try_from(reader.take(u32::from(*number_bits))?).ok()?));
        }
    }
    Some(entries)
}

struct Writer {
    bytes: Vec<u8>,
    /// Bits of the last byte; none is begun at 0.
    used: u32,
}

impl Writer {
    /// Adds the last `bits` bits of a value, the first of them first.
    fn push(&mut self, value: u64, bits: u32) {
        let mut left = bits;
        while left > 0 {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let taken = left.min(8 - self.used);
            let part = (value >> (left - taken)) & ((1 << taken) - 1);
            let part = u8::try_from(part << (8 - self.used - taken)).expect("it has at most 8 bits");
            *self.bytes.last_mut().expect("a byte is begun") |= part;
            self.used = (self.used + taken) % 8;
            left -= taken;
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// In bits.
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, bits: u32) -> Option<u64> {
        let (mut value, mut left) = (0, bits);
        while left > 0 {
            let byte = u64::from(*self.bytes.get(self.at / 8)?);
            let free = 8 - u32::try_from(self.at % 8).expect("less than 8");
            let taken = left.min(free);
            value = (value << taken) | ((byte >> (free - taken)) & ((1 << taken) - 1));
            self.at += taken as usize;
            left -= taken;
        }
        Some(value)
    }

    /// How many bits like this come before the next other one, which is taken as well.
    fn run(&mut self, bit: u64) -> Option<u64> {
        let mut length = 0;
        while self.take(1)? == bit {
            length += 1;
        }
        Some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number by chance.
    fn next(lot: &mut u64) -> u64 {
        *lot = lot.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *lot ^ (*lot >> 29)
    }

    fn by_chance(count: usize, same: u64, games: u64) -> Vec<Numbered> {
        let (mut lot, mut position) = (7, 0);
        let mut entries: Vec<_> = (0..count)
            .map(|_| {
                if next(&mut lot) % 100 >= same {
                    position = next(&mut lot).cast_signed();
                }
                (position, u32::try_from(next(&mut lot) % games).expect("a number"))
            })
            .collect();
        entries.sort_by_key(|entry| entry.0);
        entries
    }

    #[test]
    fn chunks_hold_all_entries_in_order_and_fit_a_quarter_of_a_page() {
        for (count, same, games) in [(1, 0, 1), (5_000, 0, 5_000), (20_000, 60, 1 << 20), (9_000, 100, 1 << 31)] {
            let entries = by_chance(count, same, games);
            let (mut rest, mut decoded, mut chunks) = (&entries[..], vec![], 0);
            while let Some((base, _)) = rest.first() {
                let (chunk, behind) = rest.split_at(fill(*base, rest));
                let bytes = encode(*base, chunk);
                assert!(bytes.len() <= BYTES_MAX, "{}", bytes.len());
                decoded.extend(decode(*base, &bytes).expect("a chunk"));
                if let (Some(last), Some(next)) = (chunk.last(), behind.first())
                    && last.0 == next.0
                {
                    let together = entries.iter().filter(|entry| entry.0 == last.0).count();
                    assert!(together > GAMES_TOGETHER, "a position of few games was divided");
                }
                (rest, chunks) = (behind, chunks + 1);
            }
            assert_eq!(decoded, entries);
            assert!(chunks * BYTES_MAX < 9 * count + BYTES_MAX, "{chunks} chunks of {count} entries");
        }
    }

    #[test]
    fn a_chunk_may_begin_before_its_first_entry() {
        let entries = [(5, 1), (5, 9), (i64::MAX, 0)];
        for base in [i64::MIN, -3, 5] {
            assert_eq!(decode(base, &encode(base, &entries)), Some(entries.to_vec()));
        }
        assert_eq!(decode(0, &encode(0, &[])), Some(vec![]));
    }

    #[test]
    fn a_damaged_chunk_is_refused() {
        let bytes = encode(0, &by_chance(100, 0, 1_000));
        for length in 0..bytes.len() {
            assert_eq!(decode(0, &bytes[..length]), None, "{length}");
        }
        // Its positions would be before its key.
        assert_eq!(decode(i64::MAX, &encode(0, &[(7, 1)])), None);
    }
}
