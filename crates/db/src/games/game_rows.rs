//! The rows of `game`, read with the players and plies that are shown with a game.

use mancala_domain::{
    BySeat, Game, GameId, GameState, Player, PlayerId, PlayerName, Ply, Previous, Seat, Status, Terms,
};
use mancala_rules::{AnyPosition, HISTORY_MAX};
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    archived,
    clock_rows::{OfferText, TimeText},
    columns::{number, position, word},
    event_rows::PlyRow,
    term_rows::{ResultText, StartText, TermsText},
};
use crate::{connection::DbError, players::PlayerRow};

/// A game with the players and the last ply that are shown with it.
#[derive(Clone, Debug)]
pub struct SeatedGame {
    /// The game.
    pub game: Game,
    /// The players in its seats.
    pub players: BySeat<Option<Player>>,
    /// The player whom the creator invited.
    pub invited: Option<Player>,
    /// The last ply, if one was played.
    pub last_ply: Option<Ply>,
    /// For a game against oneself: the name of the person at the seat that is not the creator's, if it was given.
    pub hotseat_name: Option<PlayerName>,
}

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
    pub(crate) practice: Option<bool>,
    pub(crate) hotseat_name: Option<String>,
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
    /// The positions after the plies since then, including the last; null where they are not read.
    pub(crate) history: Option<Vec<String>>,
    /// The archive of its log, if there is one.
    pub(crate) archived: Option<Vec<u8>>,
}

/// How many positions of a history are read: the current one, and the [`HISTORY_MAX`] positions that a history may hold.
pub(crate) const HISTORY_POSITIONS: usize = HISTORY_MAX + 1;

impl GameRow {
    /// Takes the plies from the archive, if there is one. Games are archived when they are over, so no ply is behind it. A game whose archive
    /// cannot be read is shown without its last ply; its history is an error.
    fn with_archive(mut self, has_history: bool) -> Result<Self, DbError> {
        let Some(log) = self.archived.take() else { return Ok(self) };
        if let Some(from) = self.history_from_seq.filter(|_| has_history) {
            let plies = archived::plies(self.id, &log)?.into_iter();
            let mut since: Vec<_> = plies.filter(|(seq, _)| *seq >= from).map(|(_, ply)| ply.position).collect();
            since.drain(..since.len().saturating_sub(HISTORY_POSITIONS));
            self.history = Some(since);
        }
        let [last, previous] = archived::last_plies(self.id, &log, &self.position).unwrap_or_else(|error| {
            tracing::error!(game.id = %self.id, "a game is shown without its last ply: {error}");
            [None, None]
        });
        if let Some(last) = last {
            (self.last_at, self.last_seat) = (Some(last.at), Some(last.seat));
            (self.last_move, self.last_position) = (Some(last.mv), Some(last.position));
        }
        if let Some(previous) = previous {
            (self.previous_at, self.previous_position) = (Some(previous.at), Some(previous.position));
        }
        Ok(self)
    }
}

impl GameRow {
    /// The game. For an archived game, the history of its position is read only if `has_history`.
    pub(crate) fn into_seated(self, has_history: bool) -> Result<SeatedGame, DbError> {
        let (id, is_beside_archive) = (self.id, self.archived.is_some());
        let row = self.with_archive(has_history)?;
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
            practice: row.practice,
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
        let last = row.last_at.zip(row.last_seat).zip(row.last_move.zip(row.last_position));
        let last = last.map(|((at, seat), (mv, position))| PlyRow { at, ply: row.ply, seat, mv, position });
        let last_ply = match last_ply(&game, last, row.previous_position.zip(row.previous_at)) {
            Err(error) if is_beside_archive && error.is_data_error() => {
                tracing::error!(game.id = %id, "a game is shown without its last ply: {error}");
                None
            }
            found => found?,
        };
        let hotseat_name = row.hotseat_name.map(PlayerName::from_stored);
        Ok(SeatedGame { game, players, invited, last_ply, hotseat_name })
    }
}

/// The last ply of a game, by its row and by the position and the time before it.
fn last_ply(
    game: &Game,
    last: Option<PlyRow>,
    previous: Option<(String, OffsetDateTime)>,
) -> Result<Option<Ply>, DbError> {
    let previous = match previous {
        Some((text, at)) => Previous { position: position("event", game.id().0, &game.terms().options, &text)?, at },
        None => Previous::opening(game),
    };
    last.map(|row| row.into_ply(game, &previous)).transpose()
}

impl SeatedGame {
    /// The name that stands at a seat in place of its player's.
    pub fn hotseat_name_at(&self, seat: Seat) -> Option<&PlayerName> {
        self.hotseat_name.as_ref().filter(|_| seat != self.game.terms().creator)
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

/// Builds the current position with its history. `texts` are the positions since the event at which the history begins, at most
/// [`HISTORY_MAX`] and the current one. The first event of a game means its opening.
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
