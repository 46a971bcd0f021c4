//! The labels of metrics: outcomes and kinds, each a value of a label.

use std::time::Duration;

/// An enum whose values are the words of a label.
pub(super) trait Labelled: Copy + PartialEq + 'static {
    /// All values.
    const ALL: &'static [Self];

    /// The word of a value.
    fn word(self) -> &'static str;
}

/// Defines enums with the words of their values.
macro_rules! labelled {
    ($($(#[$meta:meta])* pub enum $name:ident { $($(#[$of_value:meta])* $value:ident = $word:literal,)+ })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of_value])* $value,)+
        }

        impl Labelled for $name {
            const ALL: &'static [Self] = &[$(Self::$value),+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }
    )+};
}

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

labelled! {
    /// The outcome of an append.
    pub enum AppendOutcome {
        Stored = "stored",
        Conflict = "conflict",
        Failed = "failed",
    }

    /// The outcome of an attempt to send to a webhook or to a device.
    pub enum DeliveryOutcome {
        Delivered = "delivered",
        /// The attempt failed, and is retried later.
        Retried = "retried",
        /// The last attempt failed, and none follows.
        Failed = "failed",
    }

    /// Whether a message to a webhook went over a connection that was kept.
    pub enum ConnectionUse {
        Opened = "opened",
        Reused = "reused",
    }

    /// The outcome of a mail.
    pub enum MailOutcome {
        Sent = "sent",
        /// The attempt failed, and is retried later.
        Retried = "retried",
        /// The mail is given up: refused, or not sent in time.
        Failed = "failed",
        /// The address has reached its limit.
        Limited = "limited",
    }

    /// The outcome of a request to an issuer of sign-ins.
    pub enum IssuerOutcome {
        /// The issuer has confirmed the person.
        Done = "done",
        /// The issuer refuses a code, or its token is invalid.
        Refused = "refused",
        /// The answer was missing or unusable.
        Unavailable = "unavailable",
    }

    /// The outcome of an analysis.
    pub enum AnalysisOutcome {
        Done = "done",
        /// The engine failed, and is tried again a few times.
        Failed = "failed",
    }

    /// The outcome of a hint.
    pub enum HintOutcome {
        Done = "done",
        /// The client closed its connection.
        Cancelled = "cancelled",
        /// The machine was too busy, or the engine failed.
        Failed = "failed",
    }

    /// The grant for which a set of tokens was issued.
    pub enum Grant {
        Guest = "guest",
        Password = "password",
        Refresh = "refresh",
        /// A recovery code.
        Recovery = "recovery",
        /// By an app, for one of its players.
        App = "app",
        /// An identity of an issuer.
        Identity = "identity",
        /// A token of an issuer that the operator trusts for an app.
        Exchange = "exchange",
    }

    /// A kind of token that a client presents.
    pub enum TokenKind {
        Access = "access",
        Refresh = "refresh",
        /// The ticket of a stream.
        Ticket = "ticket",
        /// The key of an app.
        AppKey = "app_key",
        /// A token of another issuer.
        Subject = "subject",
    }

    /// The database that answered a read for which a standby is allowed.
    pub enum Reader {
        Standby = "standby",
        Primary = "primary",
    }
}
