//! Reads samples out of the text of the metrics.

use reqwest::Client;

use crate::support::{calls::send, clock::until_seen};

/// Waits until the metrics at an address have a line.
pub async fn until_line(metrics: &str, line: &str) {
    let is_there = |text: &String| text.lines().any(|known| known == line);
    until_seen(line, async || send(Client::new().get(metrics)).await.text, is_there).await;
}

/// The sample of this name and these labels, or 0.
pub fn sample(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().expect("a number"))
}

/// The sample as a whole number.
pub fn count(text: &str, name: &str) -> usize {
    format!("{:.0}", sample(text, name)).parse().expect("a whole number")
}

/// The samples of this name together, whatever their labels.
pub fn total(text: &str, name: &str) -> usize {
    let samples = text.lines().filter_map(|line| line.strip_prefix(name)?.rsplit_once("} "));
    samples.map(|(_, value)| value.parse::<usize>().expect("a whole number")).sum()
}
