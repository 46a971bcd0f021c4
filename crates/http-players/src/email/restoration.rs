//! Gives an account back to the owner of its former address, by the link in the mail that reported the change.

use actix_web::HttpRequest;
use mancala_db::email::restoration::{self, NewCredentials};
use mancala_http::{answer::problem::Problem, layers::limits::network_of, request::known, state::AppState};
use mancala_process::clock::now;

use super::tokens;

/// Restores the account, and returns the token by which its owner sets a new password. Until then it has none that anyone knows, because the
/// present one may be a thief's.
pub(super) async fn restore(state: &AppState, request: &HttpRequest, token: &str) -> Result<String, Problem> {
    let hash = tokens::hash(token);
    let is_valid = async { Ok(restoration::is_valid(&state.db, &hash, now()).await?.then_some(())) };
    let network = network_of(request);
    tokens::found(state, network, is_valid).await?;
    let unknown = tokens::new().parse().map_err(Problem::internal)?;
    let password_hash = state.passwords.hash(unknown, known::asker_at(state, network, true)).await?;
    let reset = tokens::new();
    let new = NewCredentials { password_hash: &password_hash, reset: &tokens::hash(&reset) };
    let restored = restoration::restore(&state.db, &hash, new, now()).await?.ok_or_else(tokens::invalid)?;
    state.hub.audience().revoke(restored.player, restored.credentials_version);
    Ok(reset)
}
