//! Replays effects on a drawn board, as a client would, and compares it with the position.

use std::collections::{BTreeMap, BTreeSet};

use mancala_rules::{AnyPosition, BySide, Effect, Move, Pit, Place, Side};

/// A board, as a client that knows no rules would keep it. It has the seeds, the burnt pits and tuzdyks by place name,
/// and whether a refill burns pits.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    seeds: BTreeMap<String, u16>,
    burnt: BTreeSet<String>,
    burns: bool,
    tuzdyks: BTreeSet<String>,
}

impl Drawing {
    pub fn of(position: &AnyPosition) -> Self {
        let board = position.board();
        let (mut seeds, mut burnt) = (BTreeMap::new(), BTreeSet::new());
        for side in Side::ALL {
            seeds.insert(Place::Store(side).to_string(), board.store(side));
            for (index, &count) in (0..).zip(board.pits(side)) {
                let pit = Pit { side, index };
                seeds.insert(pit.to_string(), count);
                if position.is_burnt(pit) {
                    burnt.insert(pit.to_string());
                }
            }
        }
        let tuzdyks =
            Side::ALL.into_iter().filter_map(|side| position.tuzdyk(side)).map(|pit| pit.to_string()).collect();
        Self { seeds, burnt, burns: position.can_burn(), tuzdyks }
    }

    fn take(&mut self, pit: Pit) -> u16 {
        std::mem::take(self.at(Place::Pit(pit)))
    }

    /// Takes as many seeds from the store, or burns the pit if it gets none and the game burns pits.
    fn refill(&mut self, pit: Pit, seeds: u16) {
        *self.at(Place::Store(pit.side)) -= seeds;
        *self.at(Place::Pit(pit)) += seeds;
        if seeds == 0 && self.burns {
            self.burnt.insert(pit.to_string());
        } else {
            self.burnt.remove(&pit.to_string());
        }
    }

    fn at(&mut self, place: Place) -> &mut u16 {
        self.seeds.get_mut(&place.to_string()).expect("effects name places of the board")
    }
}

/// Draws the effects of `m` on the board before it and compares with the board after it. Also checks the seeds of each
/// effect, and that the effects come in the documented order.
pub fn check(before: &AnyPosition, m: Move, effects: &[Effect], after: &AnyPosition) {
    if before.lockstep().is_some() {
        return check_lockstep(before, m, effects, after);
    }
    check_order(effects);
    check_last(effects);
    let (mut drawing, before) = (Drawing::of(before), before.board());
    let mut hand = 0;
    let mut last = None;
    for effect in effects {
        match *effect {
            Effect::Lift { pit, seeds } => {
                assert!(m == Move::Sow(pit) || m == Move::Decline(pit), "lifted by {m}");
                hand = drawing.take(pit);
                assert_eq!(hand, seeds, "lifted by {m}");
            }
            Effect::Sow { to } => {
                hand -= 1;
                *drawing.at(to) += 1;
                last = Some(to);
            }
            Effect::Relay { pit, seeds } => {
                assert_eq!((hand, last), (0, Some(Place::Pit(pit))), "a lap begins where the one before it ended");
                hand = drawing.take(pit);
                assert_eq!(hand, seeds, "lifted by {m}");
                assert!(hand > 1, "the pit held seeds before the last one fell");
            }
            Effect::Capture { ref from, seeds, to } => {
                assert_eq!(hand, 0, "a capture comes after the last seed");
                assert!(matches!(m, Move::Sow(_)), "a declined capture does not happen");
                let counts: Vec<u16> = from.iter().map(|&pit| drawing.take(pit)).collect();
                assert!(!counts.contains(&0), "only pits with seeds are named");
                let chain = counts.iter().all(|count| [2, 3].contains(count)) && from.iter().all(|pit| pit.side != to);
                // The pit of the last seed comes first, or it keeps its seed and is missing.
                let opposite = if Some(Place::Pit(from[0])) == last { counts[0] == 1 } else { counts.len() == 1 };
                // In Toguz Kumalak and Bestemshe the last seed makes an even number on the other row, or three for a tuzdyk. In the
                // toy it makes an even number on the own row.
                let is_even = counts[0].is_multiple_of(2);
                let even = is_even || counts[0] == 3 && from[0].side != to;
                let alone = even && (counts.len(), Some(Place::Pit(from[0]))) == (1, last);
                assert!(chain || opposite || alone, "captured {counts:?}");
                assert_eq!(counts.iter().sum::<u16>(), seeds);
                *drawing.at(Place::Store(to)) += seeds;
            }
            Effect::Tuzdyk { pit, side } => {
                assert_eq!((side, last), (!pit.side, Some(Place::Pit(pit))));
                assert!(drawing.tuzdyks.insert(pit.to_string()), "a pit becomes a tuzdyk once");
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
            Effect::Level { south, north, odd } => {
                let pits = Side::ALL.into_iter().flat_map(|side| (0..before.pits_per_side()).map(move |i| (side, i)));
                let left: u16 = pits.map(|(side, index)| drawing.take(Pit { side, index })).sum();
                assert_eq!(south + north + u16::from(odd.is_some()), left);
                *drawing.at(Place::Store(Side::South)) += south;
                *drawing.at(Place::Store(Side::North)) += north;
                let [one, other] = Side::ALL.map(|side| *drawing.at(Place::Store(side)));
                assert_eq!(one, other, "both stores hold the same");
                if let Some(pit) = odd {
                    *drawing.at(Place::Pit(pit)) += 1;
                }
            }
            Effect::RoundOver { score, .. } => {
                let stores = Side::ALL.map(|side| *drawing.at(Place::Store(side)));
                assert_eq!(stores, [score.south, score.north]);
            }
            Effect::Refill { side, ref pits, seeds } => {
                assert!(!pits.is_empty() && seeds > 0, "a match without seeds for a side is over");
                let row = (0..before.pits_per_side()).map(|index| Pit { side, index });
                row.for_each(|pit| drawing.refill(pit, if pits.contains(&pit) { seeds } else { 0 }));
            }
            Effect::Pass => assert_eq!(m, Move::Pass),
            Effect::Swap => assert_eq!(m, Move::Swap),
            Effect::ExtraTurn | Effect::Own(_) | Effect::GameOver { .. } => {}
            ref other => panic!("{other:?} is of a game with four rows"),
        }
    }
    assert_eq!(hand, 0, "every seed falls");
    assert_eq!(drawing, Drawing::of(after), "after {m}: {effects:?}");
}

/// Checks the effects of the two actions of a lockstep opening: a choice alone, then two hands that sow in step.
fn check_lockstep(before: &AnyPosition, m: Move, effects: &[Effect], after: &AnyPosition) {
    let Some(south) = before.lockstep().and_then(|lockstep| lockstep.chosen) else {
        assert_eq!(m.pit().map(|pit| vec![Effect::Choose { pit }]).as_deref(), Some(effects));
        return assert_eq!(Drawing::of(before), Drawing::of(after));
    };
    let mut drawing = Drawing::of(before);
    let (mut hands, mut steps) = (BySide { south: 0, north: 0 }, BySide { south: 0, north: 0 });
    let mut side = None;
    for effect in effects {
        match *effect {
            Effect::Hand { side: next } => {
                assert_ne!(side.replace(next), Some(next), "a hand is named when it changes");
            }
            Effect::Lift { pit, seeds } => {
                let side = side.unwrap();
                assert_eq!(Move::Sow(pit), if side == Side::South { Move::Sow(south) } else { m });
                hands[side] = drawing.take(pit);
                assert_eq!(hands[side], seeds);
            }
            Effect::Sow { to } => {
                let side = side.unwrap();
                (hands[side], steps[side]) = (hands[side] - 1, steps[side] + 1);
                *drawing.at(to) += 1;
                // South is one step ahead at most, and North never, unless the other hand has ended.
                let in_step = [steps.north, steps.north + 1].contains(&steps.south);
                assert!(in_step || hands[!side] == 0, "{effects:?}");
            }
            Effect::Relay { pit, seeds } => {
                let side = side.unwrap();
                assert_eq!(hands[side], 0);
                hands[side] = drawing.take(pit);
                assert_eq!(hands[side], seeds);
            }
            Effect::Capture { ref from, seeds, to } => {
                assert_eq!((side, hands[to]), (Some(to), 0));
                assert_eq!(from.iter().map(|&pit| drawing.take(pit)).sum::<u16>(), seeds);
                *drawing.at(Place::Store(to)) += seeds;
            }
            Effect::Sweep { side, seeds, to } => {
                let row = (0..before.board().pits_per_side()).map(|index| Pit { side, index });
                assert_eq!(row.map(|pit| drawing.take(pit)).sum::<u16>(), seeds);
                *drawing.at(Place::Store(to)) += seeds;
            }
            Effect::Refill { side, ref pits, seeds } => {
                let row = (0..before.board().pits_per_side()).map(|index| Pit { side, index });
                row.for_each(|pit| drawing.refill(pit, if pits.contains(&pit) { seeds } else { 0 }));
            }
            Effect::RoundOver { .. } | Effect::GameOver { .. } => {}
            ref other => panic!("{other:?} in a lockstep opening"),
        }
    }
    assert_eq!((hands.south, hands.north), (0, 0), "every seed falls");
    assert_eq!(drawing, Drawing::of(after), "after {m}: {effects:?}");
}

/// Checks that the effects come in the documented order.
fn check_order(effects: &[Effect]) {
    let mut stage = 0;
    for effect in effects {
        let next = match effect {
            Effect::Lift { .. } | Effect::Pass | Effect::Swap => 0,
            Effect::Sow { .. } | Effect::Relay { .. } => 1,
            Effect::Capture { .. } => 2,
            Effect::Tuzdyk { .. } | Effect::Own(_) => 3,
            Effect::ExtraTurn => 4,
            Effect::Sweep { .. } | Effect::Split { .. } | Effect::Level { .. } => 5,
            Effect::RoundOver { .. } => 6,
            Effect::Refill { .. } => 7,
            Effect::GameOver { .. } => 8,
            other => panic!("{other:?} is of a game with four rows"),
        };
        assert!(next > stage || next == stage && [0, 1, 5, 7].contains(&next), "order of {effects:?}");
        stage = next;
    }
}

/// Checks that there is at most one extra turn or end, and that a new round or the end follows the end of a round.
fn check_last(effects: &[Effect]) {
    let ends = effects.iter().filter(|effect| matches!(effect, Effect::ExtraTurn | Effect::GameOver { .. }));
    assert!(ends.count() <= 1, "an extra turn or the end: {effects:?}");
    if let Some(at) = effects.iter().position(|effect| matches!(effect, Effect::RoundOver { .. })) {
        let refilled = matches!(effects[at + 1..], [Effect::Refill { .. }, Effect::Refill { .. }]);
        assert!(
            refilled || matches!(effects[at + 1..], [Effect::GameOver { .. }]),
            "a new round or the end: {effects:?}"
        );
    }
}
