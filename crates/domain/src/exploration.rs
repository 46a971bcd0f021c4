//! The explorer's counts of a game: the positions that it reached, the moves that were played there, and its result.
//!
//! A key identifies a position, independently of earlier positions. `docs/explorer.md` says how keys are made. A change of the keys
//! requires a reindex of all games.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    fmt::{self, Write},
};

use mancala_rules::{AnyOptions, AnyPosition, Move, Side};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::{Event, Fact, Game, GameResult, Opponent, PlyAction, Reason, Visibility};

/// The fewest plies of a game that the explorer counts. A game of fewer says little about its moves, and a script plays
/// many of them.
pub const EXPLORED_PLIES_MIN: u32 = 6;

/// The fewest plies of a game that was resigned, agreed or lost on time. An earlier end says nothing about the moves, and costs a script
/// nothing.
pub const EXPLORED_BROKEN_OFF_PLIES_MIN: u32 = 20;

/// The key of a position under its options: the first 64 bits of the SHA-256 of their text. Among a thousand million
/// positions the odds that any two share a key are about one in forty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PositionKey(pub u64);

/// In 16 hexadecimal digits.
impl fmt::Display for PositionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Makes the keys of positions with the same options.
#[derive(Clone, Debug)]
pub struct PositionKeys(Sha256);

impl PositionKeys {
    /// Presets do not count, only their options. The text names the options that do not have the default of texts of
    /// games, in the order in which the variant lists them. So neither a new option nor another default changes a key of
    /// an older game.
    pub fn of(options: &AnyOptions) -> Self {
        let variant = options.variant();
        let is_standard = |(name, value): &(&str, _)| {
            variant.options().iter().any(|spec| spec.name == *name && spec.recorded_default() == value)
        };
        let mut text = variant.to_string();
        for (name, value) in options.values().into_iter().filter(|option| !is_standard(option)) {
            write!(text, ";{name}={value}").expect("writing to a string cannot fail");
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

/// The visit of a game to a position. A second visit that plays the same move is the same visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The position.
    pub position: PositionKey,
    /// The move that was played there. `None` means that the game ended there.
    pub mv: Option<Move>,
    /// Whether it is the game's first visit to the position.
    pub is_first: bool,
    /// When that was last played.
    pub at: OffsetDateTime,
}

/// The counts of a game for the explorer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// Each position with each move once.
    pub visits: Vec<Visit>,
    /// The side of the board that won.
    pub winner: Option<Side>,
    /// South's lead in seeds at the end of a game that was played to its end. The stores at a resignation, a timeout or an
    /// agreed draw say nothing about the moves.
    pub lead: Option<i32>,
}

impl Exploration {
    /// Whether the explorer counts a game. The game is public and was not played alone (against oneself, or as
    /// practice). It has a result and at least [`EXPLORED_PLIES_MIN`] plies, or [`EXPLORED_BROKEN_OFF_PLIES_MIN`] if it ended by
    /// resignation, agreement or time. Imported games count apart from the others.
    pub fn counts(visibility: Visibility, is_alone: bool, plies: u32, result: Option<&GameResult>) -> bool {
        let is_broken_off = result
            .is_some_and(|result| matches!(result.reason, Reason::Resignation | Reason::Agreement | Reason::Timeout));
        Self::may_be_counted(visibility, is_alone, plies, result)
            && (plies >= EXPLORED_BROKEN_OFF_PLIES_MIN || !is_broken_off)
    }

    /// Whether the explorer may have counted a game: until 0.3.0 it counted games of [`EXPLORED_PLIES_MIN`] plies, however they ended.
    pub fn may_be_counted(visibility: Visibility, is_alone: bool, plies: u32, result: Option<&GameResult>) -> bool {
        visibility == Visibility::Public && !is_alone && plies >= EXPLORED_PLIES_MIN && result.is_some()
    }

    /// Whether a whole game counts.
    pub fn counts_game(game: &Game) -> bool {
        let terms = game.terms();
        let is_alone = terms.opponent == Opponent::Oneself || terms.is_practice;
        Self::counts(terms.visibility, is_alone, game.ply(), game.result())
    }

    /// Counts a game that began with a position, has this log, and ended with a result. Plies that were taken back do not
    /// count: they did not lead to the result.
    pub fn of(opening: &AnyPosition, log: &[Event], result: &GameResult, ended_at: OffsetDateTime) -> Self {
        let keys = PositionKeys::of(&opening.options());
        let mut here = keys.key(opening);
        let mut last = opening;
        // The standing plies, with the position that each was played upon.
        let mut line = vec![];
        for event in log {
            let Fact::Moved(moved) = &event.fact else { continue };
            match moved.mv {
                PlyAction::Move(mv) => line.push((moved.ply, (here, Some(mv), event.at))),
                PlyAction::Takeback { to_ply, .. } => line.retain(|(ply, _)| *ply <= to_ply),
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
    use mancala_rules::{BySide, Variant};

    use super::*;

    fn key(variant: Variant, preset: &str, overrides: &str, text: &str) -> PositionKey {
        let options = AnyOptions::parse(variant, preset, overrides).expect("options");
        PositionKey::from(&AnyPosition::parse(&options, text).expect("a position"))
    }

    #[test]
    fn only_what_decides_how_a_game_can_go_on_changes_a_key() {
        let kalah = |preset: &str, overrides: &str, text: &str| key(Variant::Kalah, preset, overrides, text);
        let after = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S";
        // Plies and a compulsory extra move do not count; the turn and the stores do.
        let plain = kalah("standard", "", after);
        assert_eq!(plain, kalah("standard", "", "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S - 7 1S"));
        assert_ne!(plain, kalah("standard", "", "4,4,0,5,5,5/4,4,4,4,4,4 1-0 N - 1 1S"));
        assert_ne!(plain, kalah("standard", "", "4,4,0,5,5,5/4,4,4,4,4,4 0-1 S e 1 1S"));
        // Presets with the same rules are the same.
        assert_eq!(kalah("bga", "end=side_empty;majority_end=false", after), plain);
        assert_eq!(kalah("standard", "seeds=4", after), plain);
        assert_ne!(kalah("bga", "", after), plain);
        // An extra move that may be declined counts.
        let declined = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S - 1 1S";
        assert_ne!(kalah("manual", "", after), kalah("manual", "", declined));
        // A swap that was made does not count; a swap that may still be made does.
        let [swapped, plain, may_swap] = ["w", "-", "p"]
            .map(|flag| kalah("standard", "pie=true", &format!("4,4,4,4,4,0/5,5,5,4,4,4 1-0 N {flag} 1 1S")));
        assert_eq!(swapped, plain);
        assert_ne!(may_swap, plain);
    }

    #[test]
    fn the_explorer_counts_public_games_of_two_with_a_result() {
        let score = BySide { south: 25, north: 23 };
        let result = |reason| GameResult { winner: Some(Side::South), reason, score };
        let least = |reason| match reason {
            Reason::Resignation | Reason::Agreement | Reason::Timeout => 20,
            _ => 6,
        };
        for visibility in Visibility::ALL {
            for (is_alone, reason) in
                [false, true].into_iter().flat_map(|is_alone| Reason::all().map(move |it| (is_alone, it)))
            {
                for plies in [5, 6, 19, 20] {
                    let counts = |result| Exploration::counts(visibility, is_alone, plies, result);
                    let expected = visibility == Visibility::Public && !is_alone && plies >= least(reason);
                    assert_eq!((counts(Some(&result(reason))), counts(None)), (expected, false), "{reason} {plies}");
                }
            }
        }
    }

    #[test]
    fn the_round_and_options_of_matches_count_in_matches_only() {
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
