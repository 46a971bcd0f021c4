//! The caller's row.

use crate::{
    db::players::{self, OwnPlayer},
    domain::PlayerKind,
    http::{
        answer::problem::{Code, Problem},
        state::{AppState, tokens::Caller},
    },
};

/// The caller's row. A token outlives its player, and the password that it was issued under, by minutes: such a token begins
/// no game and changes nothing of the player any more.
pub(crate) async fn find(state: &AppState, caller: Caller) -> Result<OwnPlayer, Problem> {
    let found = players::find(&state.db, caller.player).await?;
    let found = found.filter(|own| own.player.kind != PlayerKind::Deleted).ok_or_else(gone)?;
    if found.credentials_version != caller.credentials_version {
        return Err(Problem::new(Code::InvalidToken, "the token is older than the password"));
    }
    Ok(found)
}

pub(crate) fn gone() -> Problem {
    Problem::new(Code::InvalidToken, "the token's player does not exist")
}
