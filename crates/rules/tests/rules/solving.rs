//! Solves small boards completely and compares with published values. This reaches every rule of Kalah, to the end of
//! every line of play.

use std::{cmp::Ordering, collections::HashMap};

use mancala_rules::{AnyBoard, AnyOptions, AnyPosition, Move, Side, Variant};

/// Pits per side, and whether the opening is a win, a loss or a draw with 1, 2, 3, … seeds a pit. The values are from
/// "Solving Kalah" by Geoffrey Irving, Jeroen Donkers and Jos Uiterwijk (ICGA Journal, 2000).
const SOLVED: [(u8, &str); 3] = [(1, "DLWLWD"), (2, "WLLLWW"), (3, "DWW")];

#[test]
fn small_boards_have_their_published_values() {
    for preset in ["standard", "empty_capture"] {
        for (pits, letters) in SOLVED {
            for (seeds, letter) in (1..).zip(letters.chars()) {
                let value = value(preset, &format!("pits={pits};seeds={seeds}"));
                let found = match value.cmp(&0) {
                    Ordering::Greater => 'W',
                    Ordering::Less => 'L',
                    Ordering::Equal => 'D',
                };
                assert_eq!(found, letter, "{preset} with {pits} pits of {seeds}");
            }
        }
    }
}

#[test]
fn optional_extra_moves_gain_two_seeds_on_a_board_of_three_by_three() {
    assert_eq!(value("standard", "pits=3;seeds=3"), 2);
    assert_eq!(value("standard", "pits=3;seeds=3;extra_turn=optional"), 4);
}

#[test]
fn declining_captures_gains_nothing_on_small_boards() {
    for (board, expected) in
        [("pits=2;seeds=3", -2), ("pits=3;seeds=2", 4), ("pits=3;seeds=3", 2), ("pits=2;seeds=4", -10)]
    {
        assert_eq!(value("standard", board), expected, "{board}");
        assert_eq!(value("standard", &format!("{board};capture=optional")), expected, "{board}");
    }
}

/// South's store minus North's after best play by both.
fn value(preset: &str, overrides: &str) -> i32 {
    let options = AnyOptions::parse(Variant::Kalah, preset, overrides).unwrap();
    best(&AnyPosition::opening(&options), &mut HashMap::new())
}

/// How many more seeds South will still store than North, by seeds in pits, side to move, and whether it may pass.
/// Without a majority end, the stores so far do not matter.
type Gains = HashMap<(Vec<u16>, Side, bool), i32>;

fn best(position: &AnyPosition, gains: &mut Gains) -> i32 {
    let board = position.board();
    let moves = position.legal_moves();
    let pits = Side::ALL.iter().flat_map(|&side| board.pits(side)).copied().collect();
    let key = (pits, position.turn(), moves.contains(&Move::Pass));
    if let Some(gain) = gains.get(&key) {
        return balance(&board) + gain;
    }
    let values = moves.into_iter().map(|m| {
        let mut next = position.clone();
        next.play_unchecked(m);
        best(&next, gains)
    });
    let value = match position.turn() {
        Side::South => values.max(),
        Side::North => values.min(),
    };
    let value = value.unwrap_or(balance(&board));
    gains.insert(key, value - balance(&board));
    value
}

fn balance(board: &AnyBoard) -> i32 {
    i32::from(board.store(Side::South)) - i32::from(board.store(Side::North))
}
