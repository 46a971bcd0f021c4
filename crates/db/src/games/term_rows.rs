//! The terms and the result of a game, as the text and JSON of columns.

use mancala_domain::{GameId, GameResult, Level, Opponent, PlayerId, Reason, Start, Terms, Visibility};
use mancala_rules::{AnyOptions, BySide, Side, Variant};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    clock_rows::{clock_text, parse_clock},
    columns::{position, seat, seat_number, seeds, word},
};
use crate::connection::DbError;

/// The terms of a game as text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TermsText {
    pub(crate) variant: String,
    pub(crate) preset: String,
    pub(crate) options: String,
    pub(crate) rules_version: i16,
    pub(crate) opponent: String,
    pub(crate) join_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) invited_player_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clock: Option<String>,
    pub(crate) visibility: String,
    pub(crate) creator_seat: i16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) start: Option<StartText>,
    /// `None` means `false`: games from before there was practice, and rows of older releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) practice: Option<bool>,
}

/// The start of a game as text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StartText {
    position: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<(Uuid, u32)>,
}

impl StartText {
    fn of(start: &Start) -> Self {
        Self { position: start.position.to_string(), from: start.from.map(|(game, ply)| (game.0, ply)) }
    }

    pub(crate) fn parse(self, table: &'static str, id: Uuid, options: &AnyOptions) -> Result<Start, DbError> {
        let position = position(table, id, options, &self.position)?;
        Ok(Start { position, from: self.from.map(|(game, ply)| (GameId(game), ply)) })
    }
}

impl TermsText {
    pub(crate) fn of(terms: &Terms) -> Self {
        let Terms { options, rules_version, opponent, clock, visibility, creator, start, is_practice } = terms;
        let (opponent, join_code, invited) = match opponent {
            Opponent::Open => ("open", None, None),
            Opponent::Link { join_code } => ("link", Some(join_code.clone()), None),
            Opponent::Player { player } => ("player", None, Some(player.0)),
            Opponent::Oneself => ("self", None, None),
            Opponent::Computer { level } => ("computer", None, Some(level.player().0)),
            Opponent::Imported { by } => ("imported", None, by.map(|player| player.0)),
        };
        Self {
            variant: options.variant().to_string(),
            preset: options.preset().to_owned(),
            options: options.overrides(),
            rules_version: i16::try_from(*rules_version).expect("editions of the rules are counted from 1"),
            opponent: opponent.to_owned(),
            join_code,
            invited_player_id: invited,
            clock: clock_text(*clock),
            visibility: visibility.as_str().to_owned(),
            creator_seat: seat_number(*creator),
            start: start.as_ref().map(StartText::of),
            practice: is_practice.then_some(true),
        }
    }

    pub(crate) fn parse(self, table: &'static str, id: Uuid) -> Result<Terms, DbError> {
        let variant: Variant = self.variant.parse().map_err(|e| DbError::inconsistent(table, "variant", id, e))?;
        let opponent = match (self.opponent.as_str(), self.join_code, self.invited_player_id) {
            ("open", None, None) => Opponent::Open,
            ("link", Some(join_code), None) => Opponent::Link { join_code },
            ("player", None, Some(player)) => Opponent::Player { player: PlayerId(player) },
            ("self", None, None) => Opponent::Oneself,
            ("computer", None, Some(player)) => {
                let level = Level::of_player(PlayerId(player));
                let level = level.ok_or_else(|| DbError::inconsistent(table, "opponent", id, player))?;
                Opponent::Computer { level }
            }
            ("imported", None, by) => Opponent::Imported { by: by.map(PlayerId) },
            _ => return Err(DbError::inconsistent(table, "opponent", id, self.opponent)),
        };
        let options = AnyOptions::parse_recorded(variant, &self.preset, &self.options)
            .map_err(|e| DbError::inconsistent(table, "options", id, e))?;
        Ok(Terms {
            start: self.start.map(|start| start.parse(table, id, &options)).transpose()?,
            options,
            rules_version: u16::try_from(self.rules_version)
                .map_err(|e| DbError::inconsistent(table, "rules_version", id, e))?,
            opponent,
            clock: parse_clock(table, id, self.clock.as_deref())?,
            visibility: word(table, "visibility", id, &Visibility::ALL, Visibility::as_str, &self.visibility)?,
            creator: seat(table, id, self.creator_seat)?,
            is_practice: self.practice.unwrap_or_default(),
        })
    }
}

/// A result as text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ResultText {
    pub(crate) winner: Option<String>,
    pub(crate) reason: String,
    pub(crate) score: Score,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Score {
    pub(crate) south: i16,
    pub(crate) north: i16,
}

impl ResultText {
    pub(crate) fn of(result: &GameResult) -> Self {
        Self {
            winner: result.winner.map(|side| side.to_string()),
            reason: result.reason.to_string(),
            score: Score { south: seeds(result.score.south), north: seeds(result.score.north) },
        }
    }

    /// The result from the columns of `game`: null until the game is finished. The winner is null for a draw too.
    pub(crate) fn of_columns(
        winner: Option<String>,
        reason: Option<String>,
        south: Option<i16>,
        north: Option<i16>,
    ) -> Option<Self> {
        Some(Self { winner, reason: reason?, score: Score { south: south?, north: north? } })
    }

    pub(crate) fn parse(self, table: &'static str, id: Uuid) -> Result<GameResult, DbError> {
        let winner = self.winner.map(|side| side.parse::<Side>()).transpose();
        let score = |seeds: i16| u16::try_from(seeds).map_err(|e| DbError::inconsistent(table, "result_score", id, e));
        Ok(GameResult {
            winner: winner.map_err(|e| DbError::inconsistent(table, "result_winner", id, e))?,
            reason: self.reason.parse::<Reason>().map_err(|e| DbError::inconsistent(table, "result_reason", id, e))?,
            score: BySide { south: score(self.score.south)?, north: score(self.score.north)? },
        })
    }
}
