//! The mixing step behind hashes and pseudo-random numbers. Knows nothing of games.

/// The mixing step of Vigna's `splitmix64`: a bijection on 64 bits in which each output bit depends on all input bits.
#[inline]
pub(crate) const fn mix(number: u64) -> u64 {
    // 2^64 divided by the golden ratio, so that zero does not stay zero.
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
