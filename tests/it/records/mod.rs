//! Games in and out: export, import, the export of personal data, and the check of stored logs.

pub mod export;
pub mod import;
pub mod personal_export;
pub mod verify;
