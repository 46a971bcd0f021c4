//! Parts that many answers share: the form of failures, headers, cursors and pages. Knows no route and no resource.

pub(crate) mod bounds;
pub(crate) mod code;
pub(crate) mod conversions;
pub(crate) mod cursor;
pub(crate) mod failures;
pub(crate) mod faults;
pub(crate) mod field_error;
pub(crate) mod headers;
pub(crate) mod page;
pub(crate) mod problem;
pub(crate) mod problem_page;
pub(crate) mod readiness_check;
