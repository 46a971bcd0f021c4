//! Rate limits: how many calls a player may make, or an address from which nobody says who they are.
//!
//! Each limit is a bucket that leaks steadily (the generic cell rate algorithm): a whole quota may come at once, and
//! then as many calls as the bucket has leaked meanwhile. Counted by each process for itself, for all its workers.

use std::{
    cell::RefCell,
    convert::Infallible,
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use actix_web::{
    HttpMessage, HttpRequest,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method,
        header::{HeaderMap, HeaderName, HeaderValue},
    },
    middleware::Next,
    web::Data,
};
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
    nanos::Nanos,
    state::{InMemoryState, NotKeyed, StateStore},
};
use quick_cache::sync::Cache;

use super::client_address;
use crate::{
    domain::PlayerId,
    http::{
        answer::{
            headers,
            problem::{Code, Problem},
        },
        request::auth,
    },
};

/// How many calls are allowed in a window, and under which name clients are told.
#[derive(Clone, Copy, Debug)]
struct Policy {
    name: &'static str,
    quota: NonZeroU32,
    window_s: u32,
}

/// 10 calls a second for long and 300 at once: a person with five devices that ask twice a second each, or one that
/// comes back after a week and reads a hundred games. What repeats without waiting is through with it in a second.
const PLAYER: Policy = Policy::new("player", 300, 30);

/// 100 calls a second for long and 1,000 at once: a school behind one address, whose classes watch a public game or open
/// the same page at once. A script that hammers gets no more than a hundredth of what a small machine can answer.
const ADDRESS: Policy = Policy::new("address", 1000, 10);

/// A hall of 300 may sign up at once for a tournament, and then somebody every other second. A script makes no more
/// rows than that.
const NEW_PLAYERS: Policy = Policy::new("new-players", 300, 600);

/// A device needs new tokens every 15 minutes, so these are 450 devices behind one address; and no way to guess secrets.
const TOKENS: Policy = Policy::new("tokens", 300, 600);

/// How many players or addresses a limit counts at most: more than call in a window, in less than 10 MB a limit. When
/// there are more, those are forgotten that have not called for longest, and begin anew with a whole quota: so many
/// addresses cannot fill the memory, nor shut anybody out; and who calls all the time is not forgotten.
const BUCKETS_MAX: usize = 65_536;

/// Addresses that are not limited, or begin with these if they end in `/`: health is asked by machines, and the others are
/// the same for everybody and cheap. Documents are limited: they are long, and compressed each time.
pub const UNLIMITED: [&str; 3] = ["/livez", "/readyz", "/problems/"];

/// What a request counts for unless it says otherwise ([`count_more`]).
const ONE: NonZeroU32 = NonZeroU32::MIN;

static RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
static RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Counts every call of a process.
#[derive(Debug)]
pub struct Limits {
    player: Limit<PlayerId>,
    address: Limit<IpAddr>,
    new_players: Limit<IpAddr>,
    tokens: Limit<IpAddr>,
}

/// Lets a call pass, or tells it when to come again. What is told goes with every answer.
pub async fn limit(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let counted = request.app_data::<Data<Limits>>().and_then(|limits| limits.count(&request));
    match counted {
        None => next.call(request).await.map(ServiceResponse::map_into_boxed_body),
        Some(Ok(standing)) => {
            let counted = Counted(Rc::new(RefCell::new(standing)));
            request.extensions_mut().insert(counted.clone());
            let outcome = next.call(request).await.map(ServiceResponse::map_into_boxed_body);
            let standing = counted.0.borrow().clone();
            headers::with(outcome, move |headers| standing.tell(headers))
        }
        Some(Err(standing)) => {
            let mut response = request.error_response(standing.refusal());
            standing.tell(response.headers_mut());
            Ok(response)
        }
    }
}

/// Where the caller of a request stands that was counted: what its answer will tell.
#[derive(Clone)]
struct Counted(Rc<RefCell<Standing>>);

/// Counts a request that costs as much as several, and was counted as one, for so many more; by the limit that counted it.
pub fn count_more(request: &HttpRequest, calls: u32) -> Result<(), Problem> {
    let counted = request.extensions().get::<Counted>().cloned();
    let (Some(limits), Some(counted), Some(calls)) =
        (request.app_data::<Data<Limits>>(), counted, NonZeroU32::new(calls))
    else {
        return Ok(());
    };
    match limits.count_by_caller(request, calls) {
        Ok(standing) => {
            *counted.0.borrow_mut() = standing;
            Ok(())
        }
        // The call itself was counted, and its answer tells what is left. It counts again when it comes again.
        Err(standing) => Err(Standing { reset_s: standing.reset_s + 1, ..standing }.refusal()),
    }
}

impl Limits {
    pub fn new() -> Self {
        Self {
            player: Limit::new(PLAYER),
            address: Limit::new(ADDRESS),
            new_players: Limit::new(NEW_PLAYERS),
            tokens: Limit::new(TOKENS),
        }
    }

    /// Counts a call: it may pass, or it may not; `None` if it is not limited.
    ///
    /// By the address, and more strictly, whatever makes players or tokens, so that nobody multiplies the quotas of
    /// players; everything else by the player, if the token is good.
    fn count(&self, request: &ServiceRequest) -> Option<Result<Standing, Standing>> {
        // The path as routes see it: a letter that is percent-encoded is the same letter.
        let path = request.match_info().as_str();
        if UNLIMITED.iter().any(|free| path == *free || free.ends_with('/') && path.starts_with(free)) {
            return None;
        }
        let strict = match path {
            "/v1/players" if request.method() == Method::POST => Some(&self.new_players),
            "/v1/tokens" if request.method() == Method::POST => Some(&self.tokens),
            // A new password costs as much as signing in, and any guest may set one.
            "/v1/me" if request.method() == Method::PATCH => Some(&self.tokens),
            _ => None,
        };
        Some(match strict {
            None => self.count_by_caller(request, ONE),
            Some(strict) => strict.count(&network(client_address::client_address(request)), ONE),
        })
    }

    fn count_by_caller(&self, request: &impl HttpMessage, calls: NonZeroU32) -> Result<Standing, Standing> {
        match auth::identity(request) {
            Some(caller) => self.player.count(&caller.player, calls),
            None => self.address.count(&network(client_address::client_address(request)), calls),
        }
    }
}

/// What counts as one address: of IPv6 the first 64 bits, for everybody gets that many addresses.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

impl Policy {
    const fn new(name: &'static str, quota: u32, window_s: u32) -> Self {
        Self { name, quota: NonZeroU32::new(quota).expect("a quota is more than nothing"), window_s }
    }
}

/// A policy, and the bucket of everybody whom it concerns.
#[derive(Debug)]
struct Limit<K: Hash + Eq + Clone, C: Clock = DefaultClock> {
    policy: Policy,
    advertised: HeaderValue,
    limiter: RateLimiter<K, Buckets<K>, C, StateInformationMiddleware>,
}

impl<K: Hash + Eq + Clone> Limit<K> {
    fn new(policy: Policy) -> Self {
        Self::with(policy, BUCKETS_MAX, DefaultClock::default())
    }
}

impl<K: Hash + Eq + Clone, C: Clock> Limit<K, C> {
    fn with(policy: Policy, buckets_max: usize, clock: C) -> Self {
        let Policy { name, quota, window_s } = policy;
        let each = Duration::from_secs(window_s.into()) / quota.get();
        let rate = Quota::with_period(each).expect("a window has a length").allow_burst(quota);
        let advertised = HeaderValue::from_str(&format!("\"{name}\";q={quota};w={window_s}"));
        Self {
            policy,
            advertised: advertised.expect("names are ASCII"),
            limiter: RateLimiter::new(rate, Buckets(Cache::new(buckets_max)), clock),
        }
    }

    /// Counts so many calls if they may pass.
    fn count(&self, key: &K, calls: NonZeroU32) -> Result<Standing, Standing> {
        match self.limiter.check_key_n(key, calls) {
            Ok(Ok(state)) => {
                let remaining = state.remaining_burst_capacity();
                // With nothing left, the next call counts; else when all of it is there again.
                let missing = if remaining == 0 { 1 } else { self.policy.quota.get() - remaining };
                Ok(self.standing(remaining, state.quota().replenish_interval() * missing))
            }
            Ok(Err(refused)) => Err(self.standing(0, refused.wait_time_from(self.limiter.clock().now()))),
            // More than a whole quota: nothing of ours costs as much.
            Err(_) => Err(self.standing(0, Duration::from_secs(self.policy.window_s.into()))),
        }
    }

    fn standing(&self, remaining: u32, reset: Duration) -> Standing {
        let reset_s = reset.as_secs() + u64::from(reset.subsec_nanos() > 0);
        Standing { name: self.policy.name, advertised: self.advertised.clone(), remaining, reset_s: reset_s.max(1) }
    }
}

/// The buckets of a limit, never more than a maximum: see [`BUCKETS_MAX`].
#[derive(Debug)]
struct Buckets<K: Hash + Eq + Clone>(Cache<K, Arc<InMemoryState>>);

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

/// Where a caller stands, as draft-ietf-httpapi-ratelimit-headers-10 tells it.
#[derive(Clone, Debug)]
struct Standing {
    name: &'static str,
    advertised: HeaderValue,
    /// How many calls may follow at once.
    remaining: u32,
    /// Seconds until the quota is whole again; with nothing left, until the next call may come.
    reset_s: u64,
}

impl Standing {
    /// What a caller is told who has made too many calls.
    fn refusal(&self) -> Problem {
        let seconds = self.reset_s;
        let detail = format!("too many calls; the next one may come in {seconds} s");
        Problem::new(Code::RateLimited, detail).retry_after(seconds)
    }

    fn tell(&self, headers: &mut HeaderMap) {
        let Standing { name, remaining, reset_s, .. } = self;
        let told = HeaderValue::from_str(&format!("\"{name}\";r={remaining};t={reset_s}"));
        headers.insert(RATE_LIMIT_POLICY.clone(), self.advertised.clone());
        headers.insert(RATE_LIMIT.clone(), told.expect("names are ASCII"));
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    const POLICY: Policy = Policy::new("test", 10, 20);

    fn limit(buckets_max: usize) -> (Limit<u32, FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (Limit::with(POLICY, buckets_max, clock.clone()), clock)
    }

    fn told(outcome: &Result<Standing, Standing>) -> (bool, u32, u64) {
        let standing = outcome.as_ref().unwrap_or_else(|standing| standing);
        (outcome.is_ok(), standing.remaining, standing.reset_s)
    }

    #[test]
    fn a_quota_may_be_used_at_once_and_comes_back_steadily() {
        let (limit, clock) = limit(100);
        assert_eq!(told(&limit.count(&1, ONE)), (true, 9, 2));
        for remaining in (1..9).rev() {
            assert_eq!(told(&limit.count(&1, ONE)), (true, remaining, u64::from(10 - remaining) * 2));
        }
        assert_eq!(told(&limit.count(&1, ONE)), (true, 0, 2), "with nothing left, the next call is what counts");
        assert_eq!(told(&limit.count(&1, ONE)), (false, 0, 2));
        clock.advance(Duration::from_millis(1500));
        assert_eq!(
            told(&limit.count(&1, ONE)),
            (false, 0, 1),
            "half a second is a whole one for who counts in seconds"
        );
        assert_eq!(told(&limit.count(&2, ONE)), (true, 9, 2), "others are not concerned");
        clock.advance(Duration::from_millis(500));
        assert_eq!(told(&limit.count(&1, ONE)), (true, 0, 2));
        clock.advance(Duration::from_secs(20));
        assert_eq!(told(&limit.count(&1, ONE)), (true, 9, 2));
    }

    #[test]
    fn what_costs_as_much_as_several_calls_counts_for_as_many_or_not_at_all() {
        let (limit, clock) = limit(100);
        let four = NonZeroU32::new(4).expect("four is not zero");
        assert_eq!(told(&limit.count(&1, four)), (true, 6, 8));
        assert_eq!(told(&limit.count(&1, four)), (true, 2, 16));
        assert_eq!(told(&limit.count(&1, four)), (false, 0, 4), "two more are needed");
        assert_eq!(told(&limit.count(&1, ONE)), (true, 1, 18), "what was refused has cost nothing");
        assert_eq!(told(&limit.count(&1, NonZeroU32::MAX)), (false, 0, 20), "never more than a whole quota");
        clock.advance(Duration::from_secs(6));
        assert_eq!(told(&limit.count(&1, four)), (true, 0, 2));
    }

    #[test]
    fn any_number_of_keys_takes_bounded_memory_and_who_calls_all_the_time_is_not_forgotten() {
        let (limit, _) = limit(1000);
        while limit.count(&0, ONE).is_ok() {}
        for key in 1..100_000 {
            assert!(limit.count(&key, ONE).is_ok(), "nobody is shut out");
            assert!(limit.count(&0, ONE).is_err(), "after {key} others");
        }
        let buckets = limit.limiter.into_state_store().0;
        assert!(buckets.len() <= 1000, "{}", buckets.len());
    }

    #[test]
    fn an_ipv6_address_counts_by_its_first_64_bits() {
        let of = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2::"));
        assert_ne!(of("2001:db8:1:3::1"), of("2001:db8:1:2::1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
