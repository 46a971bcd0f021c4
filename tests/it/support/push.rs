//! Push notifications of a test: a server that offers them, rounds of the jobs, and times moved into the past.

use mancala_server::{
    http::write_message,
    jobs::{push, webhooks},
    push::{Push, Pusher, VapidKey, WebPush, new_vapid_key},
    webhook::{Names, Reach, Sender, system_names},
};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::support::{
    app::TestApp,
    calls::Guest,
    push_service::{Browser, PushService, Pushed},
};

pub const CONTACT: &str = "mailto:ops@play.example";

/// A server that sends to browsers, and a push service.
pub struct PushApp {
    pub app: TestApp,
    pub service: PushService,
    pub push: Push,
    sender: Sender,
    pusher: Pusher,
}

/// What is offered to browsers, by a new key.
pub fn web_push() -> Push {
    let key = VapidKey::from_pem(&new_vapid_key()).expect("a new key is a key");
    Push { web: Some(WebPush::new(key, CONTACT.to_owned())), fcm: None, apns: None }
}

impl PushApp {
    pub async fn start() -> Self {
        Self::start_with(web_push()).await
    }

    pub async fn start_with(push: Push) -> Self {
        Self::start_at(PushService::start().await, push).await
    }

    /// A server that sends to a service.
    pub async fn start_at(service: PushService, push: Push) -> Self {
        let app = TestApp::start_with(|service| service.settings.push = push.clone()).await;
        let sender = Sender::new(Reach::Anywhere, system_names());
        let pusher = Pusher::new(push.clone(), sender.clone());
        Self { app, service, push, sender, pusher }
    }

    /// The same, and another rule for addresses.
    #[must_use]
    pub fn reaching(self, reach: Reach, names: Names) -> Self {
        self.sending_by(Sender::new(reach, names))
    }

    /// The same, and other connections.
    #[must_use]
    pub fn sending_by(self, sender: Sender) -> Self {
        Self { pusher: Pusher::new(self.push.clone(), sender.clone()), sender, ..self }
    }

    pub fn public_key(&self) -> String {
        self.push.web.as_ref().expect("it is offered").public_key()
    }

    /// A browser of a player, which is registered.
    pub async fn browser(&self, player: &Guest, name: &str) -> Browser {
        let browser = Browser::at(&self.service, name);
        self.register(player, &browser.registration()).await;
        browser
    }

    /// Registers a device; returns its id.
    pub async fn register(&self, player: &Guest, body: &Value) -> String {
        let answer = self.app.post("/v1/me/devices", Some(player), body).await;
        assert!(answer.status.is_success(), "{answer:?}");
        answer.string("/id")
    }

    /// A player is to move in one more game.
    pub async fn another_turn(&self, player: &Guest) {
        let other = self.app.guest("Cy").await;
        let id = self.app.started_between(&other, player, &json!({})).await;
        self.app.played(&id, &other, 1, "A").await;
    }

    /// Starts a game in which a player is to move, with a clock of twelve hours, and returns it. Its turn and the reminder of
    /// its deadline are due now.
    pub async fn urgent_turn(&self, player: &Guest) -> String {
        let other = self.app.guest("Di").await;
        let clocked = json!({"clock": {"type": "per_move", "move_s": 43_200}});
        let id = self.app.started_between(&other, player, &clocked).await;
        self.app.played(&id, &other, 1, "A").await;
        self.convert().await;
        let due = "update push_notice set due_at = now(); update push_device set due_at = now()";
        sqlx::raw_sql(due).execute(&self.app.db).await.expect("it is due");
        id
    }

    /// What has happened in games becomes notices.
    pub async fn convert(&self) {
        let settings = webhooks::Settings {
            sender: self.sender.clone(),
            write: write_message,
            devices: self.push.kinds(),
            metrics: self.app.metrics.clone(),
            attempts_max: 512,
        };
        webhooks::round(&self.app.db, &settings).await.expect("a round");
    }

    /// Converts, and sends what is due now; returns what the push service got.
    pub async fn round(&self) -> Vec<Pushed> {
        self.convert().await;
        let settings =
            push::Settings { pusher: self.pusher.clone(), metrics: self.app.metrics.clone(), attempts_max: 128 };
        push::round(&self.app.db, &settings).await.expect("a round");
        self.service.take()
    }

    /// The same after the time for which a turn waits.
    pub async fn pushed(&self) -> Vec<Pushed> {
        self.convert().await;
        self.let_pass(6).await;
        self.all().await
    }

    /// Rounds until nothing is sent any more: one takes a few devices of a player.
    pub async fn all(&self) -> Vec<Pushed> {
        let mut all = vec![];
        for _ in 0..100 {
            let pushed = self.round().await;
            if pushed.is_empty() {
                return all;
            }
            all.extend(pushed);
        }
        panic!("there is always something to send");
    }

    /// Moves the times of all devices and notices, and the pauses of services, so many seconds into the past.
    pub async fn let_pass(&self, seconds: u32) {
        self.push.let_pass(time::Duration::seconds(seconds.into()));
        for (table, columns) in [
            ("push_device", &["due_at", "leased_until", "paused_until", "failing_since", "flag_at"][..]),
            ("push_notice", &["due_at"][..]),
        ] {
            let changes: Vec<_> =
                columns.iter().map(|column| format!("{column} = {column} - interval '{seconds} s'")).collect();
            let statement = format!("update {table} set {}", changes.join(", "));
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&self.app.db).await.expect("time can be moved");
        }
    }
}
