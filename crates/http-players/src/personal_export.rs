//! Everything that is stored about the caller, as one JSON document. It is streamed page by page, so that few games are in memory
//! at once.

use std::{fmt::Display, io};

use actix_web::{
    HttpResponse, get,
    http::header::{self, ContentType},
    web::{Bytes, Data},
};
use futures_util::stream::{self, Stream};
use mancala_db::{
    DbError, Reads, apps,
    email::addresses,
    games, idempotency,
    lists::invitations::{self, Direction},
    operators::acts,
    players::{
        self, Network, blocks,
        friends::{self, FriendStatus},
        identities::{self, LinkedIdentity},
        invitation_counts::{self, CountedInvitations},
        mutes, recovery, refresh_tokens, report_quotas, reports, sign_in_networks, suspensions,
    },
    push,
    study::{analyses, notes},
    webhooks,
};
use mancala_domain::{GameId, PlayerId};
use mancala_http::{
    answer::problem::Problem,
    layers::limits::HeavyBudget,
    request::{
        extract::{NoQuery, Query},
        player,
    },
    state::{AppState, heavy::HeavyClass, tokens::Caller},
};
use mancala_http_games::{records::cost::games_that_fit, study::notes::NoteView, webhooks::endpoint_view::WebhookView};
use mancala_process::{clock::now, repeats};
use mancala_wire::view::{
    exported_game::ExportedGame,
    game::GameView,
    wire::{ALWAYS_JSON, PlayerView, SuspensionView, Timestamp},
};
use serde::Serialize;
use sqlx::PgPool;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    email::my_email::EmailAddressesView,
    players::{
        blocks::BlockView,
        friends::FriendView,
        me::{MeView, WarningView},
        mutes::MuteView,
        reports::ReportView,
    },
    push::{devices::DeviceView, settings::PushSettingsView},
};

/// Games of a page: some hundred KiB.
const PAGE_GAMES_MAX: u32 = 20;

/// Notes of a page: a MiB and a half at most.
const PAGE_NOTES_MAX: u32 = 100;

/// The maximum number of sign-ins, keys, invitations, blocks, mutes, friends and reports, of which the newest are shown.
const LISTED_MAX: u32 = 1000;

/// Export everything stored about the caller
///
/// The export has the profile, e-mail addresses, app, sign-ins, identities and idempotency keys. It has the hashes of the
/// network of a guest or a new account, and of those from which the caller signs in and reports. It has open invitations, the times of those that the
/// caller makes, blocked and muted players, and friends. It has the caller's reports and warnings (the newest 1,000 of
/// each). It has the suspension, requests for analyses, webhooks, devices, all notes, and all games with their histories. The
/// password's hash, the secrets of webhooks, and the addresses and keys of devices are left out.
#[utoipa::path(
    tag = "players",
    operation_id = "export_me",
    responses((status = 200, description = "Everything. An answer that is cut off is incomplete", body = Export)),
    security(("bearer" = []))
)]
#[get("/me/export")]
pub async fn export_me(
    state: Data<AppState>,
    caller: Caller,
    budget: HeavyBudget,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    budget.charge(0)?;
    let own = player::find(&state, caller).await?;
    let sign_ins = refresh_tokens::list(&state.db, caller.player, now(), LISTED_MAX).await?;
    let keys = idempotency::list(&state.db, caller.player, now(), LISTED_MAX).await?;
    let invitations = invitations::list(&state.db, caller.player, Direction::Received, None, LISTED_MAX).await?;
    let invitations = invitations.load(&state.db).await?;
    let export = Export {
        player: MeView::of(&state, &own.player).await?,
        sign_ins: sign_ins
            .into_iter()
            .map(|sign_in| SignInView { id: sign_in.family, expires_at: Timestamp(sign_in.expires_at) })
            .collect(),
        idempotency_keys: keys.into_iter().map(|(key, at)| KeyView { key, created_at: Timestamp(at) }).collect(),
        recovery_code_since: recovery::created_at(&state.db, caller.player).await?.map(Timestamp),
        email: EmailAddressesView::of(&addresses::find(&state.db, caller.player, now()).await?),
        network: players::network(&state.db, caller.player).await?.map(Network::to_hex),
        sign_in_networks: sign_in_networks::list(&state.db, caller.player)
            .await?
            .into_iter()
            .map(|(network, at)| SignInNetworkView { network: network.to_hex(), seen_at: Timestamp(at) })
            .collect(),
        report_networks: report_quotas::networks_of_reporter(&state.db, caller.player)
            .await?
            .into_iter()
            .map(Network::to_hex)
            .collect(),
        analysis_requests: analyses::list_requests(&state.db, caller.player)
            .await?
            .into_iter()
            .map(|(game, at)| AnalysisRequestView { game_id: game.0, requested_at: Timestamp(at) })
            .collect(),
        push_settings: PushSettingsView::of(&push::settings::find(&state.db, caller.player).await?),
        devices: push::devices::list(&state.db, caller.player).await?.iter().map(DeviceView::of).collect(),
        webhooks: webhooks::list(&state.db, caller.player).await?.iter().map(WebhookView::of).collect(),
        invitations: invitations.games.iter().map(|seated| GameView::of(seated, Some(caller.player))).collect(),
        recent_invitations: invitation_counts::list(&state.db, caller.player, now(), LISTED_MAX)
            .await?
            .iter()
            .map(RecentInvitationsView::of)
            .collect(),
        blocks: blocks::list(&state.db, caller.player, None, LISTED_MAX).await?.iter().map(BlockView::of).collect(),
        mutes: mutes::list(&state.db, caller.player, None, LISTED_MAX).await?.iter().map(MuteView::of).collect(),
        suspension: suspensions::find_active(&state.db, caller.player, now()).await?.as_ref().map(SuspensionView::from),
        warnings: WarningView::of_all(acts::list_warnings(&state.db, caller.player, LISTED_MAX).await?),
        reports: reports::list_of_reporter(&state.db, caller.player, LISTED_MAX)
            .await?
            .iter()
            .map(ReportView::of)
            .collect(),
        app: apps::players::find_membership(&state.db, caller.player)
            .await?
            .map(|of| MembershipView { name: of.app, external_id: of.external_id.to_string() }),
        friends: friends(&state.db, caller.player).await?,
        identities: identities::list(&state.db, caller.player).await?.into_iter().map(LinkedView::of).collect(),
        notes: vec![],
        games: vec![],
    };
    Ok(HttpResponse::Ok()
        .insert_header(ContentType::json())
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .streaming(stream_export(&export, state, caller.player, budget)))
}

/// Friends, and requests of all kinds.
async fn friends(db: &PgPool, player: PlayerId) -> Result<Vec<FriendView>, DbError> {
    let mut found = vec![];
    for status in FriendStatus::ALL {
        found.extend(friends::list(db, player, status, None, LISTED_MAX).await?.iter().map(FriendView::of));
    }
    Ok(found)
}

/// How far an export is sent.
#[derive(Clone, Copy)]
enum Progress {
    Start,
    Notes { after: Option<(GameId, u32)> },
    Games { before: Option<GameId> },
    End,
}

/// The export's text, with the notes and games read page by page.
fn stream_export(
    export: &Export,
    state: Data<AppState>,
    player: PlayerId,
    budget: HeavyBudget,
) -> impl Stream<Item = Result<Bytes, io::Error>> + use<> {
    let text = serde_json::to_string(export).expect(ALWAYS_JSON);
    // The last two fields are the lists, both empty in this text.
    let head = Bytes::from(text.strip_suffix(r#"],"games":[]}"#).unwrap_or(&text).to_owned());
    stream::unfold(Progress::Start, move |progress| {
        let (state, head, budget) = (state.clone(), head.clone(), budget.clone());
        async move {
            let chunk = match progress {
                Progress::Start => Ok((head, Progress::Notes { after: None })),
                Progress::Notes { after } => page_of_notes(&state.db, player, after).await.map_err(Problem::from),
                Progress::Games { before } => page_of_games(&state, player, before, &budget).await,
                Progress::End => return None,
            };
            // The status is sent already: only a cut-off answer shows the failure.
            Some(chunk.map_or_else(|error| (Err(log_failure(error)), Progress::End), |(text, next)| (Ok(text), next)))
        }
    })
}

/// A page of notes as items of their list, and the progress after it; after the last page, the beginning of the next list.
async fn page_of_notes(
    db: &PgPool,
    player: PlayerId,
    after: Option<(GameId, u32)>,
) -> Result<(Bytes, Progress), DbError> {
    let found = notes::list_all(db, player, after, PAGE_NOTES_MAX).await?;
    Ok(match found.last() {
        Some(last) => {
            let after_last = Some((last.game, last.ply));
            (items(found.iter().map(NoteView::of), after.is_some()), Progress::Notes { after: after_last })
        }
        None => (Bytes::from_static(br#"],"games":["#), Progress::Games { before: None }),
    })
}

/// A page of games as items of their list; after the last page, the end of the document.
async fn page_of_games(
    state: &AppState,
    player: PlayerId,
    before: Option<GameId>,
    budget: &HeavyBudget,
) -> Result<(Bytes, Progress), Problem> {
    let read = move |reads: Reads| async move {
        let mut found =
            reads.run(|db| async move { games::list_seated(&db, player, before, PAGE_GAMES_MAX).await }).await?;
        found.truncate(games_that_fit(&found));
        let Some(last) = found.last() else { return Ok((Bytes::from_static(b"]}"), Progress::End, 0)) };
        let games = &found;
        let histories = reads.run(|db| async move { games::histories(&db, games).await }).await?;
        let games = found.iter().zip(&histories);
        let exported = games.map(|(seated, plies)| ExportedGame::of(seated, plies, Some(player)));
        let plies: u32 = found.iter().map(|seated| seated.game.ply()).sum();
        Ok((items(exported, before.is_some()), Progress::Games { before: Some(last.game.id()) }, plies))
    };
    let (text, next, plies) = state.heavy.run(HeavyClass::List, budget.turns(), read).await?;
    budget.charge_later(plies).await;
    Ok((text, next))
}

/// Items of a list, with a comma in front if they follow others.
fn items(items: impl Iterator<Item = impl Serialize>, follow_others: bool) -> Bytes {
    let items: Vec<_> = items.map(|item| serde_json::to_string(&item).expect(ALWAYS_JSON)).collect();
    Bytes::from(format!("{}{}", if follow_others { "," } else { "" }, items.join(",")))
}

fn log_failure(error: impl Display) -> io::Error {
    if let Some(line) = repeats::admit("exports that failed", &error.to_string()) {
        tracing::error!(left_out = line.left_out, "an export failed: {error}");
    }
    io::Error::other("the export failed")
}

/// Everything that is stored about a player.
#[derive(Serialize, ToSchema)]
struct Export {
    player: MeView,
    /// The player's sign-ins, newest first.
    sign_ins: Vec<SignInView>,
    /// When the recovery code was given, which is stored as a hash.
    #[schema(required = true)]
    recovery_code_since: Option<Timestamp>,
    /// The caller's e-mail addresses.
    email: EmailAddressesView,
    /// A keyed hash of the network from which a guest or an account was made: guests and new accounts of one network share some limits. Null
    /// for an account that is not new, for a player of an app, and after 90 days.
    #[schema(required = true, example = "8c1f4b0de2a95376")]
    network: Option<String>,
    /// The networks of the account's last successful sign-ins, at most 3 of the last 90 days. For them places are kept among those that sign in.
    sign_in_networks: Vec<SignInNetworkView>,
    /// Keyed hashes of the networks from which the player has reported others within the last day: reports of one network share a quota.
    #[schema(example = json!(["8c1f4b0de2a95376"]))]
    report_networks: Vec<String>,
    /// Keys of requests that can be retried.
    idempotency_keys: Vec<KeyView>,
    /// The player's requests for analyses that are pending or failed.
    analysis_requests: Vec<AnalysisRequestView>,
    /// When the player's devices are silent.
    push_settings: PushSettingsView,
    /// The player's devices, newest first, without their addresses and keys.
    devices: Vec<DeviceView>,
    /// The player's webhooks, newest first.
    webhooks: Vec<WebhookView>,
    /// Open games to which the player is invited, newest first.
    invitations: Vec<GameView>,
    /// At most 1,000 of the players that the player has invited within the last day, the last one first.
    recent_invitations: Vec<RecentInvitationsView>,
    /// The players that the player blocks, the last one first.
    blocks: Vec<BlockView>,
    /// The players that the player mutes, the last one first.
    mutes: Vec<MuteView>,
    /// The suspension or ban that counts now.
    #[schema(required = true)]
    suspension: Option<SuspensionView>,
    /// What operators have told the player, newest first.
    warnings: Vec<WarningView>,
    /// The reports that the player has made, the last one first.
    reports: Vec<ReportView>,
    /// The app of the player; null for a player of no app.
    #[schema(required = true)]
    app: Option<MembershipView>,
    /// The player's friends, and the requests by the player and to it, those that it declined included.
    friends: Vec<FriendView>,
    /// The issuers of sign-ins that know the player, the oldest first.
    identities: Vec<LinkedView>,
    /// All notes of the player, by the age of their games, oldest first.
    notes: Vec<NoteView>,
    /// All games in which the player sits, newest first.
    games: Vec<ExportedGame>,
}

/// When the player has invited another one.
#[derive(Serialize, ToSchema)]
#[schema(as = RecentInvitations)]
struct RecentInvitationsView {
    player: PlayerView,
    /// The times of the invitations, the first one first, whatever has become of them.
    made_at: Vec<Timestamp>,
    /// A keyed hash of the network of the last one: invitations of one network to a player share a quota. Null if it is not known.
    #[schema(required = true, example = "00c1b2a3d4e5f607")]
    network: Option<String>,
}

impl RecentInvitationsView {
    fn of(invitations: &CountedInvitations) -> Self {
        let made_at = invitations.made_at.iter().copied().map(Timestamp).collect();
        Self {
            player: PlayerView::from(&invitations.player),
            made_at,
            network: invitations.network.map(Network::to_hex),
        }
    }
}

/// The app of a player.
#[derive(Serialize, ToSchema)]
#[schema(as = AppMembership)]
struct MembershipView {
    /// The app's name.
    name: String,
    /// The app's id of the player.
    external_id: String,
}

/// An identity of the player. The issuer's id of the person is stored as a hash only.
#[derive(Serialize, ToSchema)]
#[schema(as = ExportedIdentity)]
struct LinkedView {
    /// The issuer's URL.
    #[schema(example = "https://accounts.google.com")]
    issuer: String,
    /// When it was linked.
    since: Timestamp,
}

impl LinkedView {
    fn of(linked: LinkedIdentity) -> Self {
        Self { issuer: linked.issuer, since: Timestamp(linked.created_at) }
    }
}

/// A valid sign-in. Its refresh tokens are stored as hashes only.
#[derive(Serialize, ToSchema)]
#[schema(as = SignIn)]
struct SignInView {
    id: Uuid,
    /// When its newest refresh token expires.
    expires_at: Timestamp,
}

/// A network from which the account was signed in to.
#[derive(Serialize, ToSchema)]
#[schema(as = SignInNetwork)]
struct SignInNetworkView {
    /// A keyed hash of the player and the network.
    #[schema(example = "8c1f4b0de2a953768c1f4b0de2a95376")]
    network: String,
    /// When a sign-in from it was noted last.
    seen_at: Timestamp,
}

/// The key of a request that can be retried. Its stored answer is the resource that it created.
#[derive(Serialize, ToSchema)]
#[schema(as = IdempotencyKey)]
struct KeyView {
    key: String,
    created_at: Timestamp,
}

/// A player's request for a game's analysis.
#[derive(Serialize, ToSchema)]
#[schema(as = AnalysisRequest)]
struct AnalysisRequestView {
    game_id: Uuid,
    requested_at: Timestamp,
}
