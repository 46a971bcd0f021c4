//! Records of games: export, import and its deletion, verification. Knows the forms of a request and an answer; `db::records` stores and reads.

pub mod cost;
pub mod export;
pub mod import;
mod import_body;
pub mod import_forms;
pub mod list_export;
pub mod my_imports;
pub mod verify;
