//! A player, and a function for each call that many tests make.

use mancala_server::{domain::PlayerId, http::Caller};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    answer::Answer,
    app::TestApp,
    clock::{now, until_async, until_seen},
};

/// A player with a token.
#[derive(Clone, Debug)]
pub struct Guest {
    pub id: String,
    pub token: String,
}

impl TestApp {
    pub async fn guest(&self, name: &str) -> Guest {
        let answer = send(self.request(Method::POST, "/v1/players").json(&json!({ "name": name }))).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        Guest { id: answer.string("/player/id"), token: answer.string("/access_token") }
    }

    /// A guest who comes through a proxy from an address.
    pub async fn guest_at(&self, address: &str) -> Guest {
        let answer = send(self.request(Method::POST, "/v1/players").header("x-forwarded-for", address)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        Guest { id: answer.string("/player/id"), token: answer.string("/access_token") }
    }

    /// A guest whose token is valid, and who has no row in the database.
    pub fn stranger(&self) -> Guest {
        let id = Uuid::now_v7();
        Guest { id: id.to_string(), token: self.tokens.issue(guest(PlayerId(id)), now()) }
    }

    pub async fn get(&self, path: &str, guest: Option<&Guest>) -> Answer {
        send(signed(self.request(Method::GET, path), guest)).await
    }

    pub async fn post(&self, path: &str, guest: Option<&Guest>, body: &Value) -> Answer {
        send(signed(self.request(Method::POST, path), guest).json(body)).await
    }

    pub async fn patch(&self, path: &str, guest: Option<&Guest>, body: &Value) -> Answer {
        send(signed(self.request(Method::PATCH, path), guest).json(body)).await
    }

    pub async fn put(&self, path: &str, guest: Option<&Guest>, body: &Value) -> Answer {
        send(signed(self.request(Method::PUT, path), guest).json(body)).await
    }

    /// A new account.
    pub async fn account(&self, name: &str, password: &str) -> Guest {
        let body = json!({ "name": name, "password": password });
        let answer = self.post("/v1/players", None, &body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        Guest { id: answer.string("/player/id"), token: answer.string("/access_token") }
    }

    /// A new account that comes through a proxy from an address.
    pub async fn account_at(&self, name: &str, address: &str) -> Guest {
        let body = json!({ "name": name, "password": "correct horse" });
        let request = self.request(Method::POST, "/v1/players").header("x-forwarded-for", address);
        let answer = send(request.json(&body)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        Guest { id: answer.string("/player/id"), token: answer.string("/access_token") }
    }

    /// An account that is no longer new, and shares nothing with its network.
    pub async fn established_account(&self, name: &str) -> Guest {
        let made = self.account(name, "correct horse").await;
        let forget = sqlx::query("update player set network = null where id = $1::uuid").bind(&made.id);
        forget.execute(&self.db).await.expect("the account is there");
        Guest { token: self.sign_in(name, "correct horse").await.string("/access_token"), ..made }
    }

    pub async fn sign_in(&self, name: &str, password: &str) -> Answer {
        let body = json!({ "grant_type": "password", "name": name, "password": password });
        self.post("/v1/tokens", None, &body).await
    }

    pub async fn refresh(&self, token: &str) -> Answer {
        let body = json!({ "grant_type": "refresh_token", "refresh_token": token });
        self.post("/v1/tokens", None, &body).await
    }

    /// The player of new tokens, by a token of the same sign-in, as if that had begun so many minutes ago.
    pub async fn signed_in_ago(&self, tokens: &Answer, minutes: u128) -> Guest {
        let family = Uuid::try_parse(&tokens.string("/sign_in_id")).expect("an id");
        // Ids begin with the time in milliseconds.
        let older = Uuid::from_u128(family.as_u128() - ((minutes * 60_000) << 80));
        for statement in [
            "insert into refresh_family (id, player_id, used_generation, used_hash, credentials_version)
                select $2, player_id, used_generation, used_hash, credentials_version from refresh_family where id = $1",
            "update refresh_token set family_id = $2 where family_id = $1",
            "delete from refresh_family where id = $1 and id <> $2",
        ] {
            let moved = sqlx::query(statement).bind(family).bind(older).execute(&self.db).await;
            moved.expect("time can be moved");
        }
        let refreshed = self.refresh(&tokens.string("/refresh_token")).await;
        assert_eq!(refreshed.status, 200, "{refreshed:?}");
        Guest { id: refreshed.string("/player/id"), token: refreshed.string("/access_token") }
    }

    pub async fn delete_me(&self, guest: &Guest) -> Answer {
        send(signed(self.request(Method::DELETE, "/v1/me"), Some(guest))).await
    }

    pub async fn create_game(&self, guest: &Guest, body: &Value) -> Answer {
        self.post("/v1/games", Some(guest), body).await
    }

    /// A game that was created, as its creator sees it.
    pub async fn created(&self, guest: &Guest, body: &Value) -> Value {
        let answer = self.create_game(guest, body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.body
    }

    pub async fn get_game(&self, id: &str, guest: Option<&Guest>) -> Answer {
        self.get(&format!("/v1/games/{id}"), guest).await
    }

    pub async fn join_game(&self, id: &str, guest: &Guest) -> Answer {
        self.post(&format!("/v1/games/{id}/join"), Some(guest), &json!({})).await
    }

    pub async fn play_move(&self, id: &str, guest: &Guest, ply: u32, mv: &str) -> Answer {
        let body = json!({ "ply": ply, "move": mv });
        self.post(&format!("/v1/games/{id}/moves"), Some(guest), &body).await
    }

    pub async fn list_moves(&self, id: &str, query: &str, guest: Option<&Guest>) -> Answer {
        self.get(&format!("/v1/games/{id}/moves?{query}"), guest).await
    }

    pub async fn resign_game(&self, id: &str, guest: &Guest) -> Answer {
        send(signed(self.request(Method::POST, &format!("/v1/games/{id}/resign")), Some(guest))).await
    }

    pub async fn abort_game(&self, id: &str, guest: &Guest) -> Answer {
        send(signed(self.request(Method::POST, &format!("/v1/games/{id}/abort")), Some(guest))).await
    }

    pub async fn decline_game(&self, id: &str, guest: &Guest) -> Answer {
        send(signed(self.request(Method::POST, &format!("/v1/games/{id}/decline")), Some(guest))).await
    }

    /// Makes an offer.
    pub async fn offer(&self, id: &str, guest: &Guest, kind: &str) -> Answer {
        self.post(&format!("/v1/games/{id}/offers"), Some(guest), &json!({ "type": kind })).await
    }

    /// Accepts, declines or withdraws an offer.
    pub async fn answer_offer(&self, id: &str, guest: &Guest, kind: &str, answer: &str) -> Answer {
        let path = format!("/v1/games/{id}/offers/{kind}/{answer}");
        send(signed(self.request(Method::POST, &path), Some(guest))).await
    }

    pub async fn list_games(&self, query: &str, guest: Option<&Guest>) -> Answer {
        self.get(&format!("/v1/games?{query}"), guest).await
    }

    pub async fn list_invitations(&self, query: &str, guest: &Guest) -> Answer {
        self.get(&format!("/v1/me/invitations?{query}"), Some(guest)).await
    }

    /// Plays a move that must be accepted; the game after it.
    pub async fn played(&self, id: &str, guest: &Guest, ply: u32, mv: &str) -> Value {
        let played = self.play_move(id, guest, ply, mv).await;
        assert_eq!(played.status, 201, "{played:?}");
        played.body["game"].clone()
    }

    /// An active game of two players, the first South, with these further terms.
    pub async fn started_between(&self, south: &Guest, north: &Guest, terms: &Value) -> String {
        let mut body = json!({ "variant": "kalah", "side": "south" });
        body.as_object_mut().expect("an object").extend(terms.as_object().expect("terms are an object").clone());
        let id = self.created(south, &body).await["id"].as_str().expect("a game has an id").to_owned();
        let joined = self.join_game(&id, north).await;
        assert_eq!(joined.status, 200, "{joined:?}");
        id
    }

    /// Waits until the server says that it is ready. It asks the database at most once a second.
    pub async fn until_ready(&self) {
        until_async("the server is ready", async || self.get("/readyz", None).await.status == 200).await;
    }

    /// Waits until the server says that this check fails.
    pub async fn until_unready(&self, check: &str) {
        let fails = |answer: &Answer| answer.body["check"] == check;
        until_seen(check, async || self.get("/readyz", None).await, fails).await.is_problem(503, "unavailable");
    }

    /// An active game of two new guests, the first South.
    pub async fn started(&self, options: &Value) -> (String, Guest, Guest) {
        let (south, north) = (self.guest("South").await, self.guest("North").await);
        let id = self.started_between(&south, &north, options).await;
        (id, south, north)
    }
}

/// The caller that the token of a new guest names.
pub fn guest(player: PlayerId) -> Caller {
    Caller { player, credentials_version: 0, is_guest: true, is_new: false, sign_in: None, auth_time: None }
}

pub fn signed(request: RequestBuilder, guest: Option<&Guest>) -> RequestBuilder {
    match guest {
        Some(guest) => request.bearer_auth(&guest.token),
        None => request,
    }
}

pub async fn send(request: RequestBuilder) -> Answer {
    let response = request.send().await.expect("the server answers");
    let (status, headers) = (response.status(), response.headers().clone());
    let text = response.text().await.expect("the answer has a body");
    Answer { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::Null), text }
}
