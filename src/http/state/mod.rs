//! The state that handlers share, and what a process keeps in memory. Knows no route and no handler.

mod app_state;
pub(crate) mod clock_watch;
pub(crate) mod heavy;
pub(crate) mod history;
pub(crate) mod key_file;
pub(crate) mod mailing;
pub(crate) mod name_rules;
pub(crate) mod networks;
pub(crate) mod passwords;
pub(crate) mod permits;
mod places;
pub(crate) mod readiness;
pub(crate) mod readings;
pub(crate) mod recent;
pub(crate) mod shared_answers;
pub(crate) mod shared_reads;
pub(crate) mod sign_in_file;
pub(crate) mod sign_ins;
mod signatures;
pub(crate) mod tokens;
pub(crate) mod uploads;

pub(crate) use app_state::{AppState, Shared};
pub use app_state::{ImportQuotas, Settings};
