//! E-mail addresses of accounts: setting and confirming one, and a new password by one. Knows nothing of how mail is sent.

mod address;
pub mod my_email;
pub mod pages;
pub mod resets;
mod restoration;
mod tokens;
pub mod verification;
