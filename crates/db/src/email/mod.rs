//! E-mail addresses of accounts, the tokens of links, requests for a new password, and the outbox of mails.

pub mod addresses;
pub mod outbox;
mod purge;
pub mod resets;
pub mod restoration;

pub use purge::purge;

/// The hash of a link's token. The token itself is not stored.
pub type TokenHash = [u8; 32];
