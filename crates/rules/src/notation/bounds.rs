//! How long texts, records and their parts may be. Knows nothing of their content.

/// The longest text that is read, in bytes: 1 MiB. A game with the most moves that a record may have, and a comment on
/// each, is shorter.
pub const TEXT_MAX: usize = 1 << 20;

/// The longest value of a tag that is read, in characters. All options together and the longest position have some
/// hundreds. An error message repeats a refused value, so the bound also keeps the message short.
pub const VALUE_MAX: usize = 1000;

/// The longest name that a record holds, in characters. Games from elsewhere may have longer names than the service
/// allows.
pub const NAME_MAX: usize = 100;

/// The most moves that a record holds. A match of a hundred rounds of Congkak has some three thousand, other games some
/// hundreds. The bound limits the work of a rule against repetition, which compares all positions since the last
/// capture.
pub const RECORD_MOVES_MAX: usize = 10_000;
