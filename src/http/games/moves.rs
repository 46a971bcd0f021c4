//! Moves: play one, read the history.

use std::sync::Arc;

use actix_web::{
    HttpResponse, HttpResponseBuilder, get,
    http::header::{self, ContentType},
    post,
    web::Data,
};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    change::{Carried, carry_out},
    lifecycle::{find_past, kept},
    recent::Remembered,
    view::{GameView, ScoreView, ShownGame, legal_moves},
};
use crate::{
    db::games::{self, SeatedGame},
    domain::{Action, Command, Event, Fact, Game, Ply, PlyAction, Previous, Refusal},
    http::{
        answer::{
            cursor::Cursors,
            headers::{NOT_KEPT, VARIES},
            problem::{Problem, ProblemBody},
            wire::{ALWAYS_JSON, PAGE_SIZE_MAX, SideWord, Timestamp, next_link, page_size},
        },
        request::{
            auth::{Caller, Reader},
            extract::{Body, GamePath, IfMatch, NoQuery, Query},
        },
        state::AppState,
    },
    rules::{Effect, Place, Side},
};

/// Play a move
///
/// `ply` is the number that the move will bear: one more than the game's. So a move is safe to send again: the second
/// time it is found in the log and answered with 200, and nothing is played twice.
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
        (status = 403, description = "`not_seated`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_not_started`, `game_over`, `stale_ply`, `not_your_turn`: with `game` and `moves`",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 412, description = "`precondition_failed`", body = ProblemBody,
            content_type = "application/problem+json"),
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
    let PlayMove { ply, word } = &body.0;
    let ply = *ply;
    if !(1..=PLY_MAX).contains(&ply) {
        return Err(Problem::invalid("/ply", format!("plies are numbered from 1 to {PLY_MAX}")));
    }
    let command =
        Command { player: caller.player, if_version: if_match.0.as_deref(), action: Action::Play { ply, word } };
    match carry_out(&state, path.0, &command).await? {
        Carried::Out { before, game, events, effects } => {
            let seated = after_move(&before.seated, game, &events, effects)?;
            let played = seated.last_ply.as_ref().map(MoveJson::of);
            let played = played.ok_or_else(|| Problem::internal("a move was stored but is not there"))?;
            let after = Remembered::after_move(seated, before.read_at, played.clone());
            state.recent.keep(&after);
            state.metrics.move_played(after.seated.game.terms().options.variant().word());
            Ok(answer(HttpResponse::Created(), &played, after.shown(Some(caller.player))))
        }
        Carried::Already { found, recorded } => {
            let recorded = recorded.ok_or_else(|| Problem::internal("a move that the log has is not there"))?;
            Ok(answer(HttpResponse::Ok(), &MoveJson::of(&recorded), found.shown(Some(caller.player))))
        }
        Carried::Refused { found, refusal } => {
            let seated = &found.seated;
            let problem = Problem::from(&refusal);
            Err(match refusal {
                Refusal::Illegal(illegal) => {
                    problem.with_legal_moves(illegal.reason(), legal_moves(seated.game.position()))
                }
                Refusal::NotAMove => problem.with_legal_moves("not_a_move", legal_moves(seated.game.position())),
                Refusal::NotStarted | Refusal::Over | Refusal::StalePly { .. } | Refusal::NotYourTurn => {
                    let unseen = games::plies(&state.db, &seated.game, ply - 1, PAGE_SIZE_MAX).await?;
                    problem
                        .with_game(GameView::of(seated, Some(caller.player)))
                        .with_moves(unseen.iter().map(MoveView::of).collect())
                }
                _ => problem,
            })
        }
    }
}

/// Read the history
///
/// Every ply that was ever played, oldest first, with what happened frame by frame.
#[utoipa::path(
    tag = "moves",
    operation_id = "list_moves",
    params(("id" = Uuid, Path, description = "The game's id"), ListMoves),
    responses(
        (status = 200, description = "A page of the history", body = MovePage,
            headers(("Link" = String, description = "Where the next page is, if there is one"))),
        (status = 404, description = "`not_found`", body = ProblemBody, content_type = "application/problem+json"),
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
    let (history, skipped) = match remembered_history(&state, &found).await? {
        Some(whole) => (whole, after),
        None => (Arc::new(History::of(&games::plies(&state.db, game, after, limit + 1).await?)), 0),
    };
    let page = history.page(skipped, limit);
    let next_cursor = page.more.then(|| cursor_after(&state.cursors, game, after + limit));
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = &next_cursor {
        let path = format!("/v1/games/{}/moves", game.id().0);
        response.insert_header(next_link(&path, &format!("limit={limit}"), cursor));
    }
    response.insert_header(kept(game)).insert_header(VARIES).content_type(ContentType::json());
    Ok(response.body(page.json(next_cursor.as_deref())))
}

/// The whole history of a game that is over, which never changes again; read once, and remembered with the game.
async fn remembered_history(state: &AppState, found: &Arc<Remembered>) -> Result<Option<Arc<History>>, Problem> {
    let game = &found.seated.game;
    if !game.status().is_over() || game.ply() > PLIES_REMEMBERED_MAX {
        return Ok(None);
    }
    if let Some(history) = &found.history {
        return Ok(Some(history.clone()));
    }
    let history = Arc::new(History::of(&games::plies(&state.db, game, 0, game.ply()).await?));
    state.recent.keep(&found.with_history(history.clone()));
    Ok(Some(history))
}

/// Games that are longer are read page by page: hardly any are.
const PLIES_REMEMBERED_MAX: u32 = 300;

/// Plies of a game as JSON.
#[derive(Debug)]
pub struct History {
    json: Vec<u8>,
    /// Where in it each ply ends.
    ends: Vec<usize>,
}

/// Some plies of a history.
struct Page<'a> {
    /// Their JSON, with commas in between.
    items: &'a [u8],
    /// Whether there are more after them.
    more: bool,
}

impl History {
    fn of(plies: &[Ply]) -> Self {
        let mut history = Self { json: vec![], ends: Vec::with_capacity(plies.len()) };
        for ply in plies {
            if !history.ends.is_empty() {
                history.json.push(b',');
            }
            serde_json::to_writer(&mut history.json, &MoveView::of(ply)).expect(ALWAYS_JSON);
            history.ends.push(history.json.len());
        }
        history.json.shrink_to_fit();
        history
    }

    /// Up to `limit` plies after the first `skipped` ones.
    fn page(&self, skipped: u32, limit: u32) -> Page<'_> {
        let at = |count: u32| usize::try_from(count).unwrap_or(usize::MAX).min(self.ends.len());
        let (begin, end) = (at(skipped), at(skipped.saturating_add(limit)));
        // Between two plies there is a comma.
        let begins = begin.checked_sub(1).map_or(0, |before| (self.ends[before] + 1).min(self.json.len()));
        let ends = end.checked_sub(1).map_or(0, |last| self.ends[last]);
        Page { items: &self.json[begins.min(ends)..ends], more: end < self.ends.len() }
    }

    /// How much memory it takes, in bytes.
    pub fn weight(&self) -> usize {
        self.json.len() + self.ends.len() * size_of::<usize>()
    }
}

impl Page<'_> {
    /// A [`MovePage`].
    fn json(&self, next_cursor: Option<&str>) -> Vec<u8> {
        let cursor = serde_json::to_string(&next_cursor).expect(ALWAYS_JSON);
        [br#"{"items":["#, self.items, br#"],"next_cursor":"#, cursor.as_bytes(), b"}"].concat()
    }
}

/// A [`PlayedMove`] of which the game is already JSON.
fn answer(mut response: HttpResponseBuilder, played: &MoveJson, game: ShownGame) -> HttpResponse {
    let body = [br#"{"move":"#, played.0.get().as_bytes(), br#","game":"#, &game.json, b"}"].concat();
    response.insert_header((header::ETAG, game.etag)).insert_header(NOT_KEPT).insert_header(VARIES);
    response.content_type(ContentType::json()).body(body)
}

/// The game after a move that was just stored, with the people who were there before it.
fn after_move(before: &SeatedGame, game: Game, events: &[Event], effects: Vec<Effect>) -> Result<SeatedGame, Problem> {
    let moved = events.iter().find_map(|event| match &event.fact {
        Fact::Moved(moved) => Some((moved, event.at)),
        _ => None,
    });
    let (moved, at) = moved.ok_or_else(|| Problem::internal("a move was stored as something else"))?;
    let since = before.last_ply.as_ref().map_or_else(|| Previous::opening(&before.game).at, |last| last.at);
    let last_ply = Some(Ply::played(&before.game, since, moved, at, effects).map_err(Problem::internal)?);
    Ok(SeatedGame { game, players: before.players.clone(), invited: before.invited.clone(), last_ply })
}

/// The largest number of a ply: what the database's integers hold.
const PLY_MAX: u32 = i32::MAX as u32;

/// A move to play.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayMove {
    /// The number that the move will bear: the game's `ply` plus one.
    #[schema(minimum = 1, maximum = 2_147_483_647, example = 6)]
    ply: u32,
    /// One of the game's `legal_moves`: a pit's letter (capital for South, small for North), `pass` or `swap`.
    #[serde(rename = "move")]
    #[schema(example = "D")]
    word: String,
}

/// The move, and the game after it.
// Only described here: `answer` writes it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the answer")]
pub struct PlayedMove {
    #[schema(rename = "move")]
    mv: MoveView,
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

/// A page of a game's history.
// Only described here: `Page` writes it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the answer")]
pub struct MovePage {
    items: Vec<MoveView>,
    /// What `cursor` must be to get the next page; null on the last.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// A ply as the history shows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Move)]
pub struct MoveView {
    /// Its number in the game, from 1; never used twice.
    #[schema(minimum = 1, example = 6)]
    ply: u32,
    /// The side of the board that it was played for.
    side: SideWord,
    /// Who played it.
    player_id: Uuid,
    #[serde(rename = "move")]
    #[schema(example = "D")]
    word: String,
    at: Timestamp,
    /// Time since the ply before; of the first, since the game started.
    #[schema(minimum = 0, example = 12400)]
    elapsed_ms: u64,
    /// What happened on the board, in order: enough to animate the move without knowing a rule.
    effects: Vec<EffectView>,
    /// The position after it, in text notation.
    #[schema(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: String,
}

/// One frame of a move. Clients ignore types that they do not know.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = Effect)]
pub enum EffectView {
    /// All seeds of a pit are taken into the hand.
    Lift {
        #[schema(example = "D")]
        pit: String,
        seeds: u16,
    },
    /// The sowing goes on: all seeds of the pit where the last one fell are taken into the hand.
    Relay {
        #[schema(example = "d")]
        pit: String,
        seeds: u16,
    },
    /// One seed falls: into a pit (its letter), or into `south_store` or `north_store`.
    Sow {
        #[schema(example = "E")]
        to: String,
    },
    /// Seeds are taken from pits into a store.
    Capture {
        #[schema(example = json!(["C", "d"]))]
        from: Vec<String>,
        seeds: u16,
        #[schema(example = "south_store")]
        to: String,
    },
    /// The last seed fell into the own store: the same side moves again.
    ExtraTurn,
    /// The people change places; the board stays.
    Swap,
    /// What was played after that ply is taken back: the position after it is there again.
    Takeback {
        #[schema(minimum = 0)]
        to_ply: u32,
    },
    /// An extra move is declined.
    Pass,
    /// At the end, the seeds left in a side's pits go to a store.
    Sweep {
        side: SideWord,
        seeds: u16,
        #[schema(example = "north_store")]
        to: String,
    },
    /// At the end, the seeds left in all pits are put together and shared evenly between the stores.
    Split {
        /// What goes to each store.
        #[schema(example = 3)]
        seeds: u16,
        /// The pit where an odd seed stays.
        #[schema(required = true, example = "A")]
        odd: Option<String>,
    },
    /// One of several rounds is over.
    RoundOver {
        #[schema(minimum = 1, example = 1)]
        round: u32,
        score: ScoreView,
    },
    /// For a new round, seeds go from a side's store to its pits, as many to each. The pits of that row that are not named
    /// are burnt until the next refill.
    Refill {
        side: SideWord,
        #[schema(example = json!(["b", "c", "d", "e", "f", "g"]))]
        pits: Vec<String>,
        #[schema(example = 7)]
        seeds: u16,
    },
    /// The rules end the game.
    GameOver {
        #[schema(example = "side_empty")]
        reason: String,
    },
}

/// A [`MoveView`] that is already JSON: an answer to a move shows it twice, in the game and beside it.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct MoveJson(Arc<RawValue>);

impl MoveJson {
    pub fn of(ply: &Ply) -> Self {
        Self(to_raw_value(&MoveView::of(ply)).expect(ALWAYS_JSON).into())
    }
}

impl MoveView {
    pub fn of(ply: &Ply) -> Self {
        Self {
            ply: ply.number,
            side: ply.side.into(),
            player_id: ply.player.0,
            word: ply.mv.to_string(),
            at: Timestamp(ply.at),
            elapsed_ms: u64::try_from(ply.elapsed.whole_milliseconds()).unwrap_or(0),
            effects: match ply.mv {
                PlyAction::Move(_) => ply.effects.iter().map(EffectView::of).collect(),
                PlyAction::Takeback { to_ply } => vec![EffectView::Takeback { to_ply }],
            },
            position: ply.position.to_string(),
        }
    }
}

impl EffectView {
    pub fn of(effect: &Effect) -> Self {
        let store = |side: &Side| Place::Store(*side).to_string();
        match effect {
            Effect::Lift { pit, seeds } => EffectView::Lift { pit: pit.to_string(), seeds: *seeds },
            Effect::Relay { pit, seeds } => EffectView::Relay { pit: pit.to_string(), seeds: *seeds },
            Effect::Sow { to } => EffectView::Sow { to: to.to_string() },
            Effect::Capture { from, seeds, to } => EffectView::Capture {
                from: from.iter().map(ToString::to_string).collect(),
                seeds: *seeds,
                to: store(to),
            },
            Effect::ExtraTurn => EffectView::ExtraTurn,
            Effect::Swap => EffectView::Swap,
            Effect::Pass => EffectView::Pass,
            Effect::Sweep { side, seeds, to } => {
                EffectView::Sweep { side: (*side).into(), seeds: *seeds, to: store(to) }
            }
            Effect::Split { seeds, odd } => {
                EffectView::Split { seeds: *seeds, odd: odd.as_ref().map(ToString::to_string) }
            }
            Effect::RoundOver { round, score } => {
                EffectView::RoundOver { round: *round, score: ScoreView { south: score.south, north: score.north } }
            }
            Effect::Refill { side, pits, seeds } => EffectView::Refill {
                side: (*side).into(),
                pits: pits.iter().map(ToString::to_string).collect(),
                seeds: *seeds,
            },
            Effect::GameOver { reason } => EffectView::GameOver { reason: reason.to_string() },
        }
    }
}
