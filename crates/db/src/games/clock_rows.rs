//! Clocks, offers and played moves, as the text and JSON of columns.

use mancala_domain::{BySeat, Clock, Game, Offer, OfferKind, Pause, PlyAction, Time};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime, serde::rfc3339};
use uuid::Uuid;

use super::columns::{seat, seat_number, word};
use crate::connection::DbError;

/// The part of a game's time that is stored beside its deadline.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TimeText {
    /// The seats' banks, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    banks: Option<[i64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<PauseText>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PauseText {
    #[serde(with = "rfc3339")]
    since: OffsetDateTime,
    left: i64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_held: bool,
}

impl TimeText {
    pub(crate) fn of(game: &Game) -> Option<Self> {
        let Time { banks, pause, .. } = game.time();
        let has_banks = matches!(game.terms().clock, Clock::Bank { .. });
        let banks = has_banks.then(|| [microseconds(banks.first), microseconds(banks.second)]);
        let pause = pause.map(|Pause { since, left, is_held }| PauseText { since, left: microseconds(left), is_held });
        (banks.is_some() || pause.is_some()).then_some(Self { banks, pause })
    }

    pub(crate) fn parse(stored: Option<Self>, deadline: Option<OffsetDateTime>) -> Time {
        let Self { banks, pause } = stored.unwrap_or(Self { banks: None, pause: None });
        let [first, second] = banks.unwrap_or_default().map(Duration::microseconds);
        let pause = pause.map(|PauseText { since, left, is_held }| Pause {
            since,
            left: Duration::microseconds(left),
            is_held,
        });
        Time { deadline, banks: BySeat { first, second }, pause }
    }
}

/// An open offer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OfferText {
    kind: String,
    seat: i16,
    #[serde(with = "rfc3339")]
    at: OffsetDateTime,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to_ply: Option<u32>,
}

impl OfferText {
    pub(crate) fn of(offer: &Offer) -> Self {
        let Offer { kind, seat, at, to_ply } = *offer;
        Self { kind: kind.as_str().to_owned(), seat: seat_number(seat), at, to_ply }
    }

    pub(crate) fn parse(self, id: Uuid) -> Result<Offer, DbError> {
        Ok(Offer {
            kind: word("game", "offers", id, &OfferKind::ALL, OfferKind::as_str, &self.kind)?,
            seat: seat("game", id, self.seat)?,
            at: self.at,
            to_ply: self.to_ply,
        })
    }
}

/// `None` for unlimited time.
pub(crate) fn clock_text(clock: Clock) -> Option<String> {
    match clock {
        Clock::Unlimited => None,
        Clock::PerMove { allowance } => Some(format!("per_move {}", allowance.whole_seconds())),
        Clock::Bank { initial, increment, max } => {
            let [initial, increment, max] = [initial, increment, max].map(Duration::whole_seconds);
            Some(format!("bank {initial} {increment} {max}"))
        }
    }
}

pub(crate) fn parse_clock(table: &'static str, id: Uuid, text: Option<&str>) -> Result<Clock, DbError> {
    let Some(text) = text else { return Ok(Clock::Unlimited) };
    let seconds = |text: &str| text.parse().map(Duration::seconds);
    let clock = match text.split(' ').collect::<Vec<_>>()[..] {
        ["per_move", allowance] => seconds(allowance).map(|allowance| Clock::PerMove { allowance }).ok(),
        ["bank", initial, increment, max] => match [initial, increment, max].map(seconds) {
            [Ok(initial), Ok(increment), Ok(max)] => Some(Clock::Bank { initial, increment, max }),
            _ => None,
        },
        _ => None,
    };
    clock.ok_or_else(|| DbError::inconsistent(table, "clock", id, text))
}

/// The text of `event.move`: a move, or a takeback with the ply that it leads back to. If it takes increments back, those of both
/// seats follow, in microseconds.
pub(crate) fn played_text(played: PlyAction) -> String {
    match played {
        PlyAction::Move(mv) => mv.to_string(),
        PlyAction::Takeback { to_ply, increments } if increments == BySeat::default() => format!("{TAKEBACK}{to_ply}"),
        PlyAction::Takeback { to_ply, increments: BySeat { first, second } } => {
            format!("{TAKEBACK}{to_ply} {} {}", microseconds(first), microseconds(second))
        }
    }
}

pub(crate) fn parse_played(text: &str, id: Uuid) -> Result<PlyAction, DbError> {
    let inconsistent = || DbError::inconsistent("event", "move", id, text);
    match text.strip_prefix(TAKEBACK) {
        Some(numbers) => parse_takeback(numbers).ok_or_else(inconsistent),
        None => text.parse().map(PlyAction::Move).map_err(|_| inconsistent()),
    }
}

fn parse_takeback(numbers: &str) -> Option<PlyAction> {
    let mut numbers = numbers.split(' ');
    let to_ply = numbers.next()?.parse().ok()?;
    let increments = match (numbers.next(), numbers.next()) {
        (None, None) => BySeat::default(),
        (Some(first), Some(second)) => {
            let time = |text: &str| text.parse().ok().filter(|time| *time >= 0).map(Duration::microseconds);
            BySeat { first: time(first)?, second: time(second)? }
        }
        _ => return None,
    };
    numbers.next().is_none().then_some(PlyAction::Takeback { to_ply, increments })
}

const TAKEBACK: &str = "takeback ";

fn microseconds(duration: Duration) -> i64 {
    i64::try_from(duration.whole_microseconds()).expect("a clock gives at most some months")
}
