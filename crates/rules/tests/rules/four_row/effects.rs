//! Replays effects on a drawn board, as a client would, and compares it with the position; and writes them in one line.

use mancala_rules::{AnyPosition, BySide, Effect, Move, Pending, Pit, Place, Side};

use super::board_of;

/// What a client that knows no rules keeps of a board.
#[derive(Clone, Debug, PartialEq)]
struct Drawing {
    pits: BySide<[u16; 16]>,
    reserves: BySide<u16>,
    houses: BySide<bool>,
    blocked: Option<Pit>,
    hand: u16,
}

impl Drawing {
    fn of(position: &AnyPosition) -> Self {
        let (board, pending) = (board_of(position), position.pending());
        Self {
            pits: BySide { south: *board.pits(Side::South), north: *board.pits(Side::North) },
            reserves: BySide { south: board.reserve(Side::South), north: board.reserve(Side::North) },
            houses: BySide { south: board.owns_house(Side::South), north: board.owns_house(Side::North) },
            blocked: board.blocked(),
            hand: pending.map_or(0, |Pending { hand, .. }| hand),
        }
    }

    fn at(&mut self, pit: Pit) -> &mut u16 {
        &mut self.pits[pit.side][usize::from(pit.index)]
    }

    fn lift(&mut self, pit: Pit) -> u16 {
        std::mem::take(self.at(pit))
    }

    fn apply(&mut self, mover: Side, m: Move, effect: &Effect) {
        match *effect {
            Effect::Place { pit, seeds } => {
                assert!(seeds > 0 && pit.side == mover);
                self.reserves[mover] -= seeds;
                *self.at(pit) += seeds;
            }
            Effect::Lift { pit, seeds } | Effect::Relay { pit, seeds } => {
                assert_eq!(self.hand, 0, "a lap begins with an empty hand");
                self.hand = self.lift(pit);
                assert_eq!((self.hand, pit.side), (seeds, mover));
                assert!(seeds > 0);
            }
            Effect::Tax { pit, seeds } => {
                assert_eq!((self.hand, seeds), (0, 2));
                *self.at(pit) -= seeds;
                self.hand = seeds;
            }
            Effect::Resume { seeds, .. } => assert_eq!(self.hand, seeds),
            Effect::Sow { to: Place::Pit(to) } => {
                assert_eq!(to.side, mover);
                self.hand -= 1;
                *self.at(to) += 1;
            }
            Effect::Take { ref from, seeds } => {
                assert_eq!(self.hand, 0, "a capture comes after the last seed");
                let counts: Vec<u16> = from.iter().map(|&pit| self.lift(pit)).collect();
                assert!(!counts.contains(&0) && from.iter().all(|pit| pit.side != mover));
                self.hand = counts.iter().sum();
                assert_eq!(self.hand, seeds);
            }
            Effect::HouseLost { side } => assert!(std::mem::take(&mut self.houses[side]), "a house is lost once"),
            Effect::Pass => assert_eq!(m, Move::Pass),
            Effect::ExtraTurn => {}
            Effect::Reserve { side, seeds } => {
                assert_eq!((side, self.hand), (mover, seeds));
                self.reserves[side] += std::mem::take(&mut self.hand);
            }
            Effect::Unblock { pit } => assert_eq!(self.blocked.take(), Some(pit)),
            Effect::Block { pit } => assert_eq!(self.blocked.replace(pit), None),
            Effect::GameOver { .. } => self.blocked = None,
            ref other => panic!("{other:?} is of a game with two rows"),
        }
    }
}

/// Draws the effects of `m` on the board before it and compares with the board after it.
pub fn check(before: &AnyPosition, m: Move, effects: &[Effect], after: &AnyPosition) {
    check_order(effects);
    let mut drawing = Drawing::of(before);
    for effect in effects {
        drawing.apply(before.turn(), m, effect);
    }
    assert_eq!(drawing, Drawing::of(after), "{m} in {before}: {effects:?}");
    let reason = effects.iter().find_map(|effect| match effect {
        Effect::GameOver { reason } => Some(*reason),
        _ => None,
    });
    assert_eq!(reason, after.outcome().and_then(|outcome| outcome.reason));
    let goes_on = effects.contains(&Effect::ExtraTurn) && reason.is_none();
    assert_eq!(goes_on, after.pending().is_some() || after.arranging().is_some_and(|pit| pit.side == before.turn()));
}

/// Checks that the end of an action has its parts in the documented order, each once.
fn check_order(effects: &[Effect]) {
    let stages: Vec<u8> = effects
        .iter()
        .map(|effect| match effect {
            Effect::ExtraTurn => 1,
            Effect::Reserve { .. } => 2,
            Effect::Unblock { .. } => 3,
            Effect::Block { .. } => 4,
            Effect::GameOver { .. } => 5,
            _ => 0,
        })
        .collect();
    assert!(stages.windows(2).all(|two| two[0] < two[1] || two == [0, 0]), "order of {effects:?}");
}

/// The effects in one line, as the vectors have them.
pub fn line(effects: &[Effect]) -> String {
    let mut words: Vec<String> = Vec::new();
    for effect in effects {
        let word = match effect {
            Effect::Place { pit, seeds } => format!("place {pit} {seeds}"),
            Effect::Lift { pit, seeds } => format!("lift {pit} {seeds}"),
            Effect::Tax { pit, seeds } => format!("tax {pit} {seeds}"),
            Effect::Relay { pit, seeds } => format!("relay {pit} {seeds}"),
            Effect::Resume { pit, seeds } => format!("resume {pit} {seeds}"),
            Effect::Sow { to } => {
                if let Some(word) = words.last_mut().filter(|word| word.starts_with("sow")) {
                    word.push(' ');
                    word.push_str(&to.to_string());
                    continue;
                }
                format!("sow {to}")
            }
            Effect::Take { from, seeds } => {
                let from: Vec<String> = from.iter().map(ToString::to_string).collect();
                format!("take {} {seeds}", from.join("+"))
            }
            Effect::HouseLost { side } => format!("house_lost {}", side.letter()),
            Effect::Pass => "pass".to_owned(),
            Effect::ExtraTurn => "extra_turn".to_owned(),
            Effect::Reserve { side, seeds } => format!("reserve {} {seeds}", side.letter()),
            Effect::Unblock { pit } => format!("unblock {pit}"),
            Effect::Block { pit } => format!("block {pit}"),
            Effect::GameOver { reason } => format!("game_over {reason}"),
            other => panic!("{other:?} is of a game with two rows"),
        };
        words.push(word);
    }
    words.join("; ")
}
