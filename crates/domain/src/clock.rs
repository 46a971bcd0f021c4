//! Time to think: how much time a game gives, and how its clock runs. Knows no game; time is an argument.

use time::{Duration, OffsetDateTime};

use crate::{BySeat, Seat};

/// How much time the players have. Consecutive moves of one player are one turn, and share one allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// No limit.
    Unlimited,
    /// The same time for each turn.
    PerMove {
        /// The time for one turn.
        allowance: Duration,
    },
    /// A bank of time for all turns: unused time stays in it.
    Bank {
        /// The time at the start of the game.
        initial: Duration,
        /// The time added after each turn.
        increment: Duration,
        /// The most that a bank holds.
        max: Duration,
    },
}

/// The clock of one game as of its last change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// When the seat to move runs out of time; `None` while the clock stands.
    pub deadline: Option<OffsetDateTime>,
    /// The time of each seat at the start of its turn; zero unless the clock is a bank.
    pub banks: BySeat<Duration>,
    /// The pause, while the game is paused.
    pub pause: Option<Pause>,
}

/// A pause: the clock stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When it began.
    pub since: OffsetDateTime,
    /// The time of the seat to move when the clock runs again.
    pub left: Duration,
    /// Whether the clock is held for a suspended player. Otherwise both players agreed, and either may end the pause.
    pub is_held: bool,
}

impl Time {
    /// The clock before the game begins.
    pub fn of(clock: Clock) -> Self {
        let bank = match clock {
            Clock::Bank { initial, .. } => initial,
            Clock::Unlimited | Clock::PerMove { .. } => Duration::ZERO,
        };
        Self { deadline: None, banks: BySeat { first: bank, second: bank }, pause: None }
    }

    /// The turn of a seat begins.
    pub fn begin_turn(&mut self, clock: Clock, seat: Seat, at: OffsetDateTime) {
        let allowance = match clock {
            Clock::Unlimited => return,
            Clock::PerMove { allowance } => allowance,
            Clock::Bank { .. } => self.banks[seat],
        };
        match &mut self.pause {
            Some(pause) => pause.left = allowance,
            None => self.deadline = Some(at + allowance),
        }
    }

    /// The turn of a seat ends: the rest of its time and the increment go to its bank.
    pub fn end_turn(&mut self, clock: Clock, seat: Seat, at: OffsetDateTime) {
        if let (Clock::Bank { increment, max, .. }, Some(left)) = (clock, self.left(at)) {
            self.banks[seat] = (left + increment).min(max);
        }
    }

    /// The turn of a seat is broken off: the rest of its time stays in its bank, if the clock has banks.
    pub fn break_turn(&mut self, clock: Clock, seat: Seat, at: OffsetDateTime) {
        if let (Clock::Bank { .. }, Some(left)) = (clock, self.left(at)) {
            self.banks[seat] = left;
        }
    }

    /// Takes increments out of the banks again. A bank is never below zero.
    pub fn take_back(&mut self, increments: BySeat<Duration>) {
        for seat in Seat::ALL {
            self.banks[seat] = (self.banks[seat] - increments[seat]).max(Duration::ZERO);
        }
    }

    /// Stops the clock until [`Time::resume`].
    pub fn pause(&mut self, at: OffsetDateTime, is_held: bool) {
        if let Some(left) = self.left(at) {
            *self = Self { deadline: None, pause: Some(Pause { since: at, left, is_held }), ..*self };
        }
    }

    /// Ends a pause.
    pub fn resume(&mut self, at: OffsetDateTime) {
        if let Some(pause) = self.pause.take() {
            self.deadline = Some(at + pause.left);
        }
    }

    /// Stops the clock for good.
    pub fn stop(&mut self) {
        *self = Self { deadline: None, pause: None, ..*self };
    }

    /// The rest of the time of the seat to move.
    pub(crate) fn left(&self, at: OffsetDateTime) -> Option<Duration> {
        match self.pause {
            Some(pause) => Some(pause.left),
            None => self.deadline.map(|deadline| (deadline - at).max(Duration::ZERO)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
    const BANK: Clock =
        Clock::Bank { initial: Duration::seconds(100), increment: Duration::seconds(10), max: Duration::seconds(105) };

    fn at(seconds: i64) -> OffsetDateTime {
        START + Duration::seconds(seconds)
    }

    #[test]
    fn a_bank_loses_the_turns_time_and_gains_the_increment_up_to_its_most() {
        let mut time = Time::of(BANK);
        time.begin_turn(BANK, Seat::First, at(0));
        assert_eq!(time.deadline, Some(at(100)));
        time.end_turn(BANK, Seat::First, at(40));
        time.begin_turn(BANK, Seat::Second, at(40));
        assert_eq!((time.banks.first, time.deadline), (Duration::seconds(70), Some(at(140))));
        time.end_turn(BANK, Seat::Second, at(41));
        assert_eq!(time.banks.second, Duration::seconds(105));
    }

    #[test]
    fn a_turn_that_is_broken_off_is_not_paid_for() {
        let mut time = Time::of(BANK);
        for begins in [0, 10, 20] {
            time.begin_turn(BANK, Seat::First, at(begins));
            time.break_turn(BANK, Seat::First, at(begins + 10));
        }
        assert_eq!(time.banks.first, Duration::seconds(70));
        let clock = Clock::PerMove { allowance: Duration::seconds(60) };
        let mut time = Time::of(clock);
        time.begin_turn(clock, Seat::First, at(0));
        time.break_turn(clock, Seat::First, at(10));
        assert_eq!(time.banks, BySeat::default());
    }

    #[test]
    fn each_turn_has_the_whole_allowance() {
        let clock = Clock::PerMove { allowance: Duration::seconds(60) };
        let mut time = Time::of(clock);
        for (begins, seat) in [(0, Seat::First), (59, Seat::Second), (60, Seat::First)] {
            time.begin_turn(clock, seat, at(begins));
            assert_eq!(time.deadline, Some(at(begins + 60)));
            time.end_turn(clock, seat, at(begins));
        }
        assert_eq!(time.banks, BySeat::default());
    }

    #[test]
    fn a_pause_costs_no_time_and_turns_may_pass_in_it() {
        let mut time = Time::of(BANK);
        time.begin_turn(BANK, Seat::First, at(0));
        time.pause(at(30), false);
        assert_eq!(
            (time.deadline, time.pause),
            (None, Some(Pause { since: at(30), left: Duration::seconds(70), is_held: false }))
        );
        time.end_turn(BANK, Seat::First, at(5000));
        time.begin_turn(BANK, Seat::Second, at(5000));
        assert_eq!((time.deadline, time.banks.first), (None, Duration::seconds(80)));
        time.resume(at(9000));
        assert_eq!((time.deadline, time.pause), (Some(at(9100)), None));
    }

    #[test]
    fn an_unlimited_clock_never_runs() {
        let mut time = Time::of(Clock::Unlimited);
        time.begin_turn(Clock::Unlimited, Seat::First, at(0));
        time.pause(at(1), false);
        time.end_turn(Clock::Unlimited, Seat::First, at(2));
        assert_eq!(time, Time::default());
    }
}
