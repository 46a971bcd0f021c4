//! Counting move sequences: the usual check that a move generator is complete and exact (R14). Knows no rule itself.

use super::AnyPosition;

/// How many sequences of exactly `depth` actions start at `position`. A game that ends earlier contributes nothing.
///
/// The time grows about fivefold with each ply. At most [`MOVES_MAX`](super::MOVES_MAX) positions for each ply wait to
/// be visited, and at most as many visited ones are kept to reuse their memory. The loop ends because every line has at
/// most `depth` plies.
///
/// ```
/// use mancala_rules::{AnyOptions, AnyPosition, Variant, perft};
///
/// let opening = AnyPosition::opening(&AnyOptions::parse(Variant::Congkak, "standard", "")?);
/// assert_eq!(perft(&opening, 1), 7);
/// # Ok::<(), mancala_rules::OptionsError>(())
/// ```
#[must_use]
pub fn perft(position: &AnyPosition, depth: u32) -> u64 {
    let mut leaves = 0;
    let mut open = vec![(position.clone(), depth)];
    let mut spare: Vec<AnyPosition> = Vec::new();
    while let Some((position, depth)) = open.pop() {
        match depth {
            0 => leaves += 1,
            1 => leaves += position.legal_moves().len() as u64,
            _ => {
                for m in position.legal_moves() {
                    let mut next = spare.pop().unwrap_or_else(|| position.clone());
                    next.clone_from(&position);
                    next.play_unchecked(m);
                    open.push((next, depth - 1));
                }
            }
        }
        spare.push(position);
    }
    leaves
}
