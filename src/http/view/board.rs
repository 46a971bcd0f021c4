//! Wire types of boards and scores, and the notation of legal moves.

use serde::Serialize;
use utoipa::ToSchema;

use crate::rules::{AnyPosition, Pit, Side};

/// The seeds on the board.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Board)]
pub struct BoardView {
    south: RowView,
    north: RowView,
    /// Of a match: the current round, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1)]
    round: Option<u32>,
}

/// The seeds of one side.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Row)]
struct RowView {
    /// In sowing order, from that side's own left to right: the first is pit A.
    #[schema(example = json!([4, 4, 0, 5, 5, 5]))]
    pits: Vec<u16>,
    #[schema(example = 1)]
    store: u16,
    /// Of a match: the pits that could not be filled and are out of this round.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!([]))]
    burnt: Option<Vec<String>>,
}

/// The seeds in the stores at the end.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Score)]
pub struct ScoreView {
    #[schema(example = 25)]
    pub south: u16,
    #[schema(example = 23)]
    pub north: u16,
}

impl BoardView {
    pub fn of(position: &AnyPosition) -> Self {
        let board = position.board();
        let round = position.round();
        let row = |side| {
            let pits = board.pits(side);
            let burnt = || {
                let pits =
                    (0..pits.len()).filter_map(|index| u8::try_from(index).ok()).map(|index| Pit { side, index });
                pits.filter(|pit| board.is_burnt(*pit)).map(|pit| pit.to_string()).collect()
            };
            RowView { pits: pits.to_vec(), store: board.store(side), burnt: round.map(|_| burnt()) }
        };
        Self { south: row(Side::South), north: row(Side::North), round: round.map(|round| round.number) }
    }
}

/// The legal moves of a position, in text notation.
pub fn legal_moves(position: &AnyPosition) -> Vec<String> {
    position.legal_moves().iter().map(ToString::to_string).collect()
}
