//! The metrics of each part of the service: their names, and their help texts.

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use super::{
    families::{
        APPEND_BUCKETS_S, Counters, GROUP_BUCKETS, IssuerLabels, Label, REQUEST_BUCKETS_S, RequestLabels, RouteLabels,
        TURN_BUCKETS_S, WAIT_BUCKETS_S, registered,
    },
    labels::{
        AnalysisOutcome, AppendOutcome, ConnectionUse, DeliveryOutcome, Grant, HintOutcome, MailOutcome, TokenKind,
    },
};

/// Calls over HTTP.
pub(super) struct Requests {
    pub(super) answered: Family<RequestLabels, Counter>,
    pub(super) seconds: Family<RouteLabels, Histogram>,
    pub(super) wait_seconds: Histogram,
    pub(super) refusals: Family<Label<&'static str>, Counter>,
    pub(super) access_lines_dropped: Counter,
}

impl Requests {
    pub(super) fn register(registry: &mut Registry) -> Self {
        Self {
            answered: registered(
                registry,
                "http_requests",
                "Answered requests by route, method and status",
                Family::default(),
            ),
            seconds: registered(
                registry,
                "http_request_duration_seconds",
                "Time from the head of a request to the head of its answer, without requests that waited for a game to change (see http_wait_duration_seconds)",
                Family::new_with_constructor(|| Histogram::new(REQUEST_BUCKETS_S)),
            ),
            wait_seconds: registered(
                registry,
                "http_wait_duration_seconds",
                "Time from the head of a request to the head of its answer, for requests that waited for a game to change",
                Histogram::new(WAIT_BUCKETS_S),
            ),
            refusals: registered(registry, "http_refusals", "Answered failures by code", Family::default()),
            access_lines_dropped: registered(
                registry,
                "access_log_lines_dropped",
                "Lines of the access log that were not written, because its reader is too slow or gone",
                Counter::default(),
            ),
        }
    }
}

/// Moves and other appends, and the cache of games.
pub(super) struct Games {
    pub(super) appends: Counters<AppendOutcome>,
    pub(super) append_seconds: Histogram,
    pub(super) append_group_size: Histogram,
    pub(super) retries: Counter,
    pub(super) moves: Family<Label<&'static str>, Counter>,
    pub(super) cache_hits: Counter,
    pub(super) cache_misses: Counter,
}

impl Games {
    pub(super) fn register(registry: &mut Registry) -> Self {
        Self {
            appends: Counters::register(registry, "appends", "Appends to the logs of games by outcome", "outcome"),
            append_seconds: registered(
                registry,
                "append_duration_seconds",
                "Time of an append, including its time in the queue",
                Histogram::new(APPEND_BUCKETS_S),
            ),
            append_group_size: registered(
                registry,
                "append_group_size",
                "Appends stored by one statement",
                Histogram::new(GROUP_BUCKETS),
            ),
            retries: registered(
                registry,
                "retries",
                "Changes decided again after a version conflict or a lost connection",
                Counter::default(),
            ),
            moves: registered(registry, "moves", "Moves played by variant", Family::default()),
            cache_hits: registered(
                registry,
                "game_cache_hits",
                "Lookups of games that the cache answered",
                Counter::default(),
            ),
            cache_misses: registered(
                registry,
                "game_cache_misses",
                "Lookups of games that were loaded from the database",
                Counter::default(),
            ),
        }
    }
}

/// Tokens, and issuers of sign-ins.
pub(super) struct SignIns {
    pub(super) tokens_issued: Counters<Grant>,
    pub(super) tokens_refused: Counters<TokenKind>,
    pub(super) issuer_requests: Family<IssuerLabels, Counter>,
}

impl SignIns {
    pub(super) fn register(registry: &mut Registry) -> Self {
        Self {
            tokens_issued: Counters::register(registry, "tokens_issued", "Sets of tokens issued by grant", "grant"),
            tokens_refused: Counters::register(
                registry,
                "tokens_refused",
                "Presented tokens that were invalid, expired or revoked",
                "token",
            ),
            issuer_requests: registered(
                registry,
                "issuer_requests",
                "Sign-ins for which an issuer was asked, by its id and by outcome",
                Family::default(),
            ),
        }
    }
}

/// Messages to webhooks, devices and addresses.
pub(super) struct Outbound {
    pub(super) webhook_deliveries: Counters<DeliveryOutcome>,
    pub(super) webhook_connections: Counters<ConnectionUse>,
    pub(super) webhook_connections_open: Gauge,
    pub(super) pushes: Counters<DeliveryOutcome>,
    pub(super) mails: Counters<MailOutcome>,
    pub(super) oldest_mail_seconds: Gauge,
}

impl Outbound {
    pub(super) fn register(registry: &mut Registry) -> Self {
        Self {
            webhook_deliveries: Counters::register(
                registry,
                "webhook_deliveries",
                "Attempts to send to webhooks by outcome",
                "outcome",
            ),
            webhook_connections: Counters::register(
                registry,
                "webhook_connections",
                "Messages to webhooks by connection: opened, or reused",
                "connection",
            ),
            webhook_connections_open: registered(
                registry,
                "webhook_connections_open",
                "Open connections to webhooks, with those that wait",
                Gauge::default(),
            ),
            pushes: Counters::register(registry, "pushes", "Push notifications by outcome", "outcome"),
            mails: Counters::register(registry, "mails", "Mails by outcome", "outcome"),
            oldest_mail_seconds: registered(
                registry,
                "mail_oldest_unsent_seconds",
                "Age of the oldest mail in the outbox of the database at the last poll",
                Gauge::default(),
            ),
        }
    }
}

/// The computer's turns, analyses and hints.
pub(super) struct Engine {
    pub(super) turns_waiting: Gauge,
    pub(super) oldest_turn_seconds: Gauge,
    pub(super) turn_seconds: Histogram,
    pub(super) analyses: Counters<AnalysisOutcome>,
    pub(super) analyses_waiting: Gauge,
    pub(super) hints: Counters<HintOutcome>,
}

impl Engine {
    pub(super) fn register(registry: &mut Registry) -> Self {
        Self {
            turns_waiting: registered(
                registry,
                "computer_turns_waiting",
                "Games waiting for a computer move at the last poll (capped at 10,000)",
                Gauge::default(),
            ),
            oldest_turn_seconds: registered(
                registry,
                "computer_oldest_turn_seconds",
                "How long the oldest of these games has waited for its move",
                Gauge::default(),
            ),
            turn_seconds: registered(
                registry,
                "computer_turn_duration_seconds",
                "Time from the start of a computer's turn to its move, for moves by this server",
                Histogram::new(TURN_BUCKETS_S),
            ),
            analyses: Counters::register(registry, "analyses", "Analyses that ended, by outcome", "outcome"),
            analyses_waiting: registered(
                registry,
                "analyses_waiting",
                "Analyses in the queue of the database at the last poll",
                Gauge::default(),
            ),
            hints: Counters::register(registry, "hints", "Hints that ended, by outcome", "outcome"),
        }
    }
}

/// Metrics of the archive of finished games.
pub(super) struct Archive {
    pub(super) unexplored_games: Gauge,
    pub(super) unexplored_games_put_off: Gauge,
    pub(super) archived: Counter,
    pub(super) failures: Counter,
}

impl Archive {
    pub(super) fn register(registry: &mut Registry) -> Self {
        Self {
            unexplored_games: registered(
                registry,
                "unexplored_games",
                "Games waiting for the explorer at the last poll (capped at 10,000)",
                Gauge::default(),
            ),
            unexplored_games_put_off: registered(
                registry,
                "unexplored_games_put_off",
                "Games waiting for the explorer that failed and are retried a day later",
                Gauge::default(),
            ),
            archived: registered(
                registry,
                "games_archived",
                "Finished games whose logs this server has folded into archives",
                Counter::default(),
            ),
            failures: registered(
                registry,
                "archive_failures",
                "Finished games whose logs did not come back from their archives: they stay as they are, and are retried a day later",
                Counter::default(),
            ),
        }
    }
}
