//! The issuers by which people sign in, and the beginning of a sign-in.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpRequest, HttpResponse, dev::Payload, get, http::header, post, web::Data};
use mancala_http::{
    answer::{
        failures::{Failures, Forbidden, IssuerUnavailable, NotFound, Unavailable},
        headers::KEPT_FOR_A_MINUTE,
        problem::Problem,
    },
    request::{
        auth,
        extract::{Body, NoQuery, Query},
        player,
    },
    state::AppState,
};
use mancala_outbound::openid::Issuer;
use mancala_process::clock::now;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    session::{LIFETIME, Session},
    verified::problem,
};

/// List the issuers of sign-ins
///
/// The issuers of OpenID Connect by which people may sign in here, as the operator has configured them. The list may be empty.
#[utoipa::path(
    tag = "players",
    operation_id = "list_issuers",
    responses((status = 200, description = "The issuers, in the operator's order", body = IssuerList)),
    security(())
)]
#[get("/sign-in")]
pub async fn list_issuers(state: Data<AppState>, _: Query<NoQuery>) -> HttpResponse {
    let items = state.issuers.iter().map(IssuerView::of).collect();
    HttpResponse::Ok().insert_header(KEPT_FOR_A_MINUTE).json(IssuerList { items, next_cursor: None })
}

/// Begin a sign-in by an issuer
///
/// Open `authorization_url` in a browser: that of the system in an app. The issuer sends the person back to `redirect_uri` with `code` and
/// `state`, which go to `POST /v1/sign-in/{issuer}/complete` together with `session`. With a player's token, the identity is linked to that
/// player: then they go to `PUT /v1/me/identities/{issuer}`.
///
/// - `forbidden`: a player of an app
/// - `not_found`: the server has no such issuer
/// - `issuer_unavailable`: the issuer does not answer
#[utoipa::path(
    tag = "players",
    operation_id = "begin_sign_in",
    params(("issuer" = String, Path, description = "The issuer's id", example = "google")),
    request_body(content = BeginSignIn, example = json!({"redirect_uri": "https://play.example/back"})),
    responses(
        (status = 200, description = "Where the person signs in", body = BegunSignIn),
        Failures<(Forbidden, NotFound, Unavailable, IssuerUnavailable)>,
    ),
    security((), ("bearer" = []))
)]
#[post("/sign-in/{issuer}")]
pub async fn begin_sign_in(
    state: Data<AppState>,
    path: IssuerPath,
    _: Query<NoQuery>,
    body: Body<BeginSignIn>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let issuer = path.find(&state)?;
    let redirect_uri = body.0.redirect_uri;
    // The address must match as a whole. With a prefix or a pattern, an attacker could make up a matching address.
    if !issuer.settings().redirect_uris.contains(&redirect_uri) {
        return Err(Problem::invalid("/redirect_uri", "the operator allows no such address for this issuer"));
    }
    let own = match auth::reader(&request)? {
        Some(caller) => {
            let own = player::find(&state, caller).await?;
            player::refuse_if_of_app(&state, caller.player, OF_APP).await?;
            Some(own)
        }
        None => None,
    };
    let session = Session::begin(redirect_uri, own.as_ref(), now());
    let words = session.words();
    let url = issuer.authorization_url(words.request(&session)).await;
    let begun = BegunSignIn {
        authorization_url: url.map_err(|failure| problem(&state, issuer, &failure))?,
        session: session.seal(&state.cursors, issuer.settings()),
        expires_in: LIFETIME.whole_seconds(),
    };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(begun))
}

/// The detail of the refusal for a player of an app.
pub(super) const OF_APP: &str = "a player of an app signs in by the app, and has no identities";

/// The issuer that the path names.
#[derive(Clone, Debug)]
pub struct IssuerPath(String);

impl IssuerPath {
    pub(super) fn find<'a>(&self, state: &'a AppState) -> Result<&'a Issuer, Problem> {
        state.issuers.find(&self.0).ok_or_else(|| Problem::not_found("the server has no such issuer"))
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.0 == name
    }
}

impl FromRequest for IssuerPath {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(request.match_info().get("issuer").unwrap_or_default().to_owned())))
    }
}

/// Where a sign-in leads back to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BeginSignIn {
    /// An address that the operator allows for this issuer, letter for letter: a page's, or an app's own.
    #[schema(max_length = 512, example = "https://play.example/back")]
    redirect_uri: String,
}

/// A sign-in that has begun.
#[derive(Serialize, ToSchema)]
struct BegunSignIn {
    /// Where the person signs in.
    #[schema(example = "https://accounts.google.com/o/oauth2/v2/auth?response_type=code&client_id=…")]
    authorization_url: String,
    /// Completes the sign-in, beside the code and the state. Keep it in the client that began, and secret: without it, what others
    /// see or send in the browser is worth nothing. It is used once.
    session: String,
    /// Seconds until the session ends.
    #[schema(example = 600)]
    expires_in: i64,
}

/// The issuers.
#[derive(Serialize, ToSchema)]
struct IssuerList {
    items: Vec<IssuerView>,
    /// Always null: all fit on one page.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// An issuer of sign-ins.
#[derive(Serialize, ToSchema)]
#[schema(as = Issuer)]
struct IssuerView {
    /// In paths.
    #[schema(example = "google")]
    id: String,
    /// For people.
    #[schema(example = "Google")]
    name: String,
}

impl IssuerView {
    fn of(issuer: &Issuer) -> Self {
        Self { id: issuer.settings().id.clone(), name: issuer.settings().name.clone() }
    }
}
