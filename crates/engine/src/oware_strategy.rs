//! Follows a strategy of Oware with few seeds past the positions that came before. Knows what a strategy promises
//! (`endgame_oware.rs`), and no rule.

use std::collections::HashSet;

use mancala_rules::packed::{Game, Path, Position};

use crate::{
    endgame_oware::{Gain, OwareEndgame, seeds},
    value::Bounds,
};

/// How many positions of a strategy are visited: with nine seeds, most strategies have some thousands.
const POSITIONS_MAX: usize = 50_000;

/// A position of a strategy, and whether its player is to move there.
type Place = (usize, bool);

impl OwareEndgame {
    /// The same as `gain`, but with the bounds of an empty path where the path does not matter. There, a strategy for
    /// these bounds leads to no repetition of a position of the path that is worth less.
    pub fn gain_by_strategy(&self, position: &Position, path: &Path) -> Option<Bounds> {
        let (bounds, fresh) = (self.gain(position, path)?, self.gain(position, &Path::default())?);
        let is_low = bounds.low == fresh.low || self.avoids(position, true, fresh.low, path);
        let is_high = bounds.high == fresh.high || self.avoids(position, false, -fresh.high, path);
        Some(Bounds {
            low: if is_low { fresh.low } else { bounds.low },
            high: if is_high { fresh.high } else { bounds.high },
        })
    }

    /// Whether the strategy of a player leads to no repetition of a position of the path that is worth less than so many seeds.
    fn avoids(&self, position: &Position, is_to_move: bool, wanted: i32, path: &Path) -> bool {
        let before = path.quiet(position).map(|(before, is_same_side)| (before, is_to_move == is_same_side));
        let worse = before.filter(|(before, is_to_move)| self.gain_by_repetition(before, *is_to_move) < wanted);
        let worse = worse.filter_map(|(before, is_to_move)| Some((self.place(&before)?, is_to_move))).collect();
        let mut seen = HashSet::new();
        let mut open = vec![(*position, is_to_move)];
        while let Some((position, is_to_move)) = open.pop() {
            let Some(place) = self.place(&position) else { return false };
            if seen.insert((place, is_to_move)) {
                let are_kept = self.push_kept(&position, is_to_move, &worse, &mut open);
                if !are_kept || seen.len() > POSITIONS_MAX {
                    return false;
                }
            }
        }
        true
    }

    /// Adds the positions that a strategy goes on with: after a move of its player, or after all of the other side. Returns whether
    /// the strategy keeps its gain and comes to none of these places.
    fn push_kept(
        &self,
        position: &Position,
        is_to_move: bool,
        worse: &HashSet<Place>,
        open: &mut Vec<(Position, bool)>,
    ) -> bool {
        let Some(gain) = self.gain_of(position, is_to_move) else { return false };
        let kept = self.game().legal_pits(position).map(|pit| {
            let after = self.game().play(position, pit, &Path::default());
            let rank = self.rank_after(position, &after, gain, is_to_move)?;
            let is_quiet = !after.is_over() && seeds(&after) == seeds(position);
            let is_worse = is_quiet && worse.contains(&(self.place(&after)?, !is_to_move));
            (!is_worse).then_some((rank, is_quiet.then_some(after)))
        });
        if is_to_move {
            let nearest = kept.flatten().min_by_key(|&(rank, _)| rank);
            open.extend(nearest.and_then(|(_, after)| after).map(|after| (after, false)));
            return nearest.is_some();
        }
        kept.fold(true, |are_kept, kept| {
            open.extend(kept.and_then(|(_, after)| after).map(|after| (after, true)));
            are_kept && kept.is_some()
        })
    }

    /// The rank after a move that keeps a player's gain; `None` if this one does not.
    pub(crate) fn rank_after(&self, before: &Position, after: &Position, gain: Gain, is_to_move: bool) -> Option<u8> {
        let wanted = i32::from(gain.seeds);
        if after.is_over() || seeds(after) < seeds(before) {
            return (self.gain_by(before, after, is_to_move) >= wanted).then_some(0);
        }
        let next = self.gain_of(after, !is_to_move)?;
        let is_nearer =
            next.rank < gain.rank || next.rank == gain.rank && self.gain_by_repetition(after, !is_to_move) >= wanted;
        (next.seeds > gain.seeds || next.seeds == gain.seeds && is_nearer).then_some(next.rank)
    }
}

#[cfg(test)]
mod tests {
    use mancala_rules::{AnyOptions, AnyPosition, Side, Variant, packed::Oware};

    use super::*;
    use crate::signal::Signal;

    /// Boards of Oware by every option that a table may meet, and with how many seeds they are looked at in full.
    const BOARDS: [(&str, &str, u8); 15] = [
        ("standard", "pits=6", 4),
        ("standard", "pits=3;seeds=3", 7),
        ("standard", "pits=2;seeds=4", 8),
        ("standard", "pits=1;seeds=6", 6),
        ("standard", "pits=7;seeds=2", 3),
        ("standard", "pits=3;seeds=3;majority_end=false", 7),
        ("standard", "pits=3;seeds=3;majority_remaining=sweep", 6),
        ("standard", "pits=3;seeds=3;must_feed=false", 6),
        ("standard", "pits=3;seeds=3;repetition_award=split", 6),
        ("app", "pits=3;seeds=4", 6),
        ("wari", "pits=3;seeds=3", 6),
        ("awari", "pits=3;seeds=3", 6),
        ("forfeit", "pits=3;seeds=3", 6),
        ("leave_landing", "pits=3;seeds=3", 6),
        ("leave_first", "pits=3;seeds=3", 6),
    ];

    /// A strategy has its gain in the end on two conditions. Each move keeps the gain. Each move comes nearer to an
    /// end, or goes round where a repetition is worth as much. So this proves all bounds by those with fewer seeds.
    #[test]
    fn each_gain_is_kept_by_a_strategy() {
        let (mut exact, mut looked_at) = (0, 0);
        for (preset, overrides, seeds_max) in BOARDS {
            let options = AnyOptions::parse(Variant::Oware, preset, overrides).expect("the options are valid");
            let (endgame, pits) = endgame(&options, seeds_max);
            for position in all_positions(&endgame, pits, seeds_max) {
                let moves: Vec<_> = endgame.game().legal_pits(&position).collect();
                if moves.is_empty() {
                    continue;
                }
                for is_to_move in [true, false] {
                    let gain = endgame.gain_of(&position, is_to_move).expect("it has few enough seeds");
                    let mut kept = moves.iter().map(|&pit| {
                        let after = endgame.game().play(&position, pit, &Path::default());
                        endgame.rank_after(&position, &after, gain, is_to_move).is_some()
                    });
                    let is_kept = if is_to_move { kept.any(|is_kept| is_kept) } else { kept.all(|is_kept| is_kept) };
                    assert!(is_kept, "{preset} {overrides}: {position:?} {is_to_move} {gain:?}");
                }
                let bounds = endgame.gain(&position, &Path::default()).expect("it has few enough seeds");
                assert!(bounds.low <= bounds.high, "{preset} {overrides}: {position:?} {bounds:?}");
                (exact, looked_at) = (exact + u32::from(bounds.is_exact()), looked_at + 1);
            }
        }
        assert!(looked_at > 50_000 && 2 * exact > looked_at, "{exact} of {looked_at}");
    }

    #[test]
    fn a_stopped_table_is_none() {
        let options = AnyOptions::parse(Variant::Oware, "standard", "").expect("the options are valid");
        let opening = AnyPosition::opening(&options);
        let opening = opening.of_game().expect("the game is Oware");
        let game = Oware::new(opening).expect("the board is small");
        let signal = Signal::new();
        signal.stop();
        assert!(OwareEndgame::make(&game, 6, 9, usize::MAX, &signal).is_none());
    }

    fn endgame(options: &AnyOptions, seeds_max: u8) -> (OwareEndgame, u8) {
        let opening = AnyPosition::opening(options);
        let opening = opening.of_game().expect("the game is Oware");
        let (game, pits) = (Oware::new(opening).expect("the board is small"), opening.board().pits_per_side());
        (OwareEndgame::make(&game, pits, seeds_max, usize::MAX, &Signal::new()).expect("nothing stops it"), pits)
    }

    /// All positions with so few seeds, and all stores that neither ends the game nor is impossible.
    fn all_positions(endgame: &OwareEndgame, pits: u8, seeds_max: u8) -> Vec<Position> {
        let mut positions = Vec::new();
        let mut open = vec![(Vec::new(), seeds_max)];
        while let Some((row, left)) = open.pop() {
            if row.len() < 2 * usize::from(pits) {
                open.extend((0..=left).map(|here| ([&row[..], &[here]].concat(), left - here)));
                continue;
            }
            let word = |row: &[u8]| row.iter().rev().fold(0, |word, &seeds| word << 8 | u64::from(seeds));
            let rows = [word(&row[..pits.into()]), word(&row[pits.into()..])];
            let slacks = if endgame.game().majority().is_some() { usize::from(seeds_max - left) } else { 0 };
            positions.extend((0..=slacks).map(|slack| endgame.position(rows, seeds_max - left, slack)));
        }
        assert!(positions.iter().all(|position| position.turn() == Side::South));
        positions
    }
}
