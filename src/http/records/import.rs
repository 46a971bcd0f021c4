//! Importing games that were played elsewhere.

use std::{fmt, pin::Pin, str, time::Duration};

use actix_web::{
    FromRequest, HttpRequest, HttpResponse, dev,
    http::header,
    post,
    web::{Bytes, Data, Payload},
};
use serde::{
    Deserialize, Deserializer as _, Serialize,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tokio::{sync::Semaphore, time::timeout};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::import_forms::{Form, Refused, read_game};
use crate::{
    clock::now,
    db::{games::Inserted, records::import},
    domain::{Import, Visibility},
    http::{
        answer::problem::{Code, Problem},
        layers::{limits, permits::turn},
        request::{
            extract::{Query, check_plain},
            idempotency::{self, Answer, IdempotencyKey, KeyedRequest},
            player,
        },
        state::{AppState, tokens::Caller},
        view::{game::VisibilityWord, wire::ALWAYS_JSON},
    },
    rules::notation::{BYTE_ORDER_MARK, Splitter},
};

/// The most games of one request.
const GAMES_MAX: usize = 1000;

/// Games that cost as much as a call does.
const GAMES_PER_CALL: usize = 10;

/// The largest body, in bytes: a thousand records fit several times, and of games as JSON some hundred.
const IMPORT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How long the body may take to come.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Imports whose bodies a process takes at once.
static READ_AT_ONCE: Semaphore = Semaphore::const_new(32);

/// Imports that a process plays and stores at once: each may take some ten times its body in memory.
static AT_ONCE: Semaphore = Semaphore::const_new(4);

/// How long a request waits until others are done.
const TURN_TIMEOUT: Duration = Duration::from_secs(5);

/// What it is told otherwise.
const BUSY: &str = "other games are being imported; try again";

/// Import games
///
/// Up to 1,000 games that were played elsewhere: text records or files of Aualé, one after the other, or games as `export` writes them
/// as JSON (one, a list, or one each line). Each is played again by the rules: it is imported whole, or refused with the place and the
/// reason, whatever becomes of the others. Their players are names (`kind` `imported`) and nobody's account; a game that its record leaves
/// unfinished is `aborted`. It counts as one call for each ten games.
#[utoipa::path(
    tag = "records",
    operation_id = "import_games",
    params(ImportGames, ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
        description = "With the same key and body the same is answered again for a day, and nothing imported twice")),
    request_body(content((String = "text/plain"), (String = "application/x-ndjson"), (serde_json::Value = "application/json"))),
    responses(
        (status = 200, description = "What became of each game", body = ImportReport,
            headers(("Idempotent-Replayed" = Option<String>, description = "`true`: this was answered before under the same key"))),
        (status = 413, description = "`payload_too_large`: more than 8 MiB"),
    ),
    security(("bearer" = []))
)]
#[post("/games/import")]
pub async fn import_games(
    state: Data<AppState>,
    caller: Caller,
    key: IdempotencyKey,
    query: Query<ImportGames>,
    body: ImportBody,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let visibility = query.0.visibility.map_or(Visibility::Private, Visibility::from);
    let asked = (visibility.as_str(), body.kind.as_str(), Sha256::digest(&body.text)[..].to_vec());
    let keyed = KeyedRequest::of(key, caller.player, "/v1/games/import", &asked);
    if let Some(keyed) = &keyed
        && let Some(replayed) = keyed.replay(&state).await?
    {
        return Ok(replayed);
    }
    player::find(&state, caller).await?;
    let _turn = turn(&AT_ONCE, TURN_TIMEOUT, BUSY).await?;
    let games = body.games()?;
    let more_calls = games.len().saturating_sub(1) / GAMES_PER_CALL;
    limits::count_more(&request, u32::try_from(more_calls).unwrap_or(u32::MAX))?;
    let (report, stored) = play(&state, caller, visibility, games).await?;
    let body = serde_json::to_string(&report).expect(ALWAYS_JSON);
    let answer = Answer { location: String::new(), etag: String::new(), body };
    let kept = keyed.as_ref().map(|keyed| keyed.keep(&answer));
    match (import::store(&state.db, &stored, kept.as_ref(), now()).await?, keyed) {
        // Another request with this key was faster.
        (Inserted::KeyUsed, Some(keyed)) => {
            keyed.replay(&state).await?.ok_or_else(|| Problem::internal("a key that is used has no answer"))
        }
        _ => Ok(idempotency::created(&answer)),
    }
}

/// Reads games and plays them again: what is to be stored, and what is said of each.
async fn play(
    state: &AppState,
    caller: Caller,
    visibility: Visibility,
    games: Vec<Part>,
) -> Result<(ImportReport, Vec<import::Whole>), Problem> {
    let now = now();
    let read = move || games.into_iter().map(|part| ((part.line, part.before), part.read(now))).collect::<Vec<_>>();
    let read = tokio::task::spawn_blocking(read).await.map_err(Problem::internal)?;
    let (mut items, mut lines, mut imports) = (vec![], vec![], vec![]);
    for ((line, before), import) in read {
        match import {
            Ok(import) => {
                lines.push((line, before));
                imports.push(import);
            }
            Err(refused) => items.push(ImportedView::refused(line, before, refused)),
        }
    }
    let mut stored = vec![];
    let played = import::play(&state.db, imports, Some(caller.player), visibility, now).await?;
    for ((line, before), played) in lines.into_iter().zip(played) {
        match played {
            Ok(game) => {
                items.push(ImportedView { line, game_id: Some(game.0.id().0), error: None });
                stored.push(game);
            }
            Err(error) => items.push(ImportedView::refused(line, before, error.into())),
        }
    }
    items.sort_by_key(|item| item.line);
    let report = ImportReport { imported: stored.len(), refused: items.len() - stored.len(), items };
    Ok((report, stored))
}

/// How to import games.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportGames {
    /// Who may read the games; unless given `private`: whoever imported them.
    #[param(inline)]
    visibility: Option<VisibilityWord>,
}

/// One of several games, and the line with which it begins, from 1; of a list in JSON, its number.
struct Part {
    line: usize,
    /// The lines before it, in which the places of its faults are counted.
    before: usize,
    form: Form,
    text: String,
}

impl Part {
    fn read(&self, now: time::OffsetDateTime) -> Result<Import, Refused> {
        read_game(self.form, self.text.as_bytes(), now)
    }
}

/// Games as they were sent.
#[derive(Debug)]
pub struct ImportBody {
    kind: Kind,
    text: Bytes,
}

/// How a body says what it is.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Json,
    JsonLines,
    Text,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Kind::Json => "json",
            Kind::JsonLines => "lines",
            Kind::Text => "text",
        }
    }

    fn of(request: &HttpRequest) -> Option<Self> {
        let declared = request.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
        match declared.split(';').next()?.trim().to_ascii_lowercase().as_str() {
            "application/json" => Some(Kind::Json),
            "application/x-ndjson" => Some(Kind::JsonLines),
            "text/plain" => Some(Kind::Text),
            _ => None,
        }
    }
}

impl FromRequest for ImportBody {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut dev::Payload) -> Self::Future {
        let detail = "games are sent as text/plain, application/x-ndjson or application/json";
        let kind = Kind::of(request).ok_or_else(|| Problem::new(Code::UnsupportedMediaType, detail));
        let plain = check_plain(request);
        let payload = Payload::from_request(request, payload);
        Box::pin(async move {
            let (kind, payload) = (kind?, payload.await.map_err(Problem::internal)?);
            plain?;
            let _turn = turn(&READ_AT_ONCE, TURN_TIMEOUT, BUSY).await?;
            let late = |_| Problem::new(Code::MalformedRequest, "the body did not come in time");
            let bytes = timeout(BODY_TIMEOUT, payload.to_bytes_limited(IMPORT_BYTES_MAX)).await.map_err(late)?;
            let too_long = |_| Problem::new(Code::PayloadTooLarge, "games to import have at most 8 MiB in all");
            let cut = |_| Problem::new(Code::MalformedRequest, "the body breaks off or cannot be read");
            Ok(Self { kind, text: bytes.map_err(too_long)?.map_err(cut)? })
        })
    }
}

impl ImportBody {
    /// The games, not read yet.
    fn games(&self) -> Result<Vec<Part>, Problem> {
        let text = str::from_utf8(&self.text).map_err(|error| {
            let detail = format!("the body is not UTF-8 from byte {} on", error.valid_up_to());
            Problem::new(Code::MalformedRequest, detail)
        })?;
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let games = match self.kind {
            Kind::Json => listed(text)?,
            Kind::JsonLines => {
                let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
                lines.map(|(line, text)| json(line, line - 1, text)).take(GAMES_MAX + 1).collect()
            }
            Kind::Text => records(text),
        };
        if games.is_empty() || games.len() > GAMES_MAX {
            return Err(Problem::invalid("", format!("from 1 to {GAMES_MAX} games are imported at once")));
        }
        Ok(games)
    }
}

fn json(line: usize, before: usize, text: &str) -> Part {
    Part { line, before, form: Form::JsonLines, text: text.to_owned() }
}

/// One game, or a list of games.
fn listed(text: &str) -> Result<Vec<Part>, Problem> {
    if !text.trim_start().starts_with('[') {
        return Ok(vec![json(1, 0, text)]);
    }
    let mut json_text = serde_json::Deserializer::from_str(text);
    let list = json_text.deserialize_seq(Listed).and_then(|list| json_text.end().map(|()| list));
    let list = list.map_err(|error| Problem::new(Code::MalformedRequest, format!("the body is not JSON: {error}")))?;
    Ok((1..).zip(list).map(|(line, game)| json(line, 0, game.get())).collect())
}

/// Reads a list as far as it may go, and passes over the rest.
struct Listed;

impl<'de> Visitor<'de> for Listed {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of games")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut games = vec![];
        while games.len() <= GAMES_MAX
            && let Some(game) = seq.next_element()?
        {
            games.push(game);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(games)
    }
}

fn records(text: &str) -> Vec<Part> {
    let mut splitter = Splitter::default();
    let mut parts: Vec<Part> = vec![];
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        if parts.len() > GAMES_MAX {
            break;
        }
        let begins = splitter.begins_record(content);
        match parts.last_mut() {
            Some(last) if !begins => last.text.push_str(content),
            None if content.trim().is_empty() => {}
            _ => parts.push(Part { line, before: line - 1, form: Form::Text, text: content.to_owned() }),
        }
    }
    parts
}

/// What became of games that were to be imported.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportReport {
    #[schema(minimum = 0, example = 1)]
    imported: usize,
    #[schema(minimum = 0, example = 0)]
    refused: usize,
    /// Each of them, in their order.
    items: Vec<ImportedView>,
}

/// What became of a game: either `game_id` or `error` is there.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedGame)]
struct ImportedView {
    /// The line with which it begins, from 1; of a list in JSON, its number.
    #[schema(minimum = 1, example = 1)]
    line: usize,
    /// As it is known here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    game_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<ImportErrorView>,
}

/// Why a game was not imported.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportError)]
struct ImportErrorView {
    /// The line, from 1, of all that was sent; of a list in JSON, within the game.
    #[schema(minimum = 1, example = 4)]
    line: usize,
    /// The character in that line, from 1, where there is such a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1, example = 46)]
    column: Option<usize>,
    #[schema(example = "move 2 cannot be a: the game is over")]
    detail: String,
}

impl ImportedView {
    fn refused(line: usize, before: usize, refused: Refused) -> Self {
        let Refused { line: within, column, detail } = refused;
        Self { line, game_id: None, error: Some(ImportErrorView { line: before + within, column, detail }) }
    }
}
