//! What the job needs to send.

use std::sync::Arc;

use crate::{metrics::Metrics, push::Pusher};

/// What the job needs to send.
#[derive(Clone, Debug)]
pub struct Settings {
    pub pusher: Pusher,
    pub metrics: Arc<Metrics>,
    /// How many devices are served altogether. Each holds a connection and a TLS session: about 50 KiB.
    pub attempts_max: usize,
}
