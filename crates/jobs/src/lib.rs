//! The work outside of requests: the jobs of a running server, and the long tasks of commands.
//!
//! A server settles games whose time has run out, and claims names that an older release stored. It ends games of erased and
//! banned players and abandoned games, and holds clocks of suspended players. It deletes expired rows, delivers webhooks and push
//! notifications, and sends mail. It plays for the computer, analyses games, archives logs and fills the explorer. Every process
//! runs these jobs; leases and optimistic locking in the database divide the work among processes. Commands verify, export, import
//! and archive all games, and fill the explorer anew.
//!
//! The jobs know the database, the domain, the engine and the rules. They know nothing of HTTP and hold no SQL.

#![forbid(unsafe_code)]

pub mod abandonment;
pub mod analyses;
pub mod archive;
pub mod computers;
pub mod deadlines;
pub mod erasure;
pub mod explorer;
pub mod lasting;
mod leaving;
pub mod mail;
pub mod maintenance;
pub mod names;
mod observation;
mod outbound;
pub mod purge;
pub mod push;
pub mod rebuild;
mod rounds;
pub mod suspended_games;
pub mod transfer;
pub mod verification;
pub mod webhooks;
