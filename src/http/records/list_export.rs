//! Exporting all games of a list, as one text that is written while it is read.

use std::{fmt::Write, io};

use actix_web::{
    HttpRequest, HttpResponse, get,
    http::header::{ContentDisposition, DispositionParam, DispositionType},
    web::{Bytes, Data},
};
use futures_util::stream::{self, Stream};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use tokio::sync::Semaphore;
use utoipa::{IntoParams, ToSchema};

use super::{
    export::{VARIES, recorded},
    personal_export::ExportedGame,
};
use crate::{
    db::{
        DbError,
        games::{self, SeatedGame},
        lists::{self, Filter, Page, PageKey},
    },
    domain::{PlayerId, Ply},
    http::{
        answer::{cursor::Cursors, headers::NOT_KEPT, problem::Problem},
        games::list::{ListGames, cursor_text, page_key},
        request::{accept::prefers_text, auth::Reader, extract::read_query},
        state::AppState,
        view::wire::ALWAYS_JSON,
    },
};

/// Games that are in memory at once, with their histories: some MiB as JSON.
const GAMES_AT_ONCE: u32 = 50;

/// Plies that are in memory at once, unless a single game has more.
const PLIES_AT_ONCE: u32 = 5_000;

/// Parts of exports that a process writes at once: each keeps the database busy. A client that takes its part slowly keeps nobody waiting.
static AT_ONCE: Semaphore = Semaphore::const_new(4);

/// Export games
///
/// All games of a list, in its order and with their whole histories: a game each line as JSON (`application/x-ndjson`), or text records one
/// after the other. Each game comes with a `cursor`, from which the export goes on if it breaks off. What
/// changes meanwhile may or may not be in it. All of it can be imported again.
#[utoipa::path(
    tag = "records",
    operation_id = "export_games",
    params(ExportGames, ListGames),
    responses((status = 200, description = "The games; an answer that breaks off is not all of them", content(
        (ExportedLine = "application/x-ndjson"),
        (String = "text/plain", example = "[Variant \"kalah\"]\n[Preset \"standard\"]\n[South \"Ana\"]\n[North \"Bo\"]\n\
            [Result \"*\"]\n\n1. CF a *\n{cursor: …}\n\n"),
    ), headers(("Content-Disposition" = String, description = "A name for the file")))),
    security((), ("bearer" = []))
)]
#[get("/games/export")]
pub async fn export_games(
    state: Data<AppState>,
    reader: Reader,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let (ExportGames { format }, list) = asked(&request)?;
    let filter = list.filter(reader.0)?;
    // A cursor is bound to all that was asked for, and to who asked; it may be asked for in the other form.
    let name = format!("export {:?} {filter:?}", list.sort);
    let after = list.cursor.as_deref().map(|cursor| page_key(&state.cursors, cursor, &name)).transpose()?;
    let form = format.unwrap_or(if prefers_text(&request) { ListForm::Text } else { ListForm::Ndjson });
    let export = Export {
        db: state.db.clone(),
        cursors: state.cursors.clone(),
        name,
        filter,
        form,
        viewer: reader.0,
        after,
        left: list.limit,
    };
    let file = ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters: vec![DispositionParam::Filename(format!("games.{}", form.extension()))],
    };
    let mut response = HttpResponse::Ok();
    response.insert_header(NOT_KEPT).insert_header(VARIES).insert_header(file).content_type(form.media_type());
    Ok(response.streaming(export.written()))
}

/// What is asked for: the form, and the list.
fn asked(request: &HttpRequest) -> Result<(ExportGames, ListGames), Problem> {
    let (mut form, mut list) =
        (form_urlencoded::Serializer::new(String::new()), form_urlencoded::Serializer::new(String::new()));
    for (name, value) in form_urlencoded::parse(request.query_string().as_bytes()) {
        let part = if name == "format" { &mut form } else { &mut list };
        part.append_pair(&name, &value);
    }
    let list: ListGames = read_query(&list.finish())?;
    list.check_limit()?;
    Ok((read_query(&form.finish())?, list))
}

/// An export that is being written.
struct Export {
    db: PgPool,
    cursors: Cursors,
    /// What its cursors are bound to.
    name: String,
    filter: Filter,
    form: ListForm,
    viewer: Option<PlayerId>,
    after: Option<PageKey>,
    /// How many games are still to come, if that is bounded.
    left: Option<u32>,
}

impl Export {
    fn written(self) -> impl Stream<Item = Result<Bytes, io::Error>> {
        stream::unfold(Some(self), |export| async {
            let mut export = export?;
            Some(match export.page().await {
                Ok((text, true)) => (Ok(text), Some(export)),
                Ok((text, false)) => (Ok(text), None),
                // There is no other way left to say so than to break off.
                Err(error) => {
                    tracing::error!("an export broke off: {error}");
                    (Err(io::Error::other("the export broke off")), None)
                }
            })
        })
    }

    /// Some games, and whether there may be more.
    async fn page(&mut self) -> Result<(Bytes, bool), DbError> {
        let limit = self.left.map_or(GAMES_AT_ONCE, |left| left.min(GAMES_AT_ONCE));
        // It is never closed.
        let _turn = AT_ONCE.acquire().await.ok();
        let mut page = lists::list(&self.db, &self.filter, self.after, limit).await?;
        cut(&mut page);
        let histories = games::histories(&self.db, &page.games).await?;
        let mut text = String::new();
        for ((seated, plies), place) in page.games.iter().zip(&histories).zip(&page.keys) {
            let cursor = self.cursors.seal(&cursor_text(*place), &self.name);
            write_game(&mut text, self.form, seated, plies, self.viewer, Some(cursor));
        }
        self.left = self.left.map(|left| left.saturating_sub(u32::try_from(page.games.len()).unwrap_or(left)));
        self.after = page.next;
        Ok((Bytes::from(text), page.next.is_some() && self.left != Some(0)))
    }
}

/// Leaves as many games on a page as may be in memory, and one at least.
fn cut(page: &mut Page) {
    let mut plies = 0;
    let fits = page.games.iter().take_while(|seated| {
        let is_first = plies == 0;
        plies += seated.game.ply().max(1);
        is_first || plies <= PLIES_AT_ONCE
    });
    let count = fits.count();
    if count < page.games.len() {
        page.games.truncate(count);
        page.keys.truncate(count);
        page.next = page.keys.last().copied();
    }
}

/// Writes a game as it stands among others.
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
            let written = match recorded(seated, plies) {
                Ok(record) => write!(text, "{record}"),
                Err(why) => writeln!(text, "{{game {}: {why}}}", seated.game.id().0),
            };
            let cursor = cursor.map_or(Ok(()), |cursor| writeln!(text, "{{cursor: {cursor}}}"));
            let end = writeln!(text);
            written.and(cursor).and(end).expect("a string takes everything");
        }
    }
}

/// How to export games.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportGames {
    /// In which form. Unless given, JSON or text, as `Accept` says.
    #[param(inline)]
    format: Option<ListForm>,
}

/// A form of many games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ListForm {
    /// A game each line, as JSON.
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

/// A game among others.
#[derive(Serialize, ToSchema)]
struct ExportedLine {
    #[serde(flatten)]
    exported: ExportedGame,
    /// From where the export goes on after this game.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cursor: Option<String>,
}
