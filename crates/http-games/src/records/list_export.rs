//! Exports all games of a list as a stream: the text of a page of games is sent before the next page is read.

use std::{fmt::Write, io, sync::Arc};

use actix_web::{
    HttpRequest, HttpResponse, get,
    http::header::{ContentDisposition, DispositionParam, DispositionType},
    web::{Bytes, Data},
};
use futures_util::stream::{self, Stream};
use mancala_db::{
    Reads,
    games::{self, SeatedGame},
    lists::{self, Filter, Page, PageKey},
};
use mancala_domain::{PlayerId, Ply};
use mancala_http::{
    answer::{cursor::Cursors, headers::NOT_KEPT, problem::Problem},
    layers::limits::HeavyBudget,
    request::{accept::prefers_text, auth::Reader, extract::read_query},
    state::{
        AppState,
        heavy::{Heavy, HeavyClass},
    },
};
use mancala_process::repeats;
use mancala_wire::view::exported_game::ExportedGame;
use mancala_wire::view::wire::ALWAYS_JSON;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    cost::games_that_fit,
    export::{VARIES, text_record},
};
use crate::games::{
    list_query::ListGames,
    page::{blocked_in, cursor_text, is_blocked, page_key},
};

/// Games of a page, which are in memory at once with their histories: some 100 KiB as JSON.
const PAGE_GAMES_MAX: u32 = 20;

/// Export games
///
/// All games of a list, in its order and with their whole histories: one JSON game per line (`application/x-ndjson`), or consecutive
/// text records. Each game comes with a `cursor`, from which an interrupted export can be resumed. The export may or may not have
/// changes that happen meanwhile. All of it can be imported again.
#[utoipa::path(
    tag = "records",
    operation_id = "export_games",
    params(ExportGames, ListGames),
    responses((status = 200, description = "The games. An answer that is cut off is incomplete", content(
        (ExportedLine = "application/x-ndjson"),
        (String = "text/plain", example = "[Variant \"kalah\"]\n[Preset \"standard\"]\n[South \"Ana\"]\n[North \"Bo\"]\n\
            [Result \"*\"]\n\n1. CF a *\n{cursor: …}\n\n"),
    ), headers(("Content-Disposition" = String, description = "A file name")))),
    security((), ("bearer" = []))
)]
#[get("/games/export")]
pub async fn export_games(
    state: Data<AppState>,
    reader: Reader,
    budget: HeavyBudget,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    budget.charge(0)?;
    let (ExportGames { format }, list) = read_queries(&request)?;
    let filter = list.filter(reader.0)?;
    // A cursor is bound to the list and to the reader; the format may change.
    let cursor_scope = format!("export {} {}", list.sort.cursor_word(), filter.scope());
    let after = list.cursor.as_deref().map(|cursor| page_key(&state.cursors, cursor, &cursor_scope)).transpose()?;
    let form = format.unwrap_or(if prefers_text(&request) { ListForm::Text } else { ListForm::Ndjson });
    let export = Export {
        heavy: state.heavy.clone(),
        budget,
        cursors: state.cursors.clone(),
        cursor_scope,
        filter,
        form,
        viewer: reader.0,
        after,
        remaining: list.limit,
    };
    let file = ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters: vec![DispositionParam::Filename(format!("games.{}", form.extension()))],
    };
    let mut response = HttpResponse::Ok();
    response.insert_header(NOT_KEPT).insert_header(VARIES).insert_header(file).content_type(form.media_type());
    Ok(response.streaming(export.into_stream()))
}

/// The two queries in the address: the format, and the list.
fn read_queries(request: &HttpRequest) -> Result<(ExportGames, ListGames), Problem> {
    let (mut form, mut list) =
        (form_urlencoded::Serializer::new(String::new()), form_urlencoded::Serializer::new(String::new()));
    for (name, value) in form_urlencoded::parse(request.query_string().as_bytes()) {
        let query = if name == "format" { &mut form } else { &mut list };
        query.append_pair(&name, &value);
    }
    let list: ListGames = read_query(&list.finish())?;
    list.check_limit()?;
    Ok((read_query(&form.finish())?, list))
}

/// The state of an export.
struct Export {
    heavy: Arc<Heavy>,
    budget: HeavyBudget,
    cursors: Cursors,
    /// The list to which its cursors are bound.
    cursor_scope: String,
    filter: Filter,
    form: ListForm,
    viewer: Option<PlayerId>,
    after: Option<PageKey>,
    /// The number of games that are still to be sent, if there is a limit.
    remaining: Option<u32>,
}

impl Export {
    fn into_stream(self) -> impl Stream<Item = Result<Bytes, io::Error>> {
        stream::unfold(Some(self), |export| async {
            let mut export = export?;
            Some(match export.page().await {
                Ok((text, true)) => (Ok(text), Some(export)),
                Ok((text, false)) => (Ok(text), None),
                // The status is sent already: only a cut-off answer shows the failure.
                Err(error) => {
                    if let Some(line) = repeats::admit("exports that failed", &error.to_string()) {
                        tracing::error!(left_out = line.left_out, "an export failed: {error}");
                    }
                    (Err(io::Error::other("the export failed")), None)
                }
            })
        })
    }

    /// Reads a page of games; returns its text, and whether there may be more.
    async fn page(&mut self) -> Result<(Bytes, bool), Problem> {
        let limit = self.remaining.map_or(PAGE_GAMES_MAX, |remaining| remaining.min(PAGE_GAMES_MAX));
        let (filter, after, form, viewer) = (self.filter.clone(), self.after, self.form, self.viewer);
        let (cursors, cursor_scope) = (self.cursors.clone(), self.cursor_scope.clone());
        let read = move |reads: Reads| async move {
            let filter = &filter;
            let mut page =
                reads.run(|db| async move { lists::list(&db, filter, after, limit).await?.load(&db).await }).await?;
            truncate(&mut page);
            let blocked = blocked_in(&reads, page.games.iter().map(|seated| &seated.game), viewer).await?;
            let rows = page.games.into_iter().zip(page.keys);
            (page.games, page.keys) = rows.filter(|(seated, _)| !is_blocked(&seated.game, &blocked)).unzip();
            let games = &page.games;
            let histories = reads.run(|db| async move { games::histories(&db, games).await }).await?;
            let mut text = String::new();
            for ((seated, plies), key) in page.games.iter().zip(&histories).zip(&page.keys) {
                let cursor = cursors.seal(&cursor_text(*key), &cursor_scope);
                write_game(&mut text, form, seated, plies, viewer, Some(cursor));
            }
            Ok((text, page))
        };
        let (text, page) = self.heavy.run(HeavyClass::List, self.budget.turns(), read).await?;
        let sent = u32::try_from(page.games.len()).unwrap_or(u32::MAX);
        self.budget.charge_later(page.games.iter().map(|seated| seated.game.ply()).sum()).await;
        self.remaining = self.remaining.map(|remaining| remaining.saturating_sub(sent));
        self.after = page.next;
        Ok((Bytes::from(text), page.next.is_some() && self.remaining != Some(0)))
    }
}

/// Keeps as many games of a page as it may have.
fn truncate(page: &mut Page) {
    let count = games_that_fit(&page.games);
    if count < page.games.len() {
        page.games.truncate(count);
        page.keys.truncate(count);
        page.next = page.keys.last().copied();
    }
}

/// Appends a game to the text of several games.
pub fn write_game(
    text: &mut String,
    form: ListForm,
    seated: &SeatedGame,
    plies: &[Ply],
    viewer: Option<PlayerId>,
    cursor: Option<String>,
) {
    match form {
        ListForm::Ndjson => {
            let line = ExportedLine { exported: ExportedGame::of(seated, plies, viewer), cursor };
            text.push_str(&serde_json::to_string(&line).expect(ALWAYS_JSON));
            text.push('\n');
        }
        ListForm::Text => {
            let written = match text_record(seated, plies) {
                Ok(record) => write!(text, "{record}"),
                Err(problem) => writeln!(text, "{{game {}: {problem}}}", seated.game.id().0),
            };
            let cursor = cursor.map_or(Ok(()), |cursor| writeln!(text, "{{cursor: {cursor}}}"));
            let end = writeln!(text);
            written.and(cursor).and(end).expect("a String accepts every write");
        }
    }
}

/// How to export games.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportGames {
    /// The format. Unless given, JSON or text by `Accept`.
    #[param(inline)]
    format: Option<ListForm>,
}

/// A format of several games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ListForm {
    /// JSON, a game per line.
    Ndjson,
    /// Text records.
    Text,
}

impl ListForm {
    const fn media_type(self) -> &'static str {
        match self {
            ListForm::Ndjson => "application/x-ndjson",
            ListForm::Text => "text/plain; charset=utf-8",
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            ListForm::Ndjson => "ndjson",
            ListForm::Text => "txt",
        }
    }
}

/// A line of an export.
#[derive(Serialize, ToSchema)]
struct ExportedLine {
    #[serde(flatten)]
    exported: ExportedGame,
    /// The cursor with which an export resumes after this game.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cursor: Option<String>,
}
