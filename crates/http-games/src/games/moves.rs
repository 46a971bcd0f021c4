//! Moves: play one, read the history.

use std::{iter, sync::Arc};

use actix_web::{
    HttpResponse, HttpResponseBuilder, get,
    http::header::{self, ContentType},
    post,
    web::Data,
};
use mancala_db::games::{self, SeatedGame};
use mancala_domain::{Event, Fact, Game, Ply, Previous, Refusal};
use mancala_http::{
    answer::{
        cursor::Cursors,
        failures::{
            Failures, GameNotStarted, GameOver, IllegalMove, NotFound, NotSeated, NotYourTurn, PreconditionFailed,
            StalePly, ValidationFailed,
        },
        faults::Faults,
        headers::{NOT_KEPT, VARIES},
        page::{PAGE_SIZE_MAX, next_link, page_size},
        problem::Problem,
    },
    request::{
        auth::Reader,
        conditional::IfMatch,
        extract::{self, Body, GamePath, NoQuery, Query},
    },
    state::{
        AppState,
        history::{History, PLIES_CACHED_MAX},
        recent::Remembered,
        tokens::Caller,
    },
};
use mancala_rules::Effect;
use mancala_wire::view::{
    board::legal_moves,
    game::GameView,
    moves::{MoveJson, MovePage, MoveView},
    shown_game::ShownGame,
    wire::ALWAYS_JSON,
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::{
    asked::{Asked, Request},
    change::{Executed, execute},
    find::{cache_control, find_past},
};

/// Play a move
///
/// `ply` is the number of the move: the game's `ply` plus one. This makes the call idempotent: a repeated move is found in
/// the log, answered with 200, and not played twice.
///
/// With `moves` in place of `move`, several moves of one turn are played in one request: all of them, or none. They are
/// played as if they were sent one after the other. That is as safe to repeat.
///
/// - `game_not_started`, `game_over`, `stale_ply`, `not_your_turn`: with `game` and `moves`
/// - `illegal_move`: with `reason` and `legal_moves`
#[utoipa::path(
    tag = "moves",
    operation_id = "play_move",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    request_body(content = PlayMove, example = json!({"ply": 1, "move": "C"})),
    responses(
        (status = 201, description = "The move was played", body = PlayedMove),
        (status = 200, description = "The same player had already played the same move under this number", body = PlayedMove),
        Failures<(NotSeated, NotFound, GameNotStarted, GameOver, NotYourTurn, StalePly, PreconditionFailed, ValidationFailed, IllegalMove)>,
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/moves")]
pub async fn play_move(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    _: Query<NoQuery>,
    body: Body<PlayMove>,
) -> Result<HttpResponse, Problem> {
    let asked = body.0.asked()?;
    let request = Request { player: caller.player, if_version: if_match.0.as_deref(), asked };
    match execute(&state, path.0, &request).await? {
        Executed::Changed { before, game, events, effects } => {
            let (seated, earlier) = after_moves(&before.seated, game, &events, effects)?;
            let played = seated.last_ply.as_ref().map(MoveJson::of);
            let played = played.ok_or_else(|| Problem::internal("a stored move has no ply"))?;
            let after = Remembered::after_move(seated, before.read, played.clone());
            state.recent.keep(&after);
            let variant = after.seated.game.terms().options.variant().word();
            (0..=earlier.len()).for_each(|_| state.metrics.move_played(variant));
            let game = after.shown(Some(caller.player));
            Ok(answer(HttpResponse::Created(), &earlier, &played, &game, &game.without_effects()))
        }
        Executed::Unchanged { found, recorded: mut earlier } => {
            let recorded = earlier.pop();
            let recorded = recorded.ok_or_else(|| Problem::internal("a move that the log has could not be read"))?;
            let game = found.shown(Some(caller.player));
            let is_last = recorded.number == found.seated.game.ply();
            let json = if is_last { game.without_effects() } else { [&game.json[..], b""] };
            Ok(answer(HttpResponse::Ok(), &earlier, &MoveJson::of(&recorded), &game, &json))
        }
        Executed::Refused { found, refusal } => {
            Err(refused(&state, caller, &found.seated, &refusal, body.0.ply).await?)
        }
    }
}

/// Why moves were refused, with what the client needs to choose again.
async fn refused(
    state: &AppState,
    caller: Caller,
    seated: &SeatedGame,
    refusal: &Refusal,
    ply: u32,
) -> Result<Problem, Problem> {
    let problem = Problem::from(refusal);
    let (position, refusal) = match refusal {
        Refusal::InTurn { position, refusal, .. } => (position.as_ref(), refusal.as_ref()),
        refusal => (seated.game.position(), refusal),
    };
    Ok(match refusal {
        Refusal::Illegal(illegal) => problem.with_legal_moves(illegal.reason(), legal_moves(position)),
        Refusal::NotAMove(_) => problem.with_legal_moves("not_a_move", legal_moves(position)),
        Refusal::NotStarted | Refusal::Over | Refusal::StalePly { .. } | Refusal::NotYourTurn => {
            let missed = games::plies(&state.db, &seated.game, ply - 1, PAGE_SIZE_MAX).await?;
            problem
                .with_game(GameView::of(seated, Some(caller.player)))
                .with_moves(missed.iter().map(MoveView::of).collect())
        }
        _ => problem,
    })
}

/// Read the history
///
/// Every ply of the game, oldest first, with its effects frame by frame. Plies that were taken back stay in it.
#[utoipa::path(
    tag = "moves",
    operation_id = "list_moves",
    params(("id" = Uuid, Path, description = "The game's id"), ListMoves),
    responses(
        (status = 200, description = "A page of the history", body = MovePage,
            headers(("Link" = String, description = "Where the next page is, if there is one"))),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/games/{id}/moves")]
pub async fn list_moves(
    state: Data<AppState>,
    reader: Reader,
    path: GamePath,
    query: Query<ListMoves>,
) -> Result<HttpResponse, Problem> {
    let found = find_past(&state, path.0, reader.0).await?;
    let game = &found.seated.game;
    let limit = page_size(query.0.limit)?;
    let after = query.0.after(game, &state.cursors)?;
    let view = if query.0.include.is_some() { MoveView::with_board } else { MoveView::of };
    let remembered = if query.0.include.is_some() { None } else { remembered_history(&state, &found).await? };
    let (history, skipped) = if let Some(whole) = remembered {
        (whole, after)
    } else {
        let plies = state.reads.run(|db| async move { games::plies(&db, game, after, limit + 1).await }).await?;
        (Arc::new(History::of(&plies, view)), 0)
    };
    let page = history.page(skipped, limit);
    let next_cursor = page.more.then(|| cursor_after(&state.cursors, game, after + limit));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        let path = format!("/v1/games/{}/moves", game.id().0);
        let include = if query.0.include.is_some() { "&include=board" } else { "" };
        response.insert_header(next_link(&path, &format!("limit={limit}{include}"), cursor));
    }
    response.insert_header(cache_control(game)).insert_header(VARIES).content_type(ContentType::json());
    Ok(response.body(page.json(next_cursor.as_deref())))
}

/// The whole history of a game that is over. It never changes again, so it is read once and cached with the game.
pub(super) async fn remembered_history(
    state: &AppState,
    found: &Arc<Remembered>,
) -> Result<Option<Arc<History>>, Problem> {
    let game = &found.seated.game;
    if !game.status().is_over() || game.ply() > PLIES_CACHED_MAX {
        return Ok(None);
    }
    if let Some(history) = &found.history {
        return Ok(Some(history.clone()));
    }
    let plies = state.reads.run(|db| async move { games::plies(&db, game, 0, game.ply()).await }).await?;
    let history = Arc::new(History::of(&plies, MoveView::of).with_positions(&plies));
    state.recent.keep(&found.with_history(history.clone()));
    Ok(Some(history))
}

/// Writes a [`PlayedMove`] whose game is already JSON.
fn answer(
    mut response: HttpResponseBuilder,
    earlier: &[Ply],
    played: &MoveJson,
    game: &ShownGame,
    json: &[&[u8]; 2],
) -> HttpResponse {
    let mut body = Vec::with_capacity(ANSWER_BYTES);
    body.push(b'{');
    if !earlier.is_empty() {
        body.extend_from_slice(br#""earlier_moves":"#);
        let earlier: Vec<_> = earlier.iter().map(MoveView::of).collect();
        serde_json::to_writer(&mut body, &earlier).expect(ALWAYS_JSON);
        body.push(b',');
    }
    for part in [br#""move":"#, played.0.get().as_bytes(), br#","game":"#, json[0], json[1], b"}"] {
        body.extend_from_slice(part);
    }
    response.insert_header((header::ETAG, game.etag.clone())).insert_header(NOT_KEPT).insert_header(VARIES);
    response.content_type(ContentType::json()).body(body)
}

/// Room for nearly every answer to a move.
const ANSWER_BYTES: usize = 3072;

/// The game after moves that were just stored, and the plies before the last one of them. Its players are those from before.
fn after_moves(
    before: &SeatedGame,
    game: Game,
    events: &[Event],
    effects: Vec<Effect>,
) -> Result<(SeatedGame, Vec<Ply>), Problem> {
    let mut moves = events.iter().filter_map(|event| match &event.fact {
        Fact::Moved(moved) => Some((moved, event.at)),
        _ => None,
    });
    let (first, at) = moves.next().ok_or_else(|| Problem::internal("a stored move has no such event"))?;
    let since = before.last_ply.as_ref().map_or_else(|| Previous::opening(&before.game).at, |last| last.at);
    let mut plies = vec![];
    let mut further = moves.peekable();
    if further.peek().is_none() {
        plies.push(Ply::played(&before.game, since, first, at, effects).map_err(Problem::internal)?);
    } else {
        let mut previous = Previous { position: before.game.position().clone(), at: since };
        for (moved, at) in iter::once((first, at)).chain(further) {
            plies.push(Ply::replay(&before.game, &previous, moved, at).map_err(Problem::internal)?);
            previous = Previous { position: moved.position.clone(), at };
        }
    }
    let last_ply = plies.pop();
    let (players, invited) = (before.players.clone(), before.invited.clone());
    Ok((SeatedGame { game, players, invited, last_ply, hotseat_name: before.hotseat_name.clone() }, plies))
}

/// The largest ply number that the database's integers hold.
const PLY_MAX: u32 = i32::MAX as u32;

/// The most moves of one request: more than a turn has on any board that people play.
const TURN_MOVES_MAX: usize = 100;

/// A move to play, or several moves of one turn. Either `move` or `moves` is required.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayMove {
    /// The number of the move, or of the first one: the game's `ply` plus one.
    #[schema(minimum = 1, maximum = 2_147_483_647, example = 6)]
    ply: u32,
    /// A move out of the game's `legal_moves`: a pit's letter (capital for South, small for North), `pass` or `swap`.
    /// With four rows a letter may have a direction or a number; in Kalah with `capture=optional`, `~` declines a
    /// capture.
    #[serde(default, rename = "move", deserialize_with = "extract::some_text")]
    #[schema(nullable = false, example = "D")]
    word: Option<String>,
    /// The moves of a turn with extra moves, in order, instead of `move`. All are played, or none. Beside `move`, an empty list counts
    /// as absent.
    #[serde(default, rename = "moves", deserialize_with = "extract::some")]
    #[schema(nullable = false, max_items = 100)]
    words: Option<Vec<String>>,
}

impl PlayMove {
    fn asked(&self) -> Result<Asked<'_>, Problem> {
        let Self { ply, word, words } = self;
        let ply = *ply;
        let mut faults = Faults::default();
        if !(1..=PLY_MAX).contains(&ply) {
            faults.add(Problem::invalid_as(
                "out_of_range",
                "/ply",
                format!("plies are numbered from 1 to {PLY_MAX}"),
            ))?;
        }
        // A client that writes all fields, as those of Java do, sends an empty list with one move.
        let words = words.as_deref().filter(|words| word.is_none() || !words.is_empty());
        let asked = match (word, words) {
            (Some(word), None) => Ok(Asked::Play { ply, word }),
            (None, Some(words)) if (1..=TURN_MOVES_MAX).contains(&words.len()) => Ok(Asked::PlayTurn { ply, words }),
            (None, Some(_)) => {
                Err(Problem::invalid_as("wrong_length", "/moves", format!("from 1 to {TURN_MOVES_MAX} moves")))
            }
            (Some(_), Some(_)) => Err(Problem::invalid("/moves", "`move` and `moves` exclude each other")),
            (None, None) => Err(Problem::invalid_as("required", "/move", "missing field `move`")),
        };
        let asked = faults.take(asked)?;
        faults.unless_any(asked)
    }
}

/// The move, and the game after it.
// Only described here: `answer` writes it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the answer")]
pub struct PlayedMove {
    /// The last ply of the request.
    #[schema(rename = "move")]
    mv: MoveView,
    /// The plies before `move`, oldest first; absent if there was only one move.
    #[schema(nullable = false)]
    earlier_moves: Option<Vec<MoveView>>,
    /// The game after it. Its `last_move` has no effects if it is `move`, which has them.
    game: GameView,
}

/// Which part of the history to read.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListMoves {
    /// Only plies after this one.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64, default = 0)]
    after: Option<u32>,
    /// How many at most.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<u32>,
    /// Where to go on: `next_cursor` of the page before. Not together with `after`.
    #[param(min_length = 1)]
    cursor: Option<String>,
    /// `board`: each ply has `board`, `turn` and `legal_moves` after it.
    #[param(inline)]
    include: Option<IncludeWord>,
}

/// What the plies of a history have besides.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum IncludeWord {
    Board,
}

impl ListMoves {
    fn after(&self, game: &Game, cursors: &Cursors) -> Result<u32, Problem> {
        match (&self.cursor, self.after) {
            (None, after) => Ok(after.unwrap_or(0)),
            (Some(_), Some(_)) => Err(Problem::invalid("?after", "a cursor already says where to go on")),
            (Some(cursor), None) => {
                let ply = cursors.open(cursor, &list_of(game)).and_then(|ply| ply.parse().ok());
                ply.ok_or_else(|| Problem::invalid("?cursor", "not a cursor of this game's history"))
            }
        }
    }
}

/// A cursor is a ply's number, bound to its game.
fn cursor_after(cursors: &Cursors, game: &Game, ply: u32) -> String {
    cursors.seal(&ply.to_string(), &list_of(game))
}

fn list_of(game: &Game) -> String {
    format!("moves {}", game.id().0)
}
