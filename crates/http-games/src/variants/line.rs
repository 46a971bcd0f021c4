//! A line of moves played without a game: for dry runs, analysis boards, and clients that test their own rules.
//!
//! Nothing is stored. The handler first checks the line, and plays it again while it writes the answer. So an illegal line is
//! refused before anything is sent, and an answer of many megabytes is never in memory as a whole.

use std::{io, mem, vec};

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::ContentType,
    post,
    rt::task::yield_now,
    web::{Bytes, Data},
};
use futures_util::stream::{self, Stream};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::catalog::{chosen_options, standard};
use mancala_http::{
    answer::{
        code::Code,
        failures::{self, Failures, NotFound, ValidationFailed},
        problem::Problem,
    },
    layers::limits,
    request::{
        body::LONG_BODY,
        extract::{self, Body, NoQuery, Query, VariantPath},
    },
    state::AppState,
};
use mancala_rules::{AnyOptions, AnyPosition, Effect, IllegalMove, Move, OptionSpec, Outcome, Side, Variant};
use mancala_wire::view::{
    board::{BoardView, ScoreView, legal_moves},
    moves::{EffectJson, EffectView},
    options::OptionValueView,
    wire::SideWord,
};

/// The most moves of a line: several times the longest game between people, a match of many rounds.
const LINE_MOVES_MAX: usize = 2000;

/// How many moves of a line the rate limit counts as one call. They take two milliseconds at most, and a game has fewer. So
/// long lines cost a client as many calls as the same moves in short lines.
const MOVES_PER_CALL: usize = 100;

/// How many moves are played before the handler yields to other requests of its thread: a millisecond or two.
const MOVES_AT_ONCE: usize = 20;

/// How many bytes of an answer are written before they are sent, and the handler yields.
const BYTES_AT_ONCE: usize = 16 * 1024;

/// Play a line
///
/// From the opening, or from `position`. Nothing is stored. The answer shows every move as a game's history does, with the
/// position after it.
///
/// - `illegal_move`: with `index`, `reason`, `legal_moves` and the `position` before it
#[utoipa::path(
    tag = "variants",
    operation_id = "play_line",
    params(("variant" = String, Path, description = "The variant's name", example = "kalah")),
    request_body(content = PlayLine, examples(
        ("from the opening" = (value = json!({"moves": ["C", "F", "a"]}))),
        ("from a position, with options" = (value = json!({"preset": "bga", "options": {"pie": true},
            "position": "4,4,4,4,4,0/5,5,5,4,4,4 1-0 N p 1 1S", "moves": ["swap"]}))),
    )),
    responses(
        (status = 200, description = "Where the line starts, and its moves; an answer that breaks off is incomplete",
            body = PlayedLine),
        Failures<(NotFound, ValidationFailed, failures::IllegalMove)>,
    ),
    security((), ("bearer" = []))
)]
#[post("/variants/{variant}/play")]
pub async fn play_line(
    _state: Data<AppState>,
    path: VariantPath,
    _: Query<NoQuery>,
    body: Body<PlayLine, LONG_BODY>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let (start, words) = body.0.start(path.0)?;
    let more_calls = words.len().saturating_sub(1) / MOVES_PER_CALL;
    limits::count_more(&request, u32::try_from(more_calls).unwrap_or(u32::MAX))?;
    let moves = check(start.clone(), &words).await?;
    Ok(HttpResponse::Ok().insert_header(ContentType::json()).streaming(written(start, moves)))
}

/// The position of a text, or the opening. `pointer` names the field with the text.
pub fn start(options: &AnyOptions, position: Option<&str>, pointer: &str) -> Result<AnyPosition, Problem> {
    let Some(text) = position else { return Ok(AnyPosition::opening(options)) };
    AnyPosition::parse(options, text).map_err(|error| Problem::invalid(pointer, error.to_string()))
}

/// The moves of a line, all of them legal; or a problem that names the first illegal one, and why.
async fn check(mut position: AnyPosition, words: &[String]) -> Result<Vec<Move>, Problem> {
    let mut moves = Vec::with_capacity(words.len());
    for (index, word) in words.iter().enumerate() {
        if index % MOVES_AT_ONCE == MOVES_AT_ONCE - 1 {
            yield_now().await;
        }
        let refused = |reason, why: &dyn std::fmt::Display| {
            Problem::new(Code::IllegalMove, format!("/moves/{index}: {why}"))
                .with_legal_moves(reason, legal_moves(&position))
                .with_place(index, position.to_string())
        };
        let m = position.read_move(word).map_err(|error| refused("not_a_move", &error))?;
        // A listed move needs no trial. An agreed end is legal, but never listed.
        if !position.legal_moves().contains(&m) {
            position.play(m).map_err(|illegal| refused(illegal.reason(), &illegal))?;
        }
        position.play_unchecked(m);
        moves.push(m);
    }
    Ok(moves)
}

/// Streams the answer, a few moves at a time. A slow client keeps no more than these in memory.
fn written(start: AnyPosition, moves: Vec<Move>) -> impl Stream<Item = Result<Bytes, io::Error>> {
    let mut text = serde_json::to_vec(&PlayedLine::without_moves(&start)).expect("wire types are always JSON");
    // The list of moves is the last field, and empty.
    text.truncate(text.len() - "]}".len());
    let writer = LineWriter { text, position: start, remaining: moves.into_iter(), comma: "" };
    stream::unfold(Some(writer), |writer| async {
        let mut writer = writer?;
        yield_now().await;
        let more = match writer.write_some() {
            Ok(more) => more,
            // The status is sent already, so the stream can only break off.
            Err(illegal) => {
                tracing::error!("a line that was checked broke off: {illegal}");
                return Some((Err(io::Error::other("the line broke off")), None));
            }
        };
        let text = Bytes::from(mem::take(&mut writer.text));
        Some((Ok(text), more.then_some(writer)))
    })
}

/// Writes an answer, piece by piece.
struct LineWriter {
    /// The text that is not yet sent.
    text: Vec<u8>,
    position: AnyPosition,
    remaining: vec::IntoIter<Move>,
    comma: &'static str,
}

impl LineWriter {
    /// Writes some moves, or the end. Returns whether there is more.
    fn write_some(&mut self) -> Result<bool, IllegalMove> {
        for _ in 0..MOVES_AT_ONCE {
            let Some(m) = self.remaining.next() else {
                self.text.extend(b"]}");
                return Ok(false);
            };
            let (next, effects) = self.position.play(m)?;
            self.text.extend(mem::replace(&mut self.comma, ",").bytes());
            let played = LineMoveView::of(m, self.position.turn(), &effects, &next);
            serde_json::to_writer(&mut self.text, &played)
                .expect("wire types are always JSON, and a Vec takes everything");
            self.position = next;
            if self.text.len() >= BYTES_AT_ONCE {
                break;
            }
        }
        Ok(true)
    }
}

/// A line of moves.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayLine {
    /// A preset of the variant; `standard` unless given.
    #[serde(default = "standard")]
    #[schema(required = false, example = "standard")]
    preset: String,
    /// The options that differ from the preset.
    #[serde(default, deserialize_with = "extract::entries")]
    #[schema(required = false, value_type = BTreeMap<String, OptionValueView>)]
    options: Vec<(String, OptionValueView)>,
    /// The start position, in text notation; the opening unless given. Earlier positions are unknown, so a rule against
    /// repetition counts from here.
    #[schema(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: Option<String>,
    /// Pits' letters (capital for South, small for North), `pass` and `swap`. With four rows a letter may have a direction or a
    /// number, as `CU`, `HV` and `C7`. Where the rules know an agreed end also `agree`,
    /// which needs no offer here.
    #[schema(max_items = 2000, example = json!(["C", "F", "a"]))]
    moves: Vec<String>,
}

impl PlayLine {
    /// Where the line starts, and its moves as they were sent.
    fn start(self, variant: Variant) -> Result<(AnyPosition, Vec<String>), Problem> {
        if self.moves.len() > LINE_MOVES_MAX {
            return Err(Problem::invalid("/moves", format!("a line has at most {LINE_MOVES_MAX} moves")));
        }
        // The options of a game may have values that can no longer be chosen.
        let options = chosen_options(variant, &self.preset, self.options, OptionSpec::recorded_kind)?;
        Ok((start(&options, self.position.as_deref(), "/position")?, self.moves))
    }
}

/// A line that was played. All fields but `moves` describe its start.
#[derive(Debug, Serialize, ToSchema)]
struct PlayedLine {
    /// In text notation. If the rules end the game in the `position` of the request, this is the position after that end.
    #[schema(example = "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S")]
    position: String,
    board: BoardView,
    /// The side to move; null if the game is over.
    #[schema(required = true)]
    turn: Option<SideWord>,
    /// What the side to move may play.
    #[schema(example = json!(["A", "B", "C", "D", "E", "F"]))]
    legal_moves: Vec<String>,
    /// Null unless the game is over.
    #[schema(required = true)]
    result: Option<OutcomeView>,
    moves: Vec<LineMoveView>,
}

/// A move of a line.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LineMove)]
struct LineMoveView {
    #[serde(rename = "move")]
    #[schema(example = "C")]
    word: String,
    /// The side that made it.
    side: SideWord,
    /// What happened on the board, in order.
    #[schema(value_type = Vec<EffectView>)]
    effects: Vec<EffectJson>,
    /// The position after it, in text notation.
    #[schema(example = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")]
    position: String,
    board: BoardView,
    /// The side to move next; null if the game is over.
    #[schema(required = true)]
    turn: Option<SideWord>,
    /// What that side may play.
    #[schema(example = json!(["A", "B", "D", "E", "F"]))]
    legal_moves: Vec<String>,
    /// Null unless the game is over.
    #[schema(required = true)]
    result: Option<OutcomeView>,
}

/// How the rules ended a game.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Outcome)]
struct OutcomeView {
    /// Null on a draw.
    #[schema(required = true)]
    winner: Option<SideWord>,
    /// `side_empty`, `no_move`, `majority` and others; null where the line starts at a position that is flagged as finished.
    #[schema(required = true, example = "side_empty")]
    reason: Option<String>,
    score: ScoreView,
}

impl PlayedLine {
    fn without_moves(start: &AnyPosition) -> Self {
        Self {
            position: start.to_string(),
            board: BoardView::of(start),
            turn: turn(start),
            legal_moves: legal_moves(start),
            result: start.outcome().map(OutcomeView::of),
            moves: vec![],
        }
    }
}

impl LineMoveView {
    fn of(m: Move, side: Side, effects: &[Effect], after: &AnyPosition) -> Self {
        Self {
            word: m.to_string(),
            side: side.into(),
            effects: effects.iter().map(EffectJson::of).collect(),
            position: after.to_string(),
            board: BoardView::of(after),
            turn: turn(after),
            legal_moves: legal_moves(after),
            result: after.outcome().map(OutcomeView::of),
        }
    }
}

impl OutcomeView {
    fn of(outcome: Outcome) -> Self {
        let Outcome { winner, reason, score } = outcome;
        Self {
            winner: winner.map(SideWord::from),
            reason: reason.map(|reason| reason.to_string()),
            score: ScoreView { south: score.south, north: score.north },
        }
    }
}

fn turn(position: &AnyPosition) -> Option<SideWord> {
    position.outcome().is_none().then(|| position.turn().into())
}
