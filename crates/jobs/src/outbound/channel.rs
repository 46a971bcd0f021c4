//! The interface of a way to send.

use mancala_db::{
    DbError,
    outbound::{Full, Lane, Limits},
};
use mancala_domain::PlayerId;
use time::Duration;

/// A way to send: webhooks, push notifications or mail. An implementation knows its queue and its recipients, and decides on retries. The
/// worker knows neither.
pub trait Channel: Send + Sync + 'static {
    /// The items under one lease, in the order in which they are sent.
    type Due: Send + 'static;
    /// The result of sending them.
    type Sent: Send + Sync + 'static;

    /// The name in the log.
    const NAME: &'static str;

    /// The lanes, in the order in which a poll serves them.
    const LANES: &'static [Lane];

    /// The lease: longer than the attempts under it and their record take.
    const LEASE: Duration;

    /// How many attempts of a lane are in flight.
    fn limits(lane: Lane) -> Limits;

    /// How many attempts are in flight altogether.
    fn attempts_max(&self) -> usize;

    /// Housekeeping of the channel, about once a second.
    fn housekeep(&self) -> impl Future<Output = Result<(), DbError>> + Send;

    /// Leases due items of a lane, up to `room`, except for players and hosts that have enough in flight.
    fn take(
        &self,
        lane: Lane,
        room: u32,
        full: &Full,
    ) -> impl Future<Output = Result<Taken<Self::Due>, DbError>> + Send;

    /// The player and the host whose attempts are counted.
    fn recipient(due: &Self::Due) -> (PlayerId, &str);

    /// Makes the attempts under a lease, and decides on retries.
    fn send(&self, due: Self::Due) -> impl Future<Output = Self::Sent> + Send;

    /// Records the results. A result that cannot be recorded during the lease is lost, and its items are sent again.
    fn record(&self, sent: &Self::Sent) -> impl Future<Output = Result<(), String>> + Send;
}

/// The items that a poll of a lane has leased.
#[derive(Debug)]
pub struct Taken<D> {
    pub due: Vec<D>,
    /// Whether more may be due, which the limit of a recipient has left out.
    pub has_more: bool,
}
