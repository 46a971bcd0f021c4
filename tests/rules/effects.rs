//! Replays effects on a board of its own, so that what a client would draw is compared with the position.

use std::collections::BTreeMap;

use mancala_server::rules::{Board, Effect, Move, Pit, Place, Side};

/// The seeds of a board by place name, as a client that knows no rules would keep them.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing(BTreeMap<String, u16>);

impl Drawing {
    pub fn of(board: &Board) -> Self {
        let mut seeds = BTreeMap::new();
        for side in Side::ALL {
            seeds.insert(Place::Store(side).to_string(), board.store(side));
            for (index, &count) in (0..).zip(board.pits(side)) {
                seeds.insert(Pit { side, index }.to_string(), count);
            }
        }
        Self(seeds)
    }

    fn take(&mut self, pit: Pit) -> u16 {
        std::mem::take(self.at(Place::Pit(pit)))
    }

    fn at(&mut self, place: Place) -> &mut u16 {
        self.0.get_mut(&place.to_string()).expect("effects name places of the board")
    }
}

/// Draws the effects of `m` on the board before it and compares with the board after it. Also checks that each effect
/// tells the truth about its seeds and that they come in the documented order.
pub fn check(before: &Board, m: Move, effects: &[Effect], after: &Board) {
    let mut drawing = Drawing::of(before);
    let mut hand = 0;
    let mut stage = 0;
    for effect in effects {
        let next = match effect {
            Effect::Lift { .. } | Effect::Pass | Effect::Swap => 0,
            Effect::Sow { .. } => 1,
            Effect::Capture { .. } => 2,
            Effect::ExtraTurn => 3,
            Effect::Sweep { .. } | Effect::Split { .. } => 4,
            Effect::GameOver { .. } => 5,
        };
        assert!(next > stage || next == stage && [0, 1, 4].contains(&next), "order of {effects:?}");
        stage = next;
        match *effect {
            Effect::Lift { pit, seeds } => {
                assert_eq!(m, Move::Sow(pit));
                hand = drawing.take(pit);
                assert_eq!(hand, seeds, "lifted by {m}");
            }
            Effect::Sow { to } => {
                hand -= 1;
                *drawing.at(to) += 1;
            }
            Effect::Capture { ref from, seeds, to } => {
                assert_eq!(hand, 0, "a capture comes after the last seed");
                let counts: Vec<u16> = from.iter().map(|&pit| drawing.take(pit)).collect();
                assert!(!counts.contains(&0), "only pits with seeds are named");
                assert!(counts[0] == 1 || counts.iter().all(|count| [2, 3].contains(count)), "captured {counts:?}");
                assert_eq!(counts.iter().sum::<u16>(), seeds);
                *drawing.at(Place::Store(to)) += seeds;
            }
            Effect::Sweep { side, seeds, to } => {
                let swept: u16 = (0..before.pits_per_side()).map(|index| drawing.take(Pit { side, index })).sum();
                assert_eq!(swept, seeds);
                assert!(swept > 0, "an empty row is not swept");
                *drawing.at(Place::Store(to)) += seeds;
            }
            Effect::Split { seeds, odd } => {
                let pits = Side::ALL.into_iter().flat_map(|side| (0..before.pits_per_side()).map(move |i| (side, i)));
                let left: u16 = pits.map(|(side, index)| drawing.take(Pit { side, index })).sum();
                assert_eq!(2 * seeds + u16::from(odd.is_some()), left);
                for side in Side::ALL {
                    *drawing.at(Place::Store(side)) += seeds;
                }
                if let Some(pit) = odd {
                    *drawing.at(Place::Pit(pit)) += 1;
                }
            }
            Effect::Pass => assert_eq!(m, Move::Pass),
            Effect::Swap => assert_eq!(m, Move::Swap),
            Effect::ExtraTurn | Effect::GameOver { .. } => {}
        }
    }
    assert_eq!(hand, 0, "every seed falls");
    assert_eq!(drawing, Drawing::of(after), "after {m}: {effects:?}");
    let ends = effects.iter().filter(|effect| matches!(effect, Effect::ExtraTurn | Effect::GameOver { .. }));
    assert!(ends.count() <= 1, "an extra turn or the end: {effects:?}");
}
