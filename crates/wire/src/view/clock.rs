//! The wire type of a game's clock.

use mancala_domain::{Clock, Game, Time};
use mancala_rules::Side;
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::Timestamp;

/// The players' time as of the last change. A client counts down to `deadline` by itself.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Clock)]
pub struct ClockView {
    #[serde(rename = "type")]
    kind: ClockWord,
    /// For `per_move`: the time for each turn. Consecutive moves of one side are one turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 60, example = 86400)]
    move_s: Option<i64>,
    /// For `bank`: the time that each side has left for all its turns, as of the beginning of its present or next turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    bank_s: Option<BanksView>,
    /// For `bank`: the time of each side at the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 60, example = 259_200)]
    initial_s: Option<i64>,
    /// For `bank`: the time added after each turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0, example = 3600)]
    increment_s: Option<i64>,
    /// For `bank`: the most that a bank holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 60, example = 604_800)]
    max_s: Option<i64>,
    /// When the side to move runs out of time; null while no time runs.
    #[schema(required = true)]
    deadline: Option<Timestamp>,
    /// When the pause began; absent without a pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    paused_at: Option<Timestamp>,
    /// `true` in a pause for a player who is suspended: it ends with the suspension. Absent in one on which both players agreed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    is_held: Option<bool>,
    /// The time of the side to move when the pause ends; absent without a pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0)]
    left_s: Option<i64>,
}

/// The time in each side's bank, in seconds.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Banks)]
struct BanksView {
    #[schema(minimum = 0, example = 259_200)]
    south: i64,
    #[schema(minimum = 0, example = 259_200)]
    north: i64,
}

impl ClockView {
    pub fn of(game: &Game) -> Self {
        let Time { deadline, banks, pause } = game.time();
        let nothing = Self {
            kind: ClockWord::Unlimited,
            move_s: None,
            bank_s: None,
            initial_s: None,
            increment_s: None,
            max_s: None,
            deadline: deadline.map(Timestamp),
            paused_at: pause.map(|pause| Timestamp(pause.since)),
            is_held: pause.and_then(|pause| pause.is_held.then_some(true)),
            left_s: pause.map(|pause| pause.left.whole_seconds()),
        };
        let bank = |side| banks[game.seat_at(side)].whole_seconds();
        match game.terms().clock {
            Clock::Unlimited => nothing,
            Clock::PerMove { allowance } => {
                Self { kind: ClockWord::PerMove, move_s: Some(allowance.whole_seconds()), ..nothing }
            }
            Clock::Bank { initial, increment, max } => Self {
                kind: ClockWord::Bank,
                initial_s: Some(initial.whole_seconds()),
                bank_s: Some(BanksView { south: bank(Side::South), north: bank(Side::North) }),
                increment_s: Some(increment.whole_seconds()),
                max_s: Some(max.whole_seconds()),
                ..nothing
            },
        }
    }
}

/// The kind of a game's clock. Clients ignore values that they do not know.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ClockType)]
enum ClockWord {
    Unlimited,
    PerMove,
    Bank,
}
