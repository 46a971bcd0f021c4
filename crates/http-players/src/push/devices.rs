//! The devices of the caller that get push notifications: registered, listed and removed. A job sends the notifications.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, HttpResponse, delete, dev::Payload, get, post, web::Data};
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use mancala_db::push::devices::{self, Address, Device, NewDevice, Registered};
use mancala_domain::DeviceKind;
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, Forbidden, NotFound, PushNotOffered, TooManyDevices},
        headers::{NOT_KEPT, VARIES},
        problem::Problem,
    },
    layers::limits,
    request::{
        body::MEDIUM_BODY,
        extract::{self, Body, NoQuery, Query},
        language::LanguageWord,
        player,
    },
    state::{AppState, tokens::Caller},
};
use mancala_outbound::{
    push::{Apns, Fcm, Subscription, SubscriptionError},
    webhook::{Endpoint, host_of},
};
use mancala_process::clock::now;
use mancala_texts::Language;
use mancala_wire::view::wire::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

/// The further calls that a registration costs of the rate limit. It makes the server send requests to an address that the caller names.
const REGISTRATION_CALLS: u32 = 9;

/// Base64 for URLs, with or without padding: browsers leave it out, some libraries do not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Register a device
///
/// The device shows when it is the caller's turn, and when the turn's time runs out. It also shows when the caller is invited, and when a
/// game has ended. Send it at each start of the client, and after signing in, a first password and a merge. A device that is registered
/// already keeps its `id`, and its language is the new one (200). One that another player had registered becomes the caller's. When the
/// sign-in of the token ends, the device is removed. A player has at most 10 devices. For the rate limit, it counts as ten calls.
///
/// - `forbidden`: a player of an app
#[utoipa::path(
    tag = "push",
    operation_id = "create_device",
    request_body(content = CreateDevice, examples(
        ("a browser" = (value = json!({"kind": "web", "language": "de", "subscription": {
            "endpoint": "https://push.example/a1b2c3",
            "keys": {
                "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                "auth": "BTBZMqHH6r4Tts7J_aSIgg"
            }
        }}))),
        ("an app on Android" = (value = json!({"kind": "fcm", "language": "de", "token": "cXy1:APA91bEx4mpleOfAToken"}))),
    )),
    responses(
        (status = 200, description = "The device, which was registered before", body = DeviceView),
        (status = 201, description = "The device", body = DeviceView),
        Failures<(Forbidden, PushNotOffered, TooManyDevices)>,
    ),
    security(("bearer" = []))
)]
#[post("/me/devices")]
pub async fn create_device(
    state: Data<AppState>,
    caller: Caller,
    _: Query<NoQuery>,
    body: Body<CreateDevice, MEDIUM_BODY>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let CreateDevice { kind, subscription, token, language } = body.0;
    let kind = DeviceKind::from(kind);
    if !state.settings.push.offers(kind) {
        let detail = format!("this server sends no push notifications to devices of the kind `{}`", kind.as_str());
        return Err(Problem::new(Code::PushNotOffered, detail));
    }
    let address = address_of(&state, kind, subscription, token)?;
    player::find(&state, caller).await?;
    player::refuse_if_of_app(&state, caller.player, "the app tells its players of their games").await?;
    limits::count_more(&request, REGISTRATION_CALLS)?;
    let language = language.map_or(Language::default(), Language::from).tag();
    let new = NewDevice {
        id: Uuid::now_v7(),
        player: caller.player,
        sign_in: caller.sign_in,
        address,
        language,
        created_at: now(),
    };
    match devices::register(&state.db, &new, caller.credentials_version).await? {
        Registered::New(device) => Ok(HttpResponse::Created().json(DeviceView::of(&device))),
        Registered::Known(device) => Ok(HttpResponse::Ok().json(DeviceView::of(&device))),
        Registered::TooMany => {
            let max = devices::DEVICES_MAX;
            Err(Problem::new(Code::TooManyDevices, format!("a player has at most {max} devices: remove one")))
        }
        Registered::TooManyOfNetwork => {
            let max = devices::NETWORK_DEVICES_MAX;
            let detail = format!("the guests and new accounts of one network have at most {max} devices together");
            Err(Problem::new(Code::TooManyDevices, detail))
        }
        Registered::NoPlayer => Err(player::gone()),
    }
}

/// List the caller's devices
///
/// All of them, at most ten, newest first.
#[utoipa::path(
    tag = "push",
    operation_id = "list_devices",
    responses((status = 200, description = "All devices", body = DevicePage)),
    security(("bearer" = []))
)]
#[get("/me/devices")]
pub async fn list_devices(state: Data<AppState>, caller: Caller, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    let items = devices::list(&state.db, caller.player).await?.iter().map(DeviceView::of).collect();
    let page = DevicePage { items, next_cursor: None };
    Ok(HttpResponse::Ok().insert_header(NOT_KEPT).insert_header(VARIES).json(page))
}

/// Remove a device
///
/// Nothing more is sent to it.
#[utoipa::path(
    tag = "push",
    operation_id = "delete_device",
    params(("device_id" = Uuid, Path, description = "The device's id")),
    responses(
        (status = 204, description = "The device is removed"),
        Failures<NotFound>,
    ),
    security(("bearer" = []))
)]
#[delete("/me/devices/{device_id}")]
pub async fn delete_device(
    state: Data<AppState>,
    caller: Caller,
    path: DevicePath,
    _: Query<NoQuery>,
) -> Result<HttpResponse, Problem> {
    player::find(&state, caller).await?;
    if !devices::delete(&state.db, caller.player, path.0).await? {
        return Err(no_device());
    }
    Ok(HttpResponse::NoContent().finish())
}

fn no_device() -> Problem {
    Problem::not_found("there is no such device")
}

/// The address of the device. Each kind of device requires other fields, and no further ones.
fn address_of(
    state: &AppState,
    kind: DeviceKind,
    subscription: Option<SubscriptionBody>,
    token: Option<String>,
) -> Result<Address, Problem> {
    match kind {
        DeviceKind::Web if token.is_some() => {
            Err(Problem::invalid("/token", "a browser has a subscription, and no token"))
        }
        DeviceKind::Web => address_of_browser(state, subscription),
        DeviceKind::Fcm | DeviceKind::Apns if subscription.is_some() => {
            Err(Problem::invalid("/subscription", "an app has a token, and no subscription"))
        }
        DeviceKind::Fcm => {
            let host = state.settings.push.fcm.as_ref().map(Fcm::host);
            let detail = "a registration token has 16 to 1024 of the characters A-Z, a-z, 0-9, `-`, `_` and `:`";
            address_of_app(kind, host, required(token)?, Fcm::is_token, detail)
        }
        DeviceKind::Apns => {
            let host = state.settings.push.apns.as_ref().map(Apns::host);
            let token = required(token)?.to_ascii_lowercase();
            address_of_app(kind, host, token, Apns::is_token, "a device token has 64 to 200 hexadecimal digits")
        }
    }
}

fn required(token: Option<String>) -> Result<String, Problem> {
    token.ok_or_else(|| Problem::invalid_as("required", "/token", "an app is registered with its token"))
}

/// The address of an app: its token at the service that the operator has named.
fn address_of_app(
    kind: DeviceKind,
    host: Option<&str>,
    token: String,
    is_token: fn(&str) -> bool,
    detail: &str,
) -> Result<Address, Problem> {
    if !is_token(&token) {
        return Err(Problem::invalid_as("wrong_format", "/token", detail));
    }
    let host = host.unwrap_or_default().to_owned();
    Ok(Address { kind, hash: hash(&[kind.as_str().as_bytes(), token.as_bytes()]), address: token, host, keys: None })
}

/// The address of a browser, if the server may send there.
fn address_of_browser(state: &AppState, subscription: Option<SubscriptionBody>) -> Result<Address, Problem> {
    let kind = DeviceKind::Web;
    let Some(SubscriptionBody { endpoint, keys, .. }) = subscription else {
        return Err(Problem::invalid_as("required", "/subscription", "a browser is registered with its subscription"));
    };
    let endpoint = Endpoint::parse(&endpoint, state.settings.webhook_reach)
        .map_err(|error| Problem::invalid("/subscription/endpoint", error.to_string()))?;
    let wrong = |error: SubscriptionError| {
        let field = match error {
            SubscriptionError::PublicKey => "p256dh",
            SubscriptionError::Auth => "auth",
        };
        Problem::invalid_as("wrong_format", format!("/subscription/keys/{field}"), error.to_string())
    };
    let public_key = BASE64.decode(&keys.p256dh).map_err(|_| wrong(SubscriptionError::PublicKey))?;
    let secret = BASE64.decode(&keys.auth).map_err(|_| wrong(SubscriptionError::Auth))?;
    Subscription::new(&public_key, &secret).map_err(wrong)?;
    let url = endpoint.url();
    let host = host_of(url).unwrap_or_default();
    Ok(Address {
        kind,
        hash: hash(&[kind.as_str().as_bytes(), url.as_str().as_bytes(), &public_key, &secret]),
        address: url.to_string(),
        host,
        keys: Some((public_key, secret)),
    })
}

/// The hash of an address with its keys: the address alone, which others may learn, names another device.
fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let lengths = parts.iter().fold(Sha256::new(), |hash, part| hash.chain_update((part.len() as u64).to_be_bytes()));
    parts.iter().fold(lengths, Digest::chain_update).finalize().into()
}

/// The device that the address names. An id that is no UUID is answered with 404.
#[derive(Clone, Copy, Debug)]
pub struct DevicePath(Uuid);

impl FromRequest for DevicePath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("device_id").and_then(|id| Uuid::try_parse(id).ok());
        ready(id.map(Self).ok_or_else(no_device))
    }
}

/// The device to register.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateDevice {
    #[serde(deserialize_with = "extract::word")]
    kind: DeviceKindWord,
    /// For the kind `web`: what `pushManager.subscribe` gave to the browser, as `JSON.stringify` writes it.
    #[serde(default, deserialize_with = "extract::some_object")]
    #[schema(nullable = false)]
    subscription: Option<SubscriptionBody>,
    /// For the kind `fcm`: the registration token that Firebase Cloud Messaging gave to the app. For the kind `apns`:
    /// the device token of iOS in hexadecimal.
    #[serde(default, deserialize_with = "extract::some_text")]
    #[schema(nullable = false, min_length = 16, max_length = 1024)]
    token: Option<String>,
    /// The language of what the device shows. Unless given, English.
    #[serde(default, deserialize_with = "extract::some_word")]
    #[schema(nullable = false)]
    language: Option<LanguageWord>,
}

/// Hides the token.
impl std::fmt::Debug for CreateDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreateDevice").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// A browser's subscription.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PushSubscription)]
struct SubscriptionBody {
    /// The address at the push service, under the same rules as the `url` of a webhook.
    #[schema(max_length = 2048, example = "https://push.example/a1b2c3")]
    endpoint: String,
    /// This field has no effect: a push service says when a subscription has ended.
    #[serde(default)]
    #[schema(minimum = 0)]
    expiration_time: Option<u64>,
    #[serde(deserialize_with = "extract::object")]
    keys: SubscriptionKeys,
}

/// Hides the address and the keys.
impl std::fmt::Debug for SubscriptionBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SubscriptionBody").field("expiration_time", &self.expiration_time).finish_non_exhaustive()
    }
}

/// The keys of a subscription, in Base64 for URLs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PushSubscriptionKeys)]
struct SubscriptionKeys {
    /// The browser's public key: a point of P-256.
    #[schema(max_length = 128)]
    p256dh: String,
    /// The secret that authenticates what is sent to it.
    #[schema(max_length = 64)]
    auth: String,
}

/// How a device is reached.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DeviceKind)]
enum DeviceKindWord {
    /// A browser, by Web Push.
    Web,
    /// An app, by Firebase Cloud Messaging.
    Fcm,
    /// An app, by Apple's service (APNs).
    Apns,
}

impl From<DeviceKindWord> for DeviceKind {
    fn from(word: DeviceKindWord) -> Self {
        match word {
            DeviceKindWord::Web => Self::Web,
            DeviceKindWord::Fcm => Self::Fcm,
            DeviceKindWord::Apns => Self::Apns,
        }
    }
}

/// A device. Its address and its keys are not shown.
#[derive(Serialize, ToSchema)]
#[schema(as = Device)]
pub struct DeviceView {
    id: Uuid,
    #[schema(example = "web")]
    kind: &'static str,
    /// The host of the push service.
    #[schema(example = "push.example")]
    service: String,
    #[schema(example = "de")]
    language: String,
    created_at: Timestamp,
    /// When its service last took a notification; null: it has not yet.
    #[schema(required = true)]
    last_success_at: Option<Timestamp>,
    /// Since when every attempt has failed; null if the last one succeeded.
    #[schema(required = true)]
    failing_since: Option<Timestamp>,
}

impl DeviceView {
    pub fn of(device: &Device) -> Self {
        Self {
            id: device.id,
            kind: device.kind.as_str(),
            service: device.host.clone(),
            language: device.language.clone(),
            created_at: Timestamp(device.created_at),
            last_success_at: device.last_success_at.map(Timestamp),
            failing_since: device.failing_since.map(Timestamp),
        }
    }
}

/// All devices of the caller.
#[derive(Serialize, ToSchema)]
struct DevicePage {
    items: Vec<DeviceView>,
    /// Always null: all fit on one page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}
