//! The caller of a request, as its access token names them. How tokens are signed and verified is in `state::tokens`.

use std::{
    cell::Cell,
    future::{Ready, ready},
    rc::Rc,
};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    body::{BoxBody, MessageBody},
    dev::{Payload, ServiceRequest, ServiceResponse},
    http::{Method, header},
    middleware::Next,
    web::Data,
};
use mancala_db::{apps::KeyHash, players::suspensions::Term};
use mancala_domain::PlayerId;
use mancala_process::{clock::now, metrics::TokenKind};
use sha2::{Digest, Sha256};

use super::suspended;
use crate::{
    answer::{code::Code, problem::Problem},
    state::{AppState, tokens::Caller},
};

/// The caller that the request's token names, if there is a token, or the reason why the token is refused. Also the suspension in force.
/// Later layers and handlers read it.
struct Identity(Result<Option<Caller>, Refused>, Option<Term>);

/// The player that the request's token names, for a layer around this one, which may lose the request.
#[derive(Clone, Debug, Default)]
pub struct IdentifiedPlayer(Rc<Cell<Option<PlayerId>>>);

impl IdentifiedPlayer {
    pub fn get(&self) -> Option<PlayerId> {
        self.0.get()
    }
}

/// Why a token is not accepted.
#[derive(Clone, Debug)]
enum Refused {
    /// The token is not from this service, or has expired.
    Invalid,
    /// The token is an app's key, on a call that takes none.
    AppKey,
    /// The token was issued before a new password, a sign-out everywhere, or the erasure of its player.
    Revoked(Caller),
    /// The database is away, so the token may have been revoked.
    Unconfirmed(Caller),
}

/// The request that erases the caller. It may be repeated with the token that the erasure has revoked.
const ERASURE: (Method, &str) = (Method::DELETE, "/v1/me");

/// Reads the request's token, if it has one, and checks that it was not revoked.
pub async fn identify(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let (identity, suspension) = match caller(request.request()) {
        Ok(Some(caller)) => match confirmed(state(request.request()), caller).await {
            Ok((caller, suspension)) => (Ok(Some(caller)), suspension),
            Err(refused) => (Err(refused), None),
        },
        other => (other, None),
    };
    if let (Ok(Some(caller)), Some(identified)) = (&identity, request.extensions().get::<IdentifiedPlayer>()) {
        identified.0.set(Some(caller.player));
    }
    request.extensions_mut().insert(Identity(identity, suspension));
    next.call(request).await
}

/// Checks that the caller's credentials were not revoked, and finds the caller's suspension. The check is a look-up in memory. A request
/// waits only if the process has not read the revocations of the last second.
async fn confirmed(state: &AppState, caller: Caller) -> Result<(Caller, Option<Term>), Refused> {
    let revocations = state.hub.audience().revocations();
    if !revocations.are_current() && !revocations.refreshed().await {
        return Err(Refused::Unconfirmed(caller));
    }
    let Some(standing) = revocations.standing(caller.player) else { return Ok((caller, None)) };
    if caller.credentials_version < standing.least_version {
        return Err(Refused::Revoked(caller));
    }
    Ok((caller, standing.suspension.filter(|suspension| suspension.is_active(now()))))
}

/// Refuses a request with a bad token, even where no token is needed, and what a suspended player may not do.
pub async fn refuse_bad_tokens(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let refused = request.extensions().get::<Identity>().and_then(|identity| identity.0.as_ref().err().cloned());
    // The future is boxed: it takes 4 KiB for a statement that few requests run, and every request would carry and move that space.
    if let (Some(term), Some(caller)) = (suspension(&request), identity(&request))
        && !suspended::permits(&term, request.method(), request.match_info().as_str())
        && let Err(problem) = Box::pin(suspended::refuse(state(request.request()), caller.player)).await
    {
        return Ok(request.error_response(problem));
    }
    let (method, path) = ERASURE;
    let is_erasure = request.method() == method && request.match_info().as_str() == path;
    match refused {
        // Operations without a token also work while the database is away. Operations that need a token refuse the request themselves.
        None | Some(Refused::Unconfirmed(_)) => next.call(request).await.map(ServiceResponse::map_into_boxed_body),
        Some(Refused::Revoked(_)) if is_erasure => next.call(request).await.map(ServiceResponse::map_into_boxed_body),
        Some(refused @ (Refused::Invalid | Refused::AppKey | Refused::Revoked(_))) => {
            state(request.request()).metrics.token_refused(TokenKind::Access);
            Ok(request.error_response(refused.problem()))
        }
    }
}

impl Refused {
    fn problem(&self) -> Problem {
        match self {
            Refused::Invalid => Problem::new(Code::InvalidToken, "the access token is not valid, or no longer"),
            Refused::AppKey => Problem::new(
                Code::InvalidToken,
                "an app's key opens the app's own calls only: this one needs a player's access token",
            ),
            Refused::Revoked(_) => Problem::new(
                Code::InvalidToken,
                "the access token was revoked by a new password, by signing out everywhere, by an erasure, or by the player's app",
            ),
            Refused::Unconfirmed(_) => {
                Problem::busy("it is not known at present whether the access token was revoked; try again")
            }
        }
    }
}

/// The caller of a request whose token is valid, for limits. It may be unconfirmed.
pub fn identity(request: &impl HttpMessage) -> Option<Caller> {
    match &request.extensions().get::<Identity>()?.0 {
        Ok(caller) => *caller,
        Err(Refused::Unconfirmed(caller)) => Some(*caller),
        Err(Refused::Invalid | Refused::AppKey | Refused::Revoked(_)) => None,
    }
}

/// The caller of a request, if it has a token; or why the token is not accepted.
pub fn reader(request: &impl HttpMessage) -> Result<Option<Caller>, Problem> {
    match request.extensions().get::<Identity>() {
        Some(Identity(identity, _)) => identity.as_ref().map(|caller| *caller).map_err(Refused::problem),
        None => Ok(None),
    }
}

/// The suspension of a request's caller, without its reason.
pub fn suspension(request: &impl HttpMessage) -> Option<Term> {
    request.extensions().get::<Identity>()?.1
}

fn missing() -> Problem {
    Problem::new(Code::Unauthenticated, "this call needs an access token")
}

impl FromRequest for Caller {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(reader(request).and_then(|caller| caller.ok_or_else(missing)))
    }
}

/// The caller of an erasure, whose token an earlier try may have revoked.
#[derive(Clone, Copy, Debug)]
pub struct ErasedCaller(pub Caller);

impl FromRequest for ErasedCaller {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let revoked = match request.extensions().get::<Identity>() {
            Some(Identity(Err(Refused::Revoked(caller)), _)) => Some(Self(*caller)),
            _ => None,
        };
        let caller = || reader(request).and_then(|caller| caller.map(Self).ok_or_else(missing));
        ready(revoked.map_or_else(caller, Ok))
    }
}

/// The player who reads, if the request has a token.
#[derive(Clone, Copy, Debug)]
pub struct Reader(pub Option<PlayerId>);

impl FromRequest for Reader {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(reader(request).map(|caller| Self(caller.map(|caller| caller.player))))
    }
}

/// The prefix of the header's value.
const BEARER: &[u8] = b"Bearer ";

/// The addresses that operators' keys open, and no player's token.
const OPERATORS: &str = "/v1/operator/";

/// The prefix of every key of an app, by which it is recognized, also by scanners for secrets.
pub const APP_KEY_PREFIX: &[u8] = b"mapp_";

/// The beginnings of the paths of calls that take an app's key.
const APP_PATHS: [&str; 2] = ["/v1/apps/me", "/v1/webhooks"];

/// The hash of the app's key that a request has.
struct AppKey(KeyHash);

/// The hash of the app's key that a request has, on a call that takes one. It is not checked yet.
pub fn app_key(request: &impl HttpMessage) -> Option<KeyHash> {
    request.extensions().get::<AppKey>().map(|key| key.0)
}

fn caller(request: &HttpRequest) -> Result<Option<Caller>, Refused> {
    if request.path().starts_with(OPERATORS) {
        return Ok(None);
    }
    let token = bearer(request).map_err(|_| Refused::Invalid)?;
    let Some(token) = token else { return Ok(None) };
    if token.starts_with(APP_KEY_PREFIX) {
        if !APP_PATHS.iter().any(|path| request.match_info().as_str().starts_with(path)) {
            return Err(Refused::AppKey);
        }
        // Whether it is an app's, the database says: see `app_caller`.
        request.extensions_mut().insert(AppKey(Sha256::digest(token).into()));
        return Ok(None);
    }
    state(request).tokens.verify(token, now()).map(Some).ok_or(Refused::Invalid)
}

/// A header `Authorization` that is not of the form `Bearer …`.
#[derive(Clone, Copy, Debug)]
pub struct NoBearer;

/// The token after `Bearer` in the request's only header `Authorization`. An error if the header has another form.
pub fn bearer(request: &HttpRequest) -> Result<Option<&[u8]>, NoBearer> {
    let mut values = request.headers().get_all(header::AUTHORIZATION);
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(NoBearer);
    }
    let (scheme, token) = value.as_bytes().split_at_checked(BEARER.len()).ok_or(NoBearer)?;
    if !scheme.eq_ignore_ascii_case(BEARER) {
        return Err(NoBearer);
    }
    Ok(Some(token.trim_ascii()))
}

fn state(request: &HttpRequest) -> &AppState {
    request.app_data::<Data<AppState>>().expect("every app is built with its state")
}
