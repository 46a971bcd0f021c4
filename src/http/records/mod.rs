//! Records of games: export, import and its deletion, verification. Knows the forms of a request and an answer; `db::records` stores and reads.

mod cost;
pub(crate) mod export;
pub(crate) mod import;
mod import_body;
pub(crate) mod import_forms;
pub(crate) mod list_export;
pub(crate) mod my_imports;
pub(crate) mod personal_export;
pub(crate) mod verify;
