//! Which kinds of push notifications the server sends, and what a browser needs to subscribe.

use actix_web::{HttpResponse, get, web::Data};
use mancala_domain::DeviceKind;
use mancala_http::{
    answer::{headers::KEPT_FOR_A_MINUTE, problem::Problem},
    request::extract::{NoQuery, Query},
    state::AppState,
};
use serde::Serialize;
use utoipa::ToSchema;

/// Get what push notifications the server sends
///
/// An operator decides it. A kind that is not among `kinds` is refused with 409 `push_not_offered`.
#[utoipa::path(
    tag = "push",
    operation_id = "get_push",
    responses((status = 200, description = "What is offered", body = PushView))
)]
#[get("/push")]
pub async fn get_push(state: Data<AppState>, _: Query<NoQuery>) -> Result<HttpResponse, Problem> {
    let view = PushView {
        kinds: state.settings.push.kinds().into_iter().map(DeviceKind::as_str).collect(),
        web: state.settings.push.web.as_ref().map(|web| WebPushView { public_key: web.public_key() }),
    };
    Ok(HttpResponse::Ok().insert_header(KEPT_FOR_A_MINUTE).json(view))
}

/// What push notifications the server sends.
#[derive(Serialize, ToSchema)]
#[schema(as = Push)]
struct PushView {
    /// The kinds of devices that can be registered; empty: none.
    #[schema(example = json!(["web"]))]
    kinds: Vec<&'static str>,
    /// For browsers; null if they are not offered.
    #[schema(required = true)]
    web: Option<WebPushView>,
}

/// What a browser needs.
#[derive(Serialize, ToSchema)]
#[schema(as = WebPush)]
struct WebPushView {
    /// The server's public key: `applicationServerKey` of `pushManager.subscribe`.
    #[schema(example = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")]
    public_key: String,
}
