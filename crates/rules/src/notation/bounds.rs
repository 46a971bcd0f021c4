//! How long texts, records and their parts may be. Knows nothing of what is in them.

/// The longest text that is read, in bytes. A game of as many moves as a record may have, with a comment on each, is
/// shorter.
pub const TEXT_MAX: usize = 1 << 20;

/// The longest value of a tag that means something, in characters. All options together and the longest position are
/// some hundreds; what is refused is repeated in the message, which stays short so.
pub const VALUE_MAX: usize = 1000;

/// The longest name that a record holds, in characters: longer than names here, for games that come from elsewhere.
pub const NAME_MAX: usize = 100;

/// The most moves that a record holds. A match of a hundred rounds of Congkak has some three thousand, other games some
/// hundreds. The bound is there because a rule against repetition looks back over all moves since the last capture.
pub const RECORD_MOVES_MAX: usize = 10_000;
