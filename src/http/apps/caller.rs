//! The app that calls, by its key.

use std::pin::Pin;

use actix_web::{FromRequest, HttpRequest, dev::Payload, web::Data};

use crate::{
    db::apps::{self, App, KeyHash},
    http::{
        answer::{code::Code, problem::Problem},
        layers::limits,
        request::auth,
        state::{AppState, tokens::Caller},
    },
    metrics::TokenKind,
};

/// The app that calls. The database is asked for each call, so that a void key opens nothing.
#[derive(Clone, Debug)]
pub struct AppCaller {
    pub app: App,
    /// The hash of its key, for statements that must not outlast the key.
    pub key: KeyHash,
}

/// The refusal of a call whose key is void, or became so meanwhile.
pub(crate) fn void() -> Problem {
    Problem::new(Code::InvalidToken, "the app's key is not valid, or no longer")
}

impl FromRequest for AppCaller {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let Some(key) = auth::app_key(&request) else { return Err(without_key(&request)) };
            let state = request.app_data::<Data<AppState>>().expect("every app is built with its state");
            let Some(app) = apps::find(&state.db, &key).await? else {
                state.metrics.token_refused(TokenKind::AppKey);
                return Err(void());
            };
            if app.disabled_at.is_some() {
                return Err(Problem::new(Code::Forbidden, "the operator of this server has disabled the app"));
            }
            limits::count_app(&request, app.id)?;
            Ok(Self { app, key })
        })
    }
}

/// The refusal of a call that has no app's key.
fn without_key(request: &HttpRequest) -> Problem {
    match auth::reader(request) {
        Err(refused) => refused,
        Ok(None) => Problem::new(Code::Unauthenticated, "this call needs an app's key"),
        Ok(Some(_)) => Problem::new(Code::Forbidden, "this call needs an app's key, not a player's token"),
    }
}

/// What a webhook belongs to: a player, or an app, which stands for all its players.
#[derive(Clone, Copy, Debug)]
pub struct WebhookOwner(pub Caller);

impl FromRequest for WebhookOwner {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let player = Caller::from_request(request, payload);
        let app = auth::app_key(request).map(|_| AppCaller::from_request(request, payload));
        Box::pin(async move {
            let Some(app) = app else { return player.await.map(Self) };
            let App { id, credentials_version, .. } = app.await?.app;
            Ok(Self(Caller { player: id, credentials_version, is_guest: false }))
        })
    }
}
