//! The app that calls, by its key.

use std::pin::Pin;

use actix_web::{FromRequest, HttpRequest, dev::Payload, web::Data};
use mancala_db::apps::{self, App, KeyHash};
use mancala_process::metrics::TokenKind;

use crate::{
    answer::{code::Code, problem::Problem},
    layers::limits,
    request::auth,
    state::{AppState, tokens::Caller},
};

/// The app that calls. Each call looks the key up in the database, so a void key has no access.
#[derive(Clone, Debug)]
pub struct AppCaller {
    pub app: App,
    /// The hash of its key, for statements that must not outlast the key.
    pub key: KeyHash,
}

impl AppCaller {
    /// Refuses the call if its key became void meanwhile, or the app was disabled.
    pub async fn confirm(&self, state: &AppState) -> Result<(), Problem> {
        let app = apps::find(&state.db, &self.key).await?.ok_or_else(|| void(state))?;
        enabled(app).map(|_| ())
    }
}

/// The refusal of a call whose key is void.
fn void(state: &AppState) -> Problem {
    state.metrics.token_refused(TokenKind::AppKey);
    Problem::new(Code::InvalidToken, "the app's key is not valid, or no longer")
}

fn enabled(app: App) -> Result<App, Problem> {
    match app.disabled_at {
        None => Ok(app),
        Some(_) => Err(disabled()),
    }
}

/// The refusal of a disabled app, and of its players.
pub fn disabled() -> Problem {
    Problem::new(Code::Forbidden, "the operator of this server has disabled the app")
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
                limits::count_bad_key(&request)?;
                return Err(void(state));
            };
            limits::count_app(&request, app.id, app.quotas.calls_per_minute)?;
            Ok(Self { app: enabled(app)?, key })
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

/// The owner of a webhook: a player, or an app, which represents all its players.
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
            Ok(Self(Caller {
                player: id,
                credentials_version,
                is_guest: false,
                is_new: false,
                sign_in: None,
                auth_time: None,
            }))
        })
    }
}
