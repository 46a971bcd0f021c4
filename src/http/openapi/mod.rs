//! The OpenAPI document: what the routes derive, completed with what is true of every call, in a form that generators understand.
//!
//! This module knows no single handler; the route table passes it the derived document.

mod answers;
mod document;
mod failures;
mod requests;
mod unions;
mod version_3_0;
mod words;

pub use document::{Document, complete};
pub use version_3_0::downgrade;
