//! The games in a fast form, for searches that try millions of moves. A board is two machine words, and a sowing is one
//! addition from a table.
//!
//! The rules are those of [`kalah`](crate::kalah), [`oware`](crate::oware) and [`congkak`](crate::congkak), which
//! follow `docs/rules.md` closely; the tests compare the two forms, position by position. Some games have no packed
//! form: Toguz Kumalak and Bestemshe, boards of more than seven pits a side or 255 seeds, optional extra moves and
//! captures, and matches of several rounds. Neither has a position in which North can still swap, or in which both sides
//! choose the pits of a lockstep opening. A packed position counts no plies, and playing it yields no
//! effects.
//!
//! ```
//! use mancala_rules::{Game as _, kalah, packed::{Game, Kalah, Path}};
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
pub use half::{MOVES_MAX, Pits};
pub use kalah::Kalah;
pub use oware::Oware;
pub use path::Path;
pub use position::Position;
