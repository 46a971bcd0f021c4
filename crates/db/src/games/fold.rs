//! The columns of `game` that follow from its events.

use mancala_domain::{Game, Status};
use serde::Serialize;
use sqlx::types::Json;
use time::{OffsetDateTime, serde::rfc3339};
use uuid::Uuid;

use super::{
    clock_rows::{OfferText, TimeText},
    columns::{column, seat_number, seeds},
};

/// The columns of `game` that are derived from its log.
#[derive(Debug)]
pub(crate) struct Fold {
    /// When it ended with a result.
    pub(crate) finished_at: Option<OffsetDateTime>,
    /// When it ended without one.
    pub(crate) aborted_at: Option<OffsetDateTime>,
    pub(crate) version: i32,
    pub(crate) ply: i32,
    pub(crate) seat_0_player_id: Option<Uuid>,
    pub(crate) seat_1_player_id: Option<Uuid>,
    pub(crate) position: String,
    pub(crate) history_from_seq: Option<i32>,
    pub(crate) winner_seat: Option<i16>,
    pub(crate) turn_seat: Option<i16>,
    pub(crate) deadline: Option<OffsetDateTime>,
    /// Clock and offers, which very few games have.
    pub(crate) clock_and_offers: Option<Json<ClockAndOffers>>,
}

impl Fold {
    pub(crate) fn of(game: &Game) -> Self {
        let seat_at = |side| seat_number(game.seat_at(side));
        Self {
            finished_at: game.finished_at().filter(|_| game.status() == Status::Finished),
            aborted_at: game.finished_at().filter(|_| game.status() == Status::Aborted),
            version: column(game.version()),
            ply: column(game.ply()),
            seat_0_player_id: game.players().first.map(|player| player.0),
            seat_1_player_id: game.players().second.map(|player| player.0),
            position: game.position().to_string(),
            history_from_seq: game.history_from_seq().map(column),
            winner_seat: game.result().and_then(|result| result.winner).map(seat_at),
            turn_seat: game.turn().map(seat_at),
            deadline: game.time().deadline,
            clock_and_offers: ClockAndOffers::of(game),
        }
    }
}

/// The columns of `game` that are JSON, each in the form that PostgreSQL takes.
#[derive(Debug, Serialize)]
pub(crate) struct ClockAndOffers {
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<TimeText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offers: Option<Vec<OfferText>>,
}

impl ClockAndOffers {
    fn of(game: &Game) -> Option<Json<Self>> {
        let time = TimeText::of(game);
        let offers = (!game.offers().is_empty()).then(|| game.offers().iter().map(OfferText::of).collect());
        (time.is_some() || offers.is_some()).then_some(Json(Self { time, offers }))
    }
}

/// The columns of `game` that say how it ended; null until then.
#[derive(Debug, Serialize)]
pub(crate) struct EndText {
    #[serde(with = "rfc3339::option")]
    finished_at: Option<OffsetDateTime>,
    #[serde(with = "rfc3339::option")]
    aborted_at: Option<OffsetDateTime>,
    result_winner: Option<String>,
    result_reason: Option<String>,
    result_score_south: Option<i16>,
    result_score_north: Option<i16>,
    winner_seat: Option<i16>,
}

impl EndText {
    pub(crate) fn of(game: &Game, fold: &Fold) -> Self {
        let result = game.result();
        Self {
            finished_at: fold.finished_at,
            aborted_at: fold.aborted_at,
            result_winner: result.and_then(|result| result.winner).map(|side| side.to_string()),
            result_reason: result.map(|result| result.reason.to_string()),
            result_score_south: result.map(|result| seeds(result.score.south)),
            result_score_north: result.map(|result| seeds(result.score.north)),
            winner_seat: fold.winner_seat,
        }
    }
}
