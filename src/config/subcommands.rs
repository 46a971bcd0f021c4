//! The commands, and the options of each.

use std::{num::NonZero, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use uuid::Uuid;

use super::{
    apps::App,
    moderation::{Names, Operators, Players, Reports},
};

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Start the service (the default). Pending migrations run first
    Serve,
    /// Run the pending migrations, and exit
    Migrate(Migrate),
    /// Print the OpenAPI document, and exit
    Openapi(Openapi),
    /// Print docs/configuration.md, and exit
    #[command(hide = true)]
    Configuration,
    /// Replay every stored move, compare the result with the stored games, and exit: with 3 if they differ. Changes nothing
    Verify(Verify),
    /// Write all games to a file, oldest first, and exit
    Export(Export),
    /// Import the games of files, and exit: with 3 if a game was refused. Reads text records, OGN, and JSON with a game per line. A
    /// rerun stores no game twice
    Import(Import),
    /// Rebuild the opening explorer from all public games with a result, and exit. Needs a database user that owns the tables. Servers may
    /// run meanwhile, and show the former explorer until the new one is complete
    Reindex(Reindex),
    /// Fold the logs of games that ended some days ago into a compact form, as servers do automatically, and exit. The exit code is 3 if a
    /// log cannot be folded. Servers may run meanwhile. The command can be stopped at any time: a rerun archives the rest. Binaries before
    /// this release cannot read the database afterwards
    Archive(Archive),
    /// Put the logs of all archived games back into the form that older binaries read, and exit. Set `ARCHIVE_AFTER_DAYS=0` for all
    /// servers first
    Unarchive(Unarchive),
    /// Write the whole database to a file while servers run, and exit. The file is a dump of PostgreSQL. Beside it, a
    /// file that ends in `.key` has the signing key of the embedded database. Needs `pg_dump`
    Backup(Backup),
    /// Replace the database by a backup, and exit. Servers may run. The database must be empty, or be kept under another name with
    /// `--replace`
    Restore(Restore),
    /// Move the embedded database to a newer major version of PostgreSQL, and exit. The server must not run. Needs the programs of
    /// both versions, and keeps the former database
    Upgrade(Upgrade),
    /// Make, list and disable the keys with which operators open `/v1/operator`
    #[command(subcommand)]
    Operators(Operators),
    /// Show, warn, rename, suspend, ban or erase a player. Running servers follow within a second
    #[command(subcommand)]
    Players(Players),
    /// List reports of players, and close them
    #[command(subcommand)]
    Reports(Reports),
    /// Change the list of words that are refused in names of players, and find names that have one
    #[command(subcommand)]
    Names(Names),
    /// Make, list or change apps: services of others whose users play here. Servers may run
    #[command(subcommand)]
    App(App),
    /// Print the exact value of a position and of each of its moves, and exit. Needs no database. Small boards of Kalah or Congkak
    /// take seconds, and Kalah with six pits of four seeds takes minutes. Larger boards are out of reach, and so is Oware with more
    /// than a few seeds, because its positions repeat
    Solve(Solve),
}

/// The role for which to migrate.
#[derive(Clone, Debug, Args)]
pub struct Migrate {
    /// Give this role of the database the rights that a server needs on all tables, also on those of later migrations. For servers
    /// that run as another user than the one that migrates
    #[arg(long, value_name = "ROLE")]
    pub grant_to: Option<String>,
}

/// The form of the document.
#[derive(Clone, Debug, Args)]
pub struct Openapi {
    /// The version of OpenAPI
    #[arg(value_enum, default_value_t)]
    pub version: OpenapiVersion,
}

/// The versions of OpenAPI in which there is a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OpenapiVersion {
    /// With webhooks
    #[default]
    #[value(name = "3.1")]
    V3_1,
    /// For generators that know no newer version
    #[value(name = "3.0")]
    V3_0,
}

/// The position to solve.
#[derive(Clone, Debug, Args)]
pub struct Solve {
    /// The game: `kalah`, `oware`, `congkak`, `bao`, `omweso`, `toguz_kumalak` or `bestemshe`
    pub variant: String,
    /// A preset of the game
    #[arg(long, default_value = "standard")]
    pub preset: String,
    /// Options that differ from the preset, such as `pits=4;seeds=3`
    #[arg(long, default_value = "")]
    pub options: String,
    /// The position in text notation. Unless set, the opening
    #[arg(long)]
    pub position: Option<String>,
    /// The size of the transposition table, in MiB
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=8192), value_name = "MIB")]
    pub table_mib: u16,
}

/// The file of a backup.
#[derive(Clone, Debug, Args)]
pub struct Backup {
    /// The file to write. An existing file is never replaced
    pub file: PathBuf,
}

/// The backup to restore.
#[derive(Clone, Debug, Args)]
pub struct Restore {
    /// The file that `backup` has written. A key file beside it is restored as well
    pub file: PathBuf,
    /// Restore even if the database has games or players. The former database is kept under another name
    #[arg(long)]
    pub replace: bool,
}

/// The programs for an upgrade.
#[derive(Clone, Debug, Args)]
pub struct Upgrade {
    /// The folder of the new programs. Unless set, the newest that are found
    #[arg(long, value_name = "FOLDER")]
    pub programs: Option<PathBuf>,
}

/// The pace of a long command, and its patience.
#[derive(Clone, Debug, Args)]
pub struct Lasting {
    /// The most games per second, so that the command does not slow down a running service. Unless set, there is no limit
    #[arg(long, value_name = "GAMES")]
    pub pace: Option<NonZero<u32>>,
    /// Seconds that the command waits for an unavailable or busy database before it fails
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u64).range(0..=86_400), value_name = "SECONDS")]
    pub outage_s: u64,
}

/// The settings of a verification.
#[derive(Clone, Debug, Args)]
pub struct Verify {
    /// A file in which the command stores its position. A rerun with the same file continues there. The file is removed at the end
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub lasting: Lasting,
}

/// The settings of a reindex.
#[derive(Clone, Debug, Args)]
pub struct Reindex {
    /// Continue an interrupted reindex, and add the games that are queued for the explorer, as after an import
    #[arg(long)]
    pub r#continue: bool,
    #[command(flatten)]
    pub lasting: Lasting,
}

/// The games to archive.
#[derive(Clone, Debug, Args)]
pub struct Archive {
    /// Days since the last event of a game whose log is archived; 0 for all games that are over
    #[arg(long, default_value_t = 7, value_name = "DAYS")]
    pub older_than_days: u16,
    #[command(flatten)]
    pub lasting: Lasting,
}

/// The settings for restoring archived logs.
#[derive(Clone, Debug, Args)]
pub struct Unarchive {
    #[command(flatten)]
    pub lasting: Lasting,
}

/// The file of an export.
#[derive(Clone, Debug, Args)]
pub struct Export {
    /// The file to write. An existing file is replaced, or extended with `--after`
    pub file: PathBuf,
    /// The format. Text records have no times and leave out moves that were taken back
    #[arg(long, value_enum, default_value_t = GameForm::Ndjson)]
    pub format: GameForm,
    /// Continue an interrupted export after this game, the last one that it named
    #[arg(long, value_name = "GAME_ID")]
    pub after: Option<Uuid>,
    /// A file in which the command stores its position. A rerun with the same files continues there. The file is removed at the end
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub lasting: Lasting,
}

/// A format of many games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GameForm {
    /// JSON, a game per line
    Ndjson,
    /// Text records, one after the other
    Text,
}

/// The files of an import.
#[derive(Clone, Debug, Args)]
pub struct Import {
    /// The files to read
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The visibility of the games
    #[arg(long, value_enum, default_value_t = ImportVisibility::Public)]
    pub visibility: ImportVisibility,
    /// Import games even if games with the same text were imported before, from any file
    #[arg(long)]
    pub again: bool,
    #[command(flatten)]
    pub lasting: Lasting,
}

/// The visibility of imported games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportVisibility {
    /// Readable and listed for all clients
    Public,
    /// Readable for clients that know the id, and not listed
    Unlisted,
}
