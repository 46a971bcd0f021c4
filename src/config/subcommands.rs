//! The commands, and the options of each.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use uuid::Uuid;

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Start the service (the default). Pending migrations run first
    Serve,
    /// Run the pending migrations, and exit
    Migrate,
    /// Print the OpenAPI document, and exit
    Openapi,
    /// Print docs/configuration.md, and exit
    #[command(hide = true)]
    Configuration,
    /// Replay every stored move, compare the result with the stored games, and exit: with 1 if they differ. Changes nothing
    Verify,
    /// Write all games to a file, oldest first, and exit
    Export(Export),
    /// Import the games of files, and exit: with 1 if a game was refused. Reads text records, OGN, and one JSON game a line
    Import(Import),
    /// Rebuild the opening explorer from all public games with a result, and exit. Needs a database user that may truncate tables.
    /// Servers may run meanwhile, and finish the work if the command is interrupted
    Reindex,
    /// Print the exact value of a position and of each of its moves, and exit. Needs no database. Small boards of Kalah or Congkak
    /// take seconds, and Kalah with six pits of four seeds takes minutes. Larger boards are out of reach, and so is Oware with more
    /// than a few seeds, because its positions repeat
    Solve(Solve),
}

/// What to solve.
#[derive(Clone, Debug, Args)]
pub struct Solve {
    /// The game: kalah, oware or congkak
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

/// What to export.
#[derive(Clone, Debug, Args)]
pub struct Export {
    /// The file to write. An existing file is replaced, or extended with `--after`
    pub file: PathBuf,
    /// The format. Text records have no times and leave out moves that were taken back
    #[arg(long, value_enum, default_value_t = GameForm::Ndjson)]
    pub format: GameForm,
    /// Continue an interrupted export: write only the games after this one, the last that it named
    #[arg(long, value_name = "GAME_ID")]
    pub after: Option<Uuid>,
}

/// A format of many games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GameForm {
    /// One JSON game a line
    Ndjson,
    /// Text records, one after the other
    Text,
}

/// What to import.
#[derive(Clone, Debug, Args)]
pub struct Import {
    /// The files to read
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The visibility of the games
    #[arg(long, value_enum, default_value_t = ImportVisibility::Public)]
    pub visibility: ImportVisibility,
}

/// The visibility of imported games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportVisibility {
    /// Readable and listed for all clients
    Public,
    /// Readable for clients that know the id, and not listed
    Unlisted,
}
