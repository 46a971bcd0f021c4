//! The rows of games and events, and the words in them: what stands between a query and the domain.

use std::fmt::Display;

use mancala_domain::{
    BySeat, Created, Event, Fact, Game, GameId, GameState, Moved, OfferKind, Player, PlayerId, Ply, Previous, Seat,
    Status, Terms,
};
use mancala_rules::{AnyOptions, AnyPosition, HISTORY_MAX};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use time::{Duration, OffsetDateTime, serde::rfc3339};
use uuid::Uuid;

use super::{
    SeatedGame,
    clock_rows::{OfferText, TimeText, parse_played, played_text},
    term_rows::{ResultText, StartText, TermsText},
};
use crate::{connection::DbError, players::PlayerRow};

/// A row of `game`, with its players, its last two plies, and the history of its position.
pub(crate) struct GameRow {
    pub(crate) id: Uuid,
    pub(crate) created_at: OffsetDateTime,
    pub(crate) variant: String,
    pub(crate) preset: String,
    pub(crate) options: String,
    pub(crate) rules_version: i16,
    pub(crate) opponent: String,
    pub(crate) join_code: Option<String>,
    pub(crate) invited_player_id: Option<Uuid>,
    pub(crate) visibility: String,
    pub(crate) creator_seat: i16,
    pub(crate) updated_at: OffsetDateTime,
    pub(crate) started_at: Option<OffsetDateTime>,
    pub(crate) finished_at: Option<OffsetDateTime>,
    pub(crate) aborted_at: Option<OffsetDateTime>,
    pub(crate) analysed_at: Option<OffsetDateTime>,
    pub(crate) start: Option<Json<StartText>>,
    pub(crate) version: i32,
    pub(crate) ply: i32,
    pub(crate) seat_0_player_id: Option<Uuid>,
    pub(crate) seat_1_player_id: Option<Uuid>,
    pub(crate) seat_0_moved: bool,
    pub(crate) seat_1_moved: bool,
    pub(crate) status: String,
    pub(crate) position: String,
    pub(crate) clock: Option<String>,
    pub(crate) deadline: Option<OffsetDateTime>,
    pub(crate) time: Option<Json<TimeText>>,
    pub(crate) offers: Option<Json<Vec<OfferText>>>,
    pub(crate) rematch_game_id: Option<Uuid>,
    pub(crate) expires_at: Option<OffsetDateTime>,
    pub(crate) result_winner: Option<String>,
    pub(crate) result_reason: Option<String>,
    pub(crate) result_score_south: Option<i16>,
    pub(crate) result_score_north: Option<i16>,
    pub(crate) first_kind: Option<String>,
    pub(crate) first_name: Option<String>,
    pub(crate) first_created_at: Option<OffsetDateTime>,
    pub(crate) second_kind: Option<String>,
    pub(crate) second_name: Option<String>,
    pub(crate) second_created_at: Option<OffsetDateTime>,
    pub(crate) invited_kind: Option<String>,
    pub(crate) invited_name: Option<String>,
    pub(crate) invited_created_at: Option<OffsetDateTime>,
    pub(crate) last_at: Option<OffsetDateTime>,
    pub(crate) last_seat: Option<i16>,
    pub(crate) last_move: Option<String>,
    pub(crate) last_position: Option<String>,
    pub(crate) previous_at: Option<OffsetDateTime>,
    pub(crate) previous_position: Option<String>,
    pub(crate) history_from_seq: Option<i32>,
    /// The positions after the plies since then, the last one too; null where they are not read.
    pub(crate) history: Option<Vec<String>>,
}

impl TryFrom<GameRow> for SeatedGame {
    type Error = DbError;

    fn try_from(row: GameRow) -> Result<Self, DbError> {
        let id = row.id;
        let terms = TermsText {
            variant: row.variant,
            preset: row.preset,
            options: row.options,
            rules_version: row.rules_version,
            opponent: row.opponent,
            join_code: row.join_code,
            invited_player_id: row.invited_player_id,
            clock: row.clock,
            visibility: row.visibility,
            creator_seat: row.creator_seat,
            start: row.start.map(|Json(start)| start),
        }
        .parse("game", id)?;
        let offers = row.offers.map(|Json(offers)| offers).unwrap_or_default();
        let offers = offers.into_iter().map(|offer| offer.parse(id)).collect::<Result<_, _>>()?;
        let (south, north) = (row.result_score_south, row.result_score_north);
        let result = ResultText::of_columns(row.result_winner, row.result_reason, south, north);
        let result = result.map(|result| result.parse("game", id)).transpose()?;
        let history_from_seq =
            row.history_from_seq.map(|seq| number("game", "history_from_seq", id, seq)).transpose()?;
        let present = position("game", id, &terms.options, &row.position)?;
        let game = Game::from_stored(GameState {
            id: GameId(id),
            version: number("game", "version", id, row.version)?,
            status: word("game", "status", id, &Status::ALL, Status::as_str, &row.status)?,
            players: BySeat { first: row.seat_0_player_id.map(PlayerId), second: row.seat_1_player_id.map(PlayerId) },
            moved: BySeat { first: row.seat_0_moved, second: row.seat_1_moved },
            ply: number("game", "ply", id, row.ply)?,
            position: match row.history {
                Some(texts) => with_history(id, &terms, history_from_seq, &present, &texts)?,
                None => present,
            },
            history_from_seq,
            time: TimeText::parse(row.time.map(|Json(time)| time), row.deadline),
            offers,
            rematch: row.rematch_game_id.map(GameId),
            result,
            created_at: row.created_at,
            started_at: row.started_at,
            updated_at: row.updated_at,
            finished_at: row.finished_at.or(row.aborted_at),
            analysed_at: row.analysed_at,
            expires_at: row.expires_at.filter(|_| row.started_at.is_none() && row.aborted_at.is_none()),
            terms,
        });
        let first = player_row(row.seat_0_player_id, row.first_kind, row.first_name, row.first_created_at);
        let second = player_row(row.seat_1_player_id, row.second_kind, row.second_name, row.second_created_at);
        let players = BySeat {
            first: first.map(Player::try_from).transpose()?,
            second: second.map(Player::try_from).transpose()?,
        };
        let invited = player_row(row.invited_player_id, row.invited_kind, row.invited_name, row.invited_created_at);
        let invited = invited.map(Player::try_from).transpose()?;
        let previous = match (row.previous_position, row.previous_at) {
            (Some(text), Some(at)) => Previous { position: position("event", id, &game.terms().options, &text)?, at },
            _ => Previous::opening(&game),
        };
        let last_ply = match (row.last_at, row.last_seat, row.last_move, row.last_position) {
            (Some(at), Some(seat), Some(mv), Some(position)) => {
                Some(PlyRow { at, ply: row.ply, seat, mv, position }.into_ply(&game, &previous)?)
            }
            _ => None,
        };
        Ok(Self { game, players, invited, last_ply })
    }
}

fn player_row(
    id: Option<Uuid>,
    kind: Option<String>,
    name: Option<String>,
    created_at: Option<OffsetDateTime>,
) -> Option<PlayerRow> {
    Some(PlayerRow { id: id?, kind: kind?, name: name?, created_at: created_at? })
}

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

/// A row of `event`.
pub(crate) struct EventRow {
    pub(crate) at: OffsetDateTime,
    pub(crate) seq: i32,
    pub(crate) ply: Option<i32>,
    pub(crate) seat: Option<i16>,
    pub(crate) kind: String,
    pub(crate) mv: Option<String>,
    pub(crate) position: Option<String>,
    pub(crate) detail: Option<Json<Detail>>,
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
        let incomplete =
            || DbError::inconsistent("event", "kind", id, format!("{} {} is incomplete", self.kind, self.seq));
        let seat = || seat("event", id, self.seat.ok_or_else(incomplete)?);
        let fact = match (self.kind.as_str(), self.detail) {
            ("created", Some(Json(Detail::Created { player_id, expires_at, terms }))) => {
                let terms = terms.parse("event", id)?;
                let is_awaited = terms.opponent.is_awaited();
                let expires_at = expires_at.or_else(|| is_awaited.then(|| self.at + OPEN_FOR_ONCE));
                Fact::Created(Created { terms, player: PlayerId(player_id), expires_at })
            }
            ("joined", Some(Json(Detail::Joined { player_id }))) => {
                Fact::Joined { seat: seat()?, player: PlayerId(player_id) }
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

/// What some kinds of event say beyond their columns.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Detail {
    Created {
        player_id: Uuid,
        #[serde(default, with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
        expires_at: Option<OffsetDateTime>,
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

/// The columns of `game` that a fold decides.
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
    /// Clock and offers, of hardly any game.
    pub(crate) clock_and_offers: Option<Json<ClockAndOffers>>,
}

/// The columns of `game` that are JSON, each as PostgreSQL takes it.
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

/// An event as its row has it, but for what a move shares with its game's row: the number of the ply and the position.
#[derive(Debug)]
pub(crate) struct NewEvent {
    pub(crate) seq: i32,
    pub(crate) seat: Option<i16>,
    pub(crate) kind: &'static str,
    pub(crate) mv: Option<String>,
    pub(crate) detail: Option<Json<Detail>>,
}

impl NewEvent {
    pub(crate) fn of(event: &Event) -> Self {
        let (kind, seat, moved, detail) = match &event.fact {
            Fact::Created(Created { terms, player, expires_at }) => {
                let terms = Box::new(TermsText::of(terms));
                let created = Detail::Created { player_id: player.0, expires_at: *expires_at, terms };
                ("created", None, None, Some(created))
            }
            Fact::Joined { seat, player } => {
                ("joined", Some(*seat), None, Some(Detail::Joined { player_id: player.0 }))
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
        }
    }
}

/// How long games are open whose log does not say it: those that were created before there was an end to it.
const OPEN_FOR_ONCE: Duration = Duration::days(14);

/// The kind of event that is a move.
pub(crate) const MOVED: &str = "moved";

pub(crate) fn column(count: u32) -> i32 {
    i32::try_from(count).expect("no game has two thousand million events")
}

pub(crate) fn seeds(count: u16) -> i16 {
    i16::try_from(count).expect("a board holds at most 288 seeds")
}

pub(crate) const fn seat_number(seat: Seat) -> i16 {
    match seat {
        Seat::First => 0,
        Seat::Second => 1,
    }
}

pub(crate) fn seat(table: &'static str, id: impl Display, number: i16) -> Result<Seat, DbError> {
    match number {
        0 => Ok(Seat::First),
        1 => Ok(Seat::Second),
        _ => Err(DbError::inconsistent(table, "seat", id, number)),
    }
}

pub(crate) fn number(table: &'static str, column: &'static str, id: impl Display, value: i32) -> Result<u32, DbError> {
    u32::try_from(value).map_err(|e| DbError::inconsistent(table, column, id, e))
}

pub(crate) fn position(
    table: &'static str,
    id: Uuid,
    options: &AnyOptions,
    text: &str,
) -> Result<AnyPosition, DbError> {
    AnyPosition::parse(options, text).map_err(|e| DbError::inconsistent(table, "position", id, e))
}

/// The present position with its history, by the positions since the event that it begins with, as many as a history holds
/// and the present one. The first event of a game stands for its opening.
fn with_history(
    id: Uuid,
    terms: &Terms,
    from_seq: Option<u32>,
    present: &AnyPosition,
    texts: &[String],
) -> Result<AnyPosition, DbError> {
    let from_opening = from_seq == Some(1) && texts.len() <= HISTORY_MAX;
    let mut last = from_opening.then(|| terms.opening());
    for text in texts {
        let next = position("event", id, &terms.options, text)?;
        match &mut last {
            Some(last) => last.follow(next),
            None => last = Some(next),
        }
    }
    last.filter(|last| last.to_string() == present.to_string()).ok_or_else(|| {
        DbError::inconsistent("game", "history_from_seq", id, "its positions do not lead to the present one")
    })
}

/// The value that a column's word stands for.
pub(crate) fn word<T: Copy>(
    table: &'static str,
    column: &'static str,
    id: Uuid,
    all: &[T],
    as_str: fn(T) -> &'static str,
    text: &str,
) -> Result<T, DbError> {
    all.iter()
        .copied()
        .find(|value| as_str(*value) == text)
        .ok_or_else(|| DbError::inconsistent(table, column, id, text))
}
