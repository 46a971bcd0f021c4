//! Merging a guest with the caller's account.

use actix_web::{HttpRequest, HttpResponse, post, web::Data};
use mancala_db::{
    DbError, apps, games,
    merging::{self, GAMES_MAX, IdentityHandover, Merged, NamedGuest},
    players::OwnPlayer,
};
use mancala_domain::{Game, PlayerId, PlayerKind};
use mancala_http::{
    answer::{
        code::Code,
        failures::{
            Failures, Forbidden, InvalidCredentials, InvalidToken, RecentSignInRequired, TooManyGames, Unauthenticated,
        },
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::limits,
    request::{
        extract::{Body, NoQuery, Query},
        player, suspended,
    },
    state::{AppState, tokens::Caller},
};
use mancala_http_games::games::{
    asked::{Asked, Request},
    change::{ATTEMPTS_MAX, execute, pause_before},
};
use mancala_process::clock::now;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::{profiles::ProfileView, recent_sign_in};

/// How many calls a merge costs besides the first: a player needs one in years, and it may change a thousand games.
const MORE_CALLS: u32 = 49;

/// How many invitations of a guest are declined by one merge.
const INVITATIONS_MAX: u32 = 100;

/// Take a guest's games along
///
/// For an account whose player has played as a guest before. In one step the account takes the guest's seats in all
/// games, and gets its notes, webhooks and imported games. Games between the two become games against oneself. Open
/// invitations to the guest are declined, and those of the account by the guest are aborted. The guest's tokens and
/// recovery code are void. Merging the same guest again is 200. A guest with identities brings them along: this needs a
/// sign-in of the last 10 minutes, or `current_password`.
///
/// - `invalid_credentials`: `current_password` is not the account's
/// - `forbidden`: the caller is a guest
/// - `recent_sign_in_required`: the guest has identities
/// - `too_many_games`: the guest has more than 1,000 games
#[utoipa::path(
    tag = "players",
    operation_id = "merge_guest",
    request_body(content = MergeGuest, example = json!({"guest_token": "ov6Z…"})),
    responses(
        (status = 200, description = "The caller, with the guest's games", body = ProfileView),
        Failures<(Unauthenticated, InvalidToken, InvalidCredentials, RecentSignInRequired, Forbidden, TooManyGames)>,
    ),
    security(("bearer" = []))
)]
#[post("/me/merge")]
pub async fn merge_guest(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    body: Body<MergeGuest>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    limits::count_more(&request, MORE_CALLS)?;
    let own = player::find(&state, caller).await?;
    if own.player.kind != PlayerKind::Account {
        let detail = "a guest takes no other guest along: set a password first";
        return Err(Problem::new(Code::Forbidden, detail));
    }
    let guest = named_guest(&state, &body.0.guest_token).await?.ok_or_else(no_guest)?;
    if apps::players::find_membership(&state.db, guest.player).await?.is_some() {
        return Err(Problem::invalid("/guest_token", "the token is an app's player's, which stays the app's"));
    }
    let current_password = body.0.current_password.as_deref();
    let identities = match recent_sign_in::require(&state, &request, (caller, &own), current_password).await {
        Ok(()) => IdentityHandover::Take,
        Err(problem) if problem.code() == Code::RecentSignInRequired => IdentityHandover::Refuse,
        Err(problem) => return Err(problem),
    };
    merge(&state, guest, &own, identities).await?;
    decline_invitations(&state, guest.player).await?;
    let profile = ProfileView::of(&state, &own.player).await?;
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(profile))
}

/// The guest that an access token or a refresh token names. Whether the token was revoked is checked by the merge.
async fn named_guest(state: &AppState, token: &str) -> Result<Option<NamedGuest>, Problem> {
    if let Some(caller) = state.tokens.verify(token.as_bytes(), now()) {
        return Ok(Some(NamedGuest { player: caller.player, credentials_version: caller.credentials_version }));
    }
    Ok(merging::find_by_token(&state.db, &Sha256::digest(token).into(), now()).await?)
}

fn no_guest() -> Problem {
    Problem::invalid("/guest_token", "the token is not valid, or its guest was merged with another account")
}

/// Merges until it succeeds. After a version conflict or a lost connection, either nothing was stored, or the next attempt finds the merge
/// done. A last repetition merges what concurrent requests of the guest have begun.
async fn merge(
    state: &AppState,
    guest: NamedGuest,
    own: &OwnPlayer,
    identities: IdentityHandover,
) -> Result<(), Problem> {
    let mut failure = None;
    for attempt in 0..ATTEMPTS_MAX {
        pause_before(state, attempt).await;
        let now = now();
        let reseat = |game: &Game| game.reseated(guest.player, own.player.id, now);
        match merging::merge(&state.db, guest, own, identities, now, reseat).await {
            Ok(Merged::Stored { changes, least_version }) => {
                let is_first = least_version.is_some();
                if let Some(least_version) = least_version {
                    state.hub.audience().revoke(guest.player, least_version);
                }
                state.recent.forget(guest.player);
                state.writers.announcer().reseated(changes);
                if !is_first {
                    return Ok(());
                }
                failure = None;
            }
            Ok(Merged::NoGuest) => return Err(no_guest()),
            Ok(Merged::NotGuest) => {
                return Err(Problem::invalid("/guest_token", "the token is an account's: only a guest is merged"));
            }
            // A suspended guest is refused, because it would be free as an account.
            Ok(Merged::Suspended(suspension)) => return Err(suspended::refusal(&suspension)),
            Ok(Merged::HasIdentities) => return Err(recent_sign_in::required()),
            Ok(Merged::NoAccount) => return Err(player::gone()),
            Ok(Merged::TooManyGames) => {
                let detail = format!("a guest with more than {GAMES_MAX} games is not merged");
                return Err(Problem::new(Code::TooManyGames, detail));
            }
            Ok(Merged::Conflict) => failure = None,
            Err(error @ (DbError::ConnectionLost(_) | DbError::Busy(_))) => failure = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    Err(failure.map_or_else(|| Problem::busy("the guest's games change too often; try again"), Problem::from))
}

/// Declines the open invitations to a guest that was merged: no client can be this guest any more.
async fn decline_invitations(state: &AppState, guest: PlayerId) -> Result<(), Problem> {
    for id in games::list_unfinished(&state.db, guest, INVITATIONS_MAX).await? {
        let request = Request { player: guest, if_version: None, asked: Asked::Decline };
        execute(state, id, &request).await?;
    }
    Ok(())
}

/// Which guest to take along.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeGuest {
    /// The guest's access token, or its newest refresh token.
    guest_token: String,
    /// If the guest has identities: the account's password, unless its sign-in began within the last 10 minutes.
    #[schema(format = Password)]
    current_password: Option<String>,
}
