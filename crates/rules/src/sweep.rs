//! The end of a game with two rows: seeds that are left in pits go to stores (R8). Does not know why the game ends.

use super::{
    Board, BySide, Side,
    effect::{Effect, EffectSink},
};

/// Each row goes to its owner.
pub(super) const OWNERS: BySide<Option<Side>> = BySide { south: Some(Side::South), north: Some(Side::North) };

/// Moves the seeds of each row to the store of its recipient. A row without one keeps its seeds.
pub(super) fn sweep(board: &mut Board, recipients: BySide<Option<Side>>, effects: &mut impl EffectSink) {
    for side in Side::ALL {
        let Some(to) = recipients[side] else { continue };
        let seeds = board.sweep(side, to);
        if seeds > 0 {
            effects.record(Effect::Sweep { side, seeds, to });
        }
    }
}
