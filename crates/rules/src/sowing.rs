//! Sowing: one seed to each next place of the ring (R3). Does not know what the last seed brings about.

use super::{
    Board, Pit, Place,
    effect::{Effect, EffectSink},
    ring::Spots,
};

/// Lifts all seeds of `origin` and drops them one by one along the ring, but not on the spots `skipped`. Returns the
/// place of the last seed, which is `origin` itself where there was nothing to sow.
pub(super) fn sow(board: &mut Board, origin: Pit, skipped: Spots, effects: &mut impl EffectSink) -> Place {
    let ring = board.ring();
    let Some(spot) = ring.pit(origin) else {
        return Place::Pit(origin);
    };
    let hand = board.lift(spot);
    effects.record(Effect::Lift { pit: origin, seeds: hand });
    ring.place(drop_after(board, spot, hand, skipped, effects))
}

/// Sows `origin` as [`sow`] does; the spots `skipped` get no seed in any lap. Where the last seed falls in a pit that
/// holds seeds, all of them are lifted and sown again. Returns the store or the empty pit where the last seed of the
/// last lap falls.
///
/// The loop ends because sowing moves seeds forward only, and the store of the side to move is never among `skipped`. A
/// hand that passes this store leaves a seed in it for good. Between two such seeds, every lap brings the seeds nearer
/// to the store. At most all seeds can stay there, so the laps end.
pub(super) fn sow_in_laps(board: &mut Board, origin: Pit, skipped: Spots, effects: &mut impl EffectSink) -> Place {
    let ring = board.ring();
    let Some(mut spot) = ring.pit(origin) else {
        return Place::Pit(origin);
    };
    let mut hand = board.lift(spot);
    effects.record(Effect::Lift { pit: origin, seeds: hand });
    loop {
        spot = drop_after(board, spot, hand, skipped, effects);
        match ring.place(spot) {
            Place::Pit(pit) if board.at(spot) > 1 => {
                hand = board.lift(spot);
                effects.record(Effect::Relay { pit, seeds: hand });
            }
            last => return last,
        }
    }
}

/// Drops the seeds of a hand one by one on the spots that follow, but not on the spots `skipped`. Returns the last
/// spot.
///
/// The hand holds at most [`SEEDS_MAX`](super::SEEDS_MAX) seeds and each turn of the loop drops one of them.
fn drop_after(board: &mut Board, mut spot: u8, hand: u16, skipped: Spots, effects: &mut impl EffectSink) -> u8 {
    let ring = board.ring();
    for _ in 0..hand {
        spot = ring.after_skipping(spot, skipped);
        board.drop(spot, 1);
        effects.record(Effect::Sow { to: ring.place(spot) });
    }
    spot
}
