//! The operator's file with the issuers of sign-ins, and the key files that it names. They hold secrets, so no other user may open them.

use std::path::Path;

use mancala_outbound::{
    openid::{self, Issuers, SettingsError},
    webhook::{Reach, Sender},
};
use thiserror::Error;

use super::key_file::{self, KeyFileError, Links};

/// Why the file cannot be used.
#[derive(Debug, Error)]
pub enum SignInFileError {
    #[error("the file of --sign-in-file or SIGN_IN_FILE cannot be used: {0}")]
    File(#[from] KeyFileError),
    #[error("the file of --sign-in-file or SIGN_IN_FILE cannot be used: {0}")]
    Settings(#[from] SettingsError),
}

/// The issuers of a file. They are reached by `sender`. The files of keys may be named relative to the file's folder.
pub fn read_issuers(path: &Path, sender: &Sender) -> Result<Issuers, SignInFileError> {
    let text = key_file::read(path, Links::Followed)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let read_key = |name: &str| {
        key_file::read(&folder.join(name), Links::Followed).map_err(|error| format!("key_file of apple: {error}"))
    };
    let anywhere = sender.clone().with_reach(Reach::Anywhere);
    let may_reach = |url: &str, is_private| if is_private { &anywhere } else { sender }.may_reach(url);
    Ok(Issuers::new(openid::parse(&text, read_key, may_reach)?, sender))
}
