//! What the explorer knows of a game: to which positions it came, what was played there, and how it ended.
//!
//! A position is known by a key, whatever came before it: `docs/explorer.md` tells how it is made, and whoever changes that has all
//! games looked at again.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    fmt::{self, Write},
};

use mancala_rules::{AnyOptions, AnyPosition, Move, Side};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::{Event, Fact, GameResult, Played};

/// Stands for a position under its options: the first 64 bits of the SHA-256 of their text. Among a thousand million positions the
/// odds that any two share a key are about one in forty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PositionKey(pub u64);

/// In 16 hexadecimal digits.
impl fmt::Display for PositionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Makes the keys of positions that have the same options.
#[derive(Clone, Debug)]
pub struct PositionKeys(Sha256);

impl PositionKeys {
    /// Presets do not count, only what they stand for: the text names the options that do not have their default, in the order
    /// in which a variant lists them. So an option that is yet to be invented changes no key.
    pub fn of(options: &AnyOptions) -> Self {
        let variant = options.variant();
        let is_standard = |(name, value): &(&str, _)| {
            variant.options().iter().any(|spec| spec.name == *name && spec.default == *value)
        };
        let mut text = variant.to_string();
        for (name, value) in options.values().into_iter().filter(|option| !is_standard(option)) {
            write!(text, ";{name}={value}").expect("a string takes everything");
        }
        text.push(' ');
        Self(Sha256::new_with_prefix(text))
    }

    /// The key of a position with these options.
    pub fn key(&self, position: &AnyPosition) -> PositionKey {
        let hash = self.0.clone().chain_update(position.essence()).finalize();
        let (first, _) = hash.split_first_chunk().expect("a SHA-256 has 32 bytes");
        PositionKey(u64::from_be_bytes(*first))
    }
}

impl From<&AnyPosition> for PositionKey {
    fn from(position: &AnyPosition) -> Self {
        PositionKeys::of(&position.options()).key(position)
    }
}

/// That a game came to a position. Coming again and playing the same there is no other visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    pub position: PositionKey,
    /// What was played there; `None`: the game ended there.
    pub mv: Option<Move>,
    /// Whether the game had not been there before and played something else.
    pub is_first: bool,
    /// When it was played, the last time.
    pub at: OffsetDateTime,
}

/// What the explorer knows of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// Each position with each move once.
    pub visits: Vec<Visit>,
    /// The side of the board that won.
    pub winner: Option<Side>,
    /// By how many seeds South was ahead in the end, of a game that was played to its end: what the stores hold when somebody gives up,
    /// or runs out of time, or when both agree on a draw, says nothing of the moves.
    pub lead: Option<i32>,
}

impl Exploration {
    /// Of a game that began with a position, has this log, and ended with a result. What was taken back does not count: it did not lead
    /// to the result.
    pub fn of(opening: &AnyPosition, log: &[Event], result: &GameResult, ended_at: OffsetDateTime) -> Self {
        let keys = PositionKeys::of(&opening.options());
        let mut here = keys.key(opening);
        let mut last = opening;
        // The plies that count, with the position that each was played upon.
        let mut line = vec![];
        for event in log {
            let Fact::Moved(moved) = &event.fact else { continue };
            match moved.mv {
                Played::Move(mv) => line.push((moved.ply, (here, Some(mv), event.at))),
                Played::Takeback { to_ply } => line.retain(|(ply, _)| *ply <= to_ply),
            }
            here = keys.key(&moved.position);
            last = &moved.position;
        }
        let end = (here, None, ended_at);
        let lead = i32::from(result.score.south) - i32::from(result.score.north);
        Self {
            visits: visits(line.into_iter().map(|(_, visit)| visit).chain([end])),
            winner: result.winner,
            lead: last.outcome().map(|_| lead),
        }
    }
}

/// Each position with each move once, in the order of the game.
fn visits(line: impl Iterator<Item = (PositionKey, Option<Move>, OffsetDateTime)>) -> Vec<Visit> {
    let (mut visits, mut known): (Vec<Visit>, HashMap<_, usize>) = (vec![], HashMap::new());
    let mut seen = HashSet::new();
    for (position, mv, at) in line {
        match known.entry((position, mv)) {
            Entry::Occupied(same) => visits[*same.get()].at = at,
            Entry::Vacant(entry) => {
                entry.insert(visits.len());
                visits.push(Visit { position, mv, is_first: seen.insert(position), at });
            }
        }
    }
    visits
}

#[cfg(test)]
mod tests {
    use super::*;
    use mancala_rules::Variant;

    fn key(variant: Variant, preset: &str, overrides: &str, text: &str) -> PositionKey {
        let options = AnyOptions::parse(variant, preset, overrides).expect("options");
        PositionKey::from(&AnyPosition::parse(&options, text).expect("a position"))
    }

    #[test]
    fn what_does_not_decide_how_a_game_can_go_on_changes_no_key() {
        let kalah = |preset: &str, overrides: &str, text: &str| key(Variant::Kalah, preset, overrides, text);
        let after = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S";
        // Plies, and an extra move that must be made; but not whose turn it is, nor a store.
        let plain = kalah("standard", "", after);
        assert_eq!(plain, kalah("standard", "", "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S - 7 1S"));
        assert_ne!(plain, kalah("standard", "", "4,4,0,5,5,5/4,4,4,4,4,4 1-0 N - 1 1S"));
        assert_ne!(plain, kalah("standard", "", "4,4,0,5,5,5/4,4,4,4,4,4 0-1 S e 1 1S"));
        // Presets by the same rules are the same, and others are not.
        assert_eq!(kalah("bga", "end=side_empty;majority_end=false", after), plain);
        assert_eq!(kalah("standard", "seeds=4", after), plain);
        assert_ne!(kalah("bga", "", after), plain);
        // An extra move that may be declined is another matter.
        let declined = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S - 1 1S";
        assert_ne!(kalah("manual", "", after), kalah("manual", "", declined));
        // Who sits where does not count; whether the seats may still be exchanged does.
        let [swapped, plain, may_swap] = ["w", "-", "p"]
            .map(|flag| kalah("standard", "pie=true", &format!("4,4,4,4,4,0/5,5,5,4,4,4 1-0 N {flag} 1 1S")));
        assert_eq!(swapped, plain);
        assert_ne!(may_swap, plain);
    }

    #[test]
    fn the_round_counts_in_a_match_and_what_matters_in_matches_only_does_not_elsewhere() {
        let opening = "2,2,2/2,2,2 0-0 S - 0 1S";
        let congkak =
            |overrides: &str, text| key(Variant::Congkak, "standard", &format!("pits=3;seeds=2{overrides}"), text);
        let again = "2,2,2/2,2,2 0-0 S - 9 2S";
        assert_ne!(congkak(";rounds=multi", opening), congkak(";rounds=multi", again));
        assert_ne!(congkak(";rounds=multi", opening), congkak("", opening));
        assert_ne!(congkak(";rounds=multi", opening), congkak(";rounds=multi;max_rounds=3", opening));
        assert_eq!(congkak(";rounds=multi", opening), congkak(";rounds=multi;max_rounds=10", opening));
    }
}
