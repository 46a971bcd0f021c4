//! The rules that Toguz Kumalak and Bestemshe share: a last seed captures an even number of seeds (R39 to R48).
//!
//! Both have one [`Position`], because Bestemshe has no rule that Toguz Kumalak lacks. Knows neither: a game says by its
//! [`KumalakOptions`] which rules it has.

mod position;
mod repetition;
mod rules;

pub use crate::options::MajorityRemaining;
pub use position::Position;
pub use repetition::RepetitionAward;
pub use rules::{End, KumalakOptions, Rules, TuzdykSymmetry};

pub(crate) use repetition::{NO_DRAW_AFTER_A_MAJORITY, REPETITION_AWARD_HELP, REPETITION_HELP};
