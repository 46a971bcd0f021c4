//! Values by brute force: every line of play to its end. Slow, and simple enough to trust.

use std::collections::HashMap;

use mancala_rules::{AnyPosition, History, Move, Outcome, Side};

/// The most positions to expand for one value.
const POSITIONS_MAX: u32 = 10_000;

/// The longest line to follow.
const PLIES_MAX: u32 = 200;

/// The values of a game's positions found so far.
#[derive(Default)]
pub struct BruteForce {
    /// Values by the position's text without its ply number. A position with a history is not stored, because its value
    /// depends on the history.
    values: HashMap<String, i32>,
    /// How many positions may still be expanded.
    left: u32,
}

impl BruteForce {
    /// South's margin at the end, after best play by both. `None` if a bound is reached.
    pub fn value(&mut self, position: &AnyPosition) -> Option<i32> {
        self.left = POSITIONS_MAX;
        self.best(position, PLIES_MAX)
    }

    /// The value after this move, for the player at South's side before it.
    pub fn value_of_move(&mut self, position: &AnyPosition, m: Move) -> Option<i32> {
        self.left = POSITIONS_MAX;
        self.after(position, m, PLIES_MAX)
    }

    fn best(&mut self, position: &AnyPosition, plies: u32) -> Option<i32> {
        if let Some(outcome) = position.outcome() {
            return Some(margin(position, outcome));
        }
        let key = position.history().is_none_or(History::is_empty).then(|| key(position));
        if let Some(&value) = key.as_ref().and_then(|key| self.values.get(key)) {
            return Some(value);
        }
        self.left = self.left.checked_sub(1)?;
        let plies = plies.checked_sub(1)?;
        let values: Option<Vec<i32>> =
            position.legal_moves().into_iter().map(|m| self.after(position, m, plies)).collect();
        let value = match position.turn() {
            Side::South => values?.into_iter().max(),
            Side::North => values?.into_iter().min(),
        };
        self.values.extend(key.zip(value));
        value
    }

    fn after(&mut self, position: &AnyPosition, m: Move, plies: u32) -> Option<i32> {
        let mut next = position.clone();
        next.play_unchecked(m);
        let value = self.best(&next, plies)?;
        Some(if m == Move::Swap { -value } else { value })
    }
}

/// South's margin by the stores; where points decide a match, all seeds for a win.
fn margin(position: &AnyPosition, outcome: Outcome) -> i32 {
    let all = i32::from(position.total());
    match outcome.winner {
        _ if position.round().is_none_or(|round| round.points.is_none()) => {
            i32::from(outcome.score.south) - i32::from(outcome.score.north)
        }
        Some(Side::South) => all,
        Some(Side::North) => -all,
        None => 0,
    }
}

fn key(position: &AnyPosition) -> String {
    let text = position.to_string();
    let fields: Vec<&str> = text.split(' ').collect();
    [fields[0], fields[1], fields[2], fields[3], fields[5]].join(" ")
}
