//! The operations that a suspended player may still use: reading, ending what has begun, and managing sign-ins and data. All others are
//! refused, so a new operation is refused until it is listed here.

use std::time::Instant;

use actix_web::http::Method;
use mancala_db::players::{
    kept_suspensions,
    suspensions::{self, Suspension, Term},
};
use mancala_domain::PlayerId;
use mancala_process::clock::now;
use mancala_wire::view::wire::SuspensionView;

use crate::{
    answer::{code::Code, problem::Problem},
    paths,
    state::AppState,
};

/// The operations that a suspended player may use besides reading. None of them begins a game, or reaches a player outside of its games.
const PERMITTED: &[(&str, &str)] = &[
    ("POST", "/v1/players"),
    ("POST", "/v1/tokens"),
    ("POST", "/v1/tokens/revoke"),
    ("POST", "/v1/apps/tokens"),
    // A new password; a new name, and unlinking identities, are refused by its handler.
    ("PATCH", "/v1/me"),
    ("DELETE", "/v1/me"),
    ("DELETE", "/v1/me/sign-ins"),
    ("DELETE", "/v1/me/sign-ins/{sign_in_id}"),
    ("POST", "/v1/me/recovery-code"),
    ("POST", "/v1/sign-in/{issuer}"),
    ("POST", "/v1/sign-in/{issuer}/complete"),
    ("PUT", "/v1/me/identities/{issuer}"),
    // Removes the address; a new one, to which a mail would go, is refused by its handler.
    ("PUT", "/v1/me/email"),
    ("POST", "/v1/email/verify"),
    ("POST", "/v1/password-reset"),
    // Unlinking identities is refused by its handler.
    ("POST", "/v1/password-reset/confirm"),
    ("POST", "/v1/me/stream-tickets"),
    ("PUT", "/v1/me/blocks/{player_id}"),
    ("DELETE", "/v1/me/blocks/{player_id}"),
    ("PUT", "/v1/me/mutes/{player_id}"),
    ("DELETE", "/v1/me/mutes/{player_id}"),
    ("DELETE", "/v1/me/friends/{player_id}"),
    ("DELETE", "/v1/me/imports"),
    ("DELETE", "/v1/me/devices/{device_id}"),
    ("PUT", "/v1/me/push-settings"),
    ("DELETE", "/v1/games/{id}"),
    ("PUT", "/v1/games/{id}/notes/{ply}"),
    ("DELETE", "/v1/games/{id}/notes/{ply}"),
    ("POST", "/v1/games/{id}/analysis"),
    ("POST", "/v1/games/{id}/resign"),
    ("POST", "/v1/games/{id}/abort"),
    ("POST", "/v1/games/{id}/decline"),
    ("POST", "/v1/games/{id}/join-code"),
    ("POST", "/v1/games/{id}/offers/{type}/decline"),
    ("POST", "/v1/games/{id}/offers/{type}/withdraw"),
    ("POST", "/v1/variants/{variant}/play"),
    ("PATCH", "/v1/webhooks/{webhook_id}"),
    ("DELETE", "/v1/webhooks/{webhook_id}"),
];

/// Operations with which a suspended player continues games that have begun, unless the suspension stops or ends them. Without these, the
/// clock would run against a player who may not move.
const PERMITTED_TO_PLAY_ON: [(&str, &str); 2] =
    [("POST", "/v1/games/{id}/moves"), ("POST", "/v1/games/{id}/offers/{type}/accept")];

/// The permitted operations whose handlers refuse a part: a new name, a new e-mail address, and unlinking identities.
const PERMITTED_IN_PART: [(&str, &str); 3] =
    [("PATCH", "/v1/me"), ("PUT", "/v1/me/email"), ("POST", "/v1/password-reset/confirm")];

/// The offer whose acceptance begins a game.
const REMATCH: &str = "/offers/rematch/";

/// Whether a suspended player may do an operation.
pub fn permits(suspension: &Term, method: &Method, path: &str) -> bool {
    let permits = |pattern: &str| {
        let operation = (method.as_str(), pattern);
        PERMITTED.contains(&operation)
            || (suspension.plays_on && PERMITTED_TO_PLAY_ON.contains(&operation) && !path.contains(REMATCH))
    };
    method.is_safe() || paths::find(path).is_some_and(|known| permits(&known.pattern))
}

/// Refuses a player that memory says is suspended, with the reason, which the database has. One whose suspension
/// another process has ended just now is let through.
pub async fn refuse(state: &AppState, player: PlayerId) -> Result<(), Problem> {
    let found = suspensions::find_active(&state.db, player, now()).await?;
    found.map_or(Ok(()), |suspension| Err(refusal(&suspension)))
}

/// Suspends a player as the same person was suspended before its data was erased.
pub async fn restore(state: &AppState, player: PlayerId, person: &[u8; 32]) -> Result<(), Problem> {
    if let Some(term) = kept_suspensions::restore(&state.db, player, person, now()).await? {
        state.hub.audience().revocations().enter_suspension(player, term, Instant::now());
    }
    Ok(())
}

/// Whether a suspension may refuse an operation, for its documentation.
pub fn may_refuse(method: &str, pattern: &str) -> bool {
    method != "GET" && (!PERMITTED.contains(&(method, pattern)) || PERMITTED_IN_PART.contains(&(method, pattern)))
}

/// The problem that a suspended player gets.
pub fn refusal(suspension: &Suspension) -> Problem {
    let detail = match suspension.until {
        Some(_) => "an operator of the server has suspended the player",
        None => "an operator of the server has banned the player",
    };
    Problem::new(Code::PlayerSuspended, detail).with_suspension(SuspensionView::from(suspension))
}
