//! Known callers, for the hashing and comparing of passwords: the networks from which an account is signed in to.

use std::net::IpAddr;

use mancala_db::players::sign_in_networks;
use mancala_domain::PlayerId;
use mancala_process::clock::now;
use uuid::Uuid;

use crate::{
    answer::problem::Problem,
    state::{AppState, passwords::Asker},
};

/// The asker for a comparison of a password: known to the account, or a stranger. For a name without an account the database is queried as
/// well, so that the response time reveals nothing.
pub async fn asker(state: &AppState, player: Option<PlayerId>, address: IpAddr) -> Result<Asker, Problem> {
    let player = player.unwrap_or(PlayerId(Uuid::nil()));
    let is_known = match state.networks.of_sign_in(player, address) {
        Some(network) => sign_in_networks::is_known(&state.db, player, network, now()).await?,
        None => false,
    };
    Ok(asker_at(state, address, is_known))
}

/// The asker for a hash. `is_known` says whether the caller has proven to be the owner of an account.
pub fn asker_at(state: &AppState, address: IpAddr, is_known: bool) -> Asker {
    // Without limits all clients may come through one proxy.
    Asker { address: state.sign_ins.is_some().then_some(address), is_known }
}

/// Notes that an account was made, signed in to or given a new password in the network of an address.
pub async fn note(state: &AppState, player: PlayerId, address: IpAddr) -> Result<(), Problem> {
    if let Some(network) = state.networks.of_sign_in(player, address) {
        sign_in_networks::note(&state.db, player, network, now()).await?;
    }
    Ok(())
}
