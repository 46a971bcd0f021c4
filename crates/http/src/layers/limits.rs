//! Rate limits: how many calls a player may make, or an address, and how much heavy work.
//!
//! Each limit has a bucket for each caller (`buckets`). Each process counts for itself, and all its workers share the count.

use std::{
    cell::RefCell,
    convert::Infallible,
    future::{Ready, ready},
    net::IpAddr,
    num::NonZeroU32,
    rc::Rc,
    time::Duration,
};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    body::{BoxBody, MessageBody},
    dev::{Payload, ServiceRequest, ServiceResponse},
    http::Method,
    middleware::Next,
    web::Data,
};
use tokio::time::sleep;

pub use super::buckets::LimitClock;
use super::{
    buckets::{ByAddress, Cost, Limit, Policy, QuotaState},
    chosen::Chosen,
    client_address, response_headers,
};
use mancala_domain::{PlayerId, PlayerKind};
use mancala_wire::live::Client;

use crate::{
    address::{network, site},
    answer::problem::Problem,
    paths,
    request::{auth, faults},
    state::{heavy::Turns, tokens::Caller},
};

/// 10 calls a second sustained and 300 at once. This suffices for a person with five devices that each poll twice a second. It
/// also suffices for one that returns after a week and reads a hundred games. A client that retries without waiting uses it up in a second.
const PLAYER: Policy = Policy::new("player", 300, 30);

/// For calls without a token: 100 calls a second sustained and 1,000 at once. This suffices for a school behind one address, whose
/// classes watch a public game or open the same page at once. A script gets at most a hundredth of what a small machine can answer.
const ADDRESS: Policy = Policy::new("address", 1000, 10);

/// The limit for all guests and new accounts of an address together: enough for a hall of 300 guests with a call a second each. Guests cost
/// nothing, so a script may make any number of them.
const GUESTS: Policy = Policy::new("guests", 3000, 10);

/// The limit for all calls of an address, with any tokens.
const EVERYONE: Policy = Policy::new("network", 10_000, 10);

/// For new guests: a class may sign up at once, and then one every six seconds. The limit also bounds the rows that a script creates.
const NEW_PLAYERS: Policy = Policy::new("new-players", 100, 600);

/// The limit for new accounts: a class at once, and then two a minute. Guests have a separate limit.
const NEW_ACCOUNTS: Policy = Policy::new("new-accounts", 30, 900);

/// A device needs new tokens every 15 minutes, so this suffices for 450 devices behind one address. It also prevents guessing
/// secrets.
const TOKENS: Policy = Policy::new("tokens", 300, 600);

/// For calls that lead to a mail, so that a script does not have mails sent to many addresses. For one address,
/// `jobs::mail` has limits of its own.
const MAILS: Policy = Policy::new("mails", 20, 1200);

/// For heavy work, in units of [`PLIES_PER_UNIT`]: 100,000 plies at once, and then 10,000 plies a second. Replaying them takes a
/// second, or a tenth of the time of a processor.
const HEAVY: Policy = Policy::new("heavy", 1000, 10);

/// Plies that are read and replayed for one unit of the budget of heavy work: about a millisecond.
const PLIES_PER_UNIT: u32 = 100;

/// The limit on the bytes that the calls of a network store, in units of [`BYTES_PER_UNIT`], for every caller. A network may store 256 MiB
/// at once, and then 1.5 GiB an hour. So the database grows by less than 2 GiB in any hour. A network is an IPv4 address or a /48 of IPv6.
const STORED: Policy = Policy::new("stored", 512 * 1024, 600);

/// Bytes of the database for one unit of [`STORED`]. Each call that may change something counts as one. A move takes 205 bytes, with its entry
/// in the index, and at most as much again in the explorer.
const BYTES_PER_UNIT: usize = 512;

/// The size of a game without its moves, beside a unit for the call. It was measured at 1.3 to 2.1 KB.
pub const GAME_BYTES: usize = 2 * 1024;

/// The size of the answer that is stored under an idempotency key: 1.5 KB for a game of two rows, and more for four rows.
pub const KEY_BYTES: usize = 3 * 1024;

/// The size of a ply of an imported game: 163 bytes, and for a public game also its entries in the explorer.
const PLY_BYTES: usize = 256;

/// Bytes in the database per byte of a note. Replaced notes take space until it is reused.
const NOTE_BYTES: usize = 2;

/// For the games that guests and new accounts of an address import, in units of [`PLIES_PER_UNIT`]. The quota is as many plies as ten
/// guests may have by default, and then as many a day. They take 20 MB. New players would otherwise fill the disk, each
/// with a quota of its own.
const GUEST_IMPORTS: Policy = Policy::new("guest-imports", 1000, 86_400);

/// For the notes that guests and new accounts of an address write, in KiB: 10 MiB at once, and then as many a day.
const GUEST_NOTES: Policy = Policy::new("guest-notes", 10 * 1024, 86_400);

/// For the calls of an app, beside all calls of its address: 100 a second sustained and 3,000 at once. This suffices
/// for a backend that asks for the tokens of some 90,000 players every 15 minutes.
const APP: Policy = Policy::new("app", 3000, 30);

/// For the players that an app creates: as many at once as a service brings along, and then as many a day.
const APP_PLAYERS: Policy = Policy::new("app-players", 20_000, 86_400);

/// Paths that are not limited; those that end in `/` are prefixes. Load balancers poll health, and explanations of problems are
/// cheap. Documents are limited, because they are long and are compressed each time.
pub const UNLIMITED: [&str; 3] = ["/livez", "/readyz", "/problems/"];

/// The cost of a request, unless its handler counts more ([`count_more`]).
const ONE: NonZeroU32 = NonZeroU32::MIN;

/// The rate limits of a process.
#[derive(Debug)]
pub struct Limits {
    player: Limit<PlayerId>,
    address: ByAddress,
    guests: ByAddress,
    everyone: ByAddress,
    new_players: ByAddress,
    new_accounts: ByAddress,
    tokens: ByAddress,
    mails: ByAddress,
    heavy_of_account: Limit<PlayerId>,
    heavy_of_address: ByAddress,
    guest_imports: ByAddress,
    guest_notes: ByAddress,
    stored: Limit<IpAddr>,
    app: Chosen<Limit<PlayerId>>,
    app_players: Chosen<Limit<PlayerId>>,
}

/// Lets a call pass, or refuses it with 429. Every counted answer has the quota's state in its headers.
pub async fn limit(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let client = client(request.request());
    request.extensions_mut().insert(client);
    let counted = request.app_data::<Data<Limits>>().and_then(|limits| limits.count(&request));
    match counted {
        None => next.call(request).await.map(ServiceResponse::map_into_boxed_body),
        Some(Ok(state)) => {
            let counted = SharedQuotaState(Rc::new(RefCell::new(state)));
            request.extensions_mut().insert(counted.clone());
            let outcome = next.call(request).await.map(ServiceResponse::map_into_boxed_body);
            if let Ok(response) = &outcome {
                charge_refused_body(response, &counted);
            }
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

/// Charges what a body costs beyond one call, if the request was refused for it. The call has passed, so later calls wait if there
/// is no room. Otherwise a client that has used up its quota would send long bodies for the price of one call.
fn charge_refused_body(response: &ServiceResponse<BoxBody>, counted: &SharedQuotaState) {
    let request = response.request();
    let problem = response.response().error().and_then(|error| error.as_error::<Problem>());
    let calls = problem.map_or(0, |problem| faults::further_calls(problem, request));
    let calls = NonZeroU32::new(u32::try_from(calls).unwrap_or(u32::MAX));
    if let (Some(limits), Some(calls)) = (request.app_data::<Data<Limits>>(), calls) {
        let charged = limits.count_by_caller(request, Cost::Owed(calls)).unwrap_or_else(|state| state);
        let mut shown = counted.0.borrow_mut();
        if shown.name == charged.name {
            *shown = charged;
        }
    }
}

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
        // The call itself is already counted, and its answer shows the rest of the quota. A retry counts as one call again.
        Err(state) => Err(state.a_second_later().refusal()),
    }
}

/// Counts a player that is about to be made, by its address. The answer shows this quota.
pub fn count_new_player(request: &HttpRequest, kind: PlayerKind) -> Result<(), Problem> {
    let Some(limits) = request.app_data::<Data<Limits>>() else { return Ok(()) };
    let limit = if kind == PlayerKind::Account { &limits.new_accounts } else { &limits.new_players };
    show(request, limit.count(client_address::client_address(request), ONE))
}

/// Counts games before they are imported, by the space that they take. The plies of guests and new accounts also count by address.
pub fn count_import(request: &HttpRequest, games: usize, plies: usize) -> Result<(), Problem> {
    let Some(limits) = request.app_data::<Data<Limits>>() else { return Ok(()) };
    if shares_limits(request) {
        let units = units(plies, PLIES_PER_UNIT as usize).min(GUEST_IMPORTS.quota);
        let counted = limits.guest_imports.count(client_address::client_address(request), units);
        counted
            .map_err(|state| state.refusal_of("the guests and new accounts of this address have imported too much"))?;
    }
    count_stored(request, games * GAME_BYTES + plies * PLY_BYTES)
}

/// Counts a note before it is written, by the space that it takes. A note of a guest or a new account also counts by address.
pub fn count_note(request: &HttpRequest, bytes: usize) -> Result<(), Problem> {
    let Some(limits) = request.app_data::<Data<Limits>>() else { return Ok(()) };
    if shares_limits(request) {
        let counted = limits.guest_notes.count(client_address::client_address(request), units(bytes, 1024));
        counted.map_err(|state| {
            state.refusal_of("the guests and new accounts of this address have written too many notes")
        })?;
    }
    count_stored(request, bytes * NOTE_BYTES)
}

/// Counts the bytes that a call stores, in addition to the call itself.
pub fn count_stored(request: &HttpRequest, bytes: usize) -> Result<(), Problem> {
    let Some(limits) = request.app_data::<Data<Limits>>() else { return Ok(()) };
    let counted = limits.stored.count(&site(client_address::client_address(request)), units(bytes, BYTES_PER_UNIT));
    counted.map(|_| ()).map_err(|state| state.refusal_of("too much is stored from this network"))
}

/// The number of units, rounded up, and at least one.
fn units(amount: usize, each: usize) -> NonZeroU32 {
    u32::try_from(amount.div_ceil(each)).ok().and_then(NonZeroU32::new).unwrap_or(ONE)
}

/// Whether the caller is a guest or a new account.
fn shares_limits(request: &HttpRequest) -> bool {
    auth::identity(request).is_some_and(Caller::shares_limits)
}

/// Shows the state of this quota in the answer, and refuses the call if there was no room.
fn show(request: &HttpRequest, counted: Result<QuotaState, QuotaState>) -> Result<(), Problem> {
    if let Some(shown) = request.extensions().get::<SharedQuotaState>() {
        *shown.0.borrow_mut() = counted.clone().unwrap_or_else(|state| state);
    }
    counted.map(|_| ()).map_err(|state| state.refusal())
}

/// The app by which a request was counted, and its quota of calls.
struct CountedApp(PlayerId, Option<NonZeroU32>);

/// Counts a call whose app's key is void, as one without a token. The answer shows the address's quota.
pub fn count_bad_key(request: &HttpRequest) -> Result<(), Problem> {
    let Some(limits) = request.app_data::<Data<Limits>>() else { return Ok(()) };
    show(request, limits.address.count(client_address::client_address(request), ONE))
}

/// Counts a call of an app, which was counted with all calls of its address before. The answer shows the app's quota.
pub fn count_app(request: &HttpRequest, app: PlayerId, quota: Option<NonZeroU32>) -> Result<(), Problem> {
    let Some(limits) = request.app_data::<Data<Limits>>() else { return Ok(()) };
    let state = limits.app.of(quota, Limit::with_quota).count(&app, ONE).map_err(|state| state.refusal())?;
    request.extensions_mut().insert(CountedApp(app, quota));
    if let Some(counted) = request.extensions().get::<SharedQuotaState>() {
        *counted.0.borrow_mut() = state;
    }
    Ok(())
}

/// Counts a player that an app is about to create.
pub fn count_app_player(request: &HttpRequest, app: PlayerId, quota: Option<NonZeroU32>) -> Result<(), Problem> {
    let Some(limits) = request.app_data::<Data<Limits>>() else { return Ok(()) };
    let counted = limits.app_players.of(quota, Limit::with_quota).count(&app, ONE);
    counted.map(|_| ()).map_err(|state| state.refusal_of("the app has created too many players"))
}

/// The budget for heavy work of a request's caller. Guests, new accounts and clients without a token share that of their address.
#[derive(Clone, Debug)]
pub struct HeavyBudget {
    /// `None` if limits are off.
    limits: Option<Data<Limits>>,
    /// The account whose budget it is; `None`: that of the address.
    account: Option<PlayerId>,
    address: IpAddr,
    /// The player or the network whose requests run one after the other.
    turns: Turns,
}

impl HeavyBudget {
    pub fn of(request: &HttpRequest) -> Self {
        let limits = request.app_data::<Data<Limits>>().cloned();
        let address = client_address::client_address(request);
        let caller = auth::identity(request);
        let account = caller.filter(|caller| !caller.shares_limits()).map(|caller| caller.player);
        let network = (limits.is_some() && account.is_none()).then(|| site(address));
        Self { limits, account, address, turns: Turns { player: caller.map(|caller| caller.player), network } }
    }

    /// Whose heavy requests run one after the other: those of the player, and of the address unless an account is known. An address has
    /// none where addresses are not limited.
    pub const fn turns(&self) -> Turns {
        self.turns
    }

    /// Charges the work on `plies` plies or events, or refuses it.
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
            new_accounts: ByAddress::new(NEW_ACCOUNTS, clock),
            tokens: ByAddress::new(TOKENS, clock),
            mails: ByAddress::new(MAILS, clock),
            heavy_of_account: Limit::new(HEAVY, clock),
            heavy_of_address: ByAddress::new(HEAVY, clock),
            guest_imports: ByAddress::new(GUEST_IMPORTS, clock),
            guest_notes: ByAddress::new(GUEST_NOTES, clock),
            stored: Limit::new(STORED, clock),
            app: Chosen::new(Limit::new(APP, clock)),
            app_players: Chosen::new(Limit::new(APP_PLAYERS, clock)),
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
        if !request.method().is_safe()
            && let Err(state) = self.stored.count(&site(client_address::client_address(request)), ONE)
        {
            return Some(Err(state));
        }
        let strict = match path {
            // Its handler counts new guests and new accounts apart.
            "/v1/players" if request.method() == Method::POST => Some(&self.address),
            "/v1/tokens" | "/v1/apps/tokens" | "/v1/password-reset/confirm" | "/email/reset" | "/email/restore"
                if request.method() == Method::POST =>
            {
                Some(&self.tokens)
            }
            path if paths::asks_issuer(request.method(), path) => Some(&self.tokens),
            path if paths::may_compare_password(request.method(), path) => Some(&self.tokens),
            "/v1/me/email" | "/v1/password-reset" if !request.method().is_safe() => Some(&self.mails),
            _ => None,
        };
        Some(match strict {
            None => self.count_by_caller(request, ONE),
            Some(strict) => strict.count(client_address::client_address(request), ONE),
        })
    }

    /// Counts calls by their address and by their player. The state is the player's; without a token, the address's.
    fn count_by_caller(&self, request: &impl HttpMessage, cost: impl Into<Cost>) -> Result<QuotaState, QuotaState> {
        let (cost, address) = (cost.into(), client_address::client_address(request));
        let of_everyone = self.everyone.count(address, cost)?;
        let Some(caller) = auth::identity(request) else {
            let app = request.extensions().get::<CountedApp>().map(|app| (app.0, app.1));
            return match app {
                Some((app, quota)) => self.app.of(quota, Limit::with_quota).count(&app, cost),
                // Once the database says whose key it is: see `count_app` and `count_bad_key`.
                None if auth::app_key(request).is_some() => Ok(of_everyone),
                None => self.address.count(address, cost),
            };
        };
        if caller.shares_limits() {
            self.guests.count(address, cost)?;
        }
        self.player.count(&caller.player, cost)
    }
}

/// The client to which a request's waiters and unread answers count. Without limits the address is unknown, because all clients may come
/// through one proxy.
pub fn client(request: &HttpRequest) -> Client {
    let is_limited = request.app_data::<Data<Limits>>().is_some();
    Client {
        player: auth::identity(request).map(|caller| caller.player),
        address: is_limited.then(|| site(client_address::client_address(request))),
    }
}

/// [`client`] of the request that a handler reads.
#[derive(Clone, Copy, Debug)]
pub struct RequestClient(pub Client);

impl FromRequest for RequestClient {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(client(request))))
    }
}

/// The network of a request's client, which counts as one address.
pub fn network_of(request: &impl HttpMessage) -> IpAddr {
    network(client_address::client_address(request))
}
