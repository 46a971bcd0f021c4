//! The documents: what they show is run, and compared with what the server answers.

pub mod asynchronous;
pub mod openapi;
pub mod readme;
