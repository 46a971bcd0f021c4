//! Exports one game: as JSON with the whole history, or as a text record for people and other programs.

use actix_web::{
    HttpRequest, HttpResponse, get,
    http::header::{self, ContentDisposition, DispositionParam, DispositionType, HeaderName},
    web::Data,
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::personal_export::ExportedGame;
use crate::{
    db::games::{self, SeatedGame},
    domain::{BySeat, Player, Ply, record},
    http::{
        answer::{
            headers::NOT_KEPT,
            problem::{Code, Problem},
        },
        games::find::find_visible,
        request::{
            accept::prefers_text,
            auth::Reader,
            extract::{GamePath, Query},
        },
        state::AppState,
        view::wire::ALWAYS_JSON,
    },
    rules::notation::{
        Record,
        ogn::{Detail, Ogn},
    },
};

/// The request headers on which the answers depend.
pub const VARIES: (HeaderName, &str) = (header::VARY, "Accept, Authorization, Prefer");

/// Export a game
///
/// As JSON, with all plies, also those that were taken back; as a text record, with the moves that count; or as OGN, for Oware by the
/// rules of Aualé. `docs/rules.md` describes text records.
#[utoipa::path(
    tag = "records",
    operation_id = "export_game",
    params(("id" = Uuid, Path, description = "The game's id"), ExportGame),
    responses(
        (status = 200, description = "The game", content(
            (ExportedGame = "application/json"),
            (String = "text/plain", example = "[Variant \"kalah\"]\n[Preset \"standard\"]\n[South \"Ana\"]\n[North \"Bo\"]\n\
                [Result \"*\"]\n\n1. CF a *\n"),
        ), headers(("Content-Disposition" = String, description = "A file name"))),
        (status = 404, description = "`not_found`"),
        (status = 409, description = "`no_record`"),
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/export")]
pub async fn export_game(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    query: Query<ExportGame>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let found = find_visible(&state, path.0, reader.0).await?;
    let seated = &found.seated;
    let plies = games::plies(&state.db, &seated.game, 0, seated.game.ply()).await?;
    let preferred = if prefers_text(&request) { Format::Text } else { Format::Json };
    let format = query.0.format.unwrap_or(preferred);
    let text = match format {
        Format::Json => serde_json::to_string(&ExportedGame::of(seated, &plies, reader.0)).expect(ALWAYS_JSON),
        Format::Text => text_record(seated, &plies)?.to_string(),
        Format::Ogn => ogn(seated, &plies)?,
    };
    let file = ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters: vec![DispositionParam::Filename(format!("{}.{}", seated.game.id().0, format.extension()))],
    };
    let mut response = HttpResponse::Ok();
    response.insert_header(NOT_KEPT).insert_header(VARIES).insert_header(file).content_type(format.media_type());
    Ok(response.body(text))
}

/// The text record of a game.
pub fn text_record(seated: &SeatedGame, plies: &[Ply]) -> Result<Record, Problem> {
    let name = |player: &Option<Player>| player.as_ref().map_or("", |player| player.name.as_str()).to_owned();
    let names = BySeat { first: name(&seated.players.first), second: name(&seated.players.second) };
    record(&seated.game, plies, &names).map_err(|error| Problem::new(Code::NoRecord, error.to_string()))
}

fn ogn(seated: &SeatedGame, plies: &[Ply]) -> Result<String, Problem> {
    let begun = seated.game.started_at().unwrap_or(seated.game.created_at());
    let date = format!("{}.{:02}.{:02}", begun.year(), u8::from(begun.month()), begun.day());
    let file = Ogn::new(text_record(seated, plies)?).with_detail(Detail::Date, &date).map_err(Problem::internal)?;
    let detail = "OGN is for Oware by the rules of Aualé, from an opening that it can express; use `text`";
    file.to_text().ok_or_else(|| Problem::new(Code::NoRecord, detail))
}

/// How to export a game.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportGame {
    /// The format. Unless given, JSON or text by `Accept`.
    #[param(inline)]
    format: Option<Format>,
}

/// A format of one game.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Json,
    Text,
    Ogn,
}

impl Format {
    const fn media_type(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Text | Format::Ogn => "text/plain; charset=utf-8",
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Text => "txt",
            Format::Ogn => "ogn",
        }
    }
}
