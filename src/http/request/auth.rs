//! The caller of a request, as its access token names them. How tokens are signed and verified is in `state::tokens`.

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    body::{BoxBody, MessageBody},
    dev::{Payload, ServiceRequest, ServiceResponse},
    http::header,
    middleware::Next,
    web::Data,
};

use crate::{
    clock::now,
    domain::PlayerId,
    http::{
        answer::problem::{Code, Problem},
        state::{AppState, tokens::Caller},
    },
    metrics::TokenKind,
};

/// The caller that the token names, or what is wrong with the token. Later layers and handlers read it.
struct Identity(Result<Option<Caller>, Problem>);

/// Reads the request's token, if it has one.
pub async fn identify(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let identity = Identity(caller(request.request()));
    request.extensions_mut().insert(identity);
    next.call(request).await
}

/// Refuses a request with a bad token, even where no token is needed.
pub async fn refuse_bad_tokens(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let bad = request.extensions().get::<Identity>().and_then(|identity| identity.0.as_ref().err().cloned());
    match bad {
        Some(problem) => {
            state(request.request()).metrics.token_refused(TokenKind::Access);
            Ok(request.error_response(problem))
        }
        None => next.call(request).await.map(ServiceResponse::map_into_boxed_body),
    }
}

/// The caller of a request with a good token.
pub fn identity(request: &impl HttpMessage) -> Option<Caller> {
    request.extensions().get::<Identity>().and_then(|identity| identity.0.as_ref().ok().copied().flatten())
}

impl FromRequest for Caller {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let missing = || Problem::new(Code::Unauthenticated, "this call needs an access token");
        ready(identity(request).ok_or_else(missing))
    }
}

/// The player who reads, if the request has a token.
#[derive(Clone, Copy, Debug)]
pub struct Reader(pub Option<PlayerId>);

impl FromRequest for Reader {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(identity(request).map(|caller| caller.player))))
    }
}

/// The prefix of the header's value.
const BEARER: &[u8] = b"Bearer ";

fn caller(request: &HttpRequest) -> Result<Option<Caller>, Problem> {
    let mut values = request.headers().get_all(header::AUTHORIZATION);
    let Some(value) = values.next() else { return Ok(None) };
    let invalid = || Problem::new(Code::InvalidToken, "the access token is not valid, or no longer");
    if values.next().is_some() {
        return Err(invalid());
    }
    let (scheme, token) = value.as_bytes().split_at_checked(BEARER.len()).ok_or_else(invalid)?;
    if !scheme.eq_ignore_ascii_case(BEARER) {
        return Err(invalid());
    }
    state(request).tokens.verify(token.trim_ascii(), now()).map(Some).ok_or_else(invalid)
}

fn state(request: &HttpRequest) -> &AppState {
    request.app_data::<Data<AppState>>().expect("every app is built with its state")
}
