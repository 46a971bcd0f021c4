//! A limit of calls for each of many callers: a leaky bucket (the generic cell rate algorithm) for each. A whole quota may be used at once, and
//! then as many calls as the bucket has leaked since. Which limits there are stands in `limits`.

use std::{
    convert::Infallible,
    hash::Hash,
    net::IpAddr,
    num::NonZeroU32,
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use governor::{
    Quota, RateLimiter,
    clock::Clock,
    middleware::StateInformationMiddleware,
    nanos::Nanos,
    state::{InMemoryState, NotKeyed, StateStore},
};
use quick_cache::sync::Cache;

use crate::{
    address::{network, site},
    answer::{code::Code, problem::Problem},
};

/// How many calls are allowed in a window, and the policy's name in the headers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    name: &'static str,
    pub(super) quota: NonZeroU32,
    window_s: u32,
}

/// The quota of an IPv6 network of 48 bits, in quotas of one of its networks of 64 bits. A site gets a /48 or a little less, and a
/// provider gives many phones a /64 of one /48 each.
const WIDE: u32 = 4;

/// The most players or addresses that a limit counts: more than call in a window, in less than 10 MB for each limit. Beyond
/// that, the least recently used buckets are evicted, and their callers begin again with a whole quota.
///
/// So many addresses cannot fill the memory or lock out other callers, and a caller that calls all the time keeps its bucket.
const BUCKETS_MAX: usize = 65_536;

static RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
static RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The clock by which the buckets of the limits leak.
#[derive(Clone, Copy, Debug)]
pub struct LimitClock {
    /// `None` if the clock stands still.
    begun: Option<Instant>,
}

impl LimitClock {
    pub fn running() -> Self {
        Self { begun: Some(Instant::now()) }
    }

    /// A clock that stands still, so that no bucket leaks.
    pub const fn stopped() -> Self {
        Self { begun: None }
    }
}

impl Clock for LimitClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.begun.map_or(Duration::ZERO, |begun| begun.elapsed()).into()
    }
}

impl Policy {
    pub(super) const fn new(name: &'static str, quota: u32, window_s: u32) -> Self {
        Self { name, quota: NonZeroU32::new(quota).expect("a quota is at least 1"), window_s }
    }

    /// The policy of a whole IPv6 site.
    const fn wide(self) -> Self {
        Self { quota: self.quota.saturating_mul(NonZeroU32::new(WIDE).expect("it is not zero")), ..self }
    }
}

/// A policy for addresses: IPv4 addresses and IPv6 networks of 64 bits have a narrow one, and IPv6 networks of 48 bits
/// a wider one. One customer may have 65,536 networks of 64 bits.
#[derive(Debug)]
pub(super) struct ByAddress {
    narrow: Limit<IpAddr>,
    wide: Limit<IpAddr>,
}

impl ByAddress {
    pub(super) fn new(policy: Policy, clock: LimitClock) -> Self {
        Self { narrow: Limit::new(policy, clock), wide: Limit::new(policy.wide(), clock) }
    }

    pub(super) fn count(&self, address: IpAddr, cost: impl Into<Cost>) -> Result<QuotaState, QuotaState> {
        let cost = cost.into();
        if address.is_ipv6() {
            self.wide.count(&site(address), cost)?;
        }
        self.narrow.count(&network(address), cost)
    }
}

/// The calls for which a request counts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cost {
    /// The request passes only if there is room for them.
    Asked(NonZeroU32),
    /// The request has passed. Without room for them, later calls wait until they have leaked: at most a whole quota of them.
    Owed(NonZeroU32),
}

impl From<NonZeroU32> for Cost {
    fn from(calls: NonZeroU32) -> Self {
        Self::Asked(calls)
    }
}

/// A policy, and the buckets of its callers.
#[derive(Debug)]
pub(super) struct Limit<K: Hash + Eq + Clone, C: Clock = LimitClock> {
    policy: Policy,
    advertised: HeaderValue,
    limiter: RateLimiter<K, Buckets<K>, C, StateInformationMiddleware>,
    /// A second limiter over the same buckets, with twice the quota, for calls that are owed.
    debts: RateLimiter<K, Buckets<K>, C, StateInformationMiddleware>,
}

impl<K: Hash + Eq + Clone> Limit<K> {
    pub(super) fn new(policy: Policy, clock: LimitClock) -> Self {
        Self::with(policy, BUCKETS_MAX, clock)
    }

    /// The same limit with another quota, which is for a minute at least, and for few callers.
    pub(super) fn with_quota(&self, quota: NonZeroU32) -> Self {
        let policy = Policy { quota, window_s: self.policy.window_s.max(60), ..self.policy };
        Self::with(policy, 1024, *self.limiter.clock())
    }
}

impl<K: Hash + Eq + Clone, C: Clock + Clone> Limit<K, C> {
    fn with(policy: Policy, buckets_max: usize, clock: C) -> Self {
        let Policy { name, quota, window_s } = policy;
        let each = Duration::from_secs(window_s.into()) / quota.get();
        let rate = |burst| Quota::with_period(each).expect("a window has a length").allow_burst(burst);
        let buckets = Buckets(Arc::new(Cache::new(buckets_max)));
        let advertised = HeaderValue::from_str(&format!("\"{name}\";q={quota};w={window_s}"));
        Self {
            policy,
            advertised: advertised.expect("names are ASCII"),
            limiter: RateLimiter::new(rate(quota), buckets.clone(), clock.clone()),
            debts: RateLimiter::new(rate(quota.saturating_add(quota.get())), buckets, clock),
        }
    }

    /// Counts the calls if they may pass.
    pub(super) fn count(&self, key: &K, cost: impl Into<Cost>) -> Result<QuotaState, QuotaState> {
        let quota = self.policy.quota.get();
        let (limiter, calls, beyond_quota) = match cost.into() {
            Cost::Asked(calls) => (&self.limiter, calls, 0),
            Cost::Owed(calls) => (&self.debts, calls, quota),
        };
        match limiter.check_key_n(key, calls) {
            Ok(Ok(snapshot)) => {
                let left = snapshot.remaining_burst_capacity();
                let remaining = left.saturating_sub(beyond_quota);
                // The time until the next call if none is left; else until the whole quota is available.
                let missing = if remaining == 0 { beyond_quota + 1 - left } else { quota - remaining };
                Ok(self.quota_state(remaining, snapshot.quota().replenish_interval() * missing))
            }
            Ok(Err(refused)) => Err(self.quota_state(0, refused.wait_time_from(limiter.clock().now()))),
            // The calls exceed a whole quota, which no request of ours does.
            Err(_) => Err(self.quota_state(0, Duration::from_secs(self.policy.window_s.into()))),
        }
    }

    fn quota_state(&self, remaining: u32, reset: Duration) -> QuotaState {
        let reset_s = reset.as_secs() + u64::from(reset.subsec_nanos() > 0);
        QuotaState { name: self.policy.name, advertised: self.advertised.clone(), remaining, reset_s: reset_s.max(1) }
    }
}

/// The buckets of a limit, with eviction: see [`BUCKETS_MAX`].
#[derive(Clone, Debug)]
struct Buckets<K: Hash + Eq + Clone>(Arc<Cache<K, Arc<InMemoryState>>>);

impl<K: Hash + Eq + Clone> StateStore for Buckets<K> {
    type Key = K;

    fn measure_and_replace<T, F, E>(&self, key: &K, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let Ok(bucket) = self.0.get_or_insert_with(key, || Ok::<_, Infallible>(Arc::default()));
        bucket.measure_and_replace(&NotKeyed::NonKey, decide)
    }
}

/// The rest of a caller's quota, for the headers of draft-ietf-httpapi-ratelimit-headers-10.
#[derive(Clone, Debug)]
pub(super) struct QuotaState {
    pub(super) name: &'static str,
    advertised: HeaderValue,
    /// The calls that may follow at once.
    remaining: u32,
    /// Seconds until the quota is whole again; if none is left, until the next call may come.
    pub(super) reset_s: u64,
}

impl QuotaState {
    /// The same state as if it were a second later.
    pub(super) fn a_second_later(self) -> Self {
        Self { reset_s: self.reset_s + 1, ..self }
    }

    /// The answer to a call over the limit.
    pub(super) fn refusal(&self) -> Problem {
        self.refusal_of("too many calls")
    }

    /// The answer to a call over the limit; `excess` describes it.
    pub(super) fn refusal_of(&self, excess: &str) -> Problem {
        let seconds = self.reset_s;
        let detail = format!("{excess}; the next one may come in {seconds} s");
        Problem::new(Code::RateLimited, detail).retry_after(seconds)
    }

    pub(super) fn write_headers(&self, headers: &mut HeaderMap) {
        let QuotaState { name, remaining, reset_s, .. } = self;
        let rate_limit = HeaderValue::from_str(&format!("\"{name}\";r={remaining};t={reset_s}"));
        headers.insert(RATE_LIMIT_POLICY.clone(), self.advertised.clone());
        headers.insert(RATE_LIMIT.clone(), rate_limit.expect("names are ASCII"));
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    const ONE: NonZeroU32 = NonZeroU32::MIN;
    const POLICY: Policy = Policy::new("test", 10, 20);

    fn limit(buckets_max: usize) -> (Limit<u32, FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (Limit::with(POLICY, buckets_max, clock.clone()), clock)
    }

    fn parts(outcome: &Result<QuotaState, QuotaState>) -> (bool, u32, u64) {
        let state = outcome.as_ref().unwrap_or_else(|state| state);
        (outcome.is_ok(), state.remaining, state.reset_s)
    }

    #[test]
    fn a_quota_may_be_used_at_once_and_comes_back_steadily() {
        let (limit, clock) = limit(100);
        assert_eq!(parts(&limit.count(&1, ONE)), (true, 9, 2));
        for remaining in (1..9).rev() {
            assert_eq!(parts(&limit.count(&1, ONE)), (true, remaining, u64::from(10 - remaining) * 2));
        }
        assert_eq!(parts(&limit.count(&1, ONE)), (true, 0, 2), "with none left, `t` is the time until the next call");
        assert_eq!(parts(&limit.count(&1, ONE)), (false, 0, 2));
        clock.advance(Duration::from_millis(1500));
        assert_eq!(parts(&limit.count(&1, ONE)), (false, 0, 1), "half a second is rounded up to a whole one");
        assert_eq!(parts(&limit.count(&2, ONE)), (true, 9, 2), "other callers are not affected");
        clock.advance(Duration::from_millis(500));
        assert_eq!(parts(&limit.count(&1, ONE)), (true, 0, 2));
        clock.advance(Duration::from_secs(20));
        assert_eq!(parts(&limit.count(&1, ONE)), (true, 9, 2));
    }

    #[test]
    fn an_expensive_request_counts_for_several_calls_or_not_at_all() {
        let (limit, clock) = limit(100);
        let four = NonZeroU32::new(4).expect("four is not zero");
        assert_eq!(parts(&limit.count(&1, four)), (true, 6, 8));
        assert_eq!(parts(&limit.count(&1, four)), (true, 2, 16));
        assert_eq!(parts(&limit.count(&1, four)), (false, 0, 4), "two more are needed");
        assert_eq!(parts(&limit.count(&1, ONE)), (true, 1, 18), "a refused request costs nothing");
        assert_eq!(parts(&limit.count(&1, NonZeroU32::MAX)), (false, 0, 20), "never more than a whole quota");
        clock.advance(Duration::from_secs(6));
        assert_eq!(parts(&limit.count(&1, four)), (true, 0, 2));
    }

    #[test]
    fn calls_that_are_owed_delay_later_ones_for_a_whole_quota_at_most() {
        let (limit, clock) = limit(100);
        let owed = |calls| Cost::Owed(NonZeroU32::new(calls).expect("it is not zero"));
        assert_eq!(parts(&limit.count(&1, owed(7))), (true, 3, 14), "with room they are calls like others");
        assert_eq!(parts(&limit.count(&1, owed(7))), (true, 0, 10), "four more than the quota has");
        assert_eq!(parts(&limit.count(&1, ONE)), (false, 0, 10));
        clock.advance(Duration::from_secs(10));
        assert_eq!(parts(&limit.count(&1, ONE)), (true, 0, 2));
        assert!(limit.count(&1, owed(10)).is_ok());
        assert!(limit.count(&1, owed(1)).is_err(), "no one owes more than a whole quota");
        assert_eq!(parts(&limit.count(&1, ONE)), (false, 0, 22));
    }

    #[test]
    fn memory_is_bounded_and_a_constant_caller_keeps_its_bucket() {
        let (limit, _) = limit(1000);
        while limit.count(&0, ONE).is_ok() {}
        for key in 1..100_000 {
            assert!(limit.count(&key, ONE).is_ok(), "new callers pass");
            assert!(limit.count(&0, ONE).is_err(), "after {key} others");
        }
        let buckets = limit.limiter.into_state_store().0.clone();
        assert!(buckets.len() <= 1000, "{}", buckets.len());
    }

    #[test]
    fn many_networks_of_one_site_share_a_wider_quota() {
        let limit = ByAddress::new(Policy::new("test", 2, 1000), LimitClock::running());
        let address = |text: String| text.parse::<IpAddr>().expect("an address");
        let count = |text: String| limit.count(address(text), ONE).is_ok();
        assert_eq!((0..4).map(|_| count("2001:db8:1:1::1".to_owned())).filter(|passes| *passes).count(), 2);
        let passed = (2..100).filter(|n| count(format!("2001:db8:1:{n}::1"))).count();
        // Refused calls of the first network count too, because they came.
        assert_eq!(passed, 2 * WIDE as usize - 4);
        assert!(count("2001:db8:2:1::1".to_owned()) && count("192.0.2.1".to_owned()));
    }
}
