//! Players: a guest gets a name and a token.

use actix_web::{HttpResponse, http::header, post, web::Data};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    AppState,
    error::Problem,
    extract::{NoQuery, OptionalBody, Query},
    now,
    tokens::TokenSet,
};
use crate::{
    db::players,
    domain::{Player, PlayerId, PlayerKind, PlayerName},
};

/// Become a guest
///
/// Nothing is needed, not even a name. The tokens say who the guest is, and nothing else does.
#[utoipa::path(
    tag = "players",
    operation_id = "create_player",
    request_body(content = Option<CreatePlayer>, description = "May be left out", example = json!({"name": "Ana"})),
    responses((status = 201, description = "The guest, and the tokens to play with", body = TokenSet)),
    security(())
)]
#[post("/players")]
pub async fn create_player(
    state: Data<AppState>,
    _: Query<NoQuery>,
    body: OptionalBody<CreatePlayer>,
) -> Result<HttpResponse, Problem> {
    let name = match body.0.name {
        Some(name) => name.parse().map_err(|error| Problem::invalid("/name", format!("{error}")))?,
        None => PlayerName::for_guest(rand::random()),
    };
    let player = Player { id: PlayerId(Uuid::now_v7()), kind: PlayerKind::Guest, name, created_at: now() };
    players::insert(&state.db, &player).await?;
    let tokens = TokenSet::begin(&state, &player).await?;
    Ok(HttpResponse::Created().insert_header((header::CACHE_CONTROL, "no-store")).json(tokens))
}

/// Who the new player wants to be.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreatePlayer {
    /// What others see; made up if none is given. Not unique.
    #[schema(min_length = 1, max_length = 32, example = "Ana")]
    name: Option<String>,
}
