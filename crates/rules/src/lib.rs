//! The games, as pure values: positions, their legal moves, the effects of moves, and the ends of games.
//!
//! Everything here is total: no function panics on any input, does I/O, reads a clock or draws random numbers. The text
//! forms (`FromStr` and `Display`) are the only wire format. This crate knows nothing of seats, time, storage or HTTP,
//! and of players only the names in records. `docs/rules.md` states the rules with their sources; a number such as R5
//! in a comment is a section of that page.
//!
//! - [`AnyOptions`], [`AnyPosition`] and [`Variant`] work for every game. Each game is a folder that implements [`Game`].
//! - [`kumalak`] has the rules that Toguz Kumalak and Bestemshe share, and [`four_row`] the board of Bao and Omweso.
//! - [`notation`] reads and writes whole games and the boards of other programs.
//! - [`packed`] plays millions of moves a second, for searches.
//!
//! A game in three steps: choose options, take the opening, play until there is an outcome.
//!
//! ```
//! use mancala_rules::{AnyOptions, AnyPosition, Effect, Variant};
//!
//! let options = AnyOptions::parse(Variant::Kalah, "standard", "seeds=4")?;
//! let opening = AnyPosition::opening(&options);
//! assert_eq!(opening.legal_moves().len(), 6);
//!
//! let (position, effects) = opening.play("C".parse()?)?;
//! assert_eq!(position.to_string(), "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S");
//! assert_eq!(effects.last(), Some(&Effect::ExtraTurn));
//!
//! let refused = position.play("C".parse()?).unwrap_err();
//! assert_eq!(refused.reason(), "empty_pit");
//! assert_eq!(position.outcome(), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[macro_use]
mod word;

#[macro_use]
mod illegal_move;

#[macro_use]
mod options;

#[macro_use]
mod games;

mod any;
mod any_board;
pub mod bao;
pub mod bestemshe;
mod board;
pub mod congkak;
mod direction;
mod effect;
pub mod four_row;
mod game;
mod history;
mod house;
pub mod kalah;
pub mod kumalak;
mod lockstep;
mod moves;
pub mod notation;
pub mod omweso;
mod outcome;
pub mod oware;
pub mod packed;
mod pending;
mod perft;
mod pit;
mod plies;
mod ring;
mod round;
mod setup;
mod side;
mod sowing;
mod sweep;
pub mod toguz_kumalak;
#[cfg(feature = "toy")]
pub mod toy;
mod variant;

pub use any::{AnyPosition, Line};
pub use any_board::AnyBoard;
pub use board::Board;
pub use direction::Direction;
pub use effect::{Effect, EffectSink, OwnEffect};
pub use game::{Game, GameSpec};
pub use games::{AnyOptions, Variant};
pub use history::{HISTORY_MAX, History};
pub use house::House;
pub use illegal_move::{IllegalMove, Refusal};
pub use lockstep::Lockstep;
pub use moves::{MOVES_MAX, Move, MoveList, ParseMoveError, SEEDS_WRITTEN_MAX};
pub use options::{
    Contradiction, GameOptions, OptionBounds, OptionKind, OptionSpec, OptionValue, OptionsError, PresetSpec,
    RecordedOption,
};
pub use outcome::{EndReason, Outcome};
pub use pending::Pending;
pub use perft::perft;
pub use pit::{PITS_MAX, ParsePitError, Pit, Place};
pub use plies::PLIES_MAX;
pub use ring::ROW_MAX;
pub use round::Round;
pub use setup::{ParsePositionError, SEEDS_MAX, Total};
pub use side::{BySide, Side};
pub use word::UnknownWord;

pub(crate) use games::State;

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
