//! Claims of tokens of all kinds (RFC 7519): the audience, and the time in which they are valid.

use serde::Deserialize;
use time::OffsetDateTime;

/// The tolerated difference between the clocks of an issuer and of this server, in seconds.
const CLOCK_LEEWAY_S: f64 = 60.0;

/// The claim `aud`: one audience, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(from = "OneOrMany")]
pub struct Audiences(pub Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for Audiences {
    fn from(audiences: OneOrMany) -> Self {
        match audiences {
            OneOrMany::One(audience) => Self(vec![audience]),
            OneOrMany::Many(audiences) => Self(audiences),
        }
    }
}

/// When a token counts, in seconds since 1970. They may have fractions.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The claim `exp`.
    pub expires_at: f64,
    /// The claim `nbf`.
    pub not_before: Option<f64>,
    /// The claim `iat`.
    pub issued_at: Option<f64>,
}

/// Why a token does not count now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untimely {
    /// The token has expired.
    Expired,
    /// The token is not valid yet, or was issued in the future.
    Early,
}

impl Times {
    /// Checks that the token counts now.
    pub fn check(self, now: OffsetDateTime) -> Result<(), Untimely> {
        let now = seconds(now);
        if self.expires_at <= now - CLOCK_LEEWAY_S {
            return Err(Untimely::Expired);
        }
        let is_future = |at: f64| at > now + CLOCK_LEEWAY_S;
        if self.not_before.is_some_and(is_future) || self.issued_at.is_some_and(is_future) {
            return Err(Untimely::Early);
        }
        Ok(())
    }
}

/// A moment as tokens write it: the seconds since 1970.
#[expect(clippy::cast_precision_loss, reason = "seconds of today are far below 2^53")]
pub const fn seconds(at: OffsetDateTime) -> f64 {
    at.unix_timestamp() as f64
}
