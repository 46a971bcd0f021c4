//! What concerns every answer: problems and headers.

pub mod headers;
pub mod problems;
