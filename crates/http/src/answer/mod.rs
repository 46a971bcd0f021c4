//! Parts that many answers share: the form of failures, headers, cursors and pages. Knows no route and no resource.

pub mod bounds;
pub mod code;
pub(crate) mod conversions;
pub mod cursor;
pub mod failures;
pub mod faults;
pub mod field_error;
pub mod headers;
pub mod page;
pub mod problem;
pub mod problem_page;
pub(crate) mod readiness_check;
