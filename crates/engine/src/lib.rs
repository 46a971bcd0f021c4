//! Search for mancala games: the value of a position, its best move, the loss of each played move, and a computer
//! opponent of eight levels.
//!
//! The crate is pure: it has no clock, no randomness of its own and no I/O. A search is bounded by a number of
//! positions, and a caller with a clock stops or pauses it through a [`Signal`]. A fresh engine gives the same answer
//! to the same question.
//!
//! **Values** are margins at the end of the game, in seeds: South's less North's. They belong to the players as they
//! sit *in the position that is asked about*. That matters under the pie rule only, where players may exchange sides: a
//! swap is then worth what the other side was worth. A match of several rounds counts by its last round, as its result
//! does. In a game with four rows no seed decides, so a win counts all 64 and a draw none.
//!
//! A value is exact if it is proven: by alpha-beta to the end of every line that matters, never by an estimate. The
//! proof covers Oware's rule against repetition, with all positions played before. The transposition table identifies a
//! position by its seeds themselves where they are few, and by 64 bits of hash otherwise. In Kalah and Oware, positions with few seeds
//! may be known from [`Endgames`], which are made from the last seed on.
//!
//! ```
//! use mancala_engine::{Engine, Limits, Signal};
//! use mancala_rules::{AnyOptions, AnyPosition, Variant};
//!
//! let options = AnyOptions::parse(Variant::Kalah, "standard", "pits=4;seeds=2")?;
//! let opening = AnyPosition::opening(&options);
//! let mut engine = Engine::new(1);
//! let found = engine.search(&opening, Limits::nodes(100_000), &Signal::new()).expect("there are moves");
//! assert!(found.value.is_exact);
//! assert_eq!(found.value.seeds(), 6.0);
//! assert_eq!(found.best().to_string(), "D");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate does not know players, time, storage or HTTP. It searches games in their packed form where there is one
//! (`packed.rs`), and in their general form otherwise (`general.rs`), which takes six times as long.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod child;
mod endgame_index;
mod endgame_kalah;
mod endgame_oware;
mod endgames;
mod engine;
mod estimate;
mod explore;
mod form;
mod games;
mod general;
mod hint;
mod knowledge;
mod known;
mod level;
mod limits;
mod mix;
mod oware_layer;
mod oware_strategy;
mod packed;
mod progress;
mod review;
mod root;
mod search;
mod signal;
mod solve;
mod table;
mod tree;
mod value;

pub use endgames::Endgames;
pub use engine::{Engine, TABLE_MIB_MAX};
pub use explore::{Candidate, Found};
pub use hint::Hint;
pub use level::{Level, LevelError};
pub use limits::Limits;
pub use progress::Progress;
pub use review::{Review, ReviewError};
pub use signal::Signal;
pub use solve::Solution;
pub use value::{Evaluation, POINTS_PER_SEED};
