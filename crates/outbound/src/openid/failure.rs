//! Why an issuer has no answer.

use thiserror::Error;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// The issuer does not answer, or its answer is invalid. The words are for the operator.
    #[error("{0}")]
    Unavailable(String),
    /// The code or the token is wrong, in these words.
    #[error("{0}")]
    Refused(&'static str),
    /// The issuer refuses the code for an unusual reason: its word, for the operator.
    #[error("it refuses a code: {0}")]
    CodeRefused(String),
}

impl Failure {
    pub(super) fn unavailable(cause: impl Into<String>) -> Self {
        Self::Unavailable(cause.into())
    }
}
