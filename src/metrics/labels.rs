//! What is counted: outcomes and kinds, each a label's value.

use std::time::Duration;

/// Whether the cache had an up-to-date game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheLookup {
    Hit,
    Miss,
}

/// The time of a request. Requests that waited on purpose are measured apart: they were not slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    Working(Duration),
    /// Includes a wait for a game to change.
    Waiting(Duration),
}

/// The outcome of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    Stored,
    Conflict,
    Failed,
}

/// The outcome of an attempt to send to a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Delivered,
    /// The attempt failed, and is retried later.
    Retried,
    /// The last attempt failed, and none follows.
    Failed,
}

/// What has become of a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailOutcome {
    Sent,
    /// The attempt failed, and is retried later.
    Retried,
    /// The mail is given up: refused, or not sent in time.
    Failed,
    /// Its address has had too many.
    Limited,
}

/// What an issuer of sign-ins has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssuerOutcome {
    /// Who a person is.
    Done,
    /// The issuer refuses a code, or its token is invalid.
    Refused,
    /// Nothing of use.
    Unavailable,
}

/// The outcome of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisOutcome {
    Done,
    /// The engine failed, and is tried again a few times.
    Failed,
}

/// The outcome of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintOutcome {
    Done,
    /// The client closed its connection.
    Cancelled,
    /// The machine was too busy, or the engine failed.
    Failed,
}

/// What a set of tokens was issued for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    Guest,
    Password,
    Refresh,
    /// A recovery code.
    Recovery,
    /// By an app, for one of its players.
    App,
    /// An identity of an issuer.
    Identity,
    /// A token of an issuer that the operator trusts for an app.
    Exchange,
}

/// A kind of token that a client presents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Access,
    Refresh,
    /// The ticket of a stream.
    Ticket,
    /// The key of an app.
    AppKey,
    /// A token of another issuer.
    Subject,
}

/// What has answered a read that a standby may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Standby,
    Primary,
}
