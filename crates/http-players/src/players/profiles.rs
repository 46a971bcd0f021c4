//! Players: creates guests and accounts, and shows public profiles.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, HttpResponse, dev::Payload, get, http::header, post, web::Data};
use mancala_db::players::{
    self, Counts, people,
    player_keys::{self, PlayerKey},
    recovery::Telling,
};
use mancala_domain::{Password, Player, PlayerId, PlayerKind, PlayerName};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, NameTaken, NotFound},
        faults::Faults,
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::{
        client_address::client_address,
        limits::{self, network_of},
    },
    request::{
        auth::Reader,
        extract::{NoQuery, OptionalBody, Query},
        idempotency::{IdempotencyKey, REPLAYED},
        known,
        names::parse_name,
    },
    state::AppState,
};
use mancala_process::{clock::now, metrics::Grant};
use mancala_wire::view::wire::{PlayerKindWord, Timestamp};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    recovery,
    tokens::{NewPlayer, TokenSet},
};

/// Become a player
///
/// A guest needs nothing, not even a name: only the tokens identify the guest. A name and a password make an account, which
/// can sign in again anywhere.
#[utoipa::path(
    tag = "players",
    operation_id = "create_player",
    request_body(content = Option<CreatePlayer>, description = "May be left out", examples(
        ("a guest" = (value = json!({"name": "Ana"}))),
        ("an account" = (value = json!({"name": "Ana", "password": "correct horse"}))),
    )),
    params(("Idempotency-Key" = Option<String>, Header, min_length = 32, max_length = 255,
        description = "For a day, the same key and body get tokens of the same player. Who knows the key becomes this player, so it is \
            random and secret, such as a UUID of version 4")),
    responses(
        (status = 201, description = "The player, and the tokens to play with", body = TokenSet,
            headers(("Idempotent-Replayed" = Option<String>, description = "`true`: the player was created before under the same key"))),
        Failures<NameTaken>,
    ),
    security(())
)]
#[post("/players")]
pub async fn create_player(
    state: Data<AppState>,
    _: Query<NoQuery>,
    key: IdempotencyKey,
    body: OptionalBody<CreatePlayer>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let kind = if body.0.password.is_some() { PlayerKind::Account } else { PlayerKind::Guest };
    limits::count_new_player(&request, kind)?;
    let key = key.of_player(&body.0)?;
    if let Some(replayed) = replay(&state, key.as_ref()).await? {
        return Ok(replayed);
    }
    let CreatePlayer { name, password } = body.0;
    let name = match name {
        Some(name) => parse_name(&name, &state.reserved_names),
        None if kind == PlayerKind::Account => Err(Problem::invalid_as("required", "/name", "an account needs a name")),
        None => Ok(PlayerName::for_guest(rand::random())),
    };
    let mut faults = Faults::default();
    let name = faults.take(name)?;
    let password = password.map(|password| choose_password(&password, name.as_ref())).transpose();
    let password = faults.take(password)?;
    let (name, password) = faults.unless_any(name.zip(password))?;
    let hash = match password {
        Some(password) => {
            Some(state.passwords.hash(password, known::asker_at(&state, network_of(&request), false)).await?)
        }
        None => None,
    };
    let player = Player { id: PlayerId(Uuid::now_v7()), kind, name, created_at: now() };
    let network = state.networks.of(client_address(&request));
    let new = NewPlayer { player: &player, password_hash: hash.as_deref(), network, key, identity: None };
    let Some(tokens) = TokenSet::begin_as_new(&state, &new).await? else {
        // A concurrent request with this key was stored first; it may have taken the name, too.
        return replay(&state, key.as_ref()).await?.ok_or_else(name_taken);
    };
    known::note(&state, player.id, network_of(&request)).await?;
    Ok(HttpResponse::Created().insert_header((header::CACHE_CONTROL, "no-store")).json(tokens))
}

/// The answer to a creation that was stored before under the same key. It has a new sign-in and a new recovery code,
/// because the first answer was lost, and no secret is stored.
async fn replay(state: &AppState, key: Option<&PlayerKey>) -> Result<Option<HttpResponse>, Problem> {
    let Some(key) = key else { return Ok(None) };
    let Some((player, is_same)) = player_keys::find(&state.db, key, now()).await? else { return Ok(None) };
    let reused = |detail: &str| Problem::new(Code::IdempotencyKeyReused, detail);
    if !is_same {
        return Err(reused("this key was used for another request; a new request needs a new key"));
    }
    let revoked = || reused("the player of this key has other credentials since: sign in, or use a new key");
    let own = player.ok_or_else(revoked)?;
    let grant = if own.player.kind == PlayerKind::Account { Grant::Password } else { Grant::Guest };
    let tokens = TokenSet::begin(state, &own, grant).await?.ok_or_else(revoked)?;
    let code = recovery::renew(state, &own, Telling::None).await?.ok_or_else(revoked)?;
    let mut response = HttpResponse::Created();
    response.insert_header((header::CACHE_CONTROL, "no-store")).insert_header(REPLAYED);
    Ok(Some(response.json(tokens.with_recovery_code(code))))
}

/// Get a player
///
/// The public profile. An erased player is shown as a deleted one. Friends see in `last_seen` when the player was there.
#[utoipa::path(
    tag = "players",
    operation_id = "get_player",
    params(("player_id" = Uuid, Path, description = "The player's id")),
    responses(
        (status = 200, description = "The player", body = ProfileView),
        Failures<NotFound>,
    ),
    security((), ("bearer" = []))
)]
#[get("/players/{player_id}")]
pub async fn get_player(
    state: Data<AppState>,
    path: PlayerPath,
    reader: Reader,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    let found = state.reads.run(|db| async move { players::find(&db, path.0).await }).await?.ok_or_else(no_player)?;
    let mut profile = ProfileView::of(&state, &found.player).await?;
    if let Some(reader) = reader.0.filter(|reader| *reader != path.0) {
        let seen = state.reads.run(|db| async move { people::last_seen(&db, path.0, reader).await }).await?;
        profile.last_seen = seen.map(|at| LastSeenWord::of(at, now()));
    }
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(profile))
}

/// The player that the path names. A value that is no UUID is 404.
#[derive(Clone, Copy, Debug)]
pub struct PlayerPath(pub PlayerId);

impl FromRequest for PlayerPath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("player_id").and_then(|id| Uuid::try_parse(id).ok());
        ready(id.map(|id| Self(PlayerId(id))).ok_or_else(no_player))
    }
}

pub fn no_player() -> Problem {
    Problem::not_found("there is no such player")
}

/// A password that the player of this name chooses. Without a valid name, all else is checked.
pub fn choose_password(password: &str, name: Option<&PlayerName>) -> Result<Password, Problem> {
    let chosen = name.map_or_else(|| Password::uncommon(password), |name| Password::choose(password, name));
    chosen.map_err(|error| Problem::invalid("/password", format!("{error}")))
}

pub fn name_taken() -> Problem {
    Problem::new(Code::NameTaken, "an account has this name, or one that reads alike")
}

/// The name and the password of the new player.
#[derive(Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreatePlayer {
    /// What others see; generated for a guest without one. Only the names of accounts are unique: no two of them read alike.
    #[schema(min_length = 1, max_length = 32, example = "Ana")]
    name: Option<String>,
    /// Makes the player an account.
    #[schema(format = Password, min_length = 8, max_length = 128)]
    password: Option<String>,
}

/// The public profile of a player.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Profile)]
pub struct ProfileView {
    id: Uuid,
    #[schema(example = "Ana")]
    name: String,
    kind: PlayerKindWord,
    /// When the player was created.
    since: Timestamp,
    counts: CountsView,
    /// When the player was last seen, for friends of the player who ask for this profile; otherwise null, or if the player hides it.
    #[schema(required = true)]
    last_seen: Option<LastSeenWord>,
}

/// When a player was last seen. Clients ignore values that they do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = LastSeen)]
pub enum LastSeenWord {
    /// Within 24 hours.
    Today,
    /// Within seven days.
    ThisWeek,
    Earlier,
}

impl LastSeenWord {
    fn of(at: OffsetDateTime, now: OffsetDateTime) -> Self {
        if at > now - Duration::days(1) {
            Self::Today
        } else if at > now - Duration::days(7) {
            Self::ThisWeek
        } else {
            Self::Earlier
        }
    }
}

/// Games against others, by outcome. Games against oneself do not count.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Counts)]
struct CountsView {
    active: u32,
    /// Games won, lost and drawn; counted up to 100,000 for each seat.
    finished: u32,
    won: u32,
    lost: u32,
    drawn: u32,
}

impl ProfileView {
    pub async fn of(state: &AppState, player: &Player) -> Result<Self, Problem> {
        let counts = state.reads.run(|db| async move { players::count_games(&db, player.id).await }).await?;
        let Counts { active, won, lost, drawn } = counts;
        Ok(Self {
            id: player.id.0,
            name: player.name.to_string(),
            kind: player.kind.into(),
            since: Timestamp(player.created_at),
            counts: CountsView { active, finished: won + lost + drawn, won, lost, drawn },
            last_seen: None,
        })
    }
}
