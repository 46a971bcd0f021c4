//! Tests of Bao and Omweso through their public interface.
//!
//! - `vectors` replays whole games from independent programs; `perft` compares with known numbers.
//! - `properties` states what holds for both games, `random` draws games for it.
//! - `import`, `options` and `movetext` test the text forms of positions, moves, options and lines of moves.
//! - `compare` plays random games beside a second, naive form of the rules.
//! - `effects` redraws a board from the effects of a move.

mod compare;
mod effects;
mod import;
mod movetext;
mod naive;
mod options;
mod perft;
mod properties;
mod random;
mod vectors;

use mancala_rules::{AnyBoard, AnyPosition, Variant, four_row::Board};

/// The games with four rows.
const GAMES: [Variant; 2] = [Variant::Bao, Variant::Omweso];

fn board_of(position: &AnyPosition) -> Board {
    match position.board() {
        AnyBoard::FourRow(board) => board,
        AnyBoard::TwoRow(_) => panic!("{position} has four rows"),
    }
}
