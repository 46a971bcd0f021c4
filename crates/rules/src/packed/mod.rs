//! The games again, for those who try out millions of moves: a board is two machine words, and a sowing is one addition
//! from a table.
//!
//! The rules are those of `kalah.rs`, `oware.rs` and `congkak.rs`, which tell them as `docs/rules.md` does; here they are
//! told for the machine, and the tests compare the two, position by position. What is not covered has no packed form
//! and is left to the others: boards of more than seven pits a side, optional extra moves, a swap that can still be made,
//! and matches of several rounds. A packed position counts no plies, and playing it tells no effects.
//!
//! ```
//! use mancala_rules::{kalah, packed::{Game, Kalah, Path}};
//!
//! let opening = kalah::Position::opening(kalah::Preset::Standard.options());
//! let game = Kalah::new(&opening).expect("six pits fit");
//! let start = game.pack(&opening).expect("it is of this game");
//! let path = Path::default();
//! let replies: usize = game.legal_pits(&start).map(|pit| game.legal_pits(&game.play(&start, pit, &path)).len()).sum();
//! assert_eq!(replies, 35);
//! ```

mod congkak;
mod game;
mod half;
mod kalah;
mod oware;
mod path;
mod position;
mod sowing;

pub use congkak::Congkak;
pub use game::Game;
pub use half::Pits;
pub use kalah::Kalah;
pub use oware::Oware;
pub use path::Path;
pub use position::Position;
