//! The caller's row in the database.

use mancala_db::{
    apps,
    players::{self, OwnPlayer},
};
use mancala_domain::{PlayerId, PlayerKind};

use crate::{
    answer::{code::Code, problem::Problem},
    state::{AppState, tokens::Caller},
};

/// Reads the caller's row. A token may outlive its player, or the password under which it was issued. `auth::identify` refuses such a token
/// within a second. This check is exact, for requests that create something, change the player, or show a secret.
pub async fn find(state: &AppState, caller: Caller) -> Result<OwnPlayer, Problem> {
    let found = players::find(&state.db, caller.player).await?;
    let found = found.filter(|own| own.player.kind != PlayerKind::Deleted).ok_or_else(gone)?;
    if found.credentials_version != caller.credentials_version {
        return Err(Problem::new(
            Code::InvalidToken,
            "the access token was revoked by a new password, by signing out everywhere, or by the player's app",
        ));
    }
    Ok(found)
}

/// Refuses what the player of an app may not do, because it would outlast the app's access.
pub async fn refuse_if_of_app(state: &AppState, player: PlayerId, detail: &str) -> Result<(), Problem> {
    match apps::players::find_membership(&state.db, player).await? {
        Some(_) => Err(Problem::new(Code::Forbidden, detail)),
        None => Ok(()),
    }
}

pub fn gone() -> Problem {
    Problem::new(Code::InvalidToken, "the token's player does not exist")
}
