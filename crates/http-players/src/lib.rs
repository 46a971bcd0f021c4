//! The endpoints of players: players and their accounts, sign-in, e-mail, devices, apps, and operators.

#![forbid(unsafe_code)]

pub mod apps;
pub mod email;
pub mod operators;
pub mod personal_export;
pub mod players;
pub mod push;
pub mod sign_in;
