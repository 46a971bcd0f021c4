//! The operators' own interface, what their acts do to players, and the commands for it.

pub mod access;
pub mod acts;
pub mod commands;
pub mod name_filter;
pub mod returning;
pub mod suspended_games;
pub mod suspensions;

use mancala_server::{
    db::operators::keys,
    http::{new_operator_key, operator_key_hash},
};
use serde_json::{Value, json};

use crate::support::{answer::Answer, app::TestApp, calls::Guest, clock::now};

/// A caller with the key of a new operator.
pub async fn operator(app: &TestApp, name: &str) -> Guest {
    let key = new_operator_key();
    let hash = operator_key_hash(key.as_bytes()).expect("a key");
    assert!(keys::insert(&app.db, name, &hash, now()).await.expect("a database"));
    Guest { id: name.to_owned(), token: key }
}

pub async fn act(app: &TestApp, operator: &Guest, player: &str, body: &Value) -> Answer {
    app.post(&format!("/v1/operator/players/{player}/acts"), Some(operator), body).await
}

/// The terms of a private game with a player.
pub fn private(opponent: &Guest) -> Value {
    json!({"visibility": "private", "opponent": {"type": "player", "player_id": opponent.id}})
}

/// Bans a player, or suspends it for a week.
pub async fn suspend(app: &TestApp, operator: &Guest, player: &Guest, kind: &str) -> Answer {
    let mut body = json!({"type": kind, "reason": "spam"});
    if kind == "suspend" {
        let until = now() + time::Duration::days(7);
        body["until"] = json!(until.format(&time::format_description::well_known::Rfc3339).expect("a text"));
    }
    let answer = act(app, operator, &player.id, &body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer
}
