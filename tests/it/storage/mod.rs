//! What is stored, and how: these tests look into the database.

pub mod append_groups;
pub mod append_interruptions;
pub mod durability;
pub mod log;
pub mod plans;
