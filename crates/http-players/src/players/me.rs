//! The caller: profile, name, password, and erasure.

use actix_web::{HttpRequest, HttpResponse, delete, get, patch, web::Data};
use mancala_db::{
    games, merging,
    operators::acts,
    players::{
        self, IdentityChoice, Leftovers, Named, OwnPlayer, WebhookChoice,
        recovery::Telling,
        settings::{self, Inviters, NewSettings, Settings},
        suspensions,
    },
    records,
};
use mancala_domain::{Password, Player, PlayerId, PlayerKind};
use mancala_http::{
    answer::{
        code::Code,
        failures::{
            Failures, Forbidden, InvalidCredentials, InvalidToken, NameTaken, RecentSignInRequired, Unauthenticated,
        },
        faults::Faults,
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::limits::{self, network_of},
    request::{
        auth::{self, ErasedCaller},
        extract::{Body, NoQuery, OptionalBody, Query, some_word},
        known,
        names::{parse_name, refuse_reserved},
        player::{find, gone, refuse_if_of_app},
        suspended,
    },
    state::{AppState, tokens::Caller},
};
use mancala_http_games::games::{
    asked::{Asked, Request},
    change::{Executed, execute},
};
use mancala_process::{clock::now, metrics::Grant};
use mancala_wire::view::wire::{SuspensionView, Timestamp};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};
use utoipa::ToSchema;

use super::{
    profiles::{ProfileView, choose_password, name_taken},
    recent_sign_in::{self, CurrentPassword},
    recovery,
    tokens::TokenSet,
};

/// How many times a change of the caller is attempted, on version conflicts.
const ATTEMPTS_MAX: u32 = 4;

/// How many unfinished games are read and ended as one batch.
const GAMES_AT_ONCE: u32 = 100;

/// How many batches of imported games one request erases: a second's work.
const IMPORT_BATCHES_MAX: u32 = 20;

/// How many warnings the caller is shown.
pub const WARNINGS_MAX: u32 = 10;

/// How long a name set by an operator cannot be changed.
pub const NAME_KEPT: Duration = Duration::days(7);

/// Get the caller
#[utoipa::path(
    tag = "players",
    operation_id = "get_me",
    responses((status = 200, description = "The caller", body = Me)),
    security(("bearer" = []))
)]
#[get("/me")]
pub async fn get_me(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let own = find(&state, caller).await?;
    let suspension = match auth::suspension(&request) {
        Some(_) => suspensions::find_active(&state.db, caller.player, now()).await?,
        None => None,
    };
    let warnings = acts::list_warnings(&state.db, caller.player, WARNINGS_MAX).await?;
    let MeView { profile, is_findable, shows_last_seen, who_may_invite } = MeView::of(&state, &own.player).await?;
    let me = Me {
        profile,
        is_findable,
        shows_last_seen,
        who_may_invite,
        suspension: suspension.as_ref().map(SuspensionView::from),
        warnings: WarningView::of_all(warnings),
    };
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(me))
}

/// Change the caller's name, password or settings
///
/// With a password a guest becomes an account, and keeps all games. A new password revokes all access and refresh tokens, and the
/// recovery code of an account; the answer contains new ones. Webhooks go on, unless `delete_webhooks` is true, and identities stay ways in,
/// unless `unlink_identities` is. A new password of an account needs a sign-in of the last 10 minutes, or `current_password`.
///
/// - `invalid_credentials`: `current_password` is not the account's
/// - `forbidden`: a password for a player of an app; a new name within 7 days after an operator has given one
/// - `recent_sign_in_required`: a new password of an account
#[utoipa::path(
    tag = "players",
    operation_id = "update_me",
    request_body(content = UpdateMe, examples(
        ("a new name" = (value = json!({"name": "Ana Maria"}))),
        ("a new password, and no webhook any more" = (value = json!({"password": "battery staple", "delete_webhooks": true}))),
        ("others find the caller" = (value = json!({"is_findable": true}))),
        ("only friends invite the caller" = (value = json!({"who_may_invite": "friends"}))),
        ("a guest becomes an account" = (value = json!({"name": "Bea", "password": "correct horse"}))),
    )),
    responses(
        (status = 200, description = "The caller", body = UpdatedMe),
        Failures<(Unauthenticated, InvalidToken, InvalidCredentials, RecentSignInRequired, Forbidden, NameTaken)>,
    ),
    security(("bearer" = []))
)]
#[patch("/me")]
pub async fn update_me(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    body: Body<UpdateMe>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let mut faults = body.0.faults()?;
    let settings = body.0.settings();
    let UpdateMe { name, password, current_password, delete_webhooks, unlink_identities, .. } = body.0;
    // An identity that is unlinked would be a player without the suspension.
    if (name.is_some() || unlink_identities) && auth::suspension(&request).is_some() {
        suspended::refuse(&state, caller.player).await?;
    }
    // Checked before the password is hashed: only an authorized caller may cause this expensive work.
    let found = find(&state, caller).await?;
    let own = &found.player;
    if password.is_some() {
        refuse_if_of_app(&state, caller.player, "a player of an app signs in by the app, and has no password").await?;
    }
    // A player keeps a name that was reserved later. A guest becomes no account with it.
    let is_new = |name: &String| *name != own.name.as_str();
    let name = faults.take(name.filter(is_new).map(|name| parse_name(&name, &state.reserved_names)).transpose())?;
    let named = name.as_ref().map(|name| name.as_ref().unwrap_or(&own.name));
    if let Some(named) = named.filter(|_| own.kind == PlayerKind::Guest && password.is_some()) {
        faults.take(refuse_reserved(named, &state.reserved_names))?;
    }
    if settings.is_findable == Some(true) && own.kind == PlayerKind::Guest && password.is_none() {
        faults.add(Problem::invalid("/is_findable", "only an account is found by its name"))?;
    }
    let password = faults.take(password.map(|password| choose_password(&password, named)).transpose())?;
    let (name, password) = faults.unless_any(name.zip(password))?;
    let hash = match password {
        Some(password) => {
            recent_sign_in::require(&state, &request, (caller, &found), current_password.as_deref()).await?;
            Some(hash_new(&state, &request, own, password).await?)
        }
        None => None,
    };
    let leftovers = leftovers(delete_webhooks, unlink_identities);
    for _ in 0..ATTEMPTS_MAX {
        let before = find(&state, caller).await?;
        let kind = if hash.is_some() { PlayerKind::Account } else { before.player.kind };
        let name = name.clone().unwrap_or_else(|| before.player.name.clone());
        let after = Player { kind, name, ..before.player.clone() };
        if after.name != before.player.name {
            // A rename that comes later is a conflict below.
            refuse_if_renamed(&state, caller.player).await?;
        }
        let updated = players::update(&state.db, &before, &after, hash.as_deref(), settings, leftovers, now()).await?;
        match updated.named {
            Named::Changed => continue,
            Named::Taken => return Err(name_taken()),
            Named::Stored => {}
        }
        state.recent.forget(caller.player);
        let tokens = match hash {
            Some(_) => Some(renew_tokens(&state, &request, &before, &after).await?),
            None => None,
        };
        let unlinked = |tokens: TokenSet| tokens.with_unlinked_identities(updated.unlinked_identities);
        let tokens = if unlink_identities { tokens.map(unlinked) } else { tokens };
        let MeView { profile, is_findable, shows_last_seen, who_may_invite } = MeView::of(&state, &after).await?;
        let updated = UpdatedMe { profile, is_findable, shows_last_seen, who_may_invite, tokens };
        return Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(updated));
    }
    Err(Problem::new(Code::Unavailable, "too many changes of this player at once; try again"))
}

/// Hashes a new password. A guest's first one makes an account, which counts as a new one of its address.
async fn hash_new(
    state: &AppState,
    request: &HttpRequest,
    own: &Player,
    password: Password,
) -> Result<String, Problem> {
    if own.kind == PlayerKind::Guest {
        limits::count_new_player(request, PlayerKind::Account)?;
    }
    let is_known = own.kind == PlayerKind::Account;
    state.passwords.hash(password, known::asker_at(state, network_of(request), is_known)).await
}

impl UpdateMe {
    /// The settings that change.
    fn settings(&self) -> NewSettings {
        let inviters = self.who_may_invite.map(Inviters::from);
        NewSettings { is_findable: self.is_findable, shows_last_seen: self.shows_last_seen, inviters }
    }

    /// The faults of fields that are allowed only beside a new password.
    fn faults(&self) -> Result<Faults, Problem> {
        let mut faults = Faults::default();
        for (field, is_set) in [
            ("/current_password", self.current_password.is_some()),
            ("/delete_webhooks", self.delete_webhooks),
            ("/unlink_identities", self.unlink_identities),
        ] {
            if is_set && self.password.is_none() {
                faults.add(Problem::invalid(field, "is only possible together with a new password"))?;
            }
        }
        Ok(faults)
    }
}

/// The data that a new password revokes as well.
pub const fn leftovers(delete_webhooks: bool, unlink_identities: bool) -> Leftovers {
    let webhooks = if delete_webhooks { WebhookChoice::Delete } else { WebhookChoice::Keep };
    let identities = if unlink_identities { IdentityChoice::Unlink } else { IdentityChoice::Keep };
    Leftovers { webhooks, identities }
}

/// New tokens after a new password, which has revoked all earlier ones.
pub async fn renew_tokens(
    state: &AppState,
    request: &HttpRequest,
    before: &OwnPlayer,
    after: &Player,
) -> Result<TokenSet, Problem> {
    let credentials_version = before.credentials_version + 1;
    // The process accepts no older token from here on, even before the answer.
    state.hub.audience().revoke(after.id, credentials_version);
    known::note(state, after.id, network_of(request)).await?;
    let own = OwnPlayer { player: after.clone(), credentials_version, has_network: before.has_network };
    let tokens = TokenSet::begin(state, &own, Grant::Password).await?.ok_or_else(gone)?;
    // The code of a guest stays valid.
    Ok(match before.player.kind {
        PlayerKind::Account => {
            let code = recovery::renew(state, &own, Telling::None).await?.ok_or_else(gone)?;
            tokens.with_recovery_code(code)
        }
        _ => tokens,
    })
}

/// Refuses a new name soon after an operator has given one, which would otherwise last for one call.
async fn refuse_if_renamed(state: &AppState, player: PlayerId) -> Result<(), Problem> {
    let Some(at) = acts::renamed_since(&state.db, player, now() - NAME_KEPT).await? else { return Ok(()) };
    let until = (at + NAME_KEPT).replace_nanosecond(0).unwrap_or(at).format(&Rfc3339).unwrap_or_default();
    let detail = format!("an operator of the server has given the player this name, which stays until {until}");
    Err(Problem::new(Code::Forbidden, detail))
}

/// Erase the caller
///
/// Open games are aborted, active ones resigned, invitations declined. Name, password, sign-ins, notes and webhooks are erased.
/// The games and their moves stay, because they belong to the opponents as well; the seat shows a deleted player. Private games
/// that the caller imported are deleted; other imported ones stay, without the players' names. This cannot be undone. For an
/// account it needs a sign-in of the last 10 minutes, or the password.
///
/// - `invalid_credentials`: the password is not the account's
#[utoipa::path(
    tag = "players",
    operation_id = "delete_me",
    request_body(content = Option<CurrentPassword>, description = "May be left out",
        example = json!({"current_password": "correct horse"})),
    responses(
        (status = 204, description = "The caller is erased"),
        Failures<(Unauthenticated, InvalidToken, InvalidCredentials, RecentSignInRequired)>,
    ),
    security(("bearer" = []))
)]
#[delete("/me")]
pub async fn delete_me(
    state: Data<AppState>,
    caller: ErasedCaller,
    _: Query<NoQuery>,
    body: OptionalBody<CurrentPassword>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let caller = caller.0;
    // A caller that is already erased repeats the call, because the first answer was lost.
    let found = players::find(&state.db, caller.player).await?.ok_or_else(gone)?;
    if found.player.kind != PlayerKind::Deleted {
        let own = find(&state, caller).await?;
        recent_sign_in::require(&state, &request, (caller, &own), body.0.current_password.as_deref()).await?;
    }
    erase(&state, caller.player).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Erases a player. A repetition erases what an earlier call has left.
pub async fn erase(state: &AppState, player: PlayerId) -> Result<(), Problem> {
    // The erasure comes first, so that no game begins meanwhile. If the server stops half-way, a job ends the other games.
    if let Some(credentials_version) = players::erase(&state.db, player, Some(state.tokens.person_key()), now()).await?
    {
        state.hub.audience().revoke(player, credentials_version);
    }
    state.recent.forget(player);
    end_games(state, player).await?;
    erase_imports(state, player).await?;
    // The guests that were merged with the player are erased, too. No further one can be merged now. A repetition of the request finds the
    // rest.
    for guest in merging::list(&state.db, player).await? {
        players::erase(&state.db, guest, None, now()).await?;
        state.recent.forget(guest);
        end_games(state, guest).await?;
        erase_imports(state, guest).await?;
    }
    Ok(())
}

/// Erases what the player had imported, up to a bound: the job erases the rest.
async fn erase_imports(state: &AppState, player: PlayerId) -> Result<(), Problem> {
    for _ in 0..IMPORT_BATCHES_MAX {
        if records::erase_imports(&state.db, player, GAMES_AT_ONCE).await? == 0
            && players::erase_imported_players(&state.db, player, GAMES_AT_ONCE).await? == 0
        {
            break;
        }
    }
    Ok(())
}

/// Ends the unfinished games of a player.
async fn end_games(state: &AppState, player: PlayerId) -> Result<(), Problem> {
    loop {
        let unfinished = games::list_unfinished(&state.db, player, GAMES_AT_ONCE).await?;
        if unfinished.is_empty() {
            return Ok(());
        }
        for id in unfinished {
            let request = Request { player, if_version: None, asked: Asked::Leave };
            if let Executed::Refused { refusal, .. } = execute(state, id, &request).await? {
                return Err(Problem::internal(refusal));
            }
        }
    }
}

/// The caller, with its settings, and what operators have done.
#[derive(Serialize, ToSchema)]
#[schema(as = CallerProfile)]
struct Me {
    #[serde(flatten)]
    profile: ProfileView,
    /// Whether others find the account by the beginning of its name: `GET /v1/players?name_prefix=`.
    is_findable: bool,
    /// Whether friends see when the player was last seen.
    shows_last_seen: bool,
    /// Who may invite the player to a game: `everyone`, `accounts`, `friends` or `none`.
    #[schema(value_type = String, example = "everyone")]
    who_may_invite: &'static str,
    /// Why and until when an operator has suspended the caller; null if the caller is not suspended.
    #[schema(required = true)]
    suspension: Option<SuspensionView>,
    /// What operators have told the caller, the last 10 warnings, newest first.
    warnings: Vec<WarningView>,
}

/// A warning of an operator.
#[derive(Serialize, ToSchema)]
#[schema(as = Warning)]
pub struct WarningView {
    at: Timestamp,
    reason: String,
}

impl WarningView {
    pub fn of_all(warnings: Vec<(OffsetDateTime, String)>) -> Vec<Self> {
        warnings.into_iter().map(|(at, reason)| Self { at: Timestamp(at), reason }).collect()
    }
}

/// The changes of the caller.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateMe {
    /// What others see.
    #[schema(min_length = 1, max_length = 32, example = "Ana")]
    name: Option<String>,
    /// Turns a guest into an account.
    #[schema(format = Password, min_length = 8, max_length = 128)]
    password: Option<String>,
    /// With a new password of an account: the present one, unless the sign-in began within the last 10 minutes.
    #[schema(format = Password)]
    current_password: Option<String>,
    /// With a new password: whether all webhooks are deleted, too. Otherwise they go on.
    #[serde(default)]
    #[schema(default = false)]
    delete_webhooks: bool,
    /// With a new password: whether all identities are unlinked, too. Otherwise each stays a way in.
    #[serde(default)]
    #[schema(default = false)]
    unlink_identities: bool,
    /// For accounts: whether others find the caller by the beginning of its name.
    is_findable: Option<bool>,
    /// Whether friends see when the caller was last seen.
    shows_last_seen: Option<bool>,
    /// Who may invite the caller to a game. Others are answered as by a block. A rematch is no invitation.
    #[serde(default, deserialize_with = "some_word")]
    #[schema(nullable = false)]
    who_may_invite: Option<InvitersWord>,
}

/// Who may invite a player.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum InvitersWord {
    Everyone,
    Accounts,
    Friends,
    None,
}

impl From<InvitersWord> for Inviters {
    fn from(word: InvitersWord) -> Self {
        match word {
            InvitersWord::Everyone => Inviters::Everyone,
            InvitersWord::Accounts => Inviters::Accounts,
            InvitersWord::Friends => Inviters::Friends,
            InvitersWord::None => Inviters::None,
        }
    }
}

/// The caller, with its settings.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnProfile)]
pub struct MeView {
    #[serde(flatten)]
    profile: ProfileView,
    /// Whether others find the account by the beginning of its name: `GET /v1/players?name_prefix=`.
    is_findable: bool,
    /// Whether friends see when the player was last seen.
    shows_last_seen: bool,
    /// Who may invite the player to a game: `everyone`, `accounts`, `friends` or `none`.
    #[schema(value_type = String, example = "everyone")]
    who_may_invite: &'static str,
}

impl MeView {
    pub async fn of(state: &AppState, player: &Player) -> Result<Self, Problem> {
        let settings = settings::find(&state.db, player.id).await?;
        let Settings { is_findable, shows_last_seen, inviters } = settings;
        let profile = ProfileView::of(state, player).await?;
        Ok(Self { profile, is_findable, shows_last_seen, who_may_invite: inviters.as_str() })
    }
}

/// The caller after a change.
#[derive(Serialize, ToSchema)]
struct UpdatedMe {
    #[serde(flatten)]
    profile: ProfileView,
    /// Whether others find the account by the beginning of its name: `GET /v1/players?name_prefix=`.
    is_findable: bool,
    /// Whether friends see when the player was last seen.
    shows_last_seen: bool,
    /// Who may invite the player to a game: `everyone`, `accounts`, `friends` or `none`.
    #[schema(value_type = String, example = "everyone")]
    who_may_invite: &'static str,
    /// Present after a new password: new tokens, because the earlier ones are revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tokens: Option<TokenSet>,
}
