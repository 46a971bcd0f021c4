//! The key sets of issuers, by the addresses at which they are published. A key set is fetched when it is needed, and kept for a while. It
//! is fetched again when a token names a key that is not there. Made-up keys cause no more than one fetch in a while.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use quick_cache::sync::Cache;
use tokio::{sync::OwnedMutexGuard, task::JoinHandle};

use super::keys::KeySet;
use mancala_process::repeats;

use crate::webhook::{Fetch, Fetched, Sender};

/// The age after which a key set in use is fetched again in the background, while tokens are still checked.
const REFRESHED_AFTER: Duration = Duration::from_mins(5);

/// How long a key set is used without asking its issuer. A key that an issuer withdraws counts no longer after it.
const FRESH_FOR: Duration = Duration::from_mins(10);

/// How long a key set is used while its issuer does not answer.
const USABLE_FOR: Duration = Duration::from_hours(24);

/// The pause between two fetches for keys that a set does not have. Tokens name these keys, and anyone can write a token.
const UNKNOWN_KEY_PAUSE: Duration = Duration::from_secs(30);

/// The pause after a fetch that failed, while there are no keys.
const FAILURE_PAUSE: Duration = Duration::from_secs(5);

/// The same while there are older ones, so that an issuer that hangs does not delay each token.
const OLD_KEYS_PAUSE: Duration = Duration::from_secs(30);

/// How many key sets are kept: more issuers than an operator trusts.
const SETS_MAX: usize = 256;

/// The key sets of a process.
#[derive(Debug)]
pub struct KeySets {
    sender: Sender,
    sets: Cache<String, Arc<Published>>,
}

/// The key set that is published at one address.
#[derive(Debug, Default)]
struct Published {
    known: Mutex<Known>,
    /// Held by the fetch in progress: there is one at a time.
    fetching: Arc<tokio::sync::Mutex<()>>,
}

/// The current knowledge of a key set.
#[derive(Debug, Default)]
struct Known {
    keys: Option<Arc<KeySet>>,
    fetched_at: Option<Instant>,
    failed_at: Option<Instant>,
    /// When it was last fetched for a key that it did not have.
    searched_at: Option<Instant>,
}

/// The next step for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Nothing: the set has the key.
    Nothing,
    /// The set has the key, and is to be fetched again. The token need not wait.
    Refresh,
    /// Without a fetch the token cannot be verified.
    Fetch,
    /// The set lacks the key, and was fetched a moment ago.
    Refuse,
    /// The issuer did not answer a moment ago, and is asked again after this pause.
    Wait(Duration),
}

/// There are no keys: the issuer does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoKeys {
    /// When another attempt makes sense.
    pub retry_after_s: u64,
}

impl KeySets {
    pub fn new(sender: Sender) -> Self {
        Self { sender, sets: Cache::new(SETS_MAX) }
    }

    /// The key set at a URL, which may lack the key that `has_key` looks for.
    pub async fn find(self: &Arc<Self>, url: &str, has_key: impl Fn(&KeySet) -> bool) -> Result<Arc<KeySet>, NoKeys> {
        let Ok(published) = self.sets.get_or_insert_with(url, || Ok::<_, Infallible>(Arc::default()));
        let need = published.known().need(Instant::now(), &has_key);
        match need {
            Need::Nothing | Need::Refuse | Need::Wait(_) => {}
            Need::Refresh => {
                // Without the lock, another token has begun the fetch.
                if let Ok(one) = published.fetching.clone().try_lock_owned() {
                    drop(self.start(url, published.clone(), one, Purpose::Refresh));
                }
            }
            Need::Fetch => {
                let one = published.fetching.clone().lock_owned().await;
                // Another token may have fetched it meanwhile.
                let need = published.known().need(Instant::now(), &has_key);
                if need == Need::Fetch {
                    let is_missing = published.known().keys.as_ref().is_some_and(|keys| !has_key(keys));
                    let purpose = if is_missing { Purpose::Search } else { Purpose::Refresh };
                    // A task of its own: the client of this token may go away, and others wait for the same.
                    let _ = self.start(url, published.clone(), one, purpose).await;
                }
            }
        }
        let known = published.known();
        if let Need::Wait(pause) = known.need(Instant::now(), &has_key) {
            return Err(NoKeys { retry_after_s: pause.as_secs() });
        }
        known.keys.clone().ok_or(NoKeys { retry_after_s: FAILURE_PAUSE.as_secs() })
    }

    fn start(
        self: &Arc<Self>,
        url: &str,
        published: Arc<Published>,
        one: OwnedMutexGuard<()>,
        purpose: Purpose,
    ) -> JoinHandle<()> {
        let (sets, url) = (self.clone(), url.to_owned());
        tokio::spawn(async move {
            let _one = one;
            let keys = sets.fetch(&url).await;
            published.known().end(keys, purpose, Instant::now());
        })
    }

    async fn fetch(&self, url: &str) -> Option<KeySet> {
        let keys = match self.sender.fetch(Fetch::document(url)).await {
            Err(error) => Err(error.to_string()),
            Ok(Fetched { status: 200, body }) => KeySet::parse(&body).ok_or_else(|| "no key set".to_owned()),
            Ok(Fetched { status, .. }) => Err(format!("status {status}")),
        };
        if let Err(cause) = &keys
            && let Some(line) = repeats::admit("key sets that could not be fetched", cause)
        {
            tracing::warn!(cause, left_out = line.left_out, "the keys of a trusted issuer could not be fetched");
        }
        keys.ok()
    }
}

/// Why a key set is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Refresh,
    /// For a key that it does not have.
    Search,
}

impl Published {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn need(&self, now: Instant, has_key: impl Fn(&KeySet) -> bool) -> Need {
        let is_within = |at: Option<Instant>, pause| at.is_some_and(|at| now.duration_since(at) < pause);
        let keys = self.keys.as_ref().filter(|_| is_within(self.fetched_at, USABLE_FOR));
        let pause = if keys.is_some() { OLD_KEYS_PAUSE } else { FAILURE_PAUSE };
        let has_failed = is_within(self.failed_at, pause);
        match keys.map(|keys| has_key(keys)) {
            Some(true) if has_failed || is_within(self.fetched_at, REFRESHED_AFTER) => Need::Nothing,
            Some(true) if is_within(self.fetched_at, FRESH_FOR) => Need::Refresh,
            Some(false) | None if has_failed => Need::Wait(pause),
            Some(false) if is_within(self.searched_at, UNKNOWN_KEY_PAUSE) => Need::Refuse,
            Some(_) | None => Need::Fetch,
        }
    }

    fn end(&mut self, keys: Option<KeySet>, purpose: Purpose, now: Instant) {
        match keys {
            Some(keys) => {
                let searched_at = if purpose == Purpose::Search { Some(now) } else { self.searched_at };
                *self = Self { keys: Some(Arc::new(keys)), fetched_at: Some(now), failed_at: None, searched_at };
            }
            None => self.failed_at = Some(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(fetched_before: Option<Duration>, now: Instant) -> Known {
        let keys =
            br#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
        let mut known = Known::default();
        if let Some(before) = fetched_before {
            known.end(
                KeySet::parse(keys),
                Purpose::Refresh,
                now.checked_sub(before).expect("the machine runs for longer"),
            );
        }
        known
    }

    /// A moment from which all times of the test can be counted back.
    fn later() -> Instant {
        Instant::now() + Duration::from_hours(100)
    }

    #[test]
    fn keys_are_used_while_fresh_and_for_a_day_if_the_issuer_is_down() {
        let now = later();
        for (age, need) in [
            (None, Need::Fetch),
            (Some(Duration::ZERO), Need::Nothing),
            (Some(REFRESHED_AFTER), Need::Refresh),
            // The issuer may have withdrawn the key.
            (Some(FRESH_FOR), Need::Fetch),
            (Some(USABLE_FOR), Need::Fetch),
        ] {
            assert_eq!(known(age, now).need(now, |_| true), need, "{age:?}");
        }
        for (age, need) in [
            (None, Need::Wait(FAILURE_PAUSE)),
            (Some(FRESH_FOR), Need::Nothing),
            (Some(USABLE_FOR), Need::Wait(FAILURE_PAUSE)),
        ] {
            let mut known = known(age, now);
            known.end(None, Purpose::Refresh, now);
            assert_eq!(known.need(now, |_| true), need, "{age:?}, and the issuer is down");
        }
        let mut known = known(Some(FRESH_FOR), now);
        known.end(None, Purpose::Refresh, now);
        assert_eq!(known.need(now + OLD_KEYS_PAUSE, |_| true), Need::Fetch);
    }

    #[test]
    fn unknown_keys_cause_one_fetch_in_a_while() {
        let now = later();
        let mut known = known(Some(Duration::from_secs(1)), now);
        assert_eq!(known.need(now, |_| false), Need::Fetch);
        let same = known.keys.as_deref().cloned();
        known.end(same, Purpose::Search, now);
        for seconds in [0, 1, 29] {
            assert_eq!(known.need(now + Duration::from_secs(seconds), |_| false), Need::Refuse);
        }
        assert_eq!(known.need(now, |_| true), Need::Nothing, "tokens of known keys pass");
        assert_eq!(known.need(now + UNKNOWN_KEY_PAUSE, |_| false), Need::Fetch);
        known.end(None, Purpose::Search, now + UNKNOWN_KEY_PAUSE);
        assert_eq!(known.need(now + UNKNOWN_KEY_PAUSE, |_| false), Need::Wait(OLD_KEYS_PAUSE), "the key may be new");
    }
}
