//! The state that handlers share, and what a process keeps in memory. Knows no route and no handler.

mod app_state;
pub mod clock_watch;
pub mod heavy;
pub mod history;
pub mod key_file;
pub mod mailing;
pub mod name_rules;
pub mod networks;
pub mod passwords;
pub mod permits;
mod places;
pub mod readiness;
pub mod readings;
pub mod recent;
pub mod shared_answers;
pub mod shared_reads;
pub mod sign_in_file;
pub mod sign_ins;
mod signatures;
pub mod tokens;
pub mod uploads;

pub use app_state::{AppState, Shared};
pub use app_state::{ImportQuotas, Settings};
