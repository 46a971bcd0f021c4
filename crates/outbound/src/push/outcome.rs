//! The answer of a service of push notifications, and its consequence.

use std::{fmt, time::Duration};

use crate::webhook::{EndpointResponse, SendError};

/// The outcome of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The service has taken it.
    Taken,
    /// The service does not know the device, or no longer does.
    Gone,
    /// The device's token belongs to another app or environment than the server's.
    Foreign,
    /// The service will not take this notification, whenever it is sent; the device may be good.
    Refused,
    /// The service did not take the notification, but may take it later: after the seconds that it asks for, if it names any.
    Failed { retry_after_s: Option<u32>, cause: Cause },
    /// The service takes nothing from this server for this time, which is not the fault of the device.
    Postponed(Duration),
}

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// There was no answer.
    Send(SendError),
    /// The answer's status.
    Status(u16),
    /// The server itself.
    Server,
}

impl Outcome {
    /// Without an answer.
    pub const fn of_failure(error: SendError) -> Self {
        Outcome::Failed { retry_after_s: None, cause: Cause::Send(error) }
    }

    /// A failure that passes.
    pub const fn later(answer: EndpointResponse) -> Self {
        Outcome::Failed { retry_after_s: answer.retry_after_s, cause: Cause::Status(answer.status) }
    }

    /// A temporary failure; the retry comes after at least this many seconds.
    pub fn later_than(answer: EndpointResponse, seconds: u32) -> Self {
        let retry_after_s = Some(answer.retry_after_s.unwrap_or_default().max(seconds));
        Outcome::Failed { retry_after_s, cause: Cause::Status(answer.status) }
    }

    /// A failure of the server itself.
    pub const fn of_server() -> Self {
        Outcome::Failed { retry_after_s: None, cause: Cause::Server }
    }
}

/// Writes the cause as a line of the log has it.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Send(error) => error.fmt(f),
            Cause::Status(status) => write!(f, "status_{status}"),
            Cause::Server => f.write_str("server"),
        }
    }
}
