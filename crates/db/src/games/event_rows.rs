//! The rows of `event`: read as events and plies, and written.

use mancala_domain::{Created, Event, Fact, Game, GameId, Moved, OfferKind, PlayerId, Ply, Previous};
use mancala_rules::AnyOptions;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::types::Json;
use time::{Duration, OffsetDateTime, serde::rfc3339};
use uuid::Uuid;

use super::{
    clock_rows::{parse_played, played_text},
    columns::{column, number, position, seat, seat_number, word},
    term_rows::{ResultText, TermsText},
};
use crate::connection::DbError;

/// How long a game is open whose log does not say it: such a game was created before open games could expire.
const OPEN_FOR_UNSAID: Duration = Duration::days(14);

/// The kind of event that is a move.
pub(crate) const MOVED: &str = "moved";

/// A row of `event` that is a ply.
pub(crate) struct PlyRow {
    pub(crate) at: OffsetDateTime,
    pub(crate) ply: i32,
    pub(crate) seat: i16,
    pub(crate) mv: String,
    pub(crate) position: String,
}

impl PlyRow {
    pub(crate) fn into_ply(self, game: &Game, previous: &Previous) -> Result<Ply, DbError> {
        let id = game.id().0;
        let moved = Moved {
            ply: number("event", "ply", id, self.ply)?,
            seat: seat("event", id, self.seat)?,
            mv: parse_played(&self.mv, id)?,
            position: position("event", id, &game.terms().options, &self.position)?,
        };
        Ply::replay(game, previous, &moved, self.at).map_err(|e| DbError::inconsistent("event", "position", id, e))
    }

    pub(crate) fn into_previous(self, game: &Game) -> Result<Previous, DbError> {
        Ok(Previous { position: position("event", game.id().0, &game.terms().options, &self.position)?, at: self.at })
    }
}

/// A row of `event`. Its detail is either parsed, or the stored JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EventRow<D = Json<Detail>> {
    pub(crate) at: OffsetDateTime,
    pub(crate) seq: i32,
    pub(crate) ply: Option<i32>,
    pub(crate) seat: Option<i16>,
    pub(crate) kind: String,
    pub(crate) mv: Option<String>,
    pub(crate) position: Option<String>,
    pub(crate) detail: Option<D>,
}

impl<D> EventRow<D> {
    pub(crate) fn into_ply_row(self, id: Uuid) -> Result<PlyRow, DbError> {
        match self {
            Self { at, ply: Some(ply), seat: Some(seat), mv: Some(mv), position: Some(position), .. } => {
                Ok(PlyRow { at, ply, seat, mv, position })
            }
            Self { kind, seq, .. } => Err(incomplete(id, &kind, seq)),
        }
    }
}

impl EventRow<Value> {
    pub(crate) fn into_event_row(self, id: Uuid) -> Result<EventRow, DbError> {
        let Self { at, seq, ply, seat, kind, mv, position, detail } = self;
        let detail = detail.map(serde_json::from_value).transpose();
        let detail = detail.map_err(|error| DbError::inconsistent("event", "detail", id, error))?;
        Ok(EventRow { at, seq, ply, seat, kind, mv, position, detail: detail.map(Json) })
    }
}

impl EventRow {
    /// `options` are those of the game's first event, once it is read.
    pub(crate) fn into_event(self, id: GameId, options: Option<&AnyOptions>) -> Result<Event, DbError> {
        let seq = self.seq;
        self.read(id, options).map_err(|error| match error {
            DbError::Inconsistent { table, column, id, detail } => {
                DbError::Inconsistent { table, column, id: format!("{id}, event {seq},"), detail }
            }
            error => error,
        })
    }

    fn read(self, id: GameId, options: Option<&AnyOptions>) -> Result<Event, DbError> {
        let id = id.0;
        let incomplete = || incomplete(id, &self.kind, self.seq);
        let seat = || seat("event", id, self.seat.ok_or_else(incomplete)?);
        let fact = match (self.kind.as_str(), self.detail) {
            ("created", Some(Json(Detail::Created { player_id, expires_at, returns_increments, terms }))) => {
                let terms = terms.parse("event", id)?;
                let is_awaited = terms.opponent.is_awaited();
                let expires_at = expires_at.or_else(|| is_awaited.then(|| self.at + OPEN_FOR_UNSAID));
                let returns_increments = returns_increments.unwrap_or_default();
                Fact::Created(Created { terms, player: PlayerId(player_id), expires_at, returns_increments })
            }
            ("joined", Some(Json(Detail::Joined { player_id }))) => {
                Fact::Joined { seat: seat()?, player: PlayerId(player_id) }
            }
            ("reseated", Some(Json(Detail::Joined { player_id }))) => {
                Fact::Reseated { seat: seat()?, player: PlayerId(player_id) }
            }
            ("code_renewed", Some(Json(Detail::CodeRenewed { join_code }))) => Fact::CodeRenewed { join_code },
            (MOVED, None) => {
                let (Some(ply), Some(mv), Some(text), Some(options)) = (self.ply, &self.mv, &self.position, options)
                else {
                    return Err(incomplete());
                };
                Fact::Moved(Moved {
                    ply: number("event", "ply", id, ply)?,
                    seat: seat()?,
                    mv: parse_played(mv, id)?,
                    position: position("event", id, options, text)?,
                })
            }
            (
                kind @ ("offered" | "offer_declined" | "offer_withdrawn"),
                Some(Json(Detail::Offer { offer, to_ply })),
            ) => {
                let seat = seat()?;
                let offer = word("event", "detail", id, &OfferKind::ALL, OfferKind::as_str, &offer)?;
                match kind {
                    "offered" => Fact::Offered { seat, kind: offer, to_ply },
                    "offer_declined" => Fact::OfferDeclined { seat, kind: offer },
                    _ => Fact::OfferWithdrawn { seat, kind: offer },
                }
            }
            ("paused", None) => Fact::Paused { seat: seat()? },
            ("resumed", None) => Fact::Resumed { seat: seat()? },
            ("rematched", Some(Json(Detail::Rematched { rematch_game_id }))) => {
                Fact::Rematched { seat: seat()?, game: GameId(rematch_game_id) }
            }
            ("timed_out", None) => Fact::TimedOut { seat: seat()? },
            ("expired", None) => Fact::Expired,
            ("resigned", None) => Fact::Resigned { seat: seat()? },
            ("aborted", None) => Fact::Aborted { seat: seat()? },
            ("declined", None) => Fact::Declined,
            ("analysed", None) => Fact::Analysed,
            ("finished", Some(Json(Detail::Finished(result)))) => Fact::Finished(result.parse("event", id)?),
            _ => return Err(incomplete()),
        };
        Ok(Event { seq: number("event", "seq", id, self.seq)?, at: self.at, fact })
    }
}

fn incomplete(id: Uuid, kind: &str, seq: i32) -> DbError {
    DbError::inconsistent("event", "kind", id, format!("{kind} {seq} is incomplete"))
}

/// The values that some kinds of event have beyond their columns.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Detail {
    Created {
        player_id: Uuid,
        #[serde(default, with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
        expires_at: Option<OffsetDateTime>,
        /// `None` means `false`: games of releases whose takebacks keep increments, and clocks without increments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        returns_increments: Option<bool>,
        #[serde(flatten)]
        terms: Box<TermsText>,
    },
    Finished(ResultText),
    Offer {
        offer: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to_ply: Option<u32>,
    },
    Rematched {
        rematch_game_id: Uuid,
    },
    CodeRenewed {
        join_code: String,
    },
    Joined {
        player_id: Uuid,
    },
}

impl Detail {
    fn offer(kind: OfferKind, to_ply: Option<u32>) -> Self {
        Self::Offer { offer: kind.as_str().to_owned(), to_ply }
    }
}

/// An event as its row has it. [`NewEvent::of`] leaves out what the last move shares with its game's row: the number of the
/// ply and the position.
#[derive(Debug)]
pub(crate) struct NewEvent {
    pub(crate) seq: i32,
    pub(crate) seat: Option<i16>,
    pub(crate) kind: &'static str,
    pub(crate) mv: Option<String>,
    pub(crate) detail: Option<Json<Detail>>,
    pub(crate) ply: Option<i32>,
    pub(crate) position: Option<String>,
}

impl NewEvent {
    /// The row of an event whose ply is not the game's last one.
    pub(crate) fn with_position(event: &Event) -> Self {
        let (ply, position) = match &event.fact {
            Fact::Moved(moved) => (Some(column(moved.ply)), Some(moved.position.to_string())),
            _ => (None, None),
        };
        Self { ply, position, ..Self::of(event) }
    }

    pub(crate) fn of(event: &Event) -> Self {
        let (kind, seat, moved, detail) = match &event.fact {
            Fact::Created(Created { terms, player, expires_at, returns_increments }) => {
                let terms = Box::new(TermsText::of(terms));
                let returns_increments = returns_increments.then_some(true);
                let created =
                    Detail::Created { player_id: player.0, expires_at: *expires_at, returns_increments, terms };
                ("created", None, None, Some(created))
            }
            Fact::Joined { seat, player } => {
                ("joined", Some(*seat), None, Some(Detail::Joined { player_id: player.0 }))
            }
            Fact::Reseated { seat, player } => {
                ("reseated", Some(*seat), None, Some(Detail::Joined { player_id: player.0 }))
            }
            Fact::CodeRenewed { join_code } => {
                ("code_renewed", None, None, Some(Detail::CodeRenewed { join_code: join_code.clone() }))
            }
            Fact::Moved(moved) => (MOVED, Some(moved.seat), Some(moved), None),
            Fact::Offered { seat, kind, to_ply } => ("offered", Some(*seat), None, Some(Detail::offer(*kind, *to_ply))),
            Fact::OfferDeclined { seat, kind } => {
                ("offer_declined", Some(*seat), None, Some(Detail::offer(*kind, None)))
            }
            Fact::OfferWithdrawn { seat, kind } => {
                ("offer_withdrawn", Some(*seat), None, Some(Detail::offer(*kind, None)))
            }
            Fact::Paused { seat } => ("paused", Some(*seat), None, None),
            Fact::Resumed { seat } => ("resumed", Some(*seat), None, None),
            Fact::Rematched { seat, game } => {
                ("rematched", Some(*seat), None, Some(Detail::Rematched { rematch_game_id: game.0 }))
            }
            Fact::TimedOut { seat } => ("timed_out", Some(*seat), None, None),
            Fact::Expired => ("expired", None, None, None),
            Fact::Resigned { seat } => ("resigned", Some(*seat), None, None),
            Fact::Aborted { seat } => ("aborted", Some(*seat), None, None),
            Fact::Declined => ("declined", None, None, None),
            Fact::Analysed => ("analysed", None, None, None),
            Fact::Finished(result) => ("finished", None, None, Some(Detail::Finished(ResultText::of(result)))),
        };
        Self {
            seq: column(event.seq),
            seat: seat.map(seat_number),
            kind,
            mv: moved.map(|moved| played_text(moved.mv)),
            detail: detail.map(Json),
            ply: None,
            position: None,
        }
    }
}
