//! The caller: profile, name, password, and erasure.

use actix_web::{HttpResponse, delete, get, patch, web::Data};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    profiles::{ProfileView, choose_password, name_taken, parse_name, refuse_reserved},
    tokens::TokenSet,
};
use crate::{
    clock::now,
    db::{
        games,
        players::{self, Named, OwnPlayer},
    },
    domain::{Action, Command, Player, PlayerId, PlayerKind},
    http::{
        answer::{
            headers::{NOT_KEPT, VARIES},
            problem::{Code, Problem},
        },
        games::change::{Executed, execute},
        request::{
            extract::{Body, NoQuery, Query},
            player::{find, gone},
        },
        state::{AppState, tokens::Caller},
    },
    live::Credentials,
    metrics::Grant,
};

/// How many times a change of the caller is attempted, on version conflicts.
const ATTEMPTS_MAX: u32 = 4;

/// How many unfinished games are read and ended as one batch.
const GAMES_AT_ONCE: u32 = 100;

/// Get the caller
#[utoipa::path(
    tag = "players",
    operation_id = "get_me",
    responses((status = 200, description = "The caller", body = ProfileView)),
    security(("bearer" = []))
)]
#[get("/me")]
pub async fn get_me(state: Data<AppState>, caller: Caller, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    let own = find(&state, caller).await?;
    Ok(HttpResponse::Ok()
        .insert_header(NOT_KEPT)
        .insert_header(VARIES)
        .json(ProfileView::of(&state, &own.player).await?))
}

/// Change the caller's name or password
///
/// With a password a guest becomes an account, and keeps all games. A new password revokes all refresh tokens; the answer
/// contains new ones.
#[utoipa::path(
    tag = "players",
    operation_id = "update_me",
    request_body(content = UpdateMe, examples(
        ("a new name" = (value = json!({"name": "Ana Maria"}))),
        ("a guest becomes an account" = (value = json!({"name": "Ana", "password": "correct horse"}))),
    )),
    responses(
        (status = 200, description = "The caller", body = UpdatedMe),
        (status = 409, description = "`name_taken`"),
    ),
    security(("bearer" = []))
)]
#[patch("/me")]
pub async fn update_me(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    body: Body<UpdateMe>,
) -> Result<HttpResponse, Problem> {
    let UpdateMe { name, password } = body.0;
    // Checked before the password is hashed: only an authorized caller may cause this expensive work.
    let own = find(&state, caller).await?.player;
    // A player keeps a name that was reserved later. A guest becomes no account with it.
    let is_new = |name: &String| *name != own.name.as_str();
    let name = name.filter(is_new).map(|name| parse_name(&name, &state.reserved_names)).transpose()?;
    let named = name.as_ref().unwrap_or(&own.name);
    if own.kind == PlayerKind::Guest && password.is_some() {
        refuse_reserved(named, &state.reserved_names)?;
    }
    let hash = match password.map(|password| choose_password(&password, named)).transpose()? {
        Some(password) => Some(state.passwords.hash(password).await?),
        None => None,
    };
    for _ in 0..ATTEMPTS_MAX {
        let before = find(&state, caller).await?;
        let kind = if hash.is_some() { PlayerKind::Account } else { before.player.kind };
        let name = name.clone().unwrap_or_else(|| before.player.name.clone());
        let after = Player { kind, name, ..before.player.clone() };
        match players::update(&state.db, &before, &after, hash.as_deref()).await? {
            Named::Changed => continue,
            Named::Taken => return Err(name_taken()),
            Named::Stored => {}
        }
        state.recent.forget(caller.player);
        let tokens = match hash {
            Some(_) => {
                let credentials_version = before.credentials_version + 1;
                state.hub.audience().report(caller.player, Credentials::Version(credentials_version));
                let own = OwnPlayer { player: after.clone(), credentials_version };
                Some(TokenSet::begin(&state, &own, Grant::Password).await?)
            }
            None => None,
        };
        let updated = UpdatedMe { profile: ProfileView::of(&state, &after).await?, tokens };
        return Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(updated));
    }
    Err(Problem::new(Code::Unavailable, "too many changes of this player at once; try again"))
}

/// Erase the caller
///
/// Open games are aborted, active ones resigned, invitations declined. Name, password and sign-ins are erased. The games and
/// their moves stay, because they belong to the opponents as well; the seat shows a deleted player. This cannot be undone.
#[utoipa::path(
    tag = "players",
    operation_id = "delete_me",
    responses((status = 204, description = "The caller is erased")),
    security(("bearer" = []))
)]
#[delete("/me")]
pub async fn delete_me(state: Data<AppState>, caller: Caller, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    // A caller that is already erased repeats the call, because the first answer was lost.
    let found = players::find(&state.db, caller.player).await?.ok_or_else(gone)?;
    if found.player.kind != PlayerKind::Deleted {
        find(&state, caller).await?;
    }
    // The erasure comes first, so that no game begins meanwhile. If the server stops half-way, a job ends the other games.
    players::erase(&state.db, caller.player, now()).await?;
    state.recent.forget(caller.player);
    state.hub.audience().report(caller.player, Credentials::Erased);
    end_games(&state, caller.player).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Ends the unfinished games of a player.
async fn end_games(state: &AppState, player: PlayerId) -> Result<(), Problem> {
    loop {
        let unfinished = games::list_unfinished(&state.db, player, GAMES_AT_ONCE).await?;
        if unfinished.is_empty() {
            return Ok(());
        }
        for id in unfinished {
            let command = Command { player, if_version: None, action: Action::Leave };
            if let Executed::Refused { refusal, .. } = execute(state, id, &command).await? {
                return Err(Problem::internal(refusal));
            }
        }
    }
}

/// The changes of the caller.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateMe {
    /// What others see.
    #[schema(min_length = 1, max_length = 32, example = "Ana")]
    name: Option<String>,
    /// Turns a guest into an account.
    #[schema(format = Password, min_length = 8, max_length = 128)]
    password: Option<String>,
}

/// The caller after a change.
#[derive(Serialize, ToSchema)]
struct UpdatedMe {
    #[serde(flatten)]
    profile: ProfileView,
    /// Present after a new password: new tokens, because the earlier ones are revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tokens: Option<TokenSet>,
}
