//! Access tokens that an app gets for its players.

use actix_web::{HttpResponse, http::header, post, web::Data};
use mancala_db::{apps::players, players::OwnPlayer};
use mancala_domain::{ExternalId, PlayerId};
use mancala_http::app_caller::AppCaller;
use mancala_http::{
    answer::{
        failures::{Failures, NotFound},
        problem::Problem,
    },
    request::{
        extract::{NoQuery, Nothing, OptionalBody, Query},
        suspended,
    },
    state::{
        AppState,
        tokens::{ACCESS_TOKEN_LIFETIME, Caller},
    },
};
use mancala_process::{clock::now, metrics::Grant};
use mancala_wire::view::wire::PlayerView;
use serde::Serialize;
use utoipa::ToSchema;

use super::players::{ExternalIdParam, ExternalIdPath, no_app_player};

/// Create a token of a player of the app
///
/// An access token with which the player's own client calls. There is no refresh token: the client asks the app's backend for the next one. A new
/// key of the app, or its disabling, revokes the tokens of all its players.
#[utoipa::path(
    tag = "apps",
    operation_id = "create_app_player_token",
    params(ExternalIdParam),
    responses(
        (status = 200, description = "The player, and a token to play with", body = PlayerToken),
        Failures<NotFound>,
    ),
    security(("app_key" = []))
)]
#[post("/apps/me/players/{external_id}/tokens")]
pub async fn create_app_player_token(
    state: Data<AppState>,
    caller: AppCaller,
    path: ExternalIdPath,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    let found = players::find_for_token(&state.db, caller.app.id, &caller.key, &path.0).await?;
    let Some(own) = found else {
        // No such player, or the key became void since it was checked.
        caller.confirm(&state).await?;
        return Err(no_app_player());
    };
    let token = PlayerToken {
        player: PlayerView::from(&own.player),
        access_token: issue(&state, (caller.app.id, &path.0), &own, Grant::App).await?,
        token_type: "Bearer",
        expires_in: ACCESS_TOKEN_LIFETIME.whole_seconds(),
    };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(token))
}

/// An access token of a player of an app, which is a guest to others and has no sign-in.
pub(super) async fn issue(
    state: &AppState,
    (app, id): (PlayerId, &ExternalId),
    own: &OwnPlayer,
    grant: Grant,
) -> Result<String, Problem> {
    let now = now();
    let person = state.tokens.person_key().of_app_player(app, id);
    suspended::restore(state, own.player.id, &person).await?;
    players::note_token(&state.db, own.player.id, now).await?;
    state.metrics.token_issued(grant);
    let (player, credentials_version) = (own.player.id, own.credentials_version);
    let named = Caller { player, credentials_version, is_guest: true, is_new: false, sign_in: None, auth_time: None };
    Ok(state.tokens.issue(named, now))
}

/// A player of an app, and a token that identifies it.
#[derive(Serialize, ToSchema)]
struct PlayerToken {
    player: PlayerView,
    /// Goes into the header: `Authorization: Bearer <access_token>`.
    access_token: String,
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// Seconds until the access token expires.
    #[schema(example = 900)]
    expires_in: i64,
}
