//! Rate limits: how many calls a player may make, or an address, and how much heavy work.
//!
//! Each limit is a leaky bucket (the generic cell rate algorithm). A whole quota may be used at once, and then as many calls
//! as the bucket has leaked since. Each process counts for itself, and all its workers share the count.

use std::{
    cell::RefCell,
    convert::Infallible,
    future::{Ready, ready},
    hash::Hash,
    net::IpAddr,
    num::NonZeroU32,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    body::{BoxBody, MessageBody},
    dev::{Payload, ServiceRequest, ServiceResponse},
    http::{
        Method,
        header::{HeaderMap, HeaderName, HeaderValue},
    },
    middleware::Next,
    web::Data,
};
use governor::{
    Quota, RateLimiter,
    clock::Clock,
    middleware::StateInformationMiddleware,
    nanos::Nanos,
    state::{InMemoryState, NotKeyed, StateStore},
};
use quick_cache::sync::Cache;
use tokio::time::sleep;

use super::{client_address, response_headers};
use crate::{
    domain::PlayerId,
    http::{
        address::{network, site},
        answer::{code::Code, problem::Problem},
        request::auth,
    },
    live::{Client, Holder},
};

/// How many calls are allowed in a window, and the policy's name in the headers.
#[derive(Clone, Copy, Debug)]
struct Policy {
    name: &'static str,
    quota: NonZeroU32,
    window_s: u32,
}

/// 10 calls a second sustained and 300 at once. This suffices for a person with five devices that each poll twice a second. It
/// also suffices for one that returns after a week and reads a hundred games. A client that retries without waiting uses it up in a second.
const PLAYER: Policy = Policy::new("player", 300, 30);

/// For calls without a token: 100 calls a second sustained and 1,000 at once. This suffices for a school behind one address, whose
/// classes watch a public game or open the same page at once. A script gets at most a hundredth of what a small machine can answer.
const ADDRESS: Policy = Policy::new("address", 1000, 10);

/// For all guests of an address together: a hall of 300 guests that each make a call a second. Guests cost nothing, so a script
/// has as many as it wants.
const GUESTS: Policy = Policy::new("guests", 3000, 10);

/// For all calls of an address, whatever their tokens.
const EVERYONE: Policy = Policy::new("network", 10_000, 10);

/// A class may sign up at once, and then one player every six seconds. The limit also bounds the rows that a script creates.
const NEW_PLAYERS: Policy = Policy::new("new-players", 100, 600);

/// A device needs new tokens every 15 minutes, so this suffices for 450 devices behind one address. It also prevents guessing
/// secrets.
const TOKENS: Policy = Policy::new("tokens", 300, 600);

/// For calls that lead to a mail, so that a script does not have mails sent to many addresses; of one address `jobs::mail` has limits of its own.
const MAILS: Policy = Policy::new("mails", 20, 1200);

/// For heavy work, in units of [`PLIES_PER_UNIT`]: 100,000 plies at once, and then 10,000 plies a second. Replaying them takes a
/// second, or a tenth of the time of a processor.
const HEAVY: Policy = Policy::new("heavy", 1000, 10);

/// Plies that are read and replayed for one unit of the budget of heavy work: about a millisecond.
const PLIES_PER_UNIT: u32 = 100;

/// For the games that guests of an address import, in units of [`PLIES_PER_UNIT`]: as many plies as ten guests may have by default,
/// and then as many a day. They take 20 MB. New guests would otherwise fill the disk, each with a quota of its own.
const GUEST_IMPORTS: Policy = Policy::new("guest-imports", 1000, 86_400);

/// For the calls of an app, beside all calls of its address: 100 a second sustained and 3,000 at once, as a backend makes them that asks for the
/// tokens of some 90,000 players every 15 minutes.
const APP: Policy = Policy::new("app", 3000, 30);

/// For the players that an app creates: as many at once as a service brings along, and then as many a day.
const APP_PLAYERS: Policy = Policy::new("app-players", 20_000, 86_400);

/// The quota of an IPv6 network of 48 bits, in quotas of one of its networks of 64 bits. A site gets a /48 or a little less, and a
/// provider gives many phones a /64 of one /48 each.
const WIDE: u32 = 4;

/// The most players or addresses that a limit counts: more than call in a window, in less than 10 MB for each limit. Beyond
/// that, the least recently used buckets are evicted, and their callers begin again with a whole quota.
///
/// So many addresses cannot fill the memory or lock out other callers, and a caller that calls all the time keeps its bucket.
const BUCKETS_MAX: usize = 65_536;

/// Paths that are not limited; those that end in `/` are prefixes. Load balancers poll health, and explanations of problems are
/// cheap. Documents are limited, because they are long and are compressed each time.
pub const UNLIMITED: [&str; 3] = ["/livez", "/readyz", "/problems/"];

/// The cost of a request, unless its handler counts more ([`count_more`]).
const ONE: NonZeroU32 = NonZeroU32::MIN;

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

/// The rate limits of a process.
#[derive(Debug)]
pub struct Limits {
    player: Limit<PlayerId>,
    address: ByAddress,
    guests: ByAddress,
    everyone: ByAddress,
    new_players: ByAddress,
    tokens: ByAddress,
    mails: ByAddress,
    heavy_of_account: Limit<PlayerId>,
    heavy_of_address: ByAddress,
    guest_imports: ByAddress,
    app: Limit<PlayerId>,
    app_players: Limit<PlayerId>,
}

/// Lets a call pass, or refuses it with 429. Every counted answer has the quota's state in its headers.
pub async fn limit(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let counted = request.app_data::<Data<Limits>>().and_then(|limits| limits.count(&request));
    match counted {
        None => next.call(request).await.map(ServiceResponse::map_into_boxed_body),
        Some(Ok(state)) => {
            let counted = SharedQuotaState(Rc::new(RefCell::new(state)));
            request.extensions_mut().insert(counted.clone());
            let outcome = next.call(request).await.map(ServiceResponse::map_into_boxed_body);
            let state = counted.0.borrow().clone();
            response_headers::with(outcome, move |headers| state.write_headers(headers))
        }
        Some(Err(state)) => {
            let mut response = request.error_response(state.refusal());
            state.write_headers(response.headers_mut());
            Ok(response)
        }
    }
}

/// The quota's state after a counted request, which its answer will show.
#[derive(Clone)]
struct SharedQuotaState(Rc<RefCell<QuotaState>>);

/// Counts an expensive request, which was counted as one call, for more calls, by the caller's limits.
pub fn count_more(request: &HttpRequest, calls: u32) -> Result<(), Problem> {
    let counted = request.extensions().get::<SharedQuotaState>().cloned();
    let (Some(limits), Some(counted), Some(calls)) =
        (request.app_data::<Data<Limits>>(), counted, NonZeroU32::new(calls))
    else {
        return Ok(());
    };
    match limits.count_by_caller(request, calls) {
        Ok(state) => {
            *counted.0.borrow_mut() = state;
            Ok(())
        }
        // The call itself was counted, and its answer shows what is left. A retry counts for one call again.
        Err(state) => Err(QuotaState { reset_s: state.reset_s + 1, ..state }.refusal()),
    }
}

/// Counts the plies that a guest is about to import by the guest's address. Accounts have their quota only.
pub fn count_import(request: &HttpRequest, plies: usize) -> Result<(), Problem> {
    let is_guest = auth::identity(request).is_some_and(|caller| caller.is_guest);
    let Some(limits) = request.app_data::<Data<Limits>>().filter(|_| is_guest) else { return Ok(()) };
    let units = u32::try_from(plies.div_ceil(PLIES_PER_UNIT as usize)).unwrap_or(u32::MAX);
    let units = NonZeroU32::new(units).unwrap_or(ONE).min(GUEST_IMPORTS.quota);
    let counted = limits.guest_imports.count(client_address::client_address(request), units);
    counted.map(|_| ()).map_err(|state| state.refusal_of("the guests of this address have imported too much"))
}

/// The app by which a request was counted.
struct CountedApp(PlayerId);

/// Counts a call whose app's key is void, as one without a token. The answer shows the address's quota.
pub fn count_bad_key(request: &HttpRequest) -> Result<(), Problem> {
    let Some(limits) = request.app_data::<Data<Limits>>() else { return Ok(()) };
    let counted = limits.address.count(client_address::client_address(request), ONE);
    if let Some(shown) = request.extensions().get::<SharedQuotaState>() {
        *shown.0.borrow_mut() = counted.clone().unwrap_or_else(|state| state);
    }
    counted.map(|_| ()).map_err(|state| state.refusal())
}

/// Counts a call of an app, which was counted with all calls of its address before. The answer shows the app's quota.
pub fn count_app(request: &HttpRequest, app: PlayerId) -> Result<(), Problem> {
    let Some(limits) = request.app_data::<Data<Limits>>() else { return Ok(()) };
    let state = limits.app.count(&app, ONE).map_err(|state| state.refusal())?;
    request.extensions_mut().insert(CountedApp(app));
    if let Some(counted) = request.extensions().get::<SharedQuotaState>() {
        *counted.0.borrow_mut() = state;
    }
    Ok(())
}

/// Counts a player that an app is about to create.
pub fn count_app_player(request: &HttpRequest, app: PlayerId) -> Result<(), Problem> {
    let Some(limits) = request.app_data::<Data<Limits>>() else { return Ok(()) };
    let counted = limits.app_players.count(&app, ONE);
    counted.map(|_| ()).map_err(|state| state.refusal_of("the app has created too many players"))
}

/// The budget for heavy work of a request's caller: of the account, or of all guests and clients without a token at an address.
#[derive(Clone, Debug)]
pub struct HeavyBudget {
    /// `None` if limits are off.
    limits: Option<Data<Limits>>,
    /// The account whose budget it is; `None`: that of the address.
    account: Option<PlayerId>,
    address: IpAddr,
    /// Whose requests run one after the other.
    turn: Option<Holder>,
}

impl HeavyBudget {
    pub fn of(request: &HttpRequest) -> Self {
        let limits = request.app_data::<Data<Limits>>().cloned();
        let address = client_address::client_address(request);
        let caller = auth::identity(request);
        let account = caller.filter(|caller| !caller.is_guest).map(|caller| caller.player);
        let of_address = limits.is_some().then(|| Holder::Address(network(address)));
        let turn = caller.map(|caller| Holder::Player(caller.player)).or(of_address);
        Self { limits, account, address, turn }
    }

    /// The caller whose heavy requests run one after the other: the player, or without a token the address. `None` for a caller
    /// without a token where addresses are not limited.
    pub const fn turn(&self) -> Option<Holder> {
        self.turn
    }

    /// Charges the work on so many plies or events, or refuses it.
    pub fn charge(&self, plies: u32) -> Result<(), Problem> {
        self.count(plies).map_err(|state| state.refusal())
    }

    /// Charges the work, when the budget has room for it.
    pub async fn charge_later(&self, plies: u32) {
        while let Err(state) = self.count(plies) {
            sleep(Duration::from_secs(state.reset_s)).await;
        }
    }

    fn count(&self, plies: u32) -> Result<(), QuotaState> {
        let Some(limits) = &self.limits else { return Ok(()) };
        let units = NonZeroU32::MIN.saturating_add(plies / PLIES_PER_UNIT).min(HEAVY.quota);
        let state = match self.account {
            Some(account) => limits.heavy_of_account.count(&account, units),
            None => limits.heavy_of_address.count(self.address, units),
        };
        state.map(|_| ())
    }
}

impl FromRequest for HeavyBudget {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self::of(request)))
    }
}

impl Limits {
    pub fn new(clock: LimitClock) -> Self {
        Self {
            player: Limit::new(PLAYER, clock),
            address: ByAddress::new(ADDRESS, clock),
            guests: ByAddress::new(GUESTS, clock),
            everyone: ByAddress::new(EVERYONE, clock),
            new_players: ByAddress::new(NEW_PLAYERS, clock),
            tokens: ByAddress::new(TOKENS, clock),
            mails: ByAddress::new(MAILS, clock),
            heavy_of_account: Limit::new(HEAVY, clock),
            heavy_of_address: ByAddress::new(HEAVY, clock),
            guest_imports: ByAddress::new(GUEST_IMPORTS, clock),
            app: Limit::new(APP, clock),
            app_players: Limit::new(APP_PLAYERS, clock),
        }
    }

    /// Counts a call: `Ok` if it may pass, `Err` if not; `None` if it is not limited.
    ///
    /// Calls that create players or tokens count by address, under a stricter limit, because each new player has a quota of its
    /// own. All other calls count by player if the token is good, and else by address.
    fn count(&self, request: &ServiceRequest) -> Option<Result<QuotaState, QuotaState>> {
        // The path that routes match, in which percent-encoded letters are decoded.
        let path = request.match_info().as_str();
        if UNLIMITED.iter().any(|free| path == *free || free.ends_with('/') && path.starts_with(free)) {
            return None;
        }
        let strict = match path {
            "/v1/players" if request.method() == Method::POST => Some(&self.new_players),
            "/v1/tokens" | "/v1/password-reset/confirm" | "/email/reset" if request.method() == Method::POST => {
                Some(&self.tokens)
            }
            // Setting a password costs as much as signing in, and any guest may do it.
            "/v1/me" if request.method() == Method::PATCH => Some(&self.tokens),
            "/v1/me/email" | "/v1/password-reset" if !request.method().is_safe() => Some(&self.mails),
            _ => None,
        };
        Some(match strict {
            None => self.count_by_caller(request, ONE),
            Some(strict) => strict.count(client_address::client_address(request), ONE),
        })
    }

    /// Counts calls by their address and by their player. The state is the player's; without a token, the address's.
    fn count_by_caller(&self, request: &impl HttpMessage, calls: NonZeroU32) -> Result<QuotaState, QuotaState> {
        let address = client_address::client_address(request);
        let of_everyone = self.everyone.count(address, calls)?;
        let Some(caller) = auth::identity(request) else {
            let app = request.extensions().get::<CountedApp>().map(|app| app.0);
            return match app {
                Some(app) => self.app.count(&app, calls),
                // Once the database says whose key it is: see `count_app` and `count_bad_key`.
                None if auth::app_key(request).is_some() => Ok(of_everyone),
                None => self.address.count(address, calls),
            };
        };
        if caller.is_guest {
            self.guests.count(address, calls)?;
        }
        self.player.count(&caller.player, calls)
    }
}

/// The client of a request, for what it may hold: waiters, unread answers. Without limits no address is known, because all
/// clients may come through one proxy.
pub fn client(request: &HttpRequest) -> Client {
    let is_limited = request.app_data::<Data<Limits>>().is_some();
    Client {
        player: auth::identity(request).map(|caller| caller.player),
        address: is_limited.then(|| site(client_address::client_address(request))),
    }
}

impl FromRequest for Client {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(client(request)))
    }
}

/// The network of a request's client, which counts as one address.
pub fn network_of(request: &impl HttpMessage) -> IpAddr {
    network(client_address::client_address(request))
}

impl Policy {
    const fn new(name: &'static str, quota: u32, window_s: u32) -> Self {
        Self { name, quota: NonZeroU32::new(quota).expect("a quota is at least 1"), window_s }
    }

    /// The policy of a whole IPv6 site.
    const fn wide(self) -> Self {
        Self { quota: self.quota.saturating_mul(NonZeroU32::new(WIDE).expect("it is not zero")), ..self }
    }
}

/// A policy for addresses: IPv4 addresses and IPv6 networks of 64 bits, and a wider one for IPv6 networks of 48 bits, because one
/// customer may have 65,536 of the former.
#[derive(Debug)]
struct ByAddress {
    narrow: Limit<IpAddr>,
    wide: Limit<IpAddr>,
}

impl ByAddress {
    fn new(policy: Policy, clock: LimitClock) -> Self {
        Self { narrow: Limit::new(policy, clock), wide: Limit::new(policy.wide(), clock) }
    }

    fn count(&self, address: IpAddr, calls: NonZeroU32) -> Result<QuotaState, QuotaState> {
        if address.is_ipv6() {
            self.wide.count(&site(address), calls)?;
        }
        self.narrow.count(&network(address), calls)
    }
}

/// A policy, and the buckets of its callers.
#[derive(Debug)]
struct Limit<K: Hash + Eq + Clone, C: Clock = LimitClock> {
    policy: Policy,
    advertised: HeaderValue,
    limiter: RateLimiter<K, Buckets<K>, C, StateInformationMiddleware>,
}

impl<K: Hash + Eq + Clone> Limit<K> {
    fn new(policy: Policy, clock: LimitClock) -> Self {
        Self::with(policy, BUCKETS_MAX, clock)
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

    /// Counts the calls if they may pass.
    fn count(&self, key: &K, calls: NonZeroU32) -> Result<QuotaState, QuotaState> {
        match self.limiter.check_key_n(key, calls) {
            Ok(Ok(snapshot)) => {
                let remaining = snapshot.remaining_burst_capacity();
                // The time until the next call if none is left; else until the whole quota is available.
                let missing = if remaining == 0 { 1 } else { self.policy.quota.get() - remaining };
                Ok(self.quota_state(remaining, snapshot.quota().replenish_interval() * missing))
            }
            Ok(Err(refused)) => Err(self.quota_state(0, refused.wait_time_from(self.limiter.clock().now()))),
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

/// What is left of a caller's quota, for the headers of draft-ietf-httpapi-ratelimit-headers-10.
#[derive(Clone, Debug)]
struct QuotaState {
    name: &'static str,
    advertised: HeaderValue,
    /// The calls that may follow at once.
    remaining: u32,
    /// Seconds until the quota is whole again; if none is left, until the next call may come.
    reset_s: u64,
}

impl QuotaState {
    /// The answer to a call over the limit.
    fn refusal(&self) -> Problem {
        self.refusal_of("too many calls")
    }

    /// The answer to a call over the limit, which says what there was too much of.
    fn refusal_of(&self, excess: &str) -> Problem {
        let seconds = self.reset_s;
        let detail = format!("{excess}; the next one may come in {seconds} s");
        Problem::new(Code::RateLimited, detail).retry_after(seconds)
    }

    fn write_headers(&self, headers: &mut HeaderMap) {
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
    fn memory_is_bounded_and_a_constant_caller_keeps_its_bucket() {
        let (limit, _) = limit(1000);
        while limit.count(&0, ONE).is_ok() {}
        for key in 1..100_000 {
            assert!(limit.count(&key, ONE).is_ok(), "new callers pass");
            assert!(limit.count(&0, ONE).is_err(), "after {key} others");
        }
        let buckets = limit.limiter.into_state_store().0;
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
