//! The discovery document of an issuer (OpenID Connect Discovery 1.0), cached for an hour. One request fetches the document while others
//! wait for it. A failure is cached for some seconds, so that an issuer that is down costs each request nothing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use tokio::sync::Mutex;

use super::failure::Failure;

/// How long the document is kept.
const KEPT_FOR: Duration = Duration::from_hours(1);

/// How long it is used while the issuer does not answer.
const USABLE_FOR: Duration = Duration::from_hours(24);

/// How long a failure is cached.
const FAILED_FOR: Duration = Duration::from_secs(5);

/// The discovery document of an issuer.
#[derive(Debug, Deserialize)]
pub(super) struct Discovery {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub jwks_uri: String,
    #[serde(default)]
    pub token_endpoint_auth_methods_supported: Vec<String>,
    /// Whether it names itself when it sends people back (RFC 9207).
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
}

/// The cached document, or the last failure to fetch it.
#[derive(Debug, Default)]
pub(super) struct DocumentCache(Mutex<Slot>);

#[derive(Debug, Default)]
struct Slot {
    value: Option<(Arc<Discovery>, Instant)>,
    failed: Option<(Instant, Failure)>,
}

impl DocumentCache {
    /// The document, fetched if there is none that is young enough.
    pub(super) async fn get(
        &self,
        fetched: impl Future<Output = Result<Discovery, Failure>>,
    ) -> Result<Arc<Discovery>, Failure> {
        let mut slot = self.0.lock().await;
        if let Some(value) = slot.younger_than(KEPT_FOR) {
            return Ok(value);
        }
        let failure = match &slot.failed {
            Some((at, failure)) if at.elapsed() < FAILED_FOR => failure.clone(),
            _ => match fetched.await {
                Ok(value) => {
                    let value = Arc::new(value);
                    *slot = Slot { value: Some((value.clone(), Instant::now())), failed: None };
                    return Ok(value);
                }
                Err(failure) => {
                    slot.failed = Some((Instant::now(), failure.clone()));
                    failure
                }
            },
        };
        slot.younger_than(USABLE_FOR).ok_or(failure)
    }
}

impl Slot {
    fn younger_than(&self, age: Duration) -> Option<Arc<Discovery>> {
        self.value.as_ref().filter(|(_, since)| since.elapsed() < age).map(|(value, _)| value.clone())
    }
}
