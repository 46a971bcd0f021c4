//! Counting move sequences: the usual check that a move generator is complete and exact (R35). Knows no rule itself.

use super::AnyPosition;

/// How many sequences of exactly `depth` actions start at `position`. A game that ends earlier contributes nothing.
///
/// At most [`MOVES_MAX`](super::MOVES_MAX) positions for each ply wait to be visited. The loop ends because every line
/// has at most `depth` plies.
///
/// ```
/// use mancala_rules::four_row::{AnyOptions, AnyPosition, Variant, perft};
///
/// let opening = AnyPosition::opening(&AnyOptions::parse(Variant::Bao, "kujifunza", "")?);
/// assert_eq!(perft(&opening, 2), 108);
/// # Ok::<(), mancala_rules::four_row::OptionsError>(())
/// ```
#[must_use]
pub fn perft(position: &AnyPosition, depth: u32) -> u64 {
    let mut leaves = 0;
    let mut open = vec![(*position, depth)];
    while let Some((position, depth)) = open.pop() {
        match depth {
            0 => leaves += 1,
            1 => leaves += position.legal_moves().len() as u64,
            _ => {
                for m in position.legal_moves() {
                    let mut next = position;
                    next.play_unchecked(m);
                    open.push((next, depth - 1));
                }
            }
        }
    }
    leaves
}
