//! A table of the seeds that each sowing adds to each place (R3). Does not know the effect of the last seed.

use arrayvec::ArrayVec;

use super::{
    Position,
    half::{Half, OTHER, PITS_MAX, STORE},
};

/// All places: the pits and the store of the own half, then those of the other.
const PLACES: usize = 16;

/// How many counts of seeds a hand can hold, from none to [`SEEDS_MAX`](super::half::SEEDS_MAX).
const HANDS: usize = 256;

/// The result of sowing each pit with each number of seeds.
#[derive(Clone, Debug)]
pub(super) struct Sowing {
    by_origin: Box<[[Sown; HANDS]; PLACES]>,
}

/// The seeds that one hand drops on each place.
#[derive(Clone, Copy, Debug, Default)]
struct Sown {
    own: Half,
    other: Half,
    /// The place of the last seed; the origin if the hand was empty.
    last: u8,
}

impl Sowing {
    /// Computes the table by dropping one seed after the other along the ring. `skips` takes an origin and a place, and
    /// returns whether the sowing skips that place. It must not skip every pit.
    pub fn new(pits: u8, skips: impl Fn(u8, u8) -> bool) -> Self {
        let half = (0..pits.min(PITS_MAX)).chain([STORE]);
        let ring: ArrayVec<u8, PLACES> = half.clone().chain(half.map(|place| OTHER + place)).collect();
        // A vector first, because an array would be built on the stack.
        let by_origin = vec![[Sown::default(); HANDS]; PLACES];
        let mut by_origin: Box<[[Sown; HANDS]; PLACES]> =
            by_origin.try_into().expect("the vector has as many entries as places");
        for (origin, by_hand) in (0..).zip(by_origin.iter_mut()) {
            let is_pit = ring.contains(&origin) && origin % OTHER != STORE;
            let after = ring.iter().copied().cycle().skip_while(|&place| place != origin).skip(1);
            let mut places = after.filter(|&place| !skips(origin, place));
            let mut sown = Sown { last: origin, ..Sown::default() };
            for entry in by_hand {
                *entry = sown;
                // Only pits are sown. Sowing any other place leaves its seeds there and reports the store as the place
                // of the last seed, which ends a sowing in laps.
                let place = if is_pit { places.next().unwrap_or(origin) } else { origin };
                sown.last = if is_pit { place } else { STORE };
                let half = if place < OTHER { &mut sown.own } else { &mut sown.other };
                half.drop(place, 1);
            }
        }
        Self { by_origin }
    }

    /// Lifts all seeds of a place and sows them. Returns the place of the last seed.
    #[inline]
    pub fn sow(&self, position: &mut Position, origin: u8) -> u8 {
        let hand = position.lift(origin);
        let sown = &self.by_origin[usize::from(origin) % PLACES][usize::from(hand)];
        position.own += sown.own;
        position.other += sown.other;
        sown.last
    }
}
