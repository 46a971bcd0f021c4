//! E-mail addresses of accounts, the tokens of links, requests for a new password, and the outbox of mails.

pub mod addresses;
pub mod outbox;
mod purge;
pub mod resets;
pub mod restoration;

pub use purge::purge;

/// What is stored of the token of a link.
pub type TokenHash = [u8; 32];
