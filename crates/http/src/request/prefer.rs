//! The header `Prefer` (RFC 7240), of which the server knows `wait`.

use std::{
    future::{Ready, ready},
    time::Duration,
};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{HeaderName, HeaderValue},
};

use crate::answer::problem::Problem;

/// The longest wait, in seconds. Proxies between client and server often close a connection that is silent for a minute.
pub const WAIT_S_MAX: u32 = 50;

/// How long the client waits for a change (`Prefer: wait=N`), in seconds from 1 to [`WAIT_S_MAX`]; `None`: it does not wait.
///
/// A preference is optional. A longer wait is cut to the longest. One that is no positive integer is ignored, and so is every
/// wait after the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait(pub Option<u32>);

impl FromRequest for Wait {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let lines = request.headers().get_all("prefer").filter_map(|line| line.to_str().ok());
        ready(Ok(Self::among(lines)))
    }
}

impl Wait {
    /// Reads the lines of the header `Prefer`.
    fn among<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut preferences = lines.flat_map(|line| split(line, ','));
        let value = preferences.find_map(|preference| {
            // After a semicolon come parameters, and `wait` has none.
            let (name, value) = split(preference, ';').next()?.split_once('=')?;
            name.trim().eq_ignore_ascii_case("wait").then(|| value.trim())
        });
        Self(value.and_then(seconds))
    }
}

/// The header `Preference-Applied` of a granted wait.
pub fn applied(wait_s: u32) -> (HeaderName, HeaderValue) {
    let value = HeaderValue::from_str(&format!("wait={wait_s}")).expect("digits are a header value");
    (HeaderName::from_static("preference-applied"), value)
}

/// A wait as a duration.
pub const fn duration(wait_s: u32) -> Duration {
    Duration::from_secs(wait_s as u64)
}

fn seconds(value: &str) -> Option<u32> {
    let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let digits = unquoted.unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // A number that overflows is longer than the longest wait.
    let seconds = digits.parse().unwrap_or(WAIT_S_MAX);
    (seconds > 0).then(|| seconds.min(WAIT_S_MAX))
}

/// The parts of a header's line, split at each separator outside quotes.
fn split(line: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    line.split(move |c| {
        let is_cut = c == separator && !quoted;
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        is_cut
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_wait(lines: &[&str], expected: Option<u32>) {
        assert_eq!(Wait::among(lines.iter().copied()), Wait(expected), "{lines:?}");
    }

    #[test]
    fn a_wait_is_a_positive_integer_and_cut_to_the_longest() {
        for (value, expected) in [("1", 1), ("050", 50), ("50", 50), ("51", 50), ("4294967296", 50)] {
            assert_wait(&[&format!("wait={value}")], Some(expected));
        }
        assert_wait(&[&format!("wait=1{}", "0".repeat(1000))], Some(50));
        for value in ["", "0", "000", "-1", "+1", "x", "1e9", "1.5", "5s", "5 5", "0x10", "\"", "\"5", "٥", "nan"] {
            assert_wait(&[&format!("wait={value}")], None);
        }
    }

    #[test]
    fn a_wait_is_found_among_other_preferences() {
        for lines in [
            &["wait=7"][..],
            &["Wait = \"7\""],
            &["respond-async, wait=7"],
            &["wait=7; a=b;c , handling=lenient"],
            &[",, wait=7,"],
            &["respond-async", "wait=7"],
            &["waiting=3, return=minimal, wait=7"],
            &["a=\"wait=3, \\\", wait=4\", wait=7"],
            &["return=minimal; wait=3, wait=7"],
        ] {
            assert_wait(lines, Some(7));
        }
        for lines in [&[][..], &[""], &["wait"], &["respond-async"], &["a=\"wait=7"], &[";,=;=,\",;"]] {
            assert_wait(lines, None);
        }
    }

    #[test]
    fn the_first_of_two_waits_counts() {
        assert_wait(&["wait=3, wait=9"], Some(3));
        assert_wait(&["wait=3", "wait=9"], Some(3));
        assert_wait(&["wait=x, wait=9"], None);
    }
}
