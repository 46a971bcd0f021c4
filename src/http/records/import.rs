//! Imports games that were played elsewhere: splits the body into games, replays and stores them. `import_forms` reads each game.

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
    domain::{Import, ReservedNames, Visibility},
    http::{
        answer::problem::{Code, Problem},
        layers::limits,
        request::{
            extract::{Query, check_plain},
            idempotency::{self, Answer, IdempotencyKey, KeyedRequest},
            player,
        },
        state::{AppState, permits, tokens::Caller},
        view::{game::VisibilityWord, wire::ALWAYS_JSON},
    },
    rules::notation::{BYTE_ORDER_MARK, Splitter},
};

/// The maximum number of games in one request.
const GAMES_MAX: usize = 1000;

/// Games that cost as much of the rate limit as one call.
const GAMES_PER_CALL: usize = 10;

/// The largest body, in bytes. It holds several thousand records, or some hundred games as JSON.
const IMPORT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How long a client may take to send the body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Permits to receive a body.
static BODY_PERMITS: Semaphore = Semaphore::const_new(32);

/// Permits to replay and store an import, which may take about ten times its body in memory.
static IMPORT_PERMITS: Semaphore = Semaphore::const_new(4);

/// How long a request waits for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The detail of the 503 after that.
const BUSY: &str = "other games are being imported; try again";

/// Import games
///
/// Up to 1,000 games that were played elsewhere: consecutive text records or files of Aualé, or the JSON of `export` (one game, a list,
/// or one game per line). The server replays each game by the rules. It imports the game whole, or refuses it with a location and a
/// reason, independently of the others. The players are names without an account (`kind` `imported`). A game that its record leaves
/// unfinished is `aborted`. For the rate limit, ten games count as one call.
#[utoipa::path(
    tag = "records",
    operation_id = "import_games",
    params(ImportGames, ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
        description = "For a day, a retry with the same key and body gets the same answer, and imports nothing twice")),
    request_body(content((String = "text/plain"), (String = "application/x-ndjson"), (serde_json::Value = "application/json"))),
    responses(
        (status = 200, description = "The outcome for each game", body = ImportReport,
            headers(("Idempotent-Replayed" = Option<String>, description = "`true`: the stored answer to an earlier request with this key"))),
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
    let content = (visibility.as_str(), body.kind.as_str(), Sha256::digest(&body.text)[..].to_vec());
    let keyed = KeyedRequest::of(key, caller.player, "/v1/games/import", &content);
    if let Some(keyed) = &keyed
        && let Some(replayed) = keyed.replay(&state).await?
    {
        return Ok(replayed);
    }
    player::find(&state, caller).await?;
    let _permit = permits::acquire(&IMPORT_PERMITS, PERMIT_TIMEOUT, BUSY).await?;
    let games = body.games()?;
    let more_calls = games.len().saturating_sub(1) / GAMES_PER_CALL;
    limits::count_more(&request, u32::try_from(more_calls).unwrap_or(u32::MAX))?;
    let (report, stored) = replay(&state, caller, visibility, games).await?;
    let body = serde_json::to_string(&report).expect(ALWAYS_JSON);
    let answer = Answer { location: String::new(), etag: String::new(), body };
    let stored_answer = keyed.as_ref().map(|keyed| keyed.keep(&answer));
    match (import::store(&state.db, &stored, stored_answer.as_ref(), now()).await?, keyed) {
        // A concurrent request with this key has stored its answer first.
        (Inserted::KeyUsed, Some(keyed)) => {
            keyed.replay(&state).await?.ok_or_else(|| Problem::internal("a key that is used has no answer"))
        }
        _ => Ok(idempotency::created(&answer)),
    }
}

/// Reads and replays games: the report on each, and the games to store.
async fn replay(
    state: &AppState,
    caller: Caller,
    visibility: Visibility,
    games: Vec<GameSource>,
) -> Result<(ImportReport, Vec<import::Whole>), Problem> {
    let (now, reserved) = (now(), state.reserved_names.clone());
    let read = move || {
        let read = |source: GameSource| ((source.line, source.lines_before), source.read(now, &reserved));
        games.into_iter().map(read).collect::<Vec<_>>()
    };
    let read = tokio::task::spawn_blocking(read).await.map_err(Problem::internal)?;
    let (mut items, mut lines, mut imports) = (vec![], vec![], vec![]);
    for ((line, lines_before), import) in read {
        match import {
            Ok(import) => {
                lines.push((line, lines_before));
                imports.push(import);
            }
            Err(refused) => items.push(ImportedView::refused(line, lines_before, refused)),
        }
    }
    let mut stored = vec![];
    let played = import::play(&state.db, imports, Some(caller.player), visibility, now).await?;
    for ((line, lines_before), played) in lines.into_iter().zip(played) {
        match played {
            Ok(game) => {
                items.push(ImportedView { line, game_id: Some(game.0.id().0), error: None });
                stored.push(game);
            }
            Err(error) => items.push(ImportedView::refused(line, lines_before, error.into())),
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
    /// Who may read the games. Unless given `private`: the caller only.
    #[param(inline)]
    visibility: Option<VisibilityWord>,
}

/// One game of a body, not read yet.
struct GameSource {
    /// The line with which it begins, from 1; in a JSON list, its number.
    line: usize,
    /// The number of lines before it, by which the lines of its errors are shifted.
    lines_before: usize,
    form: Form,
    text: String,
}

impl GameSource {
    fn read(&self, now: time::OffsetDateTime, reserved: &ReservedNames) -> Result<Import, Refused> {
        read_game(self.form, self.text.as_bytes(), now, reserved)
    }
}

/// The body of an import.
#[derive(Debug)]
pub struct ImportBody {
    kind: Kind,
    text: Bytes,
}

/// The form of a body, by its `Content-Type`.
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
            let _permit = permits::acquire(&BODY_PERMITS, PERMIT_TIMEOUT, BUSY).await?;
            let late = |_| Problem::new(Code::MalformedRequest, "the body did not arrive in time");
            let bytes = timeout(BODY_TIMEOUT, payload.to_bytes_limited(IMPORT_BYTES_MAX)).await.map_err(late)?;
            let too_long = |_| Problem::new(Code::PayloadTooLarge, "games to import have at most 8 MiB in all");
            let broken = |_| Problem::new(Code::MalformedRequest, "the body is cut off or cannot be read");
            Ok(Self { kind, text: bytes.map_err(too_long)?.map_err(broken)? })
        })
    }
}

impl ImportBody {
    /// Splits the body into games.
    fn games(&self) -> Result<Vec<GameSource>, Problem> {
        let text = str::from_utf8(&self.text).map_err(|error| {
            let detail = format!("the body is not UTF-8 from byte {} on", error.valid_up_to());
            Problem::new(Code::MalformedRequest, detail)
        })?;
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let games = match self.kind {
            Kind::Json => split_json(text)?,
            Kind::JsonLines => {
                let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
                lines.map(|(line, text)| json_source(line, line - 1, text)).take(GAMES_MAX + 1).collect()
            }
            Kind::Text => split_records(text),
        };
        if games.is_empty() || games.len() > GAMES_MAX {
            return Err(Problem::invalid("", format!("from 1 to {GAMES_MAX} games are imported at once")));
        }
        Ok(games)
    }
}

fn json_source(line: usize, lines_before: usize, text: &str) -> GameSource {
    GameSource { line, lines_before, form: Form::JsonLines, text: text.to_owned() }
}

/// One game, or a list of games.
fn split_json(text: &str) -> Result<Vec<GameSource>, Problem> {
    if !text.trim_start().starts_with('[') {
        return Ok(vec![json_source(1, 0, text)]);
    }
    let mut json_text = serde_json::Deserializer::from_str(text);
    let list = json_text.deserialize_seq(ListVisitor).and_then(|list| json_text.end().map(|()| list));
    let list = list.map_err(|error| Problem::new(Code::MalformedRequest, format!("the body is not JSON: {error}")))?;
    Ok((1..).zip(list).map(|(line, game)| json_source(line, 0, game.get())).collect())
}

/// Reads `GAMES_MAX` + 1 items of a list, and ignores the rest.
struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
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

fn split_records(text: &str) -> Vec<GameSource> {
    let mut splitter = Splitter::default();
    let mut games: Vec<GameSource> = vec![];
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        if games.len() > GAMES_MAX {
            break;
        }
        let begins = splitter.begins_record(content);
        match games.last_mut() {
            Some(last) if !begins => last.text.push_str(content),
            None if content.trim().is_empty() => {}
            _ => games.push(GameSource { line, lines_before: line - 1, form: Form::Text, text: content.to_owned() }),
        }
    }
    games
}

/// The outcome of an import.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportReport {
    #[schema(minimum = 0, example = 1)]
    imported: usize,
    #[schema(minimum = 0, example = 0)]
    refused: usize,
    /// The outcome for each game, in the order of the body.
    items: Vec<ImportedView>,
}

/// The outcome for a game: it has either `game_id` or `error`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedGame)]
struct ImportedView {
    /// The line with which the game begins, from 1; in a JSON list, its number.
    #[schema(minimum = 1, example = 1)]
    line: usize,
    /// Its id on this server.
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
    /// The line in the body, from 1; in a JSON list, the line within the game.
    #[schema(minimum = 1, example = 4)]
    line: usize,
    /// The character in that line, from 1, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1, example = 46)]
    column: Option<usize>,
    #[schema(example = "move 2 cannot be a: the game is over")]
    detail: String,
}

impl ImportedView {
    fn refused(line: usize, lines_before: usize, refused: Refused) -> Self {
        let Refused { line: within, column, detail } = refused;
        Self { line, game_id: None, error: Some(ImportErrorView { line: lines_before + within, column, detail }) }
    }
}
