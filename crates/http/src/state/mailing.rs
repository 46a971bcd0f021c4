//! Whether the server sends mail.

use crate::answer::{code::Code, problem::Problem};

/// Whether the server sends mail: its operator has named an SMTP server, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mailing {
    On,
    Off,
}

impl Mailing {
    /// Refuses an operation that needs mail if the server sends none.
    pub fn require(self) -> Result<(), Problem> {
        match self {
            Self::On => Ok(()),
            Self::Off => Err(Problem::new(
                Code::EmailNotConfigured,
                "this server sends no mail: its operator has named no SMTP server",
            )),
        }
    }
}
