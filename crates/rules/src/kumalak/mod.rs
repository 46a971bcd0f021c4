//! Toguz Kumalak and Bestemshe: games in which a last seed captures an even number of seeds (R39 to R48).
//!
//! Both have one [`Position`], because Bestemshe has no rule that Toguz Kumalak lacks. [`toguz_kumalak`] and [`bestemshe`]
//! hold the options and presets of one game each. Knows nothing of the other games.

pub mod bestemshe;
mod closing;
mod position;
mod rules;
pub mod toguz_kumalak;

pub use crate::options::MajorityRemaining;
pub use closing::RepetitionAward;
pub use position::Position;
pub use rules::{End, KumalakOptions, Rules, TuzdykSymmetry};
