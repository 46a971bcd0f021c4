//! Judged plies as JSON, in whole analyses and in parts of them.

use mancala_domain::{Class, GameId, JudgedPly};
use mancala_rules::{Move, Side};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    connection::DbError,
    games::columns::{seat, seat_number, word},
};

/// The part of a game's analysis that is stored when its request gives way to others. A later worker continues it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialAnalysis {
    /// The last ply that the game had.
    pub ply: u32,
    /// The edition of the search that judges.
    pub edition: u16,
    /// How many plies are done, from the last one on.
    pub done: u32,
    /// The plies that are judged, the last one first.
    pub plies: Vec<JudgedPly>,
}

/// The judged plies of a stored analysis.
pub(super) fn parse_plies(game: GameId, plies: Value) -> Result<Vec<JudgedPly>, DbError> {
    let texts: Vec<PlyText> =
        serde_json::from_value(plies).map_err(|e| DbError::inconsistent("analysis", "plies", game.0, e))?;
    texts.into_iter().map(|ply| ply.parse(game)).collect()
}

/// A part of an analysis as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PartialText {
    ply: u32,
    edition: u16,
    done: u32,
    plies: Vec<PlyText>,
}

impl PartialText {
    /// Converts a partial analysis into its stored form.
    pub fn of(partial: &PartialAnalysis) -> Self {
        let &PartialAnalysis { ply, edition, done, ref plies } = partial;
        Self { ply, edition, done, plies: plies.iter().map(PlyText::of).collect() }
    }

    /// The part that is stored with the request for a game.
    pub fn parse(self, game: GameId) -> Result<PartialAnalysis, DbError> {
        let plies = self.plies.into_iter().map(|ply| ply.parse(game)).collect::<Result<_, _>>()?;
        Ok(PartialAnalysis { ply: self.ply, edition: self.edition, done: self.done, plies })
    }
}

/// A judged ply as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PlyText {
    ply: u32,
    side: String,
    seat: i16,
    #[serde(rename = "move")]
    mv: String,
    /// Hundredths of a seed, and whether they are exact.
    best: (i32, bool),
    line: Vec<String>,
    value: (i32, bool),
    loss: i32,
    class: String,
}

impl PlyText {
    /// Converts a judged ply into its stored form.
    pub fn of(ply: &JudgedPly) -> Self {
        let value = |value: mancala_domain::Value| (value.points, value.is_exact);
        Self {
            ply: ply.number,
            side: ply.side.to_string(),
            seat: seat_number(ply.seat),
            mv: ply.mv.to_string(),
            best: value(ply.best),
            line: ply.line.iter().map(ToString::to_string).collect(),
            value: value(ply.value),
            loss: ply.loss,
            class: ply.class.as_str().to_owned(),
        }
    }

    /// The judged ply of a game.
    pub fn parse(self, game: GameId) -> Result<JudgedPly, DbError> {
        let parse_move =
            |text: &String| text.parse::<Move>().map_err(|e| DbError::inconsistent("analysis", "plies", game.0, e));
        let value = |(points, is_exact)| mancala_domain::Value { points, is_exact };
        Ok(JudgedPly {
            number: self.ply,
            side: self.side.parse::<Side>().map_err(|e| DbError::inconsistent("analysis", "plies", game.0, e))?,
            seat: seat("analysis", game.0, self.seat)?,
            mv: parse_move(&self.mv)?,
            best: value(self.best),
            line: self.line.iter().map(parse_move).collect::<Result<_, _>>()?,
            value: value(self.value),
            loss: self.loss,
            class: word("analysis", "plies", game.0, &Class::ALL, Class::as_str, &self.class)?,
        })
    }
}
