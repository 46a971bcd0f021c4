//! What the service counts, as Prometheus reads it.
//!
//! Everybody may count here. This module knows nothing of ours: what is counted comes as numbers, and as words of which
//! there is a bounded number (route patterns, failure codes, variants), never as what a client has sent.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode_registry},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

/// What every name begins with, but those that Prometheus itself has named.
const PREFIX: &str = "mancala";

/// Upper ends of the buckets in seconds: a move takes a millisecond, and what takes longer than 10 seconds is cut off.
const REQUEST_BUCKETS_S: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Upper ends of the buckets in seconds: a request waits for a change up to 50 seconds.
const WAIT_BUCKETS_S: [f64; 8] = [0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 51.0, 60.0];

/// Upper ends of the buckets in seconds: from a commit to a fast disk to the time-out of a statement.
const APPEND_BUCKETS_S: [f64; 12] = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 8.0];

/// Upper ends of the buckets in seconds: the computer thinks for two at most, and longer waits are for others.
const TURN_BUCKETS_S: [f64; 10] = [0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0];

/// Upper ends of the buckets: a group has at most 64 appends.
const GROUP_BUCKETS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// The numbers of one process. Counting is a few atomic operations.
pub struct Metrics {
    registry: Registry,
    sources: Mutex<Vec<Source>>,
    waiting: Mutex<Option<Waiting>>,
    cache: Mutex<Option<Cached>>,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Family<RouteLabels, Histogram>,
    wait_seconds: Histogram,
    refusals: Family<Label<&'static str>, Counter>,
    pool_connections: Gauge,
    pool_connections_idle: Gauge,
    pool_connections_in_use: Gauge,
    writer_connections_in_use: Gauge,
    /// In the order of [`AppendOutcome`].
    appends: [Counter; 3],
    append_seconds: Histogram,
    append_group_size: Histogram,
    appends_queued: Gauge,
    retries: Counter,
    moves: Family<Label<&'static str>, Counter>,
    waiters: Gauge,
    streams: Gauge,
    cached_games: Gauge,
    cached_bytes: Gauge,
    cache_hits: Counter,
    cache_misses: Counter,
    /// In the order of [`Grant`].
    tokens_issued: [Counter; 3],
    /// In the order of [`TokenKind`].
    tokens_refused: [Counter; 3],
    /// In the order of [`DeliveryOutcome`].
    webhook_deliveries: [Counter; 3],
    computer_turns_waiting: Gauge,
    computer_turn_seconds: Histogram,
    /// In the order of [`AnalysisOutcome`].
    analyses: [Counter; 2],
    analyses_waiting: Gauge,
    unexplored_games: Gauge,
    unexplored_games_put_off: Gauge,
}

/// Says who waits for a game to change; `None` once the service is gone.
type Waiting = Box<dyn Fn() -> Option<Waiters> + Send + Sync>;

/// Says what is remembered; `None` once the service is gone.
type Cached = Box<dyn Fn() -> Option<CacheSize> + Send + Sync>;

/// Says how many connections a part of the process has now; `None` once that part is gone.
type Source = Box<dyn Fn() -> Option<Connections> + Send + Sync>;

/// Connections to the database.
#[derive(Clone, Copy, Debug, Default)]
pub struct Connections {
    /// Of the pools, open.
    pub pool: usize,
    /// Of those, free.
    pub pool_idle: usize,
    /// For appends, with a statement in flight.
    pub writers_in_use: usize,
    /// Appends that wait for their turn.
    pub appends_queued: usize,
}

/// Those who wait for a game to change.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waiters {
    pub all: usize,
    /// Of those, open streams of events.
    pub streams: usize,
}

/// How much a process remembers of games.
#[derive(Clone, Copy, Debug, Default)]
pub struct CacheSize {
    pub games: usize,
    pub bytes: u64,
}

/// Whether a game that was asked for was remembered, and that was of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembrance {
    Hit,
    Miss,
}

/// How long an answer took, and what for: who asked to wait was not served slowly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    Working(Duration),
    /// With a wait for a game to change.
    Waiting(Duration),
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    Stored,
    Conflict,
    Failed,
}

/// What became of an attempt to send to a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Delivered,
    /// It failed, and is made again later.
    Retried,
    /// It failed, and is not made again.
    Failed,
}

/// What became of an analysis that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisOutcome {
    Done,
    /// The game could not be analysed; it is tried again a few times.
    Failed,
}

/// What a set of tokens was given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    Guest,
    Password,
    Refresh,
}

/// A kind of token that somebody presents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Access,
    Refresh,
    /// Of a stream.
    Ticket,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    method: &'static str,
    route: &'static str,
}

/// One label and its value.
type Label<T> = [(&'static str, T); 1];

impl Metrics {
    /// For a process that started at this moment, in seconds since 1970.
    pub fn new(started_at_s: i64) -> Self {
        let mut registry = Registry::default();
        let started: Gauge = Gauge::default();
        started.set(started_at_s);
        registry.register("process_start_time_seconds", "When the process started, in seconds since 1970", started);

        let ours = registry.sub_registry_with_prefix(PREFIX);
        let build = Family::<Label<&'static str>, Gauge>::default();
        build.get_or_create(&[("version", env!("CARGO_PKG_VERSION"))]).set(1);
        ours.register("build_info", "Always 1; the label says which version runs", build);

        let appends = Family::default();
        let issued = Family::default();
        let refused = Family::default();
        let deliveries = Family::default();
        let analyses = Family::default();
        let metrics = Self {
            registry: Registry::default(),
            sources: Mutex::default(),
            waiting: Mutex::default(),
            cache: Mutex::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(|| Histogram::new(REQUEST_BUCKETS_S)),
            wait_seconds: Histogram::new(WAIT_BUCKETS_S),
            refusals: Family::default(),
            pool_connections: Gauge::default(),
            pool_connections_idle: Gauge::default(),
            pool_connections_in_use: Gauge::default(),
            writer_connections_in_use: Gauge::default(),
            appends: ["stored", "conflict", "failed"].map(|word| of(&appends, "outcome", word)),
            append_seconds: Histogram::new(APPEND_BUCKETS_S),
            append_group_size: Histogram::new(GROUP_BUCKETS),
            appends_queued: Gauge::default(),
            retries: Counter::default(),
            moves: Family::default(),
            waiters: Gauge::default(),
            streams: Gauge::default(),
            cached_games: Gauge::default(),
            cached_bytes: Gauge::default(),
            cache_hits: Counter::default(),
            cache_misses: Counter::default(),
            tokens_issued: ["guest", "password", "refresh"].map(|word| of(&issued, "grant", word)),
            tokens_refused: ["access", "refresh", "ticket"].map(|word| of(&refused, "token", word)),
            webhook_deliveries: ["delivered", "retried", "failed"].map(|word| of(&deliveries, "outcome", word)),
            computer_turns_waiting: Gauge::default(),
            computer_turn_seconds: Histogram::new(TURN_BUCKETS_S),
            analyses: ["done", "failed"].map(|word| of(&analyses, "outcome", word)),
            analyses_waiting: Gauge::default(),
            unexplored_games: Gauge::default(),
            unexplored_games_put_off: Gauge::default(),
        };
        metrics.register_requests(ours);
        metrics.register_games(ours);
        ours.register("appends", "Appends to the logs of games, by what became of them", appends);
        ours.register("tokens_issued", "Sets of tokens given out, by what they were given for", issued);
        ours.register("tokens_refused", "Tokens presented that were not valid, or no longer", refused);
        ours.register("webhook_deliveries", "Attempts to send to webhooks, by what became of them", deliveries);
        ours.register("analyses", "Games taken to be analysed, by what became of them", analyses);
        Self { registry, ..metrics }
    }

    fn register_requests(&self, ours: &mut Registry) {
        ours.register("http_requests", "Requests answered, by route, method and status", self.requests.clone());
        ours.register(
            "http_request_duration_seconds",
            "Time from a request's head to its answer's, but of requests that waited for a game to change: see http_wait_duration_seconds",
            self.request_seconds.clone(),
        );
        ours.register(
            "http_wait_duration_seconds",
            "Time from the head of a request that waited for a game to change to its answer's",
            self.wait_seconds.clone(),
        );
        ours.register("http_refusals", "Failures answered, by their code", self.refusals.clone());
        ours.register(
            "db_pool_connections",
            "Connections to the database that are open, but those for appends",
            self.pool_connections.clone(),
        );
        ours.register(
            "db_pool_connections_idle",
            "Connections of the pools that are free",
            self.pool_connections_idle.clone(),
        );
        ours.register(
            "db_pool_connections_in_use",
            "Connections of the pools that are not free",
            self.pool_connections_in_use.clone(),
        );
        ours.register(
            "db_writer_connections_in_use",
            "Connections for appends that have a statement in flight",
            self.writer_connections_in_use.clone(),
        );
        ours.register(
            "append_duration_seconds",
            "Time of an append, with the wait for its turn",
            self.append_seconds.clone(),
        );
        ours.register(
            "append_group_size",
            "Appends that were stored by one statement together",
            self.append_group_size.clone(),
        );
        ours.register("appends_queued", "Appends that wait for their turn", self.appends_queued.clone());
        ours.register(
            "retries",
            "Changes decided again: somebody else was faster, or the connection was lost",
            self.retries.clone(),
        );
    }

    fn register_games(&self, ours: &mut Registry) {
        ours.register("moves", "Moves played, by variant", self.moves.clone());
        ours.register(
            "computer_turns_waiting",
            "Games in which the computer is to move, when this server last looked; of more than 10,000 so many",
            self.computer_turns_waiting.clone(),
        );
        ours.register(
            "computer_turn_duration_seconds",
            "From its turn to the computer's move, of those that this server played",
            self.computer_turn_seconds.clone(),
        );
        ours.register(
            "analyses_waiting",
            "Analyses that all servers of the database have yet to make, when this one last looked",
            self.analyses_waiting.clone(),
        );
        ours.register(
            "unexplored_games",
            "Games that the explorer has yet to count, when this server last looked; of more than 10,000 so many",
            self.unexplored_games.clone(),
        );
        ours.register(
            "unexplored_games_put_off",
            "Those of them that could not be counted, and are tried again a day later",
            self.unexplored_games_put_off.clone(),
        );
        ours.register("waiters", "Requests that wait for a game to change, streams included", self.waiters.clone());
        ours.register("streams", "Streams of events that are open", self.streams.clone());
        ours.register("cached_games", "Games that are remembered", self.cached_games.clone());
        ours.register(
            "cached_games_bytes",
            "Memory of the games that are remembered, about",
            self.cached_bytes.clone(),
        );
        ours.register("game_cache_hits", "Games asked for that were remembered, and still so", self.cache_hits.clone());
        ours.register("game_cache_misses", "Games asked for that had to be loaded", self.cache_misses.clone());
    }

    /// A request was answered. `route` is the pattern of its path, never the path.
    pub fn request_answered(&self, method: &'static str, route: &'static str, status: u16, took: Took) {
        let labels = RouteLabels { method, route };
        match took {
            Took::Working(time) => self.request_seconds.get_or_create(&labels).observe(time.as_secs_f64()),
            Took::Waiting(time) => self.wait_seconds.observe(time.as_secs_f64()),
        }
        self.requests.get_or_create(&RequestLabels { method, route, status }).inc();
    }

    /// A failure was answered, with this code.
    pub fn request_refused(&self, code: &'static str) {
        self.refusals.get_or_create(&[("code", code)]).inc();
    }

    pub fn append_ended(&self, outcome: AppendOutcome, took: Duration) {
        self.appends[outcome as usize].inc();
        self.append_seconds.observe(took.as_secs_f64());
    }

    /// So many appends were sent to the database together.
    pub fn group_written(&self, appends: usize) {
        self.append_group_size.observe(f64::from(u32::try_from(appends).unwrap_or(u32::MAX)));
    }

    /// A game was asked for, and was remembered or had to be loaded.
    pub fn game_asked_for(&self, remembrance: Remembrance) {
        match remembrance {
            Remembrance::Hit => self.cache_hits.inc(),
            Remembrance::Miss => self.cache_misses.inc(),
        };
    }

    /// A change was decided again.
    pub fn retried(&self) {
        self.retries.inc();
    }

    pub fn move_played(&self, variant: &'static str) {
        self.moves.get_or_create(&[("variant", variant)]).inc();
    }

    pub fn token_issued(&self, grant: Grant) {
        self.tokens_issued[grant as usize].inc();
    }

    pub fn token_refused(&self, kind: TokenKind) {
        self.tokens_refused[kind as usize].inc();
    }

    pub fn webhook_sent(&self, outcome: DeliveryOutcome) {
        self.webhook_deliveries[outcome as usize].inc();
    }

    /// In so many games the computer is to move.
    pub fn computer_turns_wait(&self, count: i64) {
        self.computer_turns_waiting.set(count);
    }

    /// The computer has moved, so long after its turn had come.
    pub fn computer_played(&self, took: Duration) {
        self.computer_turn_seconds.observe(took.as_secs_f64());
    }

    pub fn analysis_ended(&self, outcome: AnalysisOutcome) {
        self.analyses[outcome as usize].inc();
    }

    /// So many analyses are waited for.
    pub fn analyses_wait(&self, count: i64) {
        self.analyses_waiting.set(count);
    }

    /// So many games wait for the explorer, and so many of them because they could not be counted.
    pub fn unexplored(&self, waiting: i64, put_off: i64) {
        self.unexplored_games.set(waiting);
        self.unexplored_games_put_off.set(put_off);
    }

    /// Asks who waits for a game to change whenever the metrics are read, for as long as there is an answer.
    pub fn watch_waiters(&self, source: impl Fn() -> Option<Waiters> + Send + Sync + 'static) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(source));
    }

    /// Asks what is remembered whenever the metrics are read, for as long as there is an answer.
    pub fn watch_cache(&self, source: impl Fn() -> Option<CacheSize> + Send + Sync + 'static) {
        *self.cache.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(source));
    }

    /// Asks for a part's connections whenever the metrics are read, for as long as there is an answer.
    pub fn watch_connections(&self, source: impl Fn() -> Option<Connections> + Send + Sync + 'static) {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(source));
    }

    /// Everything in Prometheus' text format, version 0.0.4.
    pub fn text(&self) -> String {
        self.ask_sources();
        let mut open_metrics = String::new();
        encode_registry(&mut open_metrics, &self.registry).expect("writing to a string does not fail");
        prometheus_text(&open_metrics)
    }

    fn ask_sources(&self) {
        let mut all = Connections::default();
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).retain(|source| match source() {
            Some(part) => {
                all.pool += part.pool;
                all.pool_idle += part.pool_idle;
                all.writers_in_use += part.writers_in_use;
                all.appends_queued += part.appends_queued;
                true
            }
            None => false,
        });
        let set = |gauge: &Gauge, count: usize| gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        set(&self.pool_connections, all.pool);
        set(&self.pool_connections_idle, all.pool_idle);
        set(&self.pool_connections_in_use, all.pool.saturating_sub(all.pool_idle));
        set(&self.writer_connections_in_use, all.writers_in_use);
        set(&self.appends_queued, all.appends_queued);
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let waiters = waiting.as_ref().and_then(|count| count()).unwrap_or_default();
        set(&self.waiters, waiters.all);
        set(&self.streams, waiters.streams);
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let size = cache.as_ref().and_then(|size| size()).unwrap_or_default();
        set(&self.cached_games, size.games);
        self.cached_bytes.set(i64::try_from(size.bytes).unwrap_or(i64::MAX));
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// The counter with this label, which is there from the start: a rate begins at zero.
fn of(family: &Family<Label<&'static str>, Counter>, label: &'static str, word: &'static str) -> Counter {
    Counter::clone(&family.get_or_create(&[(label, word)]))
}

/// The library writes OpenMetrics, in which the description of a counter leaves out `_total`. The older format, which every
/// reader knows, names it as its samples are named; otherwise the two are alike.
fn prometheus_text(open_metrics: &str) -> String {
    let counters: Vec<&str> =
        open_metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter")).collect();
    let mut text = String::with_capacity(open_metrics.len() + counters.len() * 16);
    for line in open_metrics.lines() {
        let described = line.strip_prefix("# HELP ").or_else(|| line.strip_prefix("# TYPE "));
        match described.and_then(|rest| rest.split_once(' ')) {
            Some((name, rest)) if counters.contains(&name) => {
                text.push_str(&line[..7]);
                text.push_str(name);
                text.push_str("_total ");
                text.push_str(rest);
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_described_under_its_own_name() {
        let metrics = Metrics::new(15);
        metrics.request_answered("GET", "/v1/games/{id}", 200, Took::Working(Duration::from_millis(3)));
        metrics.request_answered("GET", "/v1/games/{id}", 304, Took::Waiting(Duration::from_secs(20)));
        metrics.request_refused("not_found");
        metrics.move_played("kalah");
        metrics.append_ended(AppendOutcome::Conflict, Duration::from_millis(1));
        metrics.token_issued(Grant::Refresh);
        metrics.watch_waiters(|| Some(Waiters { all: 1, streams: 1 }));
        let text = metrics.text();
        for line in [
            "process_start_time_seconds 15",
            "# TYPE mancala_http_requests_total counter",
            r#"mancala_http_requests_total{method="GET",route="/v1/games/{id}",status="200"} 1"#,
            r#"mancala_http_request_duration_seconds_bucket{le="0.005",method="GET",route="/v1/games/{id}"} 1"#,
            r#"mancala_http_request_duration_seconds_count{method="GET",route="/v1/games/{id}"} 1"#,
            r#"mancala_http_requests_total{method="GET",route="/v1/games/{id}",status="304"} 1"#,
            r#"mancala_http_wait_duration_seconds_bucket{le="30.0"} 1"#,
            r#"mancala_http_refusals_total{code="not_found"} 1"#,
            r#"mancala_moves_total{variant="kalah"} 1"#,
            r#"mancala_appends_total{outcome="conflict"} 1"#,
            r#"mancala_tokens_issued_total{grant="refresh"} 1"#,
            "mancala_waiters 1",
            "mancala_streams 1",
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is missing in\n{text}");
        }
        let mut type_of = std::collections::BTreeMap::new();
        for line in text.lines() {
            if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(type_of.insert(name, kind).is_none(), "{line}");
            } else if !line.starts_with("# HELP ") {
                let name = line.split(['{', ' ']).next().unwrap_or_default();
                let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
                let family = family.filter(|family| type_of.get(family) == Some(&"histogram")).unwrap_or(name);
                assert!(type_of.contains_key(family), "{line} is not described");
            }
        }
    }

    #[test]
    fn connections_are_asked_for_when_read_and_forgotten_with_their_owner() {
        let metrics = Metrics::new(0);
        let owner = std::sync::Arc::new(());
        let weak = std::sync::Arc::downgrade(&owner);
        metrics.watch_connections(|| Some(Connections { pool: 3, pool_idle: 1, writers_in_use: 2, appends_queued: 7 }));
        metrics.watch_connections(move || {
            weak.upgrade().map(|_| Connections { pool: 5, pool_idle: 5, ..Connections::default() })
        });
        let has = |line: &str| metrics.text().lines().any(|known| known == line);
        assert!(has("mancala_db_pool_connections 8") && has("mancala_db_pool_connections_in_use 2"));
        drop(owner);
        assert!(has("mancala_db_pool_connections 3") && has("mancala_db_writer_connections_in_use 2"));
        assert!(has("mancala_appends_queued 7"));
    }
}
