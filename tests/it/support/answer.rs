//! The answer to a request, and what every test may assert of it.

use reqwest::{RequestBuilder, StatusCode, header::HeaderMap};
use serde_json::Value;

/// An answer. `body` is its JSON, or null if there is none.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
    pub text: String,
}

impl Answer {
    /// The text at a JSON pointer.
    pub fn string(&self, pointer: &str) -> String {
        let value = self.body.pointer(pointer).and_then(Value::as_str);
        value.unwrap_or_else(|| panic!("no text at {pointer}: {self:?}")).to_owned()
    }

    /// The ids of a page's games, in order.
    pub fn ids(&self) -> Vec<String> {
        let items = self.body["items"].as_array().unwrap_or_else(|| panic!("no page: {self:?}"));
        items.iter().map(|game| game["id"].as_str().expect("a game has an id").to_owned()).collect()
    }

    /// Asserts that the answer is a problem with this status and code, in the envelope that all problems share.
    #[track_caller]
    pub fn is_problem(&self, status: u16, code: &str) {
        assert_eq!((self.status.as_u16(), self.body["code"].as_str()), (status, Some(code)), "{self:?}");
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(self.body["status"], status);
        assert_eq!(self.body["type"], format!("/problems/{code}"));
        assert!(self.body["title"].is_string() && self.body["detail"].is_string());
        assert_eq!(self.body["request_id"].as_str(), self.headers["x-request-id"].to_str().ok());
    }
}

/// An answer and the bytes of its body, as they came: compressed, if they are.
pub async fn send_raw(request: RequestBuilder) -> (reqwest::Response, Vec<u8>) {
    let mut response = request.send().await.expect("the server answers");
    let mut body = vec![];
    while let Some(chunk) = response.chunk().await.expect("the body comes") {
        body.extend_from_slice(&chunk);
    }
    (response, body)
}
