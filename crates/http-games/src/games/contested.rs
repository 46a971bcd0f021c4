//! Whether a game is a contest between two players, or continues one.

use mancala_db::games;
use mancala_domain::Game;
use mancala_http::{answer::problem::Problem, state::AppState};

/// Whether two players compete in a game, in the game that it continues, or further back. The server does not help with such
/// a game while it runs.
pub async fn is_contested(state: &AppState, game: &Game) -> Result<bool, Problem> {
    let from = |game: &Game| game.terms().start.as_ref().and_then(|start| start.from).map(|(id, _)| id);
    let (mut is_contested, mut before) = (game.is_contested(), from(game));
    for _ in 0..ORIGINS_MAX {
        if is_contested {
            return Ok(true);
        }
        let Some(id) = before else { return Ok(false) };
        let Some(origin) = games::find(&state.db, id).await? else { return Ok(false) };
        (is_contested, before) = (origin.game.is_contested(), from(&origin.game));
    }
    Ok(true)
}

/// How many games back [`is_contested`] looks. A longer chain counts as contested.
const ORIGINS_MAX: usize = 20;
