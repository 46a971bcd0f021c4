//! What a way to send says of itself.

use mancala_db::{
    DbError,
    outbound::{Full, Lane, Limits},
};
use mancala_domain::PlayerId;
use time::Duration;

/// A way to send: webhooks, push notifications or mail. An implementation knows its queue and its recipients, and decides what follows
/// from an attempt. The worker knows neither.
pub trait Channel: Send + Sync + 'static {
    /// What one lease holds for, in the order in which it is sent.
    type Due: Send + 'static;
    /// What became of it.
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

    /// Work beside the attempts, about once a second.
    fn housekeep(&self) -> impl Future<Output = Result<(), DbError>> + Send;

    /// Leases what is due in a lane, as much as there is `room` for, and nothing for players and hosts that have enough in flight.
    fn take(
        &self,
        lane: Lane,
        room: u32,
        full: &Full,
    ) -> impl Future<Output = Result<Taken<Self::Due>, DbError>> + Send;

    /// The player and the host whose attempts are counted.
    fn recipient(due: &Self::Due) -> (PlayerId, &str);

    /// Makes the attempts under a lease, and decides what follows.
    fn send(&self, due: Self::Due) -> impl Future<Output = Self::Sent> + Send;

    /// Records what became of them. What cannot be recorded while the lease lasts is sent again.
    fn record(&self, sent: &Self::Sent) -> impl Future<Output = Result<(), String>> + Send;
}

/// What a poll of a lane has leased.
#[derive(Debug)]
pub struct Taken<D> {
    pub due: Vec<D>,
    /// Whether a limit of a recipient has left out what may be due as well.
    pub has_more: bool,
}
