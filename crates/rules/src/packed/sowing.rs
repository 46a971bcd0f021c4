//! What each sowing adds to each place, worked out beforehand (R3). Knows nothing of what the last seed brings about.

use arrayvec::ArrayVec;

use super::{
    Position,
    half::{Half, OTHER, PITS_MAX, STORE},
};

/// All places: the pits and the store of the own half, then those of the other.
const PLACES: usize = 16;

/// Seeds that a hand can hold, from none to [`SEEDS_MAX`](super::half::SEEDS_MAX).
const HANDS: usize = 256;

/// What each pit sows with each number of seeds.
#[derive(Clone, Debug)]
pub(super) struct Sowing {
    by_origin: Box<[[Sown; HANDS]; PLACES]>,
}

/// What one hand leaves where.
#[derive(Clone, Copy, Debug, Default)]
struct Sown {
    own: Half,
    other: Half,
    /// The place of the last seed; that of the origin where there was none.
    last: u8,
}

impl Sowing {
    /// Drops one seed after the other along the ring. `skips` says of an origin and a place whether the sowing passes over
    /// it; some pit must be left.
    pub fn new(pits: u8, skips: impl Fn(u8, u8) -> bool) -> Self {
        let half = (0..pits.min(PITS_MAX)).chain([STORE]);
        let ring: ArrayVec<u8, PLACES> = half.clone().chain(half.map(|place| OTHER + place)).collect();
        // A vector first, because an array would be made on the stack.
        let by_origin = vec![[Sown::default(); HANDS]; PLACES];
        let mut by_origin: Box<[[Sown; HANDS]; PLACES]> = by_origin.try_into().expect("there are as many as places");
        for (origin, by_hand) in (0..).zip(by_origin.iter_mut()) {
            let is_pit = ring.contains(&origin) && origin % OTHER != STORE;
            let after = ring.iter().copied().cycle().skip_while(|&place| place != origin).skip(1);
            let mut places = after.filter(|&place| !skips(origin, place));
            let mut sown = Sown { last: origin, ..Sown::default() };
            for entry in by_hand {
                *entry = sown;
                // Nobody sows what is no pit. If somebody did, its seeds would stay, and it would not be sown on.
                let place = if is_pit { places.next().unwrap_or(origin) } else { origin };
                sown.last = if is_pit { place } else { STORE };
                let half = if place < OTHER { &mut sown.own } else { &mut sown.other };
                half.drop(place, 1);
            }
        }
        Self { by_origin }
    }

    /// Lifts all seeds of a place and sows them. Returns the place of the last.
    #[inline]
    pub fn sow(&self, position: &mut Position, origin: u8) -> u8 {
        let hand = position.lift(origin);
        let sown = &self.by_origin[usize::from(origin) % PLACES][usize::from(hand)];
        position.own += sown.own;
        position.other += sown.other;
        sown.last
    }
}
