//! The effects of a move, frame by frame, so that a client can show it without knowing a rule. Does not know their reasons.

use arrayvec::ArrayVec;

use super::{BySide, EndReason, Pit, Place, ROW_MAX, Side};

/// A thing that happened during an action.
///
/// The effects of an action come in this order:
///
/// 1. a lift, a sow for each seed with a relay between two laps, a capture, and a tuzdyk. A pass or a swap takes their
///    place;
/// 2. an extra turn, or sweeps, a split or a level and the end of the game.
///
/// In a lockstep opening of Congkak the first action is a choice alone. In the second both hands are lifted, sow and capture
/// in turn, and a hand effect says whose the effects after it are.
///
/// An agreed end has sweeps and the end of the game only. In a match of several rounds, the end of the round follows
/// the sweeps, and then come refills or the end of the game.
///
/// In a game with four rows an action begins with a place, lift, tax, relay, resume or pass. Seeds that are taken stay in
/// the hand and are sown. The end is an extra turn, a block that goes or comes, or the end of the game (R23).
///
/// ```
/// use mancala_rules::{AnyOptions, AnyPosition, Effect, Variant};
///
/// let opening = AnyPosition::opening(&AnyOptions::parse(Variant::Kalah, "standard", "")?);
/// let (_, effects) = opening.play("C".parse()?)?;
/// assert_eq!(effects[0], Effect::Lift { pit: "C".parse()?, seeds: 4 });
/// assert_eq!(effects.last(), Some(&Effect::ExtraTurn));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// All seeds of a pit are taken up into the hand.
    Lift {
        /// The pit, now empty.
        pit: Pit,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// The sowing continues: all seeds of the pit where the last one fell are lifted into the hand.
    Relay {
        /// The pit, now empty.
        pit: Pit,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// A single seed falls from the hand.
    Sow {
        /// The place where the seed falls.
        to: Place,
    },
    /// Seeds go from pits to the mover's store.
    Capture {
        /// The pits that are emptied. In Oware: those of the chain, walking back from the last seed. In Toguz Kumalak
        /// and Bestemshe: the pit of the last seed. In other games: the pit of the last seed, unless the options leave
        /// that seed there; then the pit facing it, if it held seeds.
        from: ArrayVec<Pit, ROW_MAX>,
        /// Seeds taken from all of them together.
        seeds: u16,
        /// The side whose store they go to.
        to: Side,
    },
    /// In Toguz Kumalak: after the capture of its three seeds, a pit belongs to the mover for the rest of the game. Each
    /// seed that would fall there falls in the mover's store (R44).
    Tuzdyk {
        /// The pit, which is on the other row.
        pit: Pit,
        /// The mover, who owns it from now on.
        side: Side,
    },
    /// The same side acts again.
    ExtraTurn,
    /// The two players change seats; nothing on the board moves.
    Swap,
    /// The extra move is declined, or in Bao the turn stops at the house.
    Pass,
    /// At the end, the seeds left in a row go to a store.
    Sweep {
        /// The side whose row it is.
        side: Side,
        /// How many seeds; at least one.
        seeds: u16,
        /// The side whose store they go to.
        to: Side,
    },
    /// At the end, the two sides share the seeds left in all pits evenly. A split replaces the sweeps.
    Split {
        /// Seeds that go to each store.
        seeds: u16,
        /// The pit where an odd seed stays; `None` if the count is even.
        odd: Option<Pit>,
    },
    /// In a lockstep opening, South has chosen the pit that it will sow (R10).
    Choose {
        /// The pit.
        pit: Pit,
    },
    /// In a lockstep opening: the effects that follow are of this side's hand.
    Hand {
        /// The side.
        side: Side,
    },
    /// At the end, the seeds left in all pits go to the stores so that both hold the same. A level replaces the sweeps
    /// (R45).
    Level {
        /// Seeds that go to South's store.
        south: u16,
        /// Seeds that go to North's store.
        north: u16,
        /// The pit where an odd seed stays; `None` if the count is even.
        odd: Option<Pit>,
    },
    /// A round of several is over.
    RoundOver {
        /// Its number, from 1.
        round: u32,
        /// Seeds in each store.
        score: BySide<u16>,
        /// The points of each side after it, where they decide the match.
        points: Option<BySide<u16>>,
    },
    /// For a new round, seeds go from a side's store to its pits. The other pits of that row are burnt until the next
    /// refill, or stay empty in a match that burns no pits.
    Refill {
        /// The side whose store and row they are.
        side: Side,
        /// The pits that are filled, in sowing order; at least one.
        pits: ArrayVec<Pit, ROW_MAX>,
        /// How many seeds each of them gets.
        seeds: u16,
    },
    /// With four rows: seeds go from the mover's reserve to a pit.
    Place {
        /// The pit.
        pit: Pit,
        /// How many; at least one.
        seeds: u16,
    },
    /// With four rows: some seeds of a working house are taken up into the hand; the rest stays (R24).
    Tax {
        /// The house.
        pit: Pit,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// With four rows: an action goes on with captured seeds that are in the hand (R30).
    Resume {
        /// The pit next to which the first seed falls.
        pit: Pit,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// With four rows: all seeds of pits of the other side are taken up into the mover's hand.
    Take {
        /// The pits, now empty: one in Bao; in Omweso the front pit, then the back pit.
        from: ArrayVec<Pit, 2>,
        /// Seeds in the hand.
        seeds: u16,
    },
    /// With four rows: a side owns no house any more.
    HouseLost {
        /// The side.
        side: Side,
    },
    /// With four rows: at an end in the middle of a turn, the seeds in the hand go to the mover's reserve.
    Reserve {
        /// The mover.
        side: Side,
        /// How many; at least one.
        seeds: u16,
    },
    /// With four rows: a pit is no longer blocked by takasia (R27).
    Unblock {
        /// The pit.
        pit: Pit,
    },
    /// With four rows: a pit is blocked by takasia (R27).
    Block {
        /// The pit.
        pit: Pit,
    },
    /// A thing that only one game knows.
    Own(OwnEffect),
    /// The game is over. From now on no pit is blocked.
    GameOver {
        /// Which rule ended it.
        reason: EndReason,
    },
}

/// An effect that only one game knows. A client that does not know it takes over the board after the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnEffect {
    /// Its stable word, which no other effect has.
    pub kind: &'static str,
    /// The pit where it happens.
    pub pit: Option<Pit>,
    /// The side that it concerns.
    pub side: Option<Side>,
    /// How many seeds it concerns.
    pub seeds: Option<u16>,
}

/// Receives the effects of a move while it is played.
pub trait EffectSink {
    /// Takes the next effect.
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
