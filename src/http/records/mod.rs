//! Games to take along and to bring: export, import, verification.

pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod import_forms;
pub(crate) mod list_export;
pub(crate) mod personal_export;
pub(crate) mod verify;
