//! Offers: a draw, an agreed end, a takeback, a pause, a rematch.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, HttpResponse, dev::Payload, post, web::Data};
use mancala_db::games::{self, AppendExtras};
use mancala_domain::{Event, Game, GameId, OfferAnswer, OfferKind};
use mancala_http::{
    answer::{
        failures::{
            Failures, GameNotStarted, GameOver, NoSuchOffer, NotFound, NotSeated, OfferNotPossible, OfferPending,
            PreconditionFailed, TooManyGames,
        },
        problem::Problem,
    },
    request::{
        conditional::IfMatch,
        extract::{self, Body, GamePath, NoQuery, Nothing, OptionalBody, Query},
        idempotency::{self, IdempotencyKey, KeyedRequest},
        player,
    },
    state::{AppState, recent::Remembered, tokens::Caller},
};
use mancala_wire::view::game::GameView;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    asked::{Asked, Request},
    change::{Executed, answer_with, execute_with, shown_after},
    create::begun,
    find::find_visible,
};

/// Make an offer
///
/// The other player accepts or declines it. If the other player has made the same offer, this call accepts it. Making a pending
/// offer again is 200.
///
/// A draw and an agreed end (`end`, in Oware) end the game. A takeback undoes the caller's last turn and all moves since. A pause
/// stops the clock until either player withdraws it. A rematch, once the game is over, begins another game with the sides
/// exchanged. A move by the other side declines a draw, an end and a takeback.
///
/// In practice the computer agrees at once to a takeback and to a rematch: the answer shows their effect. Under an
/// `Idempotency-Key`, a takeback that is sent again takes back nothing more.
#[utoipa::path(
    tag = "offers",
    operation_id = "make_offer",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
            description = "For a day, the same key and body get the game again, and nothing is offered twice"),
    ),
    request_body(content = MakeOffer, example = json!({"type": "draw"})),
    responses(
        (status = 201, description = "The game, with the offer or with its effect", body = GameView,
            headers(("Location" = String, description = "Where the game is"), ("ETag" = String, description = "Its version"),
                ("Idempotent-Replayed" = Option<String>, description = "`true`: this was answered before under the same key"))),
        (status = 200, description = "The game, unchanged: it already has the offer or its effect", body = GameView),
        Failures<(
            NotSeated, NotFound, GameNotStarted, GameOver, OfferPending, OfferNotPossible, TooManyGames,
            PreconditionFailed,
        )>,
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/offers")]
pub async fn make_offer(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    key: IdempotencyKey,
    _: Query<NoQuery>,
    body: Body<MakeOffer>,
) -> Result<HttpResponse, Problem> {
    let keyed = KeyedRequest::of(key, caller, &format!("/v1/games/{}/offers", path.0.0), &body.0);
    if let Some(keyed) = &keyed
        && keyed.stored_answer(&state).await?.is_some()
    {
        return replay(&state, caller, path.0).await;
    }
    let asked = Asked::Offer { kind: body.0.kind.into() };
    let executed = execute_offer(&state, caller, path.0, &if_match, asked, keyed.as_ref()).await?;
    let is_new = matches!(executed, Executed::Changed { .. });
    // A concurrent request with this key was stored first.
    if let (Some(keyed), false) = (&keyed, is_new)
        && keyed.stored_answer(&state).await?.is_some()
    {
        return replay(&state, caller, path.0).await;
    }
    let game = shown_after(&state, caller, path.0, executed).await?;
    Ok(if is_new { idempotency::created(&game.as_created(path.0)) } else { answer_with(game) })
}

/// The answer to an offer that was already made under the same key: the current state of the game. The first answer is not stored, because
/// it has names that may be erased later.
async fn replay(state: &AppState, caller: Caller, id: GameId) -> Result<HttpResponse, Problem> {
    let found = find_visible(state, id, Some(caller.player)).await?;
    Ok(idempotency::replayed(&found.shown(Some(caller.player)).as_created(id)))
}

/// Accept an offer
///
/// Only for the other side. Accepting again is 200.
#[utoipa::path(
    tag = "offers",
    operation_id = "accept_offer",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("type" = OfferChoice, Path, description = "What was offered"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    responses(
        (status = 200, description = "The game after it; for a rematch, `rematch_game_id` is the new game", body = GameView),
        Failures<(NotSeated, NotFound, NoSuchOffer, OfferNotPossible, TooManyGames, PreconditionFailed)>,
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/offers/{type}/accept")]
pub async fn accept_offer(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    offer: OfferPath,
    if_match: IfMatch,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    answer_offer(&state, caller, path, &offer, &if_match, OfferAnswer::Accept).await
}

/// Decline an offer
///
/// Only for the other side.
#[utoipa::path(
    tag = "offers",
    operation_id = "decline_offer",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("type" = OfferChoice, Path, description = "What was offered"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    responses(
        (status = 200, description = "The game without the offer", body = GameView),
        Failures<(NotSeated, NotFound, NoSuchOffer, OfferNotPossible, PreconditionFailed)>,
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/offers/{type}/decline")]
pub async fn decline_offer(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    offer: OfferPath,
    if_match: IfMatch,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    answer_offer(&state, caller, path, &offer, &if_match, OfferAnswer::Decline).await
}

/// Withdraw an offer
///
/// Only for the side that made it. Either side may withdraw an accepted pause: the clock runs again.
#[utoipa::path(
    tag = "offers",
    operation_id = "withdraw_offer",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("type" = OfferChoice, Path, description = "What was offered"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    responses(
        (status = 200, description = "The game without the offer", body = GameView),
        Failures<(NotSeated, NotFound, NoSuchOffer, OfferNotPossible, PreconditionFailed)>,
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/offers/{type}/withdraw")]
pub async fn withdraw_offer(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    offer: OfferPath,
    if_match: IfMatch,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    answer_offer(&state, caller, path, &offer, &if_match, OfferAnswer::Withdraw).await
}

async fn answer_offer(
    state: &AppState,
    caller: Caller,
    path: GamePath,
    offer: &OfferPath,
    if_match: &IfMatch,
    answer: OfferAnswer,
) -> Result<HttpResponse, Problem> {
    let asked = Asked::Answer { kind: offer.0, answer };
    let executed = execute_offer(state, caller, path.0, if_match, asked, None).await?;
    Ok(answer_with(shown_after(state, caller, path.0, executed).await?))
}

/// Executes the action that makes or answers an offer. One transaction stores the events, the answer's address under the key, and the
/// rematch if both players want it.
async fn execute_offer(
    state: &AppState,
    caller: Caller,
    id: GameId,
    if_match: &IfMatch,
    asked: Asked<'_>,
    keyed: Option<&KeyedRequest>,
) -> Result<Executed, Problem> {
    player::find(state, caller).await?;
    let request = Request { player: caller.player, if_version: if_match.0.as_deref(), asked };
    let kept =
        idempotency::Answer { location: format!("/v1/games/{}", id.0), etag: String::new(), body: String::new() };
    let append = async |before: &Remembered, next: &Game, events: &[Event]| {
        let mut rematch = before.seated.game.begin_rematch(events);
        if let Some((_, log)) = &mut rematch {
            log[0] = begun(state, log[0].clone()).await?;
        }
        let extras = AppendExtras { keyed: keyed.map(|keyed| keyed.keep(&kept)), begun: rematch };
        if extras.keyed.is_none() && extras.begun.is_none() {
            return games::append(&state.writers, next, events).await;
        }
        games::append_with(&state.db, state.writers.announcer(), next, events, &extras).await
    };
    execute_with(state, id, &request, append).await
}

/// What to offer.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeOffer {
    #[serde(rename = "type", deserialize_with = "extract::word")]
    kind: OfferChoice,
}

/// What can be offered.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum OfferChoice {
    /// To end the game without a winner.
    Draw,
    /// To end the game by agreement, where the rules allow it (Oware): each side takes the seeds of its own row.
    End,
    /// To undo the last turn of the player that offers, and all moves since.
    Takeback,
    /// To stop the clock until either player withdraws the pause.
    Pause,
    /// To play another game with the same settings, and with the sides exchanged.
    Rematch,
}

impl From<OfferChoice> for OfferKind {
    fn from(word: OfferChoice) -> Self {
        match word {
            OfferChoice::Draw => OfferKind::Draw,
            OfferChoice::End => OfferKind::End,
            OfferChoice::Takeback => OfferKind::Takeback,
            OfferChoice::Pause => OfferKind::Pause,
            OfferChoice::Rematch => OfferKind::Rematch,
        }
    }
}

/// The kind of offer that the path names.
#[derive(Clone, Copy, Debug)]
pub struct OfferPath(OfferKind);

impl FromRequest for OfferPath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let named = request.match_info().get("type");
        let kind = named.and_then(|word| OfferKind::ALL.into_iter().find(|kind| kind.as_str() == word));
        ready(kind.map(Self).ok_or_else(|| Problem::not_found("there is no such kind of offer")))
    }
}
