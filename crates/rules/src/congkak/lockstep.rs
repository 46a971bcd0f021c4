//! The lockstep opening of Congkak: both sides choose a pit and sow at once, a seed each in step (R10). Knows no other
//! opening, and nothing of rounds.

use super::Position;
use crate::{
    Board, Effect, Lockstep, Pit, Place, Side,
    effect::EffectSink,
    ring::{Ring, Spots},
};

/// The hand of one side.
struct Hand {
    side: Side,
    /// The places that it passes over: the other side's store and burnt pits.
    skipped: Spots,
    /// Where its last seed fell, or where it was lifted.
    spot: u8,
    seeds: u16,
    /// How many seeds it has dropped in all laps. Both hands drop one seed in each step, so this is the last step of a hand
    /// that is empty.
    dropped: u32,
    /// Whether it has dropped a seed in its own store, which a hand passes on its way to the other row.
    has_banked: bool,
}

impl Hand {
    /// Lifts a pit. One that the board does not have gives an empty hand.
    fn lift(board: &mut Board, side: Side, pit: Pit, effects: &mut impl EffectSink) -> Self {
        let ring = board.ring();
        let skipped = board.marked().with(ring.store(!side));
        let (spot, seeds) = ring.pit(pit).map_or((ring.row(side), 0), |spot| (spot, board.lift(spot)));
        effects.record(Effect::Hand { side });
        effects.record(Effect::Lift { pit, seeds });
        Self { side, skipped, spot, seeds, dropped: 0, has_banked: false }
    }

    fn has_ended_in_store(&self, ring: Ring) -> bool {
        self.spot == ring.store(self.side)
    }
}

impl Position {
    /// South's action of the opening: the choice of a pit, which is sown with that of North.
    pub(super) fn choose(&mut self, pit: Pit, effects: &mut impl EffectSink) {
        self.lockstep = Some(Lockstep { chosen: Some(pit) });
        self.turn = Side::North;
        effects.record(Effect::Choose { pit });
    }

    /// Both hands are lifted, and in each step first South's and then North's drops a seed, until both are empty.
    ///
    /// The loop ends because each drop takes a hand forward by at least one place. Within as many drops as the ring has
    /// places, a hand comes to its own store. It leaves a seed there for good, and at most all seeds can stay there.
    pub(super) fn sow_in_lockstep(&mut self, south: Pit, north: Pit, effects: &mut impl EffectSink) {
        let mut hands = [(Side::South, south), (Side::North, north)]
            .map(|(side, pit)| Hand::lift(&mut self.board, side, pit, effects));
        let mut shown = Side::North;
        while hands.iter().any(|hand| hand.seeds > 0) {
            for hand in hands.iter_mut().filter(|hand| hand.seeds > 0) {
                if hand.side != shown {
                    effects.record(Effect::Hand { side: hand.side });
                    shown = hand.side;
                }
                self.drop_one(hand, effects);
            }
        }
        if self.round_is_over() {
            self.finish_round(effects);
        } else {
            self.turn = next_to_move(&hands, self.board.ring());
        }
    }

    /// Drops one seed of a hand. A last one lifts the pit where seeds lay, or else may capture (R3, R5).
    fn drop_one(&mut self, hand: &mut Hand, effects: &mut impl EffectSink) {
        let ring = self.board.ring();
        hand.spot = ring.after_skipping(hand.spot, hand.skipped);
        self.board.drop(hand.spot, 1);
        hand.seeds -= 1;
        hand.dropped += 1;
        let place = ring.place(hand.spot);
        effects.record(Effect::Sow { to: place });
        match place {
            Place::Store(_) => hand.has_banked = true,
            Place::Pit(_) if hand.seeds > 0 => {}
            Place::Pit(pit) if self.board.at(hand.spot) > 1 => {
                hand.seeds = self.board.lift(hand.spot);
                effects.record(Effect::Relay { pit, seeds: hand.seeds });
            }
            Place::Pit(last) => self.end_in_pit(hand.side, last, hand.has_banked, effects),
        }
    }
}

/// R10: a side whose hand has ended in its own store still has an extra move, so it comes before one whose hand has not.
/// Otherwise the hand that was empty first is the first to move, and in the same step South.
fn next_to_move([south, north]: &[Hand; 2], ring: Ring) -> Side {
    match (south.has_ended_in_store(ring), north.has_ended_in_store(ring)) {
        (true, false) => Side::South,
        (false, true) => Side::North,
        _ if north.dropped < south.dropped => Side::North,
        _ => Side::South,
    }
}
