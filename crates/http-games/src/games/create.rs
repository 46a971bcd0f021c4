//! New games: they are stored together with the answer. What a request chooses says `new_game`.

use actix_web::{HttpRequest, HttpResponse, post, web::Data};
use mancala_db::{
    DbError,
    games::{
        self, Inserted, OpenGamesLimit, SeatedGame,
        open_games::{self, NETWORK_OPEN_GAMES_MAX, OPEN_GAMES_MAX},
    },
    idempotency::Keyed,
    players::invitation_counts::{
        self, ACCOUNT_INVITATIONS_KEPT, INVITATIONS_MAX, NETWORK_INVITATIONS_KEPT_MAX, NETWORK_INVITATIONS_MAX,
        NewInvitation,
    },
    records::archive,
};
use mancala_domain::{
    BySeat, Event, Game, GameId, Level, Opponent, Player, PlayerId, PlayerKind, RUNNING_GAMES_MAX, Refusal, Seat,
};
use mancala_http::{
    answer::{
        code::Code,
        failures::{
            Failures, Forbidden, GameOver, NotFound, NotSeated, PreconditionFailed, SeatTaken, TooManyGames,
            TooManyInvitations, TooManyOpenGames,
        },
        faults::Faults,
        problem::Problem,
    },
    layers::{
        client_address::client_address,
        limits::{self, GAME_BYTES, KEY_BYTES},
    },
    request::{
        conditional::IfMatch,
        extract::{Body, GamePath, NoQuery, Nothing, OptionalBody, Query},
        idempotency::{self, IdempotencyKey, KeyedRequest},
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_process::clock::now;
use mancala_wire::view::{game::GameView, shown_game::ShownGame};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::{
    asked::{Asked, Request, computer_games},
    change::{ATTEMPTS_MAX, change, execute, pause_before},
    new_game::{CreateGame, find_invited, may_invite, new_join_code},
};

/// How many calls an invitation by name costs besides the first, as a search for players does.
const MORE_CALLS_BY_NAME: u32 = 4;

/// Create a game
///
/// Only `variant` or `from` is required. Against oneself (`opponent.type` `self`) and against the `computer`, play begins at once.
/// Otherwise it begins when a player joins; a game for one player (`player`) waits for that player.
///
/// A player has at most 1,000 games that are not over. Against the computer, an account has at most 50 and a guest 3. The
/// guests and new accounts of one network have a limit together. Of open public games, a guest or a new account has at most 3,
/// and those of one network 20.
///
/// - `too_many_invitations`: the caller has invited the same player 20 times within 24 hours, or the players of its
///   network 60 times
#[utoipa::path(
    tag = "games",
    operation_id = "create_game",
    request_body(content = CreateGame, examples(
        ("against anyone" = (value = json!({"variant": "kalah"}))),
        ("by link, with options" = (value = json!({"variant": "kalah", "preset": "bga", "options": {"seeds": 5, "pie": true},
            "side": "south", "opponent": {"type": "link"}, "visibility": "private"}))),
        ("from a position" = (value = json!({"variant": "kalah", "opponent": {"type": "self"},
            "start": {"position": "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S"}}))),
        ("against the computer" = (value = json!({"variant": "oware", "opponent": {"type": "computer", "level": 3}}))),
        ("practice" = (value = json!({"variant": "kalah", "opponent": {"type": "computer", "level": 3}, "practice": true}))),
        ("against oneself" = (value = json!({"variant": "kalah", "opponent": {"type": "self"}}))),
        ("two at one device" = (value = json!({"variant": "kalah", "opponent": {"type": "self", "name": "Bo"}}))),
    )),
    responses(
        (status = 201, description = "The game", body = GameView,
            headers(("Location" = String, description = "Where the game is"), ("ETag" = String, description = "Its version"),
                ("Idempotent-Replayed" = Option<String>, description = "`true`: this was answered before under the same key"))),
        Failures<(TooManyGames, TooManyOpenGames, TooManyInvitations)>,
    ),
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255,
        description = "For a day, the same key and body get the same game again, and no second one is created")),
    security(("bearer" = []))
)]
#[post("/games")]
pub async fn create_game(
    state: Data<AppState>,
    caller: Caller,
    key: IdempotencyKey,
    _: Query<NoQuery>,
    body: Body<CreateGame>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let keyed = KeyedRequest::of(key, caller, "/v1/games", &body.0);
    if let Some(keyed) = &keyed
        && let Some(replayed) = keyed.replay(&state).await?
    {
        return Ok(replayed);
    }
    let mut faults = Faults::default();
    let hotseat_name = faults.take(body.0.hotseat_name(&state.reserved_names))?.flatten();
    let base = body.0.base(&state, caller, &mut faults).await?;
    faults.take(body.0.check_invited(&state, caller.player).await)?;
    let invited = body.0.invited_name();
    let mut terms = body.0.terms(base, faults)?;
    let creator = player::find(&state, caller).await?.player;
    if games::count_running(&state.db, caller.player).await? >= RUNNING_GAMES_MAX {
        return Err(Problem::from(&Refusal::TooManyGames));
    }
    if matches!(terms.opponent, Opponent::Computer { .. }) {
        computer_games(&state, &creator).await?.check().map_err(|refused| Problem::from(&Refusal::from(refused)))?;
    }
    if let Some(name) = invited {
        limits::count_more(&request, MORE_CALLS_BY_NAME)?;
        terms.opponent = find_invited(&state, caller.player, &name).await?;
    }
    if let Opponent::Player { player } = terms.opponent {
        count_invitation(&state, caller.player, player, &request).await?;
    }
    limits::count_stored(&request, GAME_BYTES + if keyed.is_some() { KEY_BYTES } else { 0 })?;
    let id = GameId(Uuid::now_v7()).in_slot(terms.slot(caller.player));
    let (game, created) = Game::create(id, terms, caller.player, state.settings.open_for, now());
    let created = begun(&state, created).await?;
    let seated = SeatedGame { hotseat_name, ..seated_alone(game, &creator) };
    let answer = ShownGame::of(&seated, Some(caller.player)).as_created(seated.game.id());
    let kept = keyed.as_ref().map(|keyed| keyed.keep(&answer));
    match (store_new(&state, &seated, &created, kept).await?, keyed) {
        // A concurrent request with this key was stored first.
        (Inserted::KeyUsed, Some(keyed)) => {
            return keyed.replay(&state).await?.ok_or_else(|| Problem::internal("a key that is used has no answer"));
        }
        (Inserted::TooManyOpen(limit), _) => return Err(too_many_open(limit)),
        _ => {}
    }
    withdraw_if_refused(&state, &seated.game).await?;
    Ok(idempotency::created(&answer))
}

/// Renew a join code
///
/// Only for the creator of an open game by link. The old code becomes invalid, and the game shows a new one.
///
/// - `forbidden`: the game has no code, or the caller did not create it
#[utoipa::path(
    tag = "games",
    operation_id = "renew_join_code",
    params(
        ("id" = Uuid, Path, description = "The game's id"),
        ("If-Match" = Option<String>, Header, description = "The version that the game must be at"),
    ),
    responses(
        (status = 200, description = "The game, with a new `join_code`", body = GameView),
        Failures<(Forbidden, NotSeated, NotFound, SeatTaken, GameOver, PreconditionFailed)>,
    ),
    security(("bearer" = []))
)]
#[post("/games/{id}/join-code")]
pub async fn renew_join_code(
    state: Data<AppState>,
    caller: Caller,
    path: GamePath,
    if_match: IfMatch,
    _: Query<NoQuery>,
    _: OptionalBody<Nothing>,
) -> Result<HttpResponse, Problem> {
    let join_code = new_join_code();
    change(&state, caller, path, if_match, Asked::RenewCode { join_code: &join_code }).await
}

/// Counts an invitation, after all other checks. An invitation that is refused for another reason, such as a block, is not counted.
async fn count_invitation(
    state: &AppState,
    inviter: PlayerId,
    invited: PlayerId,
    request: &HttpRequest,
) -> Result<(), Problem> {
    let network = state.networks.of(client_address(request));
    let new = NewInvitation { inviter, invited, network, now: now() };
    invitation_counts::count(&state.db, &new).await?.map_err(|until| {
        let detail = format!(
            "a player invites the same other one at most {INVITATIONS_MAX} times within 24 hours, and the players of a network \
             {NETWORK_INVITATIONS_MAX} times. Beyond these an account invites until it has done so {ACCOUNT_INVITATIONS_KEPT} times, and the network \
             until it has done so {NETWORK_INVITATIONS_KEPT_MAX} times"
        );
        // Answers show milliseconds: at the next one there is room.
        Problem::new(Code::TooManyInvitations, detail).with_retry_at(until + Duration::MILLISECOND)
    })
}

/// The beginning of a new game, by the rule of takebacks that new games have unless a server of the release before may continue them.
pub(super) async fn begun(state: &AppState, created: Event) -> Result<Event, DbError> {
    let returning = created.clone().returning_increments();
    let is_same = returning == created;
    Ok(if is_same || !archive::excludes_former(&state.db).await? { created } else { returning })
}

/// Why a player opens no further game.
pub(super) fn too_many_open(limit: OpenGamesLimit) -> Problem {
    let detail = match limit {
        OpenGamesLimit::Player => format!("a guest or a new account has at most {OPEN_GAMES_MAX} open public games"),
        OpenGamesLimit::Network => {
            format!(
                "the guests and new accounts of one network have at most {NETWORK_OPEN_GAMES_MAX} open public games"
            )
        }
    };
    Problem::new(Code::TooManyOpenGames, detail)
}

/// A new game with its creator, and the computer if it plays. The name of an invited player is left out: the answer may be
/// stored for a day, and the name may be erased meanwhile.
pub(super) fn seated_alone(game: Game, creator: &Player) -> SeatedGame {
    let computer = |level: Level| Player {
        id: level.player(),
        kind: PlayerKind::Computer,
        name: level.name(),
        created_at: OffsetDateTime::UNIX_EPOCH,
    };
    let player = |seat: Seat| {
        game.players()[seat].map(|player| Level::of_player(player).map_or_else(|| creator.clone(), computer))
    };
    let players = BySeat { first: player(Seat::First), second: player(Seat::Second) };
    SeatedGame { game, players, invited: None, last_ply: None, hotseat_name: None }
}

/// Withdraws a new invitation if a block or a setting was stored since it was checked. If a block and an invitation are stored
/// at the same moment, the later one sees the other. The answer is that of an invitation that is declined at once.
async fn withdraw_if_refused(state: &AppState, game: &Game) -> Result<(), Problem> {
    let (Some(invited), Some(creator)) = (game.invited(), game.players()[game.terms().creator]) else { return Ok(()) };
    if !may_invite(state, creator, invited).await? {
        let asked = Asked::Abort;
        let request = Request { player: creator, if_version: Some(&[game.version()]), asked };
        execute(state, game.id(), &request).await?;
    }
    Ok(())
}

/// Stores a new game. After a lost connection it retries: the insert is idempotent, so the game is not stored twice.
async fn store_new(
    state: &AppState,
    seated: &SeatedGame,
    created: &Event,
    keyed: Option<Keyed>,
) -> Result<Inserted, Problem> {
    let SeatedGame { game, hotseat_name, .. } = seated;
    let mut failure = None;
    for attempt in 0..ATTEMPTS_MAX {
        pause_before(state, attempt).await;
        let (keyed, name) = (keyed.as_ref(), hotseat_name.as_ref());
        let inserted = if state.networks.is_counted() {
            open_games::insert_counted(&state.db, game, created, keyed, name).await
        } else {
            games::insert(&state.db, game, created, keyed, name).await
        };
        match inserted {
            Err(error @ (DbError::ConnectionLost(_) | DbError::Busy(_))) => failure = Some(error),
            Ok(Inserted::Stored) => {
                state.writers.announcer().created(game);
                return Ok(Inserted::Stored);
            }
            inserted => return Ok(inserted?),
        }
    }
    Err(failure.map_or_else(|| Problem::internal("no attempt was made"), Problem::from))
}
