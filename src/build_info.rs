//! The version and the commit of the running binary.

/// The version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that the binary was built from, as git's hash; `unknown` if the build did not know it.
pub const COMMIT: &str = env!("MANCALA_COMMIT");
