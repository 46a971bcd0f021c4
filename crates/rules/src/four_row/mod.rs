//! Bao la kiswahili and Omweso: games with four rows, in which each side sows round its own two (R19 to R33).
//!
//! [`AnyOptions`], [`AnyPosition`] and [`Variant`] work for both games; [`bao`] and [`omweso`] hold the rules of one each.
//! They have words, boards and effects of their own. [`crate::AnyPosition`] translates these for code that takes any game.
//!
//! ```
//! use mancala_rules::four_row::{AnyOptions, AnyPosition, Effect, Variant};
//!
//! let options = AnyOptions::parse(Variant::Omweso, "standard", "setup=even")?;
//! let opening = AnyPosition::opening(&options);
//! let (_, effects) = opening.play("H".parse()?)?;
//! assert_eq!(effects[0], Effect::Lift { pit: "H".parse()?, seeds: 2 });
//! assert_eq!(opening.play("HU".parse()?).unwrap_err().reason(), "wrong_form");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod any;
pub mod bao;
mod board;
mod effect;
mod frame;
mod house;
mod illegal_move;
mod moves;
pub mod omweso;
mod options;
mod pending;
mod perft;
mod pit;
mod setup;
mod variant;

pub use any::{AnyOptions, AnyPosition};
pub use board::{Board, SEEDS, SEEDS_PER_SIDE};
pub use effect::Effect;
pub use house::House;
pub use illegal_move::IllegalMove;
pub use moves::{MOVES_MAX, Move, MoveList, ParseMoveError, SEEDS_WRITTEN_MAX};
pub use options::OptionsError;
pub use pending::Pending;
pub use perft::perft;
pub use pit::{Direction, PITS, ParsePitError, Pit};
pub use setup::ParsePositionError;
pub use variant::Variant;
