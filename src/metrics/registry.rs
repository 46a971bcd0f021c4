//! All metrics: their names and help texts, and the methods that count.

use std::{fmt, sync::atomic::AtomicU64, time::Duration};

use prometheus_client::{
    encoding::text::encode_registry,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use super::{
    families::{
        APPEND_BUCKETS_S, GROUP_BUCKETS, ISSUER_OUTCOMES, IssuerLabels, Label, REQUEST_BUCKETS_S, RequestLabels,
        RouteLabels, TURN_BUCKETS_S, WAIT_BUCKETS_S, of,
    },
    labels::{
        AnalysisOutcome, AppendOutcome, CacheLookup, DeliveryOutcome, Grant, HintOutcome, IssuerOutcome, MailOutcome,
        Reader, TokenKind, Took,
    },
    process::{register_build, register_process},
    text::prometheus_text,
    upkeep::Upkeep,
    watched::Watched,
};

/// The prefix of all names but those that Prometheus defines.
const PREFIX: &str = "mancala";

/// The metrics of one process. Counting takes a few atomic operations.
pub struct Metrics {
    registry: Registry,
    watched: Watched,
    upkeep: Upkeep,
    access_lines_dropped: Counter,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Family<RouteLabels, Histogram>,
    wait_seconds: Histogram,
    refusals: Family<Label<&'static str>, Counter>,
    /// In the order of [`AppendOutcome`].
    appends: [Counter; 3],
    append_seconds: Histogram,
    append_group_size: Histogram,
    retries: Counter,
    moves: Family<Label<&'static str>, Counter>,
    cache_hits: Counter,
    cache_misses: Counter,
    /// In the order of [`Grant`].
    tokens_issued: [Counter; 7],
    /// In the order of [`TokenKind`].
    tokens_refused: [Counter; 5],
    /// In the order of [`DeliveryOutcome`].
    webhook_deliveries: [Counter; 3],
    /// Opened, and reused.
    webhook_connections: [Counter; 2],
    webhook_connections_open: Gauge,
    /// In the order of [`DeliveryOutcome`].
    pushes: [Counter; 3],
    /// In the order of [`MailOutcome`].
    mails: [Counter; 4],
    oldest_mail_seconds: Gauge,
    issuer_requests: Family<IssuerLabels, Counter>,
    computer_turns_waiting: Gauge,
    computer_oldest_turn_seconds: Gauge,
    computer_turn_seconds: Histogram,
    /// In the order of [`AnalysisOutcome`].
    analyses: [Counter; 2],
    analyses_waiting: Gauge,
    /// In the order of [`HintOutcome`].
    hints: [Counter; 3],
    /// In the order of [`Reader`].
    standby_reads: [Counter; 2],
    unexplored_games: Gauge,
    unexplored_games_put_off: Gauge,
    games_archived: Counter,
    archive_failures: Counter,
    clock_offset_seconds: Gauge<f64, AtomicU64>,
}

impl Metrics {
    /// The metrics of a process that started at this time, in seconds since 1970.
    pub fn new(started_at_s: i64) -> Self {
        let mut registry = Registry::default();
        register_process(&mut registry, started_at_s);
        let prefixed = registry.sub_registry_with_prefix(PREFIX);
        register_build(prefixed);
        let appends = Family::default();
        let issued = Family::default();
        let refused = Family::default();
        let (deliveries, connected) = (Family::default(), Family::default());
        let (pushes, mails) = (Family::default(), Family::default());
        let (analyses, hints) = (Family::default(), Family::default());
        let standby_reads = Family::default();
        let metrics = Self {
            registry: Registry::default(),
            watched: Watched::default(),
            upkeep: Upkeep::default(),
            access_lines_dropped: Counter::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(|| Histogram::new(REQUEST_BUCKETS_S)),
            wait_seconds: Histogram::new(WAIT_BUCKETS_S),
            refusals: Family::default(),
            appends: ["stored", "conflict", "failed"].map(|word| of(&appends, "outcome", word)),
            append_seconds: Histogram::new(APPEND_BUCKETS_S),
            append_group_size: Histogram::new(GROUP_BUCKETS),
            retries: Counter::default(),
            moves: Family::default(),
            cache_hits: Counter::default(),
            cache_misses: Counter::default(),
            tokens_issued: ["guest", "password", "refresh", "recovery", "app", "identity", "exchange"]
                .map(|word| of(&issued, "grant", word)),
            tokens_refused: ["access", "refresh", "ticket", "app_key", "subject"]
                .map(|word| of(&refused, "token", word)),
            webhook_deliveries: ["delivered", "retried", "failed"].map(|word| of(&deliveries, "outcome", word)),
            webhook_connections: ["opened", "reused"].map(|word| of(&connected, "connection", word)),
            webhook_connections_open: Gauge::default(),
            pushes: ["delivered", "retried", "failed"].map(|word| of(&pushes, "outcome", word)),
            mails: ["sent", "retried", "failed", "limited"].map(|word| of(&mails, "outcome", word)),
            oldest_mail_seconds: Gauge::default(),
            issuer_requests: Family::default(),
            computer_turns_waiting: Gauge::default(),
            computer_oldest_turn_seconds: Gauge::default(),
            computer_turn_seconds: Histogram::new(TURN_BUCKETS_S),
            analyses: ["done", "failed"].map(|word| of(&analyses, "outcome", word)),
            analyses_waiting: Gauge::default(),
            hints: ["done", "cancelled", "failed"].map(|word| of(&hints, "outcome", word)),
            standby_reads: ["standby", "primary"].map(|word| of(&standby_reads, "by", word)),
            unexplored_games: Gauge::default(),
            unexplored_games_put_off: Gauge::default(),
            games_archived: Counter::default(),
            archive_failures: Counter::default(),
            clock_offset_seconds: Gauge::default(),
        };
        metrics.register_requests(prefixed);
        metrics.register_games(prefixed);
        metrics.watched.register(prefixed);
        metrics.upkeep.register(prefixed);
        prefixed.register("appends", "Appends to the logs of games by outcome", appends);
        prefixed.register("tokens_issued", "Sets of tokens issued by grant", issued);
        prefixed.register("tokens_refused", "Presented tokens that were invalid, expired or revoked", refused);
        prefixed.register("webhook_deliveries", "Attempts to send to webhooks by outcome", deliveries);
        prefixed.register("pushes", "Push notifications by outcome", pushes);
        prefixed.register("mails", "Mails by outcome", mails);
        metrics.register_sign_ins(prefixed);
        prefixed.register("webhook_connections", "Messages to webhooks by connection: opened, or reused", connected);
        prefixed.register("analyses", "Analyses that ended, by outcome", analyses);
        prefixed.register("hints", "Hints that ended, by outcome", hints);
        prefixed.register("standby_reads", "Reads that a standby may answer, by what has answered them", standby_reads);
        Self { registry, ..metrics }
    }

    fn register_requests(&self, registry: &mut Registry) {
        registry.register("http_requests", "Answered requests by route, method and status", self.requests.clone());
        registry.register(
            "http_request_duration_seconds",
            "Time from the head of a request to the head of its answer, without requests that waited for a game to change (see http_wait_duration_seconds)",
            self.request_seconds.clone(),
        );
        registry.register(
            "http_wait_duration_seconds",
            "Time from the head of a request to the head of its answer, for requests that waited for a game to change",
            self.wait_seconds.clone(),
        );
        registry.register("http_refusals", "Answered failures by code", self.refusals.clone());
        registry.register(
            "append_duration_seconds",
            "Time of an append, including its time in the queue",
            self.append_seconds.clone(),
        );
        registry.register(
            "clock_offset_seconds",
            "How far this machine's time of day is ahead of the database's clock, which the server follows",
            self.clock_offset_seconds.clone(),
        );
        registry.register("append_group_size", "Appends stored by one statement", self.append_group_size.clone());
        registry.register(
            "retries",
            "Changes decided again after a version conflict or a lost connection",
            self.retries.clone(),
        );
        registry.register(
            "access_log_lines_dropped",
            "Lines of the access log that were not written, because its reader is too slow or gone",
            self.access_lines_dropped.clone(),
        );
        let open = self.webhook_connections_open.clone();
        registry.register("webhook_connections_open", "Open connections to webhooks, with those that wait", open);
    }

    fn register_sign_ins(&self, registry: &mut Registry) {
        registry.register(
            "mail_oldest_unsent_seconds",
            "Age of the oldest mail in the outbox of the database at the last poll",
            self.oldest_mail_seconds.clone(),
        );
        registry.register(
            "issuer_requests",
            "Sign-ins for which an issuer was asked, by its id and by outcome",
            self.issuer_requests.clone(),
        );
    }

    fn register_games(&self, registry: &mut Registry) {
        registry.register("moves", "Moves played by variant", self.moves.clone());
        registry.register(
            "computer_turns_waiting",
            "Games waiting for a computer move at the last poll (capped at 10,000)",
            self.computer_turns_waiting.clone(),
        );
        registry.register(
            "computer_oldest_turn_seconds",
            "How long the oldest of these games has waited for its move",
            self.computer_oldest_turn_seconds.clone(),
        );
        registry.register(
            "computer_turn_duration_seconds",
            "Time from the start of a computer's turn to its move, for moves by this server",
            self.computer_turn_seconds.clone(),
        );
        registry.register(
            "analyses_waiting",
            "Analyses in the queue of the database at the last poll",
            self.analyses_waiting.clone(),
        );
        registry.register(
            "unexplored_games",
            "Games waiting for the explorer at the last poll (capped at 10,000)",
            self.unexplored_games.clone(),
        );
        registry.register(
            "unexplored_games_put_off",
            "Games waiting for the explorer that failed and are retried a day later",
            self.unexplored_games_put_off.clone(),
        );
        registry.register(
            "games_archived",
            "Finished games whose logs this server has folded into archives",
            self.games_archived.clone(),
        );
        registry.register(
            "archive_failures",
            "Finished games whose logs did not come back from their archives: they stay as they are, and are retried a day later",
            self.archive_failures.clone(),
        );
        registry.register("game_cache_hits", "Lookups of games that the cache answered", self.cache_hits.clone());
        registry.register(
            "game_cache_misses",
            "Lookups of games that were loaded from the database",
            self.cache_misses.clone(),
        );
    }

    /// Counts an answered request. `route` is the pattern of its path, never the path.
    pub fn request_answered(&self, method: &'static str, route: &'static str, status: u16, took: Took) {
        let labels = RouteLabels { method, route };
        match took {
            Took::Working(time) => self.request_seconds.get_or_create(&labels).observe(time.as_secs_f64()),
            Took::Waiting(time) => self.wait_seconds.observe(time.as_secs_f64()),
        }
        self.requests.get_or_create(&RequestLabels { method, route, status }).inc();
    }

    /// Counts an answered failure by its code.
    pub fn request_refused(&self, code: &'static str) {
        self.refusals.get_or_create(&[("code", code)]).inc();
    }

    pub fn append_ended(&self, outcome: AppendOutcome, took: Duration) {
        self.appends[outcome as usize].inc();
        self.append_seconds.observe(took.as_secs_f64());
    }

    /// Counts a group of appends that were sent to the database together.
    pub fn group_written(&self, appends: usize) {
        self.append_group_size.observe(f64::from(u32::try_from(appends).unwrap_or(u32::MAX)));
    }

    /// Counts a lookup of a game in the cache.
    pub fn game_looked_up(&self, lookup: CacheLookup) {
        self.games_looked_up(lookup, 1);
    }

    /// Counts the lookups of several games in the cache that ended alike.
    pub fn games_looked_up(&self, lookup: CacheLookup, games: usize) {
        match lookup {
            CacheLookup::Hit => self.cache_hits.inc_by(games as u64),
            CacheLookup::Miss => self.cache_misses.inc_by(games as u64),
        };
    }

    /// Counts a change that was decided again.
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

    pub fn push_sent(&self, outcome: DeliveryOutcome) {
        self.pushes[outcome as usize].inc();
    }

    pub fn mail_ended(&self, outcome: MailOutcome) {
        self.mails[outcome as usize].inc();
    }

    /// Sets the age of the oldest mail that was not sent.
    pub fn set_oldest_mail(&self, seconds: i64) {
        self.oldest_mail_seconds.set(seconds);
    }

    /// The counters of these codes of failures and of these variants exist from now on: a rate sees their first increment.
    pub fn know_words(
        &self,
        codes: impl IntoIterator<Item = &'static str>,
        variants: impl IntoIterator<Item = &'static str>,
    ) {
        codes.into_iter().for_each(|code| drop(self.refusals.get_or_create(&[("code", code)])));
        variants.into_iter().for_each(|variant| drop(self.moves.get_or_create(&[("variant", variant)])));
    }

    /// The counters of an issuer exist from now on.
    pub fn know_issuer(&self, issuer: &str) {
        for outcome in ISSUER_OUTCOMES {
            drop(self.issuer_requests.get_or_create(&IssuerLabels { issuer: issuer.to_owned(), outcome }));
        }
    }

    /// Counts what an issuer has answered. `issuer` is the operator's id.
    pub fn issuer_asked(&self, issuer: &str, outcome: IssuerOutcome) {
        let labels = IssuerLabels { issuer: issuer.to_owned(), outcome: ISSUER_OUTCOMES[outcome as usize] };
        self.issuer_requests.get_or_create(&labels).inc();
    }

    /// Counts connections to webhooks that were opened, and requests over kept ones.
    pub fn webhooks_connected(&self, opened: u64, reused: u64) {
        self.webhook_connections[0].inc_by(opened);
        self.webhook_connections[1].inc_by(reused);
    }

    /// Sets the number of connections to webhooks that are open.
    pub fn set_webhook_connections_open(&self, count: usize) {
        self.webhook_connections_open.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Sets the number of games in which the computer is to move, and for how long the oldest has waited.
    pub fn set_computer_turns_waiting(&self, count: i64, oldest_s: i64) {
        self.computer_turns_waiting.set(count);
        self.computer_oldest_turn_seconds.set(oldest_s);
    }

    /// Counts a computer's move, and the time since its turn began.
    pub fn computer_moved(&self, took: Duration) {
        self.computer_turn_seconds.observe(took.as_secs_f64());
    }

    pub fn analysis_ended(&self, outcome: AnalysisOutcome) {
        self.analyses[outcome as usize].inc();
    }

    /// Counts a hint that ended.
    pub fn hint_ended(&self, outcome: HintOutcome) {
        self.hints[outcome as usize].inc();
    }

    /// Counts a read that a standby may answer.
    pub fn standby_read(&self, by: Reader) {
        self.standby_reads[by as usize].inc();
    }

    /// Sets the number of analyses in the queue.
    pub fn set_analyses_waiting(&self, count: i64) {
        self.analyses_waiting.set(count);
    }

    /// Sets the number of games that wait for the explorer, and how many of them wait after a failure.
    pub fn set_unexplored(&self, waiting: i64, put_off: i64) {
        self.unexplored_games.set(waiting);
        self.unexplored_games_put_off.set(put_off);
    }

    /// Counts games whose logs were archived, and those that failed.
    pub fn games_archived(&self, games: u64, failures: u64) {
        self.games_archived.inc_by(games);
        self.archive_failures.inc_by(failures);
    }

    /// Sets how far the machine's time of day is ahead of the database's clock.
    pub fn set_clock_offset(&self, seconds: f64) {
        self.clock_offset_seconds.set(seconds);
    }

    /// The gauges of upkeep.
    pub fn upkeep(&self) -> &Upkeep {
        &self.upkeep
    }

    /// The gauges that are read from their owners.
    pub fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Counts lines of the access log that were not written.
    pub fn access_lines_dropped(&self, lines: u64) {
        self.access_lines_dropped.inc_by(lines);
    }

    /// All metrics in Prometheus' text format, version 0.0.4.
    pub fn text(&self) -> String {
        self.watched.read();
        let mut open_metrics = String::new();
        encode_registry(&mut open_metrics, &self.registry).expect("writing to a string does not fail");
        prometheus_text(&open_metrics)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Waiters, *};

    #[test]
    fn every_sample_is_described_under_its_own_name() {
        let metrics = Metrics::new(15);
        metrics.request_answered("GET", "/v1/games/{id}", 200, Took::Working(Duration::from_millis(3)));
        metrics.request_answered("GET", "/v1/games/{id}", 304, Took::Waiting(Duration::from_secs(20)));
        metrics.request_refused("not_found");
        metrics.move_played("kalah");
        metrics.append_ended(AppendOutcome::Conflict, Duration::from_millis(1));
        metrics.token_issued(Grant::Refresh);
        metrics.watched().waiters(|| Some(Waiters { all: 1, streams: 1 }));
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
}
