//! A game with its whole history, as exports have it.

use mancala_db::games::SeatedGame;
use mancala_domain::{PlayerId, Ply};
use serde::Serialize;
use utoipa::ToSchema;

use super::{game::GameView, moves::MoveView};

/// A game with its whole history.
#[derive(Serialize, ToSchema)]
pub struct ExportedGame {
    game: GameView,
    moves: Vec<MoveView>,
}

impl ExportedGame {
    pub fn of(seated: &SeatedGame, plies: &[Ply], viewer: Option<PlayerId>) -> Self {
        Self { game: GameView::of(seated, viewer), moves: plies.iter().map(MoveView::of).collect() }
    }
}
