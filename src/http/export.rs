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

use super::{
    AppState,
    auth::Caller,
    error::Problem,
    extract::{NoQuery, Query},
    game_view::GameView,
    me,
    moves::MoveView,
    now,
    players::ProfileView,
    webhooks::WebhookView,
    wire::{ALWAYS_JSON, Timestamp},
};
use crate::{
    db::{
        DbError,
        games::{self, SeatedGame},
        idempotency,
        invitations::{self, Direction},
        refresh_tokens, webhooks,
    },
    domain::{GameId, PlayerId, Ply},
};

/// Games that are in memory at once: some hundred KiB.
const GAMES_AT_ONCE: u32 = 20;

/// Sign-ins, keys and invitations that are shown at most, the newest.
const LISTED_MAX: u32 = 1000;

/// Export everything held about the caller
///
/// Profile, sign-ins, keys of requests and open invitations (the newest 1,000 of each), and all games with their histories.
/// An account's password is held as a hash, which is not shown, nor are the secrets of webhooks.
#[utoipa::path(
    tag = "players",
    operation_id = "export_me",
    responses((status = 200, description = "Everything; an answer that breaks off is not all of it", body = Export)),
    security(("bearer" = []))
)]
#[get("/me/export")]
pub async fn export_me(state: Data<AppState>, caller: Caller, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    let own = me::find(&state, caller).await?;
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
        webhooks: webhooks::list(&state.db, caller.player).await?.iter().map(WebhookView::of).collect(),
        invitations: invitations.games.iter().map(|seated| GameView::of(seated, Some(caller.player))).collect(),
        games: vec![],
    };
    Ok(HttpResponse::Ok()
        .insert_header(ContentType::json())
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .streaming(with_games(&export, state.db.clone(), caller.player)))
}

/// How far an export has been written.
enum Written {
    Nothing,
    Games { before: Option<GameId> },
    All,
}

/// The export's text, with the games in it page by page.
fn with_games(export: &Export, db: PgPool, player: PlayerId) -> impl Stream<Item = Result<Bytes, io::Error>> + use<> {
    let text = serde_json::to_string(export).expect(ALWAYS_JSON);
    // The list of games is the last field, and empty.
    let head = Bytes::from(text.strip_suffix("]}").unwrap_or(&text).to_owned());
    stream::unfold(Written::Nothing, move |written| {
        let (db, head) = (db.clone(), head.clone());
        async move {
            match written {
                Written::Nothing => Some((Ok(head), Written::Games { before: None })),
                Written::Games { before } => Some(match page(&db, player, before).await {
                    Ok((text, Some(last))) => (Ok(Bytes::from(text)), Written::Games { before: Some(last) }),
                    Ok((_, None)) => (Ok(Bytes::from_static(b"]}")), Written::All),
                    // There is no other way left to say so than to break off.
                    Err(error) => (Err(broken_off(error)), Written::All),
                }),
                Written::All => None,
            }
        }
    })
}

/// Some games as items of the list, and the last of them; none at the end.
async fn page(db: &PgPool, player: PlayerId, before: Option<GameId>) -> Result<(String, Option<GameId>), DbError> {
    let found = games::list_seated(db, player, before, GAMES_AT_ONCE).await?;
    let histories = games::histories(db, &found).await?;
    let items = found.iter().zip(&histories).map(|(seated, plies)| ExportedGame::of(seated, plies, Some(player)));
    let items = items.map(|item| serde_json::to_string(&item).expect(ALWAYS_JSON));
    let items: Vec<_> = items.collect();
    let comma = if before.is_some() && !items.is_empty() { "," } else { "" };
    Ok((format!("{comma}{}", items.join(",")), found.last().map(|seated| seated.game.id)))
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
    /// Where the player's notices are sent to, newest first.
    webhooks: Vec<WebhookView>,
    /// Open games to which the player is invited, newest first.
    invitations: Vec<GameView>,
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
