//! The effects of an action, frame by frame (R23). Does not know their reasons.

use arrayvec::ArrayVec;

use super::Pit;
use crate::{EndReason, Side};

/// A thing that happened during an action.
///
/// [`Effect::Take`] and [`Effect::Place`] are the mover's, and so are the seeds in the hand. An action begins with a
/// place, lift, relay, resume or pass. Its end is an extra turn, a mark that goes or comes, or the end of the game.
///
/// ```
/// use mancala_rules::four_row::{Effect, bao};
///
/// let opening = bao::Position::opening(bao::Preset::Standard.options());
/// let (_, effects) = opening.play("FU".parse()?)?;
/// assert_eq!(effects[0], Effect::Place { pit: "F".parse()?, seeds: 1 });
/// assert_eq!(effects[1], Effect::Lift { pit: "F".parse()?, seeds: 3 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Seeds go from the mover's reserve to a pit.
    Place {
        /// The pit.
        pit: Pit,
        /// How many; at least one.
        seeds: u16,
    },
    /// All seeds of a pit are taken up into the hand for the first lap.
    Lift {
        /// The pit, now empty.
        pit: Pit,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// Some seeds of a working house are taken up into the hand for the first lap; the rest stays (R24).
    Tax {
        /// The house.
        pit: Pit,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// The next lap: all seeds of the pit where the last one fell are taken up into the hand.
    Relay {
        /// The pit, now empty.
        pit: Pit,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// An action goes on with captured seeds that are in the hand (R30).
    Resume {
        /// The pit next to which the first seed falls.
        pit: Pit,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// A single seed falls from the hand.
    Sow {
        /// The pit where it falls.
        to: Pit,
    },
    /// All seeds of pits of the other side are taken up into the hand.
    Take {
        /// The pits, now empty: one in Bao; in Omweso the front pit, then the back pit.
        from: ArrayVec<Pit, 2>,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// A side owns no house any more.
    HouseLost {
        /// The side.
        side: Side,
    },
    /// The mover stops at its house.
    Pass,
    /// The same side acts again: at a choice, or at the next pit to arrange.
    ExtraTurn,
    /// At an end in the middle of a turn, the seeds in the hand go to the mover's reserve.
    Reserve {
        /// The mover.
        side: Side,
        /// How many; at least one.
        seeds: u16,
    },
    /// A pit is no longer blocked by takasia.
    Unblock {
        /// The pit.
        pit: Pit,
    },
    /// A pit is blocked by takasia.
    Block {
        /// The pit.
        pit: Pit,
    },
    /// The game is over. From now on no pit is blocked.
    GameOver {
        /// Which rule ended it.
        reason: EndReason,
    },
}

/// Receives the effects of an action while it is played.
pub(super) trait EffectSink {
    fn record(&mut self, effect: Effect);
}

/// Discards the effects; the compiler removes the calls.
impl EffectSink for () {
    #[inline]
    fn record(&mut self, _: Effect) {}
}

/// Keeps the effects in order.
impl EffectSink for Vec<Effect> {
    fn record(&mut self, effect: Effect) {
        self.push(effect);
    }
}
