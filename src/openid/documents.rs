//! The documents of an issuer (OpenID Connect Discovery 1.0), kept for an hour. One request fetches a document while others wait for it, and
//! a failure is remembered for some seconds, so that an issuer that is down costs each request nothing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use tokio::sync::Mutex;

use super::failure::Failure;

/// How long a document is kept.
const KEPT_FOR: Duration = Duration::from_hours(1);

/// How long a failure is remembered.
const FAILED_FOR: Duration = Duration::from_secs(5);

/// The pause between two renewals before the time.
const RENEWAL_PAUSE: Duration = Duration::from_mins(1);

/// What an issuer says of itself.
#[derive(Debug, Deserialize)]
pub(super) struct Discovery {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub jwks_uri: String,
    #[serde(default)]
    pub token_endpoint_auth_methods_supported: Vec<String>,
}

/// A document that is kept.
#[derive(Debug)]
pub(super) struct Kept<T>(Mutex<Slot<T>>);

#[derive(Debug)]
struct Slot<T> {
    value: Option<(Arc<T>, Instant)>,
    failed: Option<(Instant, String)>,
    renewed: Option<Instant>,
}

impl<T> Kept<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Slot { value: None, failed: None, renewed: None }))
    }

    /// The document, fetched if there is none that is young enough.
    pub(super) async fn get(&self, fetched: impl Future<Output = Result<T, Failure>>) -> Result<Arc<T>, Failure> {
        let mut slot = self.0.lock().await;
        match &slot.value {
            Some((value, since)) if since.elapsed() < KEPT_FOR => Ok(value.clone()),
            _ => slot.fill(fetched).await,
        }
    }

    /// A newer document than one that does not suffice, unless one was fetched for this reason a moment ago.
    pub(super) async fn newer(
        &self,
        known: Arc<T>,
        fetched: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Arc<T>, Failure> {
        let mut slot = self.0.lock().await;
        match &slot.value {
            Some((value, _)) if !Arc::ptr_eq(value, &known) => Ok(value.clone()),
            _ if slot.renewed.is_some_and(|at| at.elapsed() < RENEWAL_PAUSE) => Ok(known),
            _ => {
                slot.renewed = Some(Instant::now());
                slot.fill(fetched).await
            }
        }
    }
}

impl<T> Slot<T> {
    async fn fill(&mut self, fetched: impl Future<Output = Result<T, Failure>>) -> Result<Arc<T>, Failure> {
        if let Some((at, cause)) = &self.failed
            && at.elapsed() < FAILED_FOR
        {
            return Err(Failure::Unavailable(cause.clone()));
        }
        match fetched.await {
            Ok(value) => {
                let value = Arc::new(value);
                (self.value, self.failed) = (Some((value.clone(), Instant::now())), None);
                Ok(value)
            }
            Err(failure) => {
                self.failed = Some((Instant::now(), failure.to_string()));
                Err(failure)
            }
        }
    }
}
