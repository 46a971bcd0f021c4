//! Games in and out: export, import, the export of personal data, and the check of stored logs.

pub mod archive;
mod archive_damage;
mod archived_answers;
mod archived_feed;
pub mod deletion;
pub mod export;
pub mod four_rows;
pub mod import;
pub mod import_quota;
pub mod personal_export;
pub mod transfer_commands;
pub mod uploads;
pub mod verify;
