//! The page that explains a failure's code, to which its `type` leads.

use actix_web::{HttpRequest, HttpResponse, get, http::header};
use mancala_http::{
    answer::{
        code::Code,
        failures::{Failures, NotFound},
        headers::{KEPT_FOR_MINUTES, PICTURE_POLICY},
        problem::Problem,
        problem_page,
    },
    request::reader::reader,
};

use crate::http::page;

/// What a failure code means
///
/// A short page for people: what the code means, and what the client does about it. The explanation is in English, and the words around it are in the
/// language that `Accept-Language` prefers. Unknown parameters are ignored.
#[utoipa::path(
    tag = "operation",
    operation_id = "get_problem",
    params(("code" = String, Path, description = "The failure's `code`", example = "stale_ply")),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html; charset=utf-8"),
        Failures<NotFound>,
    ),
    security(())
)]
#[get("/problems/{code}")]
pub async fn get_problem(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let word = request.match_info().get("code").unwrap_or_default();
    let code = Code::ALL.iter().find(|code| code.as_str() == word);
    let Some(code) = code else {
        return page::not_found(&request, Problem::not_found("there is no such failure code"));
    };
    Ok(HttpResponse::Ok()
        .insert_header(KEPT_FOR_MINUTES)
        .insert_header((header::VARY, "Accept-Language"))
        .insert_header((header::CONTENT_SECURITY_POLICY, PICTURE_POLICY))
        .content_type("text/html; charset=utf-8")
        .body(problem_page::of_code(*code, reader(&request))))
}
