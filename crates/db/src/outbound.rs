//! The common parts of webhooks, push notifications and mails: lanes, their limits, and the backoff after failures.

use mancala_domain::PlayerId;
use time::Duration;

/// Delivery lanes. A recipient that fails, or is not proven yet, may occupy a worker until the timeout. Each lane has
/// places of its own, so that such recipients do not delay the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The last attempt succeeded within 1 s.
    Quick,
    /// New, changed or slow.
    Unproven,
    /// The last attempt failed.
    Failing,
}

impl Lane {
    /// All lanes.
    pub const ALL: [Lane; 3] = [Lane::Quick, Lane::Unproven, Lane::Failing];

    /// The number in the column `lane`.
    pub(crate) const fn number(self) -> i16 {
        match self {
            Lane::Quick => 0,
            Lane::Unproven => 1,
            Lane::Failing => 2,
        }
    }
}

/// How many attempts of a lane are in flight in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many hold a place of the lane.
    pub places: usize,
    /// How many attempts in flight leave a player without further ones.
    pub of_player: u32,
    /// How many attempts in flight leave a host without further ones. The addresses of many players may be at one host.
    pub of_host: u32,
}

/// The players and hosts that have enough attempts in flight in a lane.
#[derive(Clone, Debug, Default)]
pub struct Full {
    /// The players.
    pub players: Vec<PlayerId>,
    /// The hosts.
    pub hosts: Vec<String>,
}

/// A backoff that doubles with each failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The pause after the first failure.
    pub min: Duration,
    /// The longest pause.
    pub max: Duration,
}

impl Backoff {
    /// The pause after the latest of `failures` failures in a row.
    pub fn after(self, failures: i32) -> Duration {
        (self.min * 2_i32.pow(failures.clamp(0, 16).unsigned_abs())).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backoff_doubles_up_to_its_bound() {
        let backoff = Backoff { min: Duration::seconds(30), max: Duration::minutes(30) };
        let seconds = [-1, 0, 1, 2, 6, 7, i32::MAX].map(|failures| backoff.after(failures).whole_seconds());
        assert_eq!(seconds, [30, 30, 60, 120, 1800, 1800, 1800]);
    }
}
