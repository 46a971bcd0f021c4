//! Lists of games, in pages.

use actix_web::{HttpResponse, get, web::Data};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    AppState,
    auth::Reader,
    error::{Code, Problem},
    extract::Query,
    game_view::{GameView, StatusWord},
    games::{NOT_KEPT, VARIES},
    wire::{PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, decode_cursor, encode_cursor, next_link},
};
use crate::{
    db::games::{self, Filter},
    domain::{GameId, PlayerId, Status},
};

/// List games
///
/// Newest first: everybody's public games, or those of one player. A caller's own games are listed to the caller
/// whatever their visibility.
#[utoipa::path(
    tag = "games",
    operation_id = "list_games",
    params(ListGames),
    responses((status = 200, description = "A page of games", body = GamePage,
        headers(("Link" = String, description = "Where the next page is, if there is one")))),
    security((), ("bearer" = []))
)]
#[get("/games")]
pub async fn list_games(
    state: Data<AppState>,
    reader: Reader,
    query: Query<ListGames>,
) -> Result<HttpResponse, Problem> {
    let query = query.0;
    let limit = query.limit()?;
    let filter = query.filter(reader.0)?;
    let mut found = games::list(&state.db, &filter, limit + 1).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next_cursor = found.last().filter(|_| more).map(|last| query.cursor_after(last.game.id, reader.0));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link("/v1/games", &query.with_cursor(cursor)));
    }
    let items = found.iter().map(|seated| GameView::of(seated, reader.0)).collect();
    Ok(response.insert_header(NOT_KEPT).insert_header(VARIES).json(GamePage { items, next_cursor }))
}

/// Which games to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListGames {
    /// Only games of this status.
    #[param(inline)]
    status: Option<StatusWord>,
    /// Only games of this variant.
    #[param(example = "kalah")]
    variant: Option<String>,
    /// Only games of this player: an id, or `me`.
    #[param(example = "me")]
    player: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before, with the same filters.
    cursor: Option<String>,
}

impl ListGames {
    fn limit(&self) -> Result<u32, Problem> {
        match self.limit {
            None => Ok(PAGE_SIZE_DEFAULT),
            Some(limit @ 1..=PAGE_SIZE_MAX) => Ok(limit),
            Some(_) => Err(Problem::invalid("?limit", "a page has 1 to 100 items")),
        }
    }

    fn filter(&self, viewer: Option<PlayerId>) -> Result<Filter, Problem> {
        let variant = self.variant.as_deref().map(str::parse).transpose();
        let player = match self.player.as_deref() {
            None => None,
            Some("me") => Some(viewer.ok_or_else(|| {
                Problem::new(Code::Unauthenticated, "`player=me` needs an access token to know who that is")
            })?),
            Some(id) => Some(PlayerId(
                Uuid::try_parse(id).map_err(|_| Problem::invalid("?player", "a player is an id, or `me`"))?,
            )),
        };
        let before = self.cursor.as_deref().map(|cursor| self.cursor_content(cursor, viewer)).transpose()?;
        Ok(Filter {
            status: self.status.map(Status::from),
            variant: variant.map_err(|_| Problem::invalid("?variant", "there is no such variant"))?,
            player,
            viewer,
            before,
        })
    }

    /// A cursor is a game's id, bound to what was asked for: with other filters it would lead astray.
    fn cursor_after(&self, id: GameId, viewer: Option<PlayerId>) -> String {
        encode_cursor(&format!("{} {}", id.0, self.bound_to(viewer)))
    }

    fn cursor_content(&self, cursor: &str, viewer: Option<PlayerId>) -> Result<GameId, Problem> {
        let content = decode_cursor(cursor);
        let id = content
            .as_deref()
            .and_then(|content| content.split_once(' '))
            .and_then(|(id, bound_to)| (bound_to == self.bound_to(viewer)).then(|| Uuid::try_parse(id).ok()).flatten());
        id.map(GameId).ok_or_else(|| Problem::invalid("?cursor", "not a cursor of this list with these filters"))
    }

    fn bound_to(&self, viewer: Option<PlayerId>) -> String {
        let player = match self.player.as_deref() {
            Some("me") => viewer.map(|viewer| viewer.0.to_string()),
            player => player.map(str::to_lowercase),
        };
        format!("{:?} {:?} {player:?}", self.status, self.variant)
    }

    /// These filters and a cursor as a query string.
    fn with_cursor(&self, cursor: &str) -> String {
        let limit = self.limit.map(|limit| limit.to_string());
        let pairs = [
            ("status", self.status.map(|status| Status::from(status).as_str())),
            ("variant", self.variant.as_deref()),
            ("player", self.player.as_deref()),
            ("limit", limit.as_deref()),
            ("cursor", Some(cursor)),
        ];
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(pairs.into_iter().filter_map(|(name, value)| Some((name, value?))));
        query.finish()
    }
}

/// A page of games.
#[derive(Debug, Serialize, ToSchema)]
pub struct GamePage {
    items: Vec<GameView>,
    /// What `cursor` must be to get the next page; null on the last.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
