//! `docs/asynchronous.md`: each request is sent, and the answer is the one that the page shows.

use std::collections::HashMap;

use reqwest::Method;
use serde_json::Value;

use crate::support::{
    answer::Answer,
    app::{TestApp, limited},
    calls::send,
};

const PAGE: &str = include_str!("../../../docs/asynchronous.md");

/// Below a request: whether it was carried out is not known.
const NO_ANSWER: &str = "*No answer.*";

/// Where it was not.
const NOT_ARRIVED: &str = "the request has not arrived";

/// Access tokens that were given before are no longer valid.
const EXPIRED: &str = "<!-- tokens expire -->";

/// The first line, the headers and the body of a request or an answer.
#[derive(Clone, Debug)]
struct Message {
    first_line: String,
    headers: Vec<(String, String)>,
    body: String,
}

#[derive(Debug)]
enum Step {
    Answered(Message, Message),
    Unanswered(Message),
    /// Never sent.
    Lost,
    Expired,
    /// So many seconds go by.
    Pause(u32),
}

impl Message {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let first_line = lines.next().expect("a message has a first line").to_owned();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").expect("a header");
            (name.to_lowercase(), value.to_owned())
        };
        Self { first_line, headers: lines.map(header).collect(), body: body.trim().to_owned() }
    }
}

/// What the page does, in order.
fn steps() -> Vec<Step> {
    let (mut steps, mut asked) = (vec![], None::<Message>);
    let mut parts = PAGE.split("\n```");
    let mut rest = parts.next().expect("the page begins");
    loop {
        if rest.contains(NO_ANSWER) {
            let request = asked.take().expect("a request");
            steps.push(if rest.contains(NOT_ARRIVED) { Step::Lost } else { Step::Unanswered(request) });
        }
        if rest.contains(EXPIRED) {
            steps.push(Step::Expired);
        } else if let Some((_, pause)) = rest.split_once("<!-- ") {
            let seconds = pause.split_once(' ').and_then(|(seconds, _)| seconds.parse().ok());
            steps.push(Step::Pause(seconds.expect("a number of seconds")));
        }
        let Some(block) = parts.next() else { break };
        if let Some(text) = block.strip_prefix("http\n") {
            let message = Message::read(text);
            match asked.take() {
                Some(request) => steps.push(Step::Answered(request, message)),
                None => asked = Some(message),
            }
        }
        rest = parts.next().expect("a block ends");
    }
    assert!(asked.is_none(), "{asked:?} is not answered");
    steps
}

/// What was in answers, by the names that the page gives it.
#[derive(Debug, Default)]
struct Variables(HashMap<String, String>);

impl Variables {
    /// A text of the page with what is known in place of its names.
    fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    }

    fn forget_tokens(&mut self) {
        self.0.retain(|name, _| !name.contains("_token"));
    }

    /// Stores the values in braces, and says whether the rest is the same.
    fn is_text(&mut self, expected: &str, actual: &str) -> bool {
        let expected = self.fill(expected);
        if let Some((before, (name, after))) =
            expected.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            let found = actual.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            if let Some(found) = found {
                self.0.insert(name.to_owned(), found.to_owned());
            }
            return found.is_some();
        }
        expected == "…" || expected == actual
    }

    /// Compares JSON, of which the page leaves fields out.
    fn is_json(&mut self, expected: &Value, actual: &Value) -> bool {
        match (expected, actual) {
            (Value::Object(expected), Value::Object(actual)) => expected
                .iter()
                .all(|(name, expected)| actual.get(name).is_some_and(|actual| self.is_json(expected, actual))),
            (Value::Array(expected), Value::Array(actual)) => {
                expected.len() == actual.len()
                    && expected.iter().zip(actual).all(|(expected, actual)| self.is_json(expected, actual))
            }
            (Value::String(expected), Value::String(actual)) => self.is_text(expected, actual),
            _ => expected == actual,
        }
    }

    fn check(&mut self, request: &Message, expected: &Message, answer: &Answer) {
        assert_eq!(answer.status.as_u16().to_string(), expected.first_line, "{request:?}: {answer:?}");
        for (name, value) in &expected.headers {
            let actual = answer.headers.get(name).map(|value| value.to_str().expect("text"));
            assert!(actual.is_some_and(|actual| self.is_text(value, actual)), "{request:?}: {name} is {actual:?}");
        }
        if !expected.body.is_empty() {
            let body: Value = serde_json::from_str(&expected.body).expect("JSON");
            assert!(self.is_json(&body, &answer.body), "{request:?}: {:#}", answer.body);
        }
    }

    async fn send(&self, app: &TestApp, request: &Message) -> Answer {
        let first_line = self.fill(&request.first_line);
        let (method, path) = first_line.split_once(' ').expect("a method and a path");
        let mut sent = app.request(Method::from_bytes(method.as_bytes()).expect("a method"), path);
        for (name, value) in &request.headers {
            sent = sent.header(name, self.fill(value));
        }
        if !request.body.is_empty() {
            sent = sent.header("content-type", "application/json").body(self.fill(&request.body));
        }
        send(sent).await
    }
}

#[actix_web::test]
async fn the_game_of_the_page_on_asynchronous_play_goes_as_it_says() {
    // A server with its default options.
    let mut app = TestApp::start_with(limited).await;
    let mut known = Variables::default();
    for step in steps() {
        match step {
            Step::Answered(request, expected) => {
                let answer = known.send(&app, &request).await;
                known.check(&request, &expected, &answer);
            }
            Step::Unanswered(request) => {
                let answer = known.send(&app, &request).await;
                assert!(answer.status.is_success(), "{request:?}: {answer:?}");
            }
            Step::Lost => {}
            Step::Expired => known.forget_tokens(),
            Step::Pause(seconds) => {
                known.forget_tokens();
                app.let_pass(&known.0["game"], seconds).await;
            }
        }
    }
}

#[test]
fn the_page_on_asynchronous_play_shows_what_it_is_there_to_show() {
    let steps = steps();
    let lost = steps.iter().filter(|step| matches!(step, Step::Unanswered(_))).count();
    let others = steps.iter().filter(|step| matches!(step, Step::Pause(_) | Step::Expired | Step::Lost)).count();
    assert_eq!((lost, others), (5, 3));
    assert!(steps.len() > 25, "{}", steps.len());
    let mut known = Variables::default();
    let json = |text| serde_json::from_str::<Value>(text).expect("JSON");
    for (expected, actual, is_so) in [
        (r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#, true),
        (r#"{"a": 1}"#, r#"{"b": 1}"#, false),
        (r#"["{x}"]"#, r#"["7"]"#, true),
        (r#"["{x}"]"#, r#"["8"]"#, false),
        (r#"["/{x}/{y}!"]"#, r#"["/7/8!"]"#, true),
        ("[1]", "[1, 2]", false),
        (r#"{"a": "…"}"#, r#"{"a": "anything"}"#, true),
        (r#"{"a": "…"}"#, r#"{"a": null}"#, false),
    ] {
        assert_eq!(known.is_json(&json(expected), &json(actual)), is_so, "{expected} {actual}");
    }
    assert_eq!((known.fill("{x}-{y}-{z}").as_str(), known.0.len()), ("7-8-{z}", 2));
}
