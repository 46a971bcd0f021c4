//! The page that explains a failure's code, to which its `type` leads.

use std::fmt::Write;

use actix_web::{HttpRequest, HttpResponse, get};

use crate::http::answer::{
    code::Code,
    failures::{Failures, NotFound},
    headers::KEPT_FOR_MINUTES,
    problem::Problem,
};

/// What a failure code means
///
/// A short page for people: what the code means, and what the client does about it. Unknown parameters are ignored.
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
    let code = code.ok_or_else(|| Problem::not_found("there is no such failure code"))?;
    Ok(HttpResponse::Ok().insert_header(KEPT_FOR_MINUTES).content_type("text/html; charset=utf-8").body(page(*code)))
}

fn page(code: Code) -> String {
    let mut page = String::new();
    let written = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{word}</title>\n\
         <h1>{title}</h1>\n<p><code>{word}</code>, HTTP status {status}</p>\n<p>{meaning}</p>\n</html>\n",
        word = code.as_str(),
        title = code.title(),
        status = code.status().as_u16(),
        meaning = html(code.meaning()),
    );
    written.expect("a String takes everything");
    page
}

/// A code's meaning as HTML. Meanings contain no HTML, and mark code by backticks.
fn html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let parts = escaped.split('`').enumerate();
    parts.map(|(n, part)| if n % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}
