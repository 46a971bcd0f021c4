//! Solves small boards completely and compares with values known from elsewhere: a check that reaches every rule at
//! once, to the very end of every line of play.

use std::{cmp::Ordering, collections::HashMap};

use mancala_rules::{AnyOptions, AnyPosition, Board, Move, Side, Variant};

/// From "Solving Kalah" by Geoffrey Irving, Jeroen Donkers and Jos Uiterwijk (ICGA Journal, 2000): pits per side, and
/// whether the opening is a win, a loss or a draw with 1, 2, 3, ... seeds a pit.
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
fn declining_extra_moves_is_worth_two_seeds_on_a_board_of_three_by_three() {
    assert_eq!(value("standard", "pits=3;seeds=3"), 2);
    assert_eq!(value("standard", "pits=3;seeds=3;extra_turn=optional"), 4);
}

/// South's store minus North's after best play by both.
fn value(preset: &str, overrides: &str) -> i32 {
    let options = AnyOptions::parse(Variant::Kalah, preset, overrides).unwrap();
    best(&AnyPosition::opening(&options), &mut HashMap::new())
}

/// What South still gains over North, by seeds in pits, side to move, and whether it may pass. The stores so far make
/// no difference to that as long as there is no majority end.
type Known = HashMap<(Vec<u16>, Side, bool), i32>;

fn best(position: &AnyPosition, known: &mut Known) -> i32 {
    let board = position.board();
    let moves = position.legal_moves();
    let pits = Side::ALL.iter().flat_map(|&side| board.pits(side)).copied().collect();
    let key = (pits, position.turn(), moves.contains(&Move::Pass));
    if let Some(gain) = known.get(&key) {
        return balance(&board) + gain;
    }
    let values = moves.into_iter().map(|m| {
        let mut next = position.clone();
        next.play_unchecked(m);
        best(&next, known)
    });
    let value = match position.turn() {
        Side::South => values.max(),
        Side::North => values.min(),
    };
    let value = value.unwrap_or(balance(&board));
    known.insert(key, value - balance(&board));
    value
}

fn balance(board: &Board) -> i32 {
    i32::from(board.store(Side::South)) - i32::from(board.store(Side::North))
}
