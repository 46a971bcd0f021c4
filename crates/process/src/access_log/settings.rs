//! The settings of the access log.

/// The requests that the access log records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// No request.
    Off,
    /// Requests with a status of 400 or more, or whose client has disconnected.
    Errors,
    /// All requests.
    All,
}

/// The format of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, an object per line.
    Json,
    /// The combined form of Apache and nginx, with milliseconds, request id and trace id at its end.
    Combined,
}
