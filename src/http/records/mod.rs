//! Records of games: export, import, verification. Knows the forms of a request and an answer; `db::records` stores and reads.

pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod import_forms;
pub(crate) mod list_export;
pub(crate) mod personal_export;
pub(crate) mod verify;
