//! Everything that is held about the caller, as one JSON document, written while it is read: however many games there are,
//! few are in memory at once.

use std::{fmt::Display, io};

use actix_web::{
    HttpResponse, get,
    http::header::{self, ContentType},
    web::{Bytes, Data},
};
use futures_util::stream::{self, Stream};
use serde::Serialize;
use sqlx::PgPool;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    clock::now,
    db::{
        DbError,
        games::{self, SeatedGame},
        idempotency,
        lists::invitations::{self, Direction},
        players::refresh_tokens,
        study::{analyses, notes},
        webhooks,
    },
    domain::{GameId, PlayerId, Ply},
    http::{
        answer::problem::Problem,
        players::profiles::ProfileView,
        request::{
            extract::{NoQuery, Query},
            player,
        },
        state::{AppState, tokens::Caller},
        study::notes::NoteView,
        view::{
            game::GameView,
            moves::MoveView,
            wire::{ALWAYS_JSON, Timestamp},
        },
        webhooks::endpoints::WebhookView,
    },
};

/// Games that are in memory at once: some hundred KiB.
const GAMES_AT_ONCE: u32 = 20;

/// Notes that are in memory at once: a MiB and a half at most.
const NOTES_AT_ONCE: u32 = 100;

/// Sign-ins, keys and invitations that are shown at most, the newest.
const LISTED_MAX: u32 = 1000;

/// Export everything held about the caller
///
/// Profile, sign-ins, keys of requests and open invitations (the newest 1,000 of each), all notes, and all games with their histories.
/// An account's password is held as a hash, which is not shown, nor are the secrets of webhooks.
#[utoipa::path(
    tag = "players",
    operation_id = "export_me",
    responses((status = 200, description = "Everything; an answer that breaks off is not all of it", body = Export)),
    security(("bearer" = []))
)]
#[get("/me/export")]
pub async fn export_me(state: Data<AppState>, caller: Caller, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    let own = player::find(&state, caller).await?;
    let sign_ins = refresh_tokens::list(&state.db, caller.player, now(), LISTED_MAX).await?;
    let keys = idempotency::list(&state.db, caller.player, now(), LISTED_MAX).await?;
    let invitations = invitations::list(&state.db, caller.player, Direction::Received, None, LISTED_MAX).await?;
    let export = Export {
        player: ProfileView::of(&state, &own.player).await?,
        sign_ins: sign_ins
            .into_iter()
            .map(|sign_in| SignInView { id: sign_in.family, expires_at: Timestamp(sign_in.expires_at) })
            .collect(),
        idempotency_keys: keys.into_iter().map(|(key, at)| KeyView { key, created_at: Timestamp(at) }).collect(),
        analysis_requests: analyses::list_requests(&state.db, caller.player)
            .await?
            .into_iter()
            .map(|(game, at)| AnalysisRequestView { game_id: game.0, requested_at: Timestamp(at) })
            .collect(),
        webhooks: webhooks::list(&state.db, caller.player).await?.iter().map(WebhookView::of).collect(),
        invitations: invitations.games.iter().map(|seated| GameView::of(seated, Some(caller.player))).collect(),
        notes: vec![],
        games: vec![],
    };
    Ok(HttpResponse::Ok()
        .insert_header(ContentType::json())
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .streaming(with_lists(&export, state.db.clone(), caller.player)))
}

/// How far an export has been written.
#[derive(Clone, Copy)]
enum Written {
    Nothing,
    Notes { after: Option<(GameId, u32)> },
    Games { before: Option<GameId> },
    All,
}

/// The export's text, with the notes and games in it page by page.
fn with_lists(export: &Export, db: PgPool, player: PlayerId) -> impl Stream<Item = Result<Bytes, io::Error>> + use<> {
    let text = serde_json::to_string(export).expect(ALWAYS_JSON);
    // The last two fields are the lists, both empty.
    let head = Bytes::from(text.strip_suffix(r#"],"games":[]}"#).unwrap_or(&text).to_owned());
    stream::unfold(Written::Nothing, move |written| {
        let (db, head) = (db.clone(), head.clone());
        async move {
            let piece = match written {
                Written::Nothing => Ok((head, Written::Notes { after: None })),
                Written::Notes { after } => page_of_notes(&db, player, after).await,
                Written::Games { before } => page_of_games(&db, player, before).await,
                Written::All => return None,
            };
            // There is no other way left to say so than to break off.
            Some(piece.map_or_else(|error| (Err(broken_off(error)), Written::All), |(text, next)| (Ok(text), next)))
        }
    })
}

/// Some notes as items of their list, and how far it is written then; after the last, the beginning of the next list.
async fn page_of_notes(
    db: &PgPool,
    player: PlayerId,
    after: Option<(GameId, u32)>,
) -> Result<(Bytes, Written), DbError> {
    let found = notes::list_all(db, player, after, NOTES_AT_ONCE).await?;
    Ok(match found.last() {
        Some(last) => {
            let after_last = Some((last.game, last.ply));
            (items(found.iter().map(NoteView::of), after.is_some()), Written::Notes { after: after_last })
        }
        None => (Bytes::from_static(br#"],"games":["#), Written::Games { before: None }),
    })
}

/// The same of games; after the last, the end.
async fn page_of_games(db: &PgPool, player: PlayerId, before: Option<GameId>) -> Result<(Bytes, Written), DbError> {
    let found = games::list_seated(db, player, before, GAMES_AT_ONCE).await?;
    let Some(last) = found.last() else { return Ok((Bytes::from_static(b"]}"), Written::All)) };
    let histories = games::histories(db, &found).await?;
    let exported = found.iter().zip(&histories).map(|(seated, plies)| ExportedGame::of(seated, plies, Some(player)));
    Ok((items(exported, before.is_some()), Written::Games { before: Some(last.game.id()) }))
}

/// Items of a list, after a comma if others are written before them.
fn items(items: impl Iterator<Item = impl Serialize>, follow_others: bool) -> Bytes {
    let items: Vec<_> = items.map(|item| serde_json::to_string(&item).expect(ALWAYS_JSON)).collect();
    Bytes::from(format!("{}{}", if follow_others { "," } else { "" }, items.join(",")))
}

fn broken_off(error: impl Display) -> io::Error {
    tracing::error!("an export broke off: {error}");
    io::Error::other("the export broke off")
}

/// Everything that is held about a player.
#[derive(Serialize, ToSchema)]
struct Export {
    player: ProfileView,
    /// Where the player is signed in, newest first.
    sign_ins: Vec<SignInView>,
    /// Keys of requests that may be sent again.
    idempotency_keys: Vec<KeyView>,
    /// Games whose analyses the player waits for, or that could not be analysed.
    analysis_requests: Vec<AnalysisRequestView>,
    /// Where the player's notices are sent to, newest first.
    webhooks: Vec<WebhookView>,
    /// Open games to which the player is invited, newest first.
    invitations: Vec<GameView>,
    /// All notes of the player, those on the oldest games first.
    notes: Vec<NoteView>,
    /// All games in which the player sits, newest first.
    games: Vec<ExportedGame>,
}

/// A sign-in that is still good. Of its refresh tokens only hashes are held.
#[derive(Serialize, ToSchema)]
#[schema(as = SignIn)]
struct SignInView {
    id: Uuid,
    /// When its newest refresh token runs out.
    expires_at: Timestamp,
}

/// The key of a request that may be sent again; the answer to it is what it created.
#[derive(Serialize, ToSchema)]
#[schema(as = IdempotencyKey)]
struct KeyView {
    key: String,
    created_at: Timestamp,
}

/// That the player has asked for a game's analysis.
#[derive(Serialize, ToSchema)]
#[schema(as = AnalysisRequest)]
struct AnalysisRequestView {
    game_id: Uuid,
    requested_at: Timestamp,
}

/// A game with its whole history.
#[derive(Serialize, ToSchema)]
pub struct ExportedGame {
    game: GameView,
    moves: Vec<MoveView>,
}

impl ExportedGame {
    pub fn of(seated: &SeatedGame, plies: &[Ply], viewer: Option<PlayerId>) -> Self {
        Self { game: GameView::of(seated, viewer), moves: plies.iter().map(MoveView::of).collect() }
    }
}
