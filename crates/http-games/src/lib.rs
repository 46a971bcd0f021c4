//! The endpoints of games: games and their events, records, study, variants, and the webhooks that report on games.

#![forbid(unsafe_code)]

pub mod events;
pub mod games;
pub mod hints;
pub mod records;
pub mod study;
pub mod variants;
pub mod webhooks;
