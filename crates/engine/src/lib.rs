//! Playing well: what a position is worth, which move is best, how good a move was, and moves for a computer of any
//! strength.
//!
//! Pure as the rules are: no clock, no lot, no I/O. How long something may take is told in positions to look at, and
//! whoever has a clock gives a signal that stops it, or has it rest. The same question to a fresh engine has the same answer.
//!
//! **Values** are margins at the end of the game in seeds: South's less North's. Told is what the person has in the end
//! who sits at South's side *in the position that is asked about*. The two differ under the pie rule only, where people may
//! change sides; a swap is then worth what the other side was worth. A match of several rounds counts by its last round,
//! as its result does. A value is exact if it is proven: by alpha-beta to the end of every line that matters, never by
//! an estimate. Oware's rule against repetition is part of that, with all that was played before. What is remembered of a
//! position is found by its seeds themselves where they are few, and by 64 bits of hash otherwise.
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
//! What this module does not know: people, time, storage, HTTP. It searches games in their packed form where there is one
//! (`packed.rs`), and in their general form otherwise (`general.rs`), which takes six times as long.

mod engine;
mod estimate;
mod explore;
mod form;
mod general;
mod level;
mod limits;
mod mix;
mod packed;
mod progress;
mod review;
mod root;
mod search;
mod signal;
mod slot;
mod solve;
mod table;
mod tree;
mod value;

pub use engine::{Engine, TABLE_MIB_MAX};
pub use explore::{Candidate, Found};
pub use level::{Level, LevelError};
pub use limits::Limits;
pub use progress::Progress;
pub use review::{Review, ReviewError};
pub use signal::Signal;
pub use solve::Solution;
pub use value::{Evaluation, POINTS_PER_SEED};
