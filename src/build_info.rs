//! The version and the commit of the running binary.

/// The version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that the binary was built from, as git's hash, with `-dirty` if its files were changed; `debug` of a debug build, and
/// `unknown` if the build did not know it.
pub const COMMIT: &str = env!("MANCALA_COMMIT");

/// Both, for `--version`.
pub const VERSION_AND_COMMIT: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("MANCALA_COMMIT"), ")");
