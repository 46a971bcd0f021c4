//! Writing and reading numbers of any width, bit by bit. Does not know what the numbers mean.

use uuid::Uuid;

use super::error::ArchiveError;

/// The width of the field that holds the length of a number, in bits.
const LENGTH_BITS: u32 = 6;

/// How many bits a number below `count` takes.
pub(super) const fn width(count: usize) -> u32 {
    count.next_power_of_two().trailing_zeros()
}

/// Bits in the order in which they are written; the first is the highest of its byte.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// How many bits of the last byte are free.
    free: u32,
}

impl BitWriter {
    /// The lowest `width` bits of a value.
    pub(super) fn bits(&mut self, value: u64, width: u32) {
        for bit in (0..width).rev() {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            self.free -= 1;
            if let Some(last) = self.bytes.last_mut() {
                *last |= u8::from(value >> bit & 1 == 1) << self.free;
            }
        }
    }

    pub(super) fn flag(&mut self, value: bool) {
        self.bits(u64::from(value), 1);
    }

    /// A number of unknown size, less than 2^63: its length, and its bits after the leading one.
    pub(super) fn number(&mut self, value: u64) {
        let length = u64::BITS - value.leading_zeros();
        debug_assert!(length < u64::BITS);
        self.bits(u64::from(length), LENGTH_BITS);
        self.bits(value, length.saturating_sub(1));
    }

    /// A number that may be negative, more than -2^62 and less than 2^62.
    pub(super) fn signed(&mut self, value: i64) {
        self.number(value.unsigned_abs() << 1 | u64::from(value < 0));
    }

    pub(super) fn id(&mut self, id: Uuid) {
        let (high, low) = id.as_u64_pair();
        self.bits(high, u64::BITS);
        self.bits(low, u64::BITS);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        for byte in text.bytes() {
            self.bits(u64::from(byte), u8::BITS);
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads what a [`BitWriter`] has written. Bytes that no writer wrote are errors, or other values.
#[derive(Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// How many bits were read.
    read: usize,
}

impl<'a> BitReader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, read: 0 }
    }

    pub(super) fn bits(&mut self, width: u32) -> Result<u64, ArchiveError> {
        let mut value = 0;
        for _ in 0..width {
            let byte = self.bytes.get(self.read / 8).ok_or(ArchiveError::Cut)?;
            value = value << 1 | u64::from(byte >> (7 - self.read % 8) & 1);
            self.read += 1;
        }
        Ok(value)
    }

    pub(super) fn flag(&mut self) -> Result<bool, ArchiveError> {
        Ok(self.bits(1)? == 1)
    }

    pub(super) fn number(&mut self) -> Result<u64, ArchiveError> {
        match u32::try_from(self.bits(LENGTH_BITS)?).unwrap_or_default() {
            0 => Ok(0),
            length => Ok(1 << (length - 1) | self.bits(length - 1)?),
        }
    }

    pub(super) fn signed(&mut self) -> Result<i64, ArchiveError> {
        let number = self.number()?;
        let size = (number >> 1).cast_signed();
        Ok(if number & 1 == 1 { -size } else { size })
    }

    /// A number that has to fit.
    pub(super) fn small(&mut self) -> Result<u32, ArchiveError> {
        u32::try_from(self.number()?).map_err(|_| ArchiveError::Invalid("a number is too large"))
    }

    pub(super) fn id(&mut self) -> Result<Uuid, ArchiveError> {
        Ok(Uuid::from_u64_pair(self.bits(u64::BITS)?, self.bits(u64::BITS)?))
    }

    /// A text is no longer than the bytes that are left.
    pub(super) fn text(&mut self) -> Result<String, ArchiveError> {
        let length = usize::try_from(self.number()?).map_err(|_| ArchiveError::Cut)?;
        if length > self.bytes.len() - self.read / 8 {
            return Err(ArchiveError::Cut);
        }
        let mut bytes = Vec::with_capacity(length);
        for _ in 0..length {
            bytes.push(u8::try_from(self.bits(u8::BITS)?).unwrap_or_default());
        }
        String::from_utf8(bytes).map_err(|_| ArchiveError::Invalid("a text is no UTF-8"))
    }

    /// Nothing follows but the zeros that fill the last byte.
    pub(super) fn end(&mut self) -> Result<(), ArchiveError> {
        let left = self.bytes.len() * 8 - self.read;
        match u32::try_from(left) {
            Ok(left) if left < 8 && self.bits(left)? == 0 => Ok(()),
            _ => Err(ArchiveError::Invalid("something follows the log")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [0, 1, 2, 3, 7, 8, 1000, u64::from(u32::MAX), (1 << 63) - 1];
        let signed = [0, 1, -1, 5, -1000, (1 << 62) - 1, -(1 << 62) + 1];
        let mut writer = BitWriter::default();
        for number in numbers {
            writer.number(number);
            writer.flag(number % 2 == 0);
        }
        for number in signed {
            writer.signed(number);
        }
        writer.text("é");
        writer.id(Uuid::from_u128(7 << 64 | 5));
        let bytes = writer.into_bytes();
        let mut reader = BitReader::new(&bytes);
        for number in numbers {
            assert_eq!((reader.number(), reader.flag()), (Ok(number), Ok(number % 2 == 0)));
        }
        for number in signed {
            assert_eq!(reader.signed(), Ok(number));
        }
        assert_eq!(reader.text().as_deref(), Ok("é"));
        assert_eq!(reader.id(), Ok(Uuid::from_u128(7 << 64 | 5)));
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn a_number_below_a_count_has_the_least_width() {
        for (count, expected) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (7, 3), (8, 3), (9, 4)] {
            assert_eq!(width(count), expected, "{count}");
        }
    }
}
