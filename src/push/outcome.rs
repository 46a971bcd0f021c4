//! What a service of push notifications answered, and what follows from it.

use std::time::Duration;

use crate::webhook::{EndpointResponse, SendError};

/// What became of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The service has taken it.
    Taken,
    /// The service does not know the device, or no more.
    Gone,
    /// The service will not take this notification, whenever it is sent; the device may be good.
    Refused,
    /// It was not taken, and may be later; after the seconds that the service asks for, if it does.
    Failed { retry_after_s: Option<u32> },
    /// The service lets this server send nothing for so long, which is not the device's fault.
    Postponed(Duration),
}

impl Outcome {
    /// Without an answer.
    pub const fn of_failure(_: SendError) -> Self {
        Outcome::Failed { retry_after_s: None }
    }

    /// A failure that passes.
    pub const fn later(answer: EndpointResponse) -> Self {
        Outcome::Failed { retry_after_s: answer.retry_after_s }
    }
}
