//! Exports one game: as JSON with the whole history, or as a text record for people and other programs.

use std::{future::ready, io, sync::Arc};

use actix_web::{
    HttpRequest, HttpResponse, get,
    http::header::{self, ContentDisposition, DispositionParam, DispositionType, HeaderName},
    web::{Bytes, Data},
};
use futures_util::stream::{self, Stream, StreamExt};
use mancala_db::{
    Reads,
    games::{self, SeatedGame},
};
use mancala_domain::{BySeat, PlayerId, PlayerName, Ply, Seat, record};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, NoRecord, NotFound},
        headers::NOT_KEPT,
        problem::Problem,
    },
    layers::limits::HeavyBudget,
    request::{
        accept::prefers_text,
        auth::Reader,
        extract::{GamePath, Query},
    },
    state::{
        AppState,
        heavy::{Heavy, HeavyClass, Turns},
        recent::Remembered,
    },
};
use mancala_process::repeats;
use mancala_rules::notation::{
    Record,
    ogn::{Detail, Ogn},
};
use mancala_wire::view::exported_game::ExportedGame;
use mancala_wire::view::{moves::MoveView, wire::ALWAYS_JSON};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::games::find::find_visible;

/// The request headers on which the answers depend.
pub const VARIES: (HeaderName, &str) = (header::VARY, "Accept, Authorization, Prefer");

/// Export a game
///
/// JSON has all plies, also those that were taken back. A text record has the moves that count. OGN is for Oware by the
/// rules of Aualé. [The rules](/docs/rules) describe text records.
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
        Failures<(NotFound, NoRecord)>,
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/export")]
pub async fn export_game(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    query: Query<ExportGame>,
    budget: HeavyBudget,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let found = find_visible(&state, path.0, reader.0).await?;
    let game = &found.seated.game;
    budget.charge(game.ply())?;
    let preferred = if prefers_text(&request) { Format::Text } else { Format::Json };
    let format = query.0.format.unwrap_or(preferred);
    let file = ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters: vec![DispositionParam::Filename(format!("{}.{}", game.id().0, format.extension()))],
    };
    let export = Export { heavy: state.heavy.clone(), turns: budget.turns(), found: found.clone(), viewer: reader.0 };
    let text = export.text(format).await?;
    let mut response = HttpResponse::Ok();
    response.insert_header(NOT_KEPT).insert_header(VARIES).insert_header(file).content_type(format.media_type());
    if format == Format::Json && game.ply() > PAGE_PLIES {
        return Ok(response.streaming(export.pages_after(text)));
    }
    Ok(response.body(text))
}

/// The plies of a long game that are in memory at once: some 100 KiB as JSON.
const PAGE_PLIES: u32 = 200;

/// The export of one game.
struct Export {
    heavy: Arc<Heavy>,
    turns: Turns,
    found: Arc<Remembered>,
    viewer: Option<PlayerId>,
}

impl Export {
    /// The whole text; for a long game as JSON, the text up to its first plies.
    async fn text(&self, format: Format) -> Result<String, Problem> {
        let (found, viewer) = (self.found.clone(), self.viewer);
        self.run(move |reads| async move {
            let seated = &found.seated;
            let count = if format == Format::Json { PAGE_PLIES } else { seated.game.ply() };
            let plies = reads.run(|db| async move { games::plies(&db, &seated.game, 0, count).await }).await?;
            Ok(match format {
                Format::Json => {
                    let text = serde_json::to_string(&ExportedGame::of(seated, &plies, viewer)).expect(ALWAYS_JSON);
                    let is_whole = seated.game.ply() <= PAGE_PLIES;
                    if is_whole { text } else { text.strip_suffix(LIST_END).unwrap_or(&text).to_owned() }
                }
                Format::Text => text_record(seated, &plies)?.to_string(),
                Format::Ogn => ogn(seated, &plies)?,
            })
        })
        .await
    }

    /// The text of a long game as JSON: its beginning, and then the other plies page by page.
    fn pages_after(self, beginning: String) -> impl Stream<Item = Result<Bytes, io::Error>> {
        let first = stream::once(ready(Ok(Bytes::from(beginning))));
        let rest = stream::unfold(Some((self, PAGE_PLIES)), |progress| async {
            let (export, after) = progress?;
            let page = match export.page(after).await {
                Ok(page) => page,
                // The status is sent already: only a cut-off answer shows the failure.
                Err(problem) => {
                    if !problem.is_expected()
                        && let Some(line) = repeats::admit("exports that failed", &problem.to_string())
                    {
                        tracing::error!(left_out = line.left_out, "an export failed: {problem}");
                    }
                    return Some((Err(io::Error::other("the export failed")), None));
                }
            };
            let (next, ply) = (after + PAGE_PLIES, export.found.seated.game.ply());
            Some((Ok(page), (next < ply).then_some((export, next))))
        });
        first.chain(rest)
    }

    /// Plies as items of a list, after others.
    async fn page(&self, after: u32) -> Result<Bytes, Problem> {
        let found = self.found.clone();
        self.run(move |reads| async move {
            let game = &found.seated.game;
            let plies = reads.run(|db| async move { games::plies(&db, game, after, PAGE_PLIES).await }).await?;
            let mut text = String::new();
            for ply in &plies {
                text.push(',');
                text.push_str(&serde_json::to_string(&MoveView::of(ply)).expect(ALWAYS_JSON));
            }
            if after + PAGE_PLIES >= game.ply() {
                text.push_str(LIST_END);
            }
            Ok(Bytes::from(text))
        })
        .await
    }

    async fn run<T: Send + 'static, F: Future<Output = Result<T, Problem>> + Send>(
        &self,
        work: impl FnOnce(Reads) -> F + Send + 'static,
    ) -> Result<T, Problem> {
        self.heavy.run(HeavyClass::Export, self.turns, work).await
    }
}

/// The end of an exported game as JSON, after its last ply.
const LIST_END: &str = "]}";

/// The text record of a game.
pub fn text_record(seated: &SeatedGame, plies: &[Ply]) -> Result<Record, Problem> {
    let name = |seat| {
        let own = seated.players[seat].as_ref().map(|player| &player.name);
        seated.hotseat_name_at(seat).or(own).map_or("", PlayerName::as_str).to_owned()
    };
    let names = BySeat { first: name(Seat::First), second: name(Seat::Second) };
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
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
