//! Games in which each side sows round its own two rows (R19 to R33): [`bao`] and [`omweso`], and the board that they share.
//!
//! ```
//! use mancala_rules::{AnyOptions, AnyPosition, Effect, Variant};
//!
//! let options = AnyOptions::parse(Variant::Omweso, "standard", "setup=even")?;
//! let opening = AnyPosition::opening(&options);
//! let (_, effects) = opening.play("H".parse()?)?;
//! assert_eq!(effects[0], Effect::Lift { pit: "H".parse()?, seeds: 2 });
//! assert_eq!(opening.play("HU".parse()?).unwrap_err().reason(), "wrong_form");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bao;
mod board;
mod frame;
mod help;
mod house;
pub mod omweso;
mod pit;
mod refusals;
mod setup;

pub use board::{Board, SEEDS, SEEDS_PER_SIDE};
pub use house::House;
pub use setup::ParsePositionError;
