//! The options of the command line and the environment, and the document that lists them.
//!
//! Nothing here knows the rest of the service.

mod apps;
mod help;
mod mail;
mod misspelt;
mod moderation;
mod options;
mod read;
mod reference;
mod subcommands;
mod values;
mod variables;

pub use apps::{App, AppKeys, AppPolicies, AppTrust, PlaysWith};
pub use mail::Mail;
pub use misspelt::{Misspelt, misspelt};
pub use moderation::{GamesOfSuspended, Names, Operators, Players, ReportFinding, Reports};
pub use options::{AccessLogFormat, AccessLogLevel, Cli, Database, LogFormat, Serve, Switch};
pub use read::Misread;
pub use reference::reference;
pub use subcommands::{
    Archive, Backup, Command, Export, GameForm, Import, ImportVisibility, Lasting, Migrate, Openapi, OpenapiVersion,
    Reindex, Restore, Solve, Unarchive, Upgrade, Verify,
};
pub use values::{Listen, Networks, Ports};
