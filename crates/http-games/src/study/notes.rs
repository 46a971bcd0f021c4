//! Notes: a player's private texts on plies of games. Only their author can read them.

use actix_web::{HttpRequest, HttpResponse, delete, get, put, web::Data};
use mancala_db::study::notes::{self, Note, Written};
use mancala_domain::{GameId, NoteText, PlayerId, Refusal};
use mancala_http::{
    answer::{
        code::Code,
        cursor::Cursors,
        failures::{Failures, NotFound, TooManyNotes},
        headers::{NOT_KEPT, VARIES},
        page::{next_link, page_size, take_page},
        problem::Problem,
    },
    layers::limits,
    request::{
        body::LONG_BODY,
        extract::{Body, GamePath, NoQuery, Query, ply_of},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_process::clock::now;
use mancala_wire::view::wire::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::games::find::{find_past, find_visible};

/// List the caller's notes on a game
///
/// In the order of plies. Notes are private to their author.
#[utoipa::path(
    tag = "notes",
    operation_id = "list_notes",
    params(("id" = Uuid, Path, description = "The game's id"), ListNotes),
    responses(
        (status = 200, description = "A page of notes", body = NotePage,
            headers(("Link" = String, description = "The address of the next page, if there is one"))),
        Failures<NotFound>,
    ),
    security(("bearer" = []))
)]
#[get("/games/{id}/notes")]
pub async fn list_notes(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    query: Query<ListNotes>,
) -> Result<HttpResponse, Problem> {
    let game = find_past(&state, path.0, Some(caller.player)).await?.seated.game.id();
    let limit = page_size(query.0.limit)?;
    let list = format!("notes {} {}", game.0, caller.player.0);
    let after = query.0.after(&state.cursors, &list)?;
    let mut found = notes::list(&state.db, caller.player, game, after, limit + 1).await?;
    let last = take_page(&mut found, limit);
    let next_cursor = last.map(|note| state.cursors.seal(&note.ply.to_string(), &list));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        response.insert_header(next_link(&format!("/v1/games/{}/notes", game.0), &format!("limit={limit}"), cursor));
    }
    let items = found.iter().map(NoteView::of).collect();
    Ok(response.insert_header(NOT_KEPT).insert_header(VARIES).json(NotePage { items, next_cursor }))
}

/// Write a note
///
/// On a ply of any game that the caller may see. It replaces the caller's earlier note on that ply. The request is idempotent.
///
/// - `not_found`: no such game, or no such ply yet
#[utoipa::path(
    tag = "notes",
    operation_id = "write_note",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("ply" = u32, Path, description = "The ply's number; 0 for the opening", minimum = 0, example = 0),
    ),
    request_body(content = WriteNote, example = json!({"text": "F was better: it gives no seed away."})),
    responses(
        (status = 201, description = "The note, which is new", body = NoteView),
        (status = 200, description = "The note, which replaced another", body = NoteView),
        Failures<(NotFound, TooManyNotes)>,
    ),
    security(("bearer" = []))
)]
#[put("/games/{id}/notes/{ply}")]
pub async fn write_note(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    _: Query<NoQuery>,
    request: HttpRequest,
    body: Body<WriteNote, LONG_BODY>,
) -> Result<HttpResponse, Problem> {
    let text = body.0.text.parse::<NoteText>().map_err(|error| Problem::invalid("/text", error.to_string()))?;
    let ply = find_ply(&state, caller.player, path.0, &request).await?;
    player::find(&state, caller).await?;
    limits::count_note(&request, text.as_str().len())?;
    let note = Note { game: path.0, ply, text, updated_at: now() };
    let (mut response, note) = match notes::write(&state.db, caller.player, note).await? {
        Written::Added(note) => (HttpResponse::Created(), note),
        Written::Replaced(note) => (HttpResponse::Ok(), note),
        Written::TooMany => {
            let detail = format!("a player has at most {} notes", notes::NOTES_MAX);
            return Err(Problem::new(Code::TooManyNotes, detail));
        }
        Written::NoPlayer => return Err(Problem::new(Code::InvalidToken, "the player is deleted")),
        Written::NoGame => return Err(Problem::from(&Refusal::Unknown)),
    };
    Ok(response.insert_header(NOT_KEPT).insert_header(VARIES).json(NoteView::of(&note)))
}

/// Delete a note
///
/// The request is idempotent: a retry is answered with 204.
///
/// - `not_found`: no such game, or no such ply yet
#[utoipa::path(
    tag = "notes",
    operation_id = "delete_note",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("ply" = u32, Path, description = "The ply's number; 0 for the opening", minimum = 0, example = 0),
    ),
    responses(
        (status = 204, description = "The caller has no note there"),
        Failures<NotFound>,
    ),
    security(("bearer" = []))
)]
#[delete("/games/{id}/notes/{ply}")]
pub async fn delete_note(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    _: Query<NoQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let ply = find_ply(&state, caller.player, path.0, &request).await?;
    player::find(&state, caller).await?;
    notes::delete(&state.db, caller.player, path.0, ply).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// The ply that the address names, in a game that the player may see.
async fn find_ply(state: &AppState, player: PlayerId, game: GameId, request: &HttpRequest) -> Result<u32, Problem> {
    let found = find_visible(state, game, Some(player)).await?;
    let ply = ply_of(request).filter(|ply| *ply <= found.seated.game.ply());
    ply.ok_or_else(|| Problem::not_found("the game has no such ply"))
}

/// The notes to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListNotes {
    /// Only those on plies after this one.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    after: Option<u32>,
    /// The maximum number of notes on a page.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page. Excludes `after`.
    #[param(min_length = 1)]
    cursor: Option<String>,
}

impl ListNotes {
    fn after(&self, cursors: &Cursors, list: &str) -> Result<Option<u32>, Problem> {
        match (&self.cursor, self.after) {
            (None, after) => Ok(after),
            (Some(_), Some(_)) => Err(Problem::invalid("?after", "a cursor already says where to go on")),
            (Some(cursor), None) => {
                let ply = cursors.open(cursor, list).and_then(|ply| ply.parse().ok());
                ply.map(Some).ok_or_else(|| Problem::invalid("?cursor", "not a cursor of these notes"))
            }
        }
    }
}

/// The note to write.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteNote {
    /// Any text without control characters other than line feeds and tabs. It is stored unchanged.
    #[schema(
        min_length = 1,
        max_length = 4000,
        pattern = r"^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*$",
        example = "F was better: it gives no seed away."
    )]
    text: String,
}

/// A note of the caller.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Note)]
pub struct NoteView {
    game_id: Uuid,
    /// The ply's number; 0 is the opening.
    #[schema(minimum = 0, example = 6)]
    ply: u32,
    #[schema(example = "F was better: it gives no seed away.")]
    text: String,
    /// When it was last written.
    updated_at: Timestamp,
}

impl NoteView {
    pub fn of(note: &Note) -> Self {
        Self {
            game_id: note.game.0,
            ply: note.ply,
            text: note.text.as_str().to_owned(),
            updated_at: Timestamp(note.updated_at),
        }
    }
}

/// A page of notes.
#[derive(Debug, Serialize, ToSchema)]
pub struct NotePage {
    items: Vec<NoteView>,
    /// The `cursor` of the next page; null on the last page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
