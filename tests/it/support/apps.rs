//! Apps of a test, and calls by their keys.

use mancala_server::{
    db::apps::{self, Changes, KeyHash},
    domain::{AppName, PlayerId},
};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::{now, until_seen},
};

/// A new key, and its hash.
pub fn new_key() -> (String, KeyHash) {
    let key = format!("mapp_{}", Uuid::new_v4());
    let hash = Sha256::digest(&key).into();
    (key, hash)
}

pub fn app_name(name: &str) -> AppName {
    name.parse().expect("the name of an app")
}

/// Waits until a token is refused.
pub async fn until_refused(app: &TestApp, player: &Guest) {
    let look = async || app.get("/v1/games?player=me", Some(player)).await;
    let answer = until_seen("the token is refused", look, |answer: &Answer| answer.status != 200).await;
    answer.is_problem(401, "invalid_token");
}

impl TestApp {
    /// A new app: its id, and its key in the place of a token.
    pub async fn new_app(&self, name: &str) -> Guest {
        let (key, hash) = new_key();
        let id = PlayerId(Uuid::now_v7());
        assert!(
            apps::insert(&self.db, id, &app_name(name), &hash, Changes::default(), now()).await.expect("it is stored")
        );
        Guest { id: id.0.to_string(), token: key }
    }

    /// Creates or renames a player of an app.
    pub async fn write_app_player(&self, app: &Guest, external_id: &str, name: &str) -> Answer {
        self.put(&format!("/v1/apps/me/players/{external_id}"), Some(app), &json!({ "name": name })).await
    }

    pub async fn app_player_token(&self, app: &Guest, external_id: &str) -> Answer {
        self.post(&format!("/v1/apps/me/players/{external_id}/tokens"), Some(app), &json!({})).await
    }

    pub async fn delete_app_player(&self, app: &Guest, external_id: &str) -> Answer {
        let path = format!("/v1/apps/me/players/{external_id}");
        send(signed(self.request(Method::DELETE, &path), Some(app))).await
    }

    /// A new player of an app, with a token.
    pub async fn app_player(&self, app: &Guest, external_id: &str, name: &str) -> Guest {
        let written = self.write_app_player(app, external_id, name).await;
        assert_eq!(written.status, 201, "{written:?}");
        let token = self.app_player_token(app, external_id).await;
        assert_eq!(token.status, 200, "{token:?}");
        assert_eq!(token.string("/player/id"), written.string("/player/id"));
        Guest { id: written.string("/player/id"), token: token.string("/access_token") }
    }

    /// The external ids on a page of an app's players.
    pub fn external_ids(page: &Answer) -> Vec<String> {
        let items = page.body["items"].as_array().unwrap_or_else(|| panic!("no page: {page:?}"));
        let id = |item: &Value| item["external_id"].as_str().expect("an id").to_owned();
        items.iter().map(id).collect()
    }
}
