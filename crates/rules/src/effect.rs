//! What a move does, frame by frame, so that it can be shown without knowing a rule. Knows nothing of why.

use arrayvec::ArrayVec;

use super::{BySide, EndReason, PITS_MAX, Pit, Place, Side};

/// One thing that happened. The effects of an action come in this order: lift, sow for each seed, with a relay between
/// two laps of a sowing that goes on, capture; then an extra turn, or sweeps and the end of the game. A pass or a swap
/// comes first in place of lift, sow and capture. An agreed end has nothing but sweeps and the end of the game. In a game
/// of several rounds the sweeps are followed by the end of the round, and that by refills or the end of the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// All seeds of a pit are taken up into the hand.
    Lift {
        /// The pit, now empty.
        pit: Pit,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// The sowing goes on: all seeds of the pit where the last one fell are taken up into the hand.
    Relay {
        /// The pit, now empty.
        pit: Pit,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// One seed falls from the hand.
    Sow {
        /// Where it falls.
        to: Place,
    },
    /// Seeds go from pits to the mover's store.
    Capture {
        /// The pits that are emptied. In Oware those of the chain, walking back from the last seed; elsewhere first the one
        /// where the last seed fell, unless the options leave that seed there, then the one facing it if it held any.
        from: ArrayVec<Pit, PITS_MAX>,
        /// Seeds taken from all of them together.
        seeds: u16,
        /// Whose store they go to.
        to: Side,
    },
    /// The same side acts again.
    ExtraTurn,
    /// The two people change seats; nothing on the board moves.
    Swap,
    /// The extra move is declined.
    Pass,
    /// At the end, the seeds left in a row go to a store.
    Sweep {
        /// Whose row.
        side: Side,
        /// How many seeds; never zero.
        seeds: u16,
        /// Whose store.
        to: Side,
    },
    /// At the end, the seeds left in all pits are put together and shared evenly; comes in place of sweeps.
    Split {
        /// Seeds that go to each store.
        seeds: u16,
        /// The pit where an odd seed stays.
        odd: Option<Pit>,
    },
    /// One of several rounds is over.
    RoundOver {
        /// Its number, from 1.
        round: u32,
        /// Seeds in each store.
        score: BySide<u16>,
    },
    /// For a new round, seeds go from a side's store to its pits. The pits of that row which are not named are burnt
    /// until the next refill.
    Refill {
        /// Whose store, and whose row.
        side: Side,
        /// The pits that are filled, in sowing order; never none.
        pits: ArrayVec<Pit, PITS_MAX>,
        /// Seeds that each of them gets.
        seeds: u16,
    },
    /// The game is over.
    GameOver {
        /// Which rule ended it.
        reason: EndReason,
    },
}

/// Whoever is told what happens while a move is played.
pub(super) trait Witness {
    fn note(&mut self, effect: Effect);
}

/// Nobody is told, and the compiler drops the telling.
impl Witness for () {
    #[inline]
    fn note(&mut self, _: Effect) {}
}

/// Everything is written down in order.
impl Witness for Vec<Effect> {
    fn note(&mut self, effect: Effect) {
        self.push(effect);
    }
}
