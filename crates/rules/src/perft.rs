//! Counting move sequences: the usual check that a move generator is complete and exact (R14).

use super::AnyPosition;

/// How many sequences of exactly `depth` actions start at `position`. A game that ends earlier contributes nothing.
///
/// The time grows about fivefold with each ply. The memory does not matter: the positions still to visit are at most
/// [`MOVES_MAX`](super::MOVES_MAX) for each ply of the line at hand, and as many at most are kept so that their memory
/// serves again. The loop ends because every line has at most `depth` plies.
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
