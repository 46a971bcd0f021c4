//! How many plies a position counts. Knows no game.

/// The most plies that a position counts. No game comes near, because seeds move towards the stores or a rule limits
/// repetition. In a position that was imported with so many plies, the count stays at this value.
pub const PLIES_MAX: u32 = (1 << 31) - 1;
