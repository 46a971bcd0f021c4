//! What the job needs to send.

use std::sync::Arc;

use crate::{metrics::Metrics, push::Pusher};

/// What the job needs to send.
#[derive(Clone, Debug)]
pub struct Settings {
    pub pusher: Pusher,
    pub metrics: Arc<Metrics>,
}
