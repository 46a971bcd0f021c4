//! Rows in the binary format of `COPY`. PostgreSQL stores them in two thirds of the time of an `insert`.
//!
//! The format: <https://www.postgresql.org/docs/current/sql-copy.html>, "Binary Format". Each type is as its `recv` function reads
//! it.

use time::{OffsetDateTime, macros::datetime};

/// The signature, no flags, and no extension.
const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// The marker that stands in place of a row's number of columns: no more rows follow.
const END: i16 = -1;

/// The marker that stands in place of a length: the value is null.
const NULL: i32 = -1;

/// PostgreSQL counts microseconds from here.
const EPOCH: OffsetDateTime = datetime!(2000-01-01 00:00 UTC);

/// Rows that are to be stored.
pub(crate) struct CopyRows {
    bytes: Vec<u8>,
    columns: i16,
}

impl CopyRows {
    /// An empty batch of rows with this number of columns.
    pub(crate) fn new(columns: i16) -> Self {
        Self { bytes: HEAD.to_vec(), columns }
    }

    /// Begins a row; its values follow.
    pub(crate) fn begin_row(&mut self) {
        self.bytes.extend(self.columns.to_be_bytes());
    }

    /// Adds a value.
    pub(crate) fn value(&mut self, bytes: &[u8]) {
        let length = i32::try_from(bytes.len()).expect("a value of a row is short");
        self.bytes.extend(length.to_be_bytes());
        self.bytes.extend(bytes);
    }

    /// Adds a value, or null.
    pub(crate) fn option(&mut self, bytes: Option<impl AsRef<[u8]>>) {
        match bytes {
            Some(bytes) => self.value(bytes.as_ref()),
            None => self.bytes.extend(NULL.to_be_bytes()),
        }
    }

    /// How many bytes there are.
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the bytes of the rows so far, to be sent; more may follow.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let capacity = self.bytes.capacity();
        std::mem::replace(&mut self.bytes, Vec::with_capacity(capacity))
    }

    /// The bytes that were not taken, and the end.
    pub(crate) fn end(mut self) -> Vec<u8> {
        self.bytes.extend(END.to_be_bytes());
        self.bytes
    }
}

/// Whole microseconds, as an `insert` stores a time.
pub(crate) fn microseconds(at: OffsetDateTime) -> i64 {
    i64::try_from((at - EPOCH).whole_microseconds()).expect("the time of an event is near")
}
