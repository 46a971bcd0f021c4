//! The operator who calls, as the key names them.

use std::{future::Future, pin::Pin, time::Instant};

use actix_web::{FromRequest, HttpRequest, dev::Payload, web::Data};
use mancala_db::operators::keys;
use mancala_http::{
    answer::{code::Code, problem::Problem},
    layers::limits::network_of,
    request::auth::bearer,
    state::AppState,
};

use super::key::operator_key_hash;

/// The name of the operator who calls. The key is looked up for each call, so that a disabled one opens nothing from then on.
#[derive(Clone, Debug)]
pub struct Operator(pub String);

impl FromRequest for Operator {
    type Error = Problem;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Problem>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { find(&request).await })
    }
}

async fn find(request: &HttpRequest) -> Result<Operator, Problem> {
    let state = request.app_data::<Data<AppState>>().expect("every app is built with its state");
    let refused = || Problem::new(Code::InvalidToken, "this is no operator's key, or it is disabled");
    let key = bearer(request).map_err(|_| refused())?;
    let key = key.ok_or_else(|| Problem::new(Code::Unauthenticated, "this call needs an operator's key"))?;
    let hash = operator_key_hash(key).ok_or_else(refused)?;
    // Wrong keys count by network, like wrong recovery codes. Counted first, so that attempts at the same time count, too.
    let network = network_of(request);
    let attempt = state.sign_ins.as_ref().map(|limits| limits.begin_recovery(network, Instant::now())).transpose()?;
    let found = keys::find(&state.db, &hash).await;
    if let (Ok(Some(_)) | Err(_), Some(attempt)) = (&found, attempt) {
        attempt.take_back();
    }
    found?.map(Operator).ok_or_else(refused)
}
