//! A notification on a device: a text, and the page that the client opens when it is touched. The text names no players: other companies'
//! push services read some of it, and a name may be erased before it is shown.

use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::texts::{News, Texts};
use mancala_texts::Language;

/// How long a push service keeps a notification for a device that is off.
const KEPT: Duration = Duration::hours(24);

/// The subject of a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A game, by its id and its variant's title; and the type of the notice, as in webhooks.
    Game { id: String, title: String, kind: &'static str },
    /// The number of games, if there are several.
    Digest { games: usize, news: News },
}

/// The type and the topic of a notification about several games, and the title, as no one variant gives it.
const DIGEST: &str = "digest";
const DIGEST_TITLE: &str = "Mancala";

/// A notification for one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    pub subject: Subject,
    pub language: Language,
    /// After that moment it is of no use.
    pub useful_until: Option<OffsetDateTime>,
    /// Whether it should wake a device that saves power.
    pub urgency: Urgency,
}

/// How soon a device should show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    Normal,
    High,
}

impl Notification {
    /// The text's title and body.
    pub fn texts(&self) -> (String, String) {
        let texts = Texts::of(self.language);
        match &self.subject {
            Subject::Game { title, kind, .. } => (title.clone(), texts.of_kind(kind).to_owned()),
            Subject::Digest { games, news } => (DIGEST_TITLE.to_owned(), texts.of_games(*games, *news)),
        }
    }

    /// The data for the client beside the text.
    pub fn data(&self) -> Value {
        match &self.subject {
            Subject::Game { id, kind, .. } => json!({ "type": kind, "game_id": id }),
            Subject::Digest { games, .. } => json!({ "type": DIGEST, "games": games }),
        }
    }

    /// The tag under which the client shows it: a later notification with the same tag replaces an earlier one.
    pub fn tag(&self) -> String {
        match &self.subject {
            Subject::Game { id, .. } => id.replace('-', ""),
            Subject::Digest { .. } => DIGEST.to_owned(),
        }
    }

    /// How many seconds a push service keeps the notification.
    pub fn ttl_s(&self, now: OffsetDateTime) -> i64 {
        let left = self.useful_until.map_or(KEPT, |until| (until - now).clamp(Duration::ZERO, KEPT));
        left.whole_seconds()
    }
}
