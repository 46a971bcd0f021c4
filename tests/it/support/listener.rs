//! A client that listens to a stream of events, as a browser's `EventSource` does.

use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder, Response, StatusCode, header::HeaderMap};
use serde_json::Value;
use tokio::time::timeout;

use crate::support::{
    app::TestApp,
    calls::{Guest, signed},
};

/// How long an event may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A stream that is open.
pub struct Listener {
    response: Response,
    text: String,
    /// The stream's `retry`.
    pub retry_ms: Option<u64>,
    /// How many heartbeats came.
    pub comments: usize,
    /// The last `id`, from which a client resumes.
    pub last_id: String,
    /// Whether the body was complete, and not broken off.
    pub is_whole: bool,
}

/// An event, as it was heard.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// Set on a game's own stream.
    pub id: Option<u64>,
    pub kind: String,
    pub data: Value,
}

/// A request for a game's stream.
pub fn asking(base: &str, id: &str, query: &str, guest: Option<&Guest>) -> RequestBuilder {
    let request = Client::new().get(format!("{base}/v1/games/{id}/events?{query}"));
    signed(request.header("accept", "text/event-stream"), guest)
}

impl Listener {
    pub async fn open(request: RequestBuilder) -> Self {
        let response = request.send().await.expect("the server answers");
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new(), retry_ms: None, comments: 0, last_id: String::new(), is_whole: false }
    }

    /// A stream at a test's server, from an event on.
    pub async fn at(app: &TestApp, id: &str, after: u64, guest: Option<&Guest>) -> Self {
        Self::open(asking(&format!("http://{}", app.address), id, &format!("after={after}"), guest)).await
    }

    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The next event; `None` at the end of the stream, whatever ended it.
    pub async fn next(&mut self) -> Option<Heard> {
        timeout(PATIENCE, self.next_event()).await.expect("an event comes in time")
    }

    /// Waits for a heartbeat, where no event is expected.
    pub async fn comment(&mut self) {
        let (begun, before) = (Instant::now(), self.comments);
        while self.comments == before {
            assert!(begun.elapsed() < PATIENCE, "it says nothing");
            self.hears_nothing().await;
        }
    }

    /// Reads for a moment, and fails at an event.
    pub async fn hears_nothing(&mut self) {
        let heard = timeout(Duration::from_millis(100), self.next_event()).await;
        assert!(heard.is_err(), "{heard:?}");
    }

    async fn next_event(&mut self) -> Option<Heard> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(heard) = self.read(&block) {
                    return Some(heard);
                }
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.text.push_str(std::str::from_utf8(&chunk).expect("UTF-8")),
                Ok(None) => {
                    assert_eq!(self.text, "", "an event breaks off");
                    self.is_whole = true;
                    return None;
                }
                Err(_) => return None,
            }
        }
    }

    fn read(&mut self, block: &str) -> Option<Heard> {
        let (mut id, mut kind, mut data) = (None, None, None);
        for line in block.lines() {
            match line.split_once(": ").unwrap_or((line, "")) {
                ("id", value) => {
                    value.clone_into(&mut self.last_id);
                    id = value.parse().ok();
                }
                ("event", value) => kind = Some(value.to_owned()),
                ("data", value) => data = Some(serde_json::from_str(value).expect("JSON on one line")),
                ("retry", value) => self.retry_ms = Some(value.parse().expect("a number")),
                (":", _) => self.comments += 1,
                _ => panic!("{line}"),
            }
        }
        Some(Heard { id, kind: kind?, data: data? })
    }

    /// Events up to `finished`, which is the last.
    pub async fn until_finished(&mut self) -> Vec<Heard> {
        let mut all: Vec<Heard> = vec![];
        while all.last().is_none_or(|last| last.kind != "finished") {
            all.push(self.next().await.expect("the game is not finished yet"));
        }
        all
    }

    /// Events up to the end of the stream, without the `end` event.
    pub async fn rest(&mut self) -> Vec<Heard> {
        let mut all = vec![];
        while let Some(heard) = self.next().await {
            all.push(heard);
        }
        if all.last().is_some_and(|last| last.kind == "end") {
            all.pop();
        }
        all
    }
}

/// The kinds of events, in order.
pub fn kinds(events: &[Heard]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}
