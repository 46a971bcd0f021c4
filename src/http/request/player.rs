//! The caller's row in the database.

use crate::{
    db::players::{self, OwnPlayer},
    domain::PlayerKind,
    http::{
        answer::{code::Code, problem::Problem},
        state::{AppState, tokens::Caller},
    },
};

/// The caller's row. A token may outlive its player, or the password under which it was issued. `auth::identify` refuses such a
/// token within a second; this check is exact, for what creates something, changes the player, or shows a secret.
pub(crate) async fn find(state: &AppState, caller: Caller) -> Result<OwnPlayer, Problem> {
    let found = players::find(&state.db, caller.player).await?;
    let found = found.filter(|own| own.player.kind != PlayerKind::Deleted).ok_or_else(gone)?;
    if found.credentials_version != caller.credentials_version {
        return Err(Problem::new(
            Code::InvalidToken,
            "the access token was revoked by a new password, or by signing out everywhere",
        ));
    }
    Ok(found)
}

pub(crate) fn gone() -> Problem {
    Problem::new(Code::InvalidToken, "the token's player does not exist")
}
