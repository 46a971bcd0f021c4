//! Exact values of all positions with few seeds in pits, for games in which nothing else counts until the end. Knows that
//! a move which banks no seed leaves its seeds in its own row, nearer to the store, and no other rule.

use mancala_rules::{
    Side,
    packed::{Game, Path, Position},
};

use crate::{
    endgame_index::{Index, SEEDS_MAX},
    signal::Signal,
};

/// For each position, how many seeds more than the other side the side to move still gains.
#[derive(Clone, Debug)]
pub(crate) struct KalahEndgame {
    index: Index,
    gains: Vec<i8>,
}

/// The gain of a position that has none: its side to move has no seeds, so the game is over.
const NONE: i8 = i8::MIN;

impl KalahEndgame {
    /// The values of a game with so many pits a side and so many seeds: as many as fit in `bytes`. `None` if the signal
    /// stops it.
    ///
    /// They are made with fewer seeds first. Among positions with as many, a move that banks none makes the sums of a
    /// row less and leaves the other row. So the rank of the row is less.
    pub fn make<G: Game>(game: &G, pits: u8, seeds_max: u8, bytes: usize, signal: &Signal) -> Option<Self> {
        let index = Index::new(pits, seeds_max.min(SEEDS_MAX), bytes);
        let rows: Vec<_> = (0..=index.seeds_max()).map(|seeds| index.rows(pits, seeds)).collect();
        let gains = vec![NONE; index.len()];
        let (mut endgame, path) = (Self { index, gains }, Path::default());
        for seeds in 1..rows.len() {
            for fewer in 0..=seeds / 2 {
                let (few, many) = (&rows[fewer], &rows[seeds - fewer]);
                for (rank, &first) in few.iter().enumerate() {
                    if signal.is_stop_after_rest() {
                        return None;
                    }
                    let others = if 2 * fewer == seeds { &many[..=rank] } else { many };
                    for &second in others {
                        endgame.fill(game, [first, second], &path);
                        endgame.fill(game, [second, first], &path);
                    }
                }
            }
        }
        Some(endgame)
    }

    /// What the side to move still gains in a position that is not over, if it has few enough seeds.
    #[inline]
    pub fn gain(&self, position: &Position) -> Option<i32> {
        let gain = self.gains[self.index.place(position.rows())?];
        (gain != NONE).then_some(gain.into())
    }

    /// Computes the value of a position by those of its moves.
    #[inline]
    fn fill<G: Game>(&mut self, game: &G, rows: [u64; 2], path: &Path) {
        let position = Position::of_rows(rows, [0, 0]);
        let gain = game.legal_pits(&position).map(|pit| {
            let next = game.play(&position, pit, path);
            let margin = i32::from(next.store(Side::South)) - i32::from(next.store(Side::North));
            let further = if next.is_over() { 0 } else { self.gain(&next).unwrap_or(0) };
            if next.turn() == Side::South { margin + further } else { margin - further }
        });
        if let (Some(gain), Some(place)) = (gain.max(), self.index.place(rows)) {
            self.gains[place] = i8::try_from(gain).unwrap_or(NONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use mancala_rules::{AnyOptions, AnyPosition, Variant, packed::Kalah};

    use super::*;

    /// Boards of Kalah by every option that a table may meet, and with how many seeds they are compared in full.
    const BOARDS: [(&str, &str, u8); 14] = [
        ("standard", "pits=6", 5),
        ("empty_capture", "pits=6", 5),
        ("standard", "pits=3", 9),
        ("empty_capture", "pits=3", 9),
        ("standard", "pits=1", 12),
        ("standard", "pits=7", 3),
        ("both_stores", "pits=2;majority_end=false", 10),
        ("self_capture", "pits=3;majority_end=false", 7),
        ("no_capture", "pits=3;majority_end=false", 7),
        ("standard", "pits=3;capture_land=opponent", 7),
        ("standard", "pits=3;capture_land=any;empty_capture=true", 7),
        ("standard", "pits=3;extra_turn=none;end=no_move", 7),
        ("standard", "pits=3;remaining=emptier", 7),
        ("standard", "pits=3;remaining=discard;end=no_move", 7),
    ];

    /// Each value is that of the best move by the general form of the rules. As every line ends, that makes all values right.
    #[test]
    fn each_gain_is_that_of_the_best_move() {
        for (preset, overrides, seeds_max) in BOARDS {
            let options = AnyOptions::parse(Variant::Kalah, preset, overrides).expect("the options are valid");
            let (game, pits) = game(&options);
            let endgame =
                KalahEndgame::make(&game, pits, seeds_max, usize::MAX, &Signal::new()).expect("nothing stops it");
            let mut compared = 0;
            for rows in all_rows(&endgame.index, pits) {
                let position = position(&options, pits, rows);
                let gains = position.legal_moves().into_iter().map(|m| {
                    let (next, _) = position.play(m).expect("it is legal");
                    gain_after(&next, &game, &endgame)
                });
                let best = gains.max();
                if position.outcome().is_none() && best.is_some() {
                    assert_eq!(endgame.gain(&packed(&position, &game)), best, "{overrides}: {position}");
                    compared += 1;
                }
            }
            assert!(compared >= 10, "{overrides}: {compared}");
        }
    }

    #[test]
    fn a_stopped_table_is_none() {
        let options = AnyOptions::parse(Variant::Kalah, "standard", "").expect("the options are valid");
        let (game, pits) = game(&options);
        let signal = Signal::new();
        signal.stop();
        assert!(KalahEndgame::make(&game, pits, 12, usize::MAX, &signal).is_none());
    }

    /// What South gains from a position after its move, stores included.
    fn gain_after(next: &AnyPosition, game: &Kalah, endgame: &KalahEndgame) -> i32 {
        let store = |side| i32::from(next.board().store(side));
        let margin = store(Side::South) - store(Side::North);
        if let Some(outcome) = next.outcome() {
            return i32::from(outcome.score.south) - i32::from(outcome.score.north);
        }
        let further = endgame.gain(&packed(next, game)).expect("the position has few enough seeds");
        if next.turn() == Side::South { margin + further } else { margin - further }
    }

    fn game(options: &AnyOptions) -> (Kalah, u8) {
        let opening = AnyPosition::opening(options);
        let opening = opening.of_game().expect("the game is Kalah");
        (Kalah::new(opening).expect("the board is small"), opening.board().pits_per_side())
    }

    fn packed(position: &AnyPosition, game: &Kalah) -> Position {
        let board = position.board();
        let row = |side: Side| board.pits(side).iter().rev().fold(0, |row, &seeds| row << 8 | u64::from(seeds));
        let of = position.of_game().expect("the game is Kalah");
        let rows = [row(position.turn()), row(!position.turn())];
        assert!(game.pack(of).is_none_or(|packed| packed.rows() == rows));
        Position::of_rows(rows, [0, 0])
    }

    fn all_rows(index: &Index, pits: u8) -> Vec<[u64; 2]> {
        let totals = (1..=index.seeds_max()).flat_map(|seeds| (0..=seeds).map(move |own| (own, seeds - own)));
        let pairs = totals.flat_map(|(own, other)| {
            let (firsts, seconds) = (index.rows(pits, own), index.rows(pits, other));
            firsts.into_iter().flat_map(move |first| seconds.clone().into_iter().map(move |second| [first, second]))
        });
        pairs.collect()
    }

    fn position(options: &AnyOptions, pits: u8, rows: [u64; 2]) -> AnyPosition {
        let row = |row: u64| row.to_le_bytes()[..pits.into()].iter().map(u8::to_string).collect::<Vec<_>>().join(",");
        let text = format!("{}/{} 0-0 S - 20 1S", row(rows[0]), row(rows[1]));
        AnyPosition::parse_with_any_total(options, &text).expect("any seeds are valid there")
    }
}
