//! What concerns every answer: problems and headers.

pub mod faults;
pub mod headers;
pub mod problems;
