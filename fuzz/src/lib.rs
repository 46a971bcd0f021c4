//! The rules alone, without the server around them, so that they build in seconds.

#[path = "../../src/rules/mod.rs"]
pub mod rules;
