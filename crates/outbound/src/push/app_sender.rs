//! The connections to one service for apps. No player names its host, so they are kept far longer than those to browsers' services.

use std::{sync::Arc, time::Duration};

use hyper::body::Bytes;
use tokio::{sync::Mutex, time::timeout};

use crate::webhook::{Ages, EndpointResponse, Post, SendError, Sender};

/// Apple takes it for an attack if connections come and go.
const AGES: Ages =
    Ages { check: Duration::from_hours(1), open: Duration::from_hours(1), idle: Duration::from_mins(30) };

/// How long requests wait for the first one, which opens a connection for all. Apple allows one request at once until then.
const OPENING: Duration = Duration::from_millis(500);

/// How many connections are kept at most: their requests share one.
const OPEN_MAX: usize = 8;

/// Sends to one service.
#[derive(Clone)]
pub(super) struct AppSender {
    pub(super) sender: Sender,
    opening: Arc<Mutex<()>>,
}

impl AppSender {
    /// A sender with separate connections, and the rules of another sender.
    pub(super) fn new(sender: &Sender) -> Self {
        Self { sender: sender.clone().with_ages(AGES).with_open_max(OPEN_MAX), opening: Arc::default() }
    }

    /// Sends a request, and reads the answer.
    pub(super) async fn post(&self, post: &Post) -> Result<(EndpointResponse, Bytes), SendError> {
        let is_first = || self.sender.count_kept() == 0;
        let opening = if is_first() { timeout(OPENING, self.opening.lock()).await.ok() } else { None };
        // Another request may have opened one meanwhile; then the next ones need not wait for this one.
        let _opening = opening.filter(|_| is_first());
        self.sender.post_and_read(post).await
    }
}
