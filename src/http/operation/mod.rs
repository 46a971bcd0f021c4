//! For operators: health, metrics, and the explanation of problems.

pub(crate) mod health;
pub(crate) mod problems;
pub(crate) mod scrape;
