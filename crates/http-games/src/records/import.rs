//! Imports games that were played elsewhere: reads, replays and stores them. `import_body` receives and splits the body.

use std::{
    num::NonZero,
    sync::{Arc, LazyLock},
    thread,
    time::{Duration, Instant},
};

use actix_web::{
    HttpRequest, HttpResponse, post, rt,
    web::{Data, Payload},
};
use mancala_db::records::{
    import::{self, Stored, Whole},
    usage::{self, ImportTotal, Importer},
};
use mancala_domain::{Import, PlayerKind, ReservedNames, Visibility};
use mancala_http::{
    answer::{
        bounds::cut,
        code::Code,
        failures::{Failures, Forbidden, PayloadTooLarge, TooManyImports},
        problem::Problem,
    },
    layers::limits,
    request::{
        extract::Query,
        idempotency::{self, Answer, IdempotencyKey, KeyedRequest},
        player,
    },
    state::{AppState, permits, tokens::Caller, uploads::Upload},
};
use mancala_process::clock::now;
use mancala_wire::view::{game::VisibilityWord, wire::ALWAYS_JSON};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use tokio::{sync::Semaphore, task::spawn_blocking, time::sleep};
use tracing::Instrument;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    cost::Cost,
    import_body::{self, Kind},
    import_forms::{GameText, Refused, read_game},
};

/// Games that cost as much of the rate limit as one call.
const GAMES_PER_CALL: usize = 10;

/// Bytes of a body that cost as much as one call. The largest body costs 256 calls, which a whole quota allows.
const BYTES_PER_CALL: usize = 32 * 1024;

/// Plies that cost as much as one call.
const PLIES_PER_CALL: usize = 500;

/// The maximum number of plies in one request: 250 calls, which a whole quota allows.
const PLIES_MAX: usize = 125_000;

/// Permits to read, replay and store an import, which may take about ten times its body in memory. Half of the processors stay free.
static IMPORT_PERMITS: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    Semaphore::new((processors / 2).clamp(1, 4))
});

/// How long a request waits for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The detail of the 503 after that.
const BUSY: &str = "other games are being imported; try again";

/// How many times an import is played, while other imports create players with the same names.
const ATTEMPTS_MAX: u32 = 4;

/// Import games
///
/// Up to 1,000 games that were played elsewhere, with up to 125,000 plies in all. They are consecutive text records or
/// files of Aualé, or the JSON of `export` (one game, a list, or one game per line). The server replays each game by
/// the rules. It imports the game whole, or refuses it with a location and a reason, independently of the others. The
/// players are names without an account (`kind` `imported`). A game that its record leaves unfinished is `aborted`.
/// Only accounts import public games.
///
/// A player may have a number of imported games and of their plies: `GET /v1/me/imports` shows both. An import that would exceed them stores
/// nothing. For the rate limit, ten games, 32 KiB or 500 plies count as one call, whichever is most. A player has one import at a time.
///
/// - `forbidden`: a guest imports no public games
/// - `too_many_imports`: the games exceed the quota, and none is stored
/// - `payload_too_large`: more than 8 MiB
#[utoipa::path(
    tag = "records",
    operation_id = "import_games",
    params(ImportGames, ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
        description = "For a day, a retry with the same key and body gets the same answer, and imports nothing twice")),
    request_body(
        description = "Text records or files of Aualé; lines with an `ImportGame` each; or a list of `ImportGame`, where one game without a list \
            is accepted as well. Fields that are not named are ignored.",
        content(
            (String = "text/plain", example = "[Variant \"kalah\"]\n[South \"Ana\"]\n[North \"Bo\"]\n[Result \"*\"]\n\n1. CF a *\n"),
            (String = "application/x-ndjson"),
            (Vec<GameText<'_>> = "application/json", example = json!([{"game": {"variant": "kalah"}, "moves": [{"move": "C"}, {"move": "F"}]}])),
        ),
    ),
    responses(
        (status = 200, description = "The outcome for each game", body = ImportReport,
            headers(("Idempotent-Replayed" = Option<String>, description = "`true`: the stored answer to an earlier request with this key"))),
        Failures<(Forbidden, PayloadTooLarge, TooManyImports)>,
    ),
    security(("bearer" = []))
)]
#[post("/games/import")]
pub async fn import_games(
    state: Data<AppState>,
    caller: Caller,
    key: IdempotencyKey,
    query: Query<ImportGames>,
    payload: Payload,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let kind = Kind::of(&request)?;
    let visibility = query.0.visibility.map_or(Visibility::Private, Visibility::from);
    let own = player::find(&state, caller).await?.player;
    if visibility == Visibility::Public && own.kind != PlayerKind::Account {
        let detail =
            "guests import private and unlisted games only; public ones need an account (PATCH /v1/me with a password)";
        return Err(Problem::new(Code::Forbidden, detail));
    }
    let mut upload = state.uploads.begin(caller.player, limits::client(&request).address)?;
    let body = import_body::receive(payload, &mut upload).await?;
    let importer = Importer { player: caller.player, quota: state.settings.import_quotas.of(own.kind) };
    let import = Importing { state, caller, importer, key, visibility, kind, request, _upload: upload };
    // The task goes on if the client disconnects. Otherwise the permit and the upload would be released while other threads still work on
    // the import.
    rt::spawn(import.run(body).in_current_span()).await.map_err(Problem::internal)?
}

/// An import whose body has arrived.
struct Importing {
    state: Data<AppState>,
    caller: Caller,
    importer: Importer,
    key: IdempotencyKey,
    visibility: Visibility,
    kind: Kind,
    request: HttpRequest,
    /// Keeps out other imports of the player, and counts the body's memory.
    _upload: Upload,
}

impl Importing {
    async fn run(self, body: Vec<u8>) -> Result<HttpResponse, Problem> {
        let mut cost = Cost::of_one_call();
        cost.raise(&self.request, body.len().div_ceil(BYTES_PER_CALL))?;
        let permit = permits::acquire(&IMPORT_PERMITS, PERMIT_TIMEOUT, BUSY).await?;
        let begun = Instant::now();
        let answer = self.carry_out(cost, body).await;
        // Imports and moves have the same priority in the database. So after each import, imports pause for as long as it took.
        rt::spawn(async move {
            sleep(begun.elapsed()).await;
            drop(permit);
        });
        answer
    }

    async fn carry_out(self, mut cost: Cost, body: Vec<u8>) -> Result<HttpResponse, Problem> {
        let (body, keyed) = self.keyed(body).await?;
        if let Some(keyed) = &keyed
            && let Some(replayed) = keyed.replay(&self.state).await?
        {
            return Ok(replayed);
        }
        let (kind, at, reserved) = (self.kind, now(), self.state.reserved_names.reserved().clone());
        let games =
            spawn_blocking(move || ReadGames::of(kind, body, at, &reserved)).await.map_err(Problem::internal)??;
        if games.plies > PLIES_MAX {
            let detail =
                format!("at most {PLIES_MAX} plies are imported at once, and these games have {}", games.plies);
            return Err(Problem::invalid("", detail));
        }
        let calls = games.count().div_ceil(GAMES_PER_CALL).max(games.plies.div_ceil(PLIES_PER_CALL));
        cost.raise(&self.request, calls)?;
        self.check_room(&games).await?;
        limits::count_import(&self.request, games.lines.len(), games.plies)?;
        self.store(&games, keyed).await
    }

    /// The request with its idempotency key, if it has one.
    async fn keyed(&self, body: Vec<u8>) -> Result<(Vec<u8>, Option<KeyedRequest>), Problem> {
        if !self.key.is_given() {
            return Ok((body, None));
        }
        let hash = move || {
            let digest = Sha256::digest(&body)[..].to_vec();
            (body, digest)
        };
        let (body, digest) = spawn_blocking(hash).await.map_err(Problem::internal)?;
        let content = (self.visibility.as_str(), self.kind.as_str(), digest);
        let keyed = KeyedRequest::of(self.key.clone(), self.caller, "/v1/games/import", &content);
        Ok((body, keyed))
    }

    /// Refuses an importer without room for a single game, and more games than any importer may have, before they are replayed.
    async fn check_room(&self, read: &ReadGames) -> Result<(), Problem> {
        let used = usage::find(&self.state.db, self.importer.player).await?;
        let left = self.importer.quota.without(used);
        let (games, plies) = (self.importer.quota.games as usize, self.importer.quota.plies as usize);
        let is_hopeless = read.lines.len() > games || read.plies > plies;
        if left.games == 0 || left.plies == 0 || is_hopeless { Err(self.over_quota(used)) } else { Ok(()) }
    }

    /// Replays the games and stores them, all in one transaction.
    async fn store(&self, games: &ReadGames, keyed: Option<KeyedRequest>) -> Result<HttpResponse, Problem> {
        for _ in 0..ATTEMPTS_MAX {
            let at = now();
            let (report, whole) = self.replay(games, at).await?;
            let body = serde_json::to_string(&report).expect(ALWAYS_JSON);
            let answer = Answer { location: String::new(), etag: String::new(), body };
            let kept = keyed.as_ref().map(|keyed| keyed.keep(&answer));
            match import::store(&self.state.db, &whole, Some(self.importer), kept.as_ref(), at).await? {
                Stored::Whole => return Ok(idempotency::created(&answer)),
                Stored::OverQuota(used) => return Err(self.over_quota(used)),
                Stored::NoPlayer => return Err(player::gone()),
                Stored::PlayersChanged => {}
                // A concurrent request with this key has stored its answer first.
                Stored::KeyUsed => {
                    let replayed = match &keyed {
                        Some(keyed) => keyed.replay(&self.state).await?,
                        None => None,
                    };
                    return replayed.ok_or_else(|| Problem::internal("a key that is used has no answer"));
                }
            }
        }
        Err(Problem::busy(BUSY))
    }

    /// The report on each game, and the games to store.
    async fn replay(&self, games: &ReadGames, at: OffsetDateTime) -> Result<(ImportReport, Vec<Whole>), Problem> {
        let (db, player) = (&self.state.db, Some(self.importer.player));
        let played = import::play(db, games.imports.clone(), player, self.visibility, at).await?;
        let (mut items, mut whole) = (games.refused.clone(), vec![]);
        for (ReadLine { line, lines_before, warning }, played) in games.lines.iter().zip(played) {
            let (line, lines_before) = (*line, *lines_before);
            match played {
                Ok(game) => {
                    let warnings = warning.iter().cloned().map(|it| ImportErrorView::of(lines_before, it)).collect();
                    items.push(ImportedView { line, game_id: Some(game.game.id().0), error: None, warnings });
                    whole.push(game);
                }
                Err(error) => items.push(ImportedView::refused(line, lines_before, error.into())),
            }
        }
        items.sort_by_key(|item| item.line);
        let report = ImportReport { imported: whole.len(), refused: items.len() - whole.len(), items };
        Ok((report, whole))
    }

    fn over_quota(&self, used: ImportTotal) -> Problem {
        let quota = self.importer.quota;
        let left = quota.without(used);
        let detail = format!(
            "of {} imported games and {} plies, {} games and {} plies are left; nothing was imported",
            quota.games, quota.plies, left.games, left.plies
        );
        Problem::new(Code::TooManyImports, detail)
    }
}

/// The place of a game in a body.
struct ReadLine {
    /// The line with which it begins.
    line: usize,
    lines_before: usize,
    warning: Option<Refused>,
}

/// The games of a body.
struct ReadGames {
    imports: Arc<[Import]>,
    /// The place of each game.
    lines: Vec<ReadLine>,
    refused: Vec<ImportedView>,
    /// The plies of all games together.
    plies: usize,
}

impl ReadGames {
    /// Splits a body and reads its games. It takes as long as the body is large.
    fn of(kind: Kind, body: Vec<u8>, now: OffsetDateTime, reserved: &ReservedNames) -> Result<Self, Problem> {
        let (mut imports, mut lines, mut refused) = (vec![], vec![], vec![]);
        for source in import_body::split(kind, body)? {
            match read_game(source.form, source.text.as_bytes(), now, reserved) {
                Ok((import, warning)) => {
                    lines.push(ReadLine { line: source.line, lines_before: source.lines_before, warning });
                    imports.push(import);
                }
                Err(error) => refused.push(ImportedView::refused(source.line, source.lines_before, error)),
            }
        }
        let plies = imports.iter().map(|import: &Import| import.plies.len()).sum();
        Ok(Self { imports: imports.into(), lines, refused, plies })
    }

    fn count(&self) -> usize {
        self.lines.len() + self.refused.len()
    }
}

/// How to import games.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportGames {
    /// Who may read the games. Unless given `private`: the caller only. `public` needs an account.
    #[param(inline)]
    visibility: Option<VisibilityWord>,
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
#[derive(Clone, Debug, Serialize, ToSchema)]
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
    /// What of the game counts as unknown, such as a reason to end in words of another program. The game is imported all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<ImportErrorView>,
}

/// Why a game was not imported, or what of it counts as unknown.
#[derive(Clone, Debug, Serialize, ToSchema)]
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
        let error = Some(ImportErrorView::of(lines_before, refused));
        Self { line, game_id: None, error, warnings: vec![] }
    }
}

impl ImportErrorView {
    fn of(lines_before: usize, Refused { line, column, detail }: Refused) -> Self {
        Self { line: lines_before + line, column, detail: cut(detail) }
    }
}
