//! The documentation: the OpenAPI document, the page that shows it with forms, and pages from the Markdown files of `docs/`.
//!
//! All of it is made once, when the server starts. It knows the document, and no handler.

mod markdown;
mod order;
mod pages;

pub(crate) use pages::{DOCUMENT, DOCUMENT_3_0, Documentation, FOLDER};
