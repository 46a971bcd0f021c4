//! The page at `/`, for people who open the server's address in a browser.

use actix_web::HttpResponse;

use crate::http::answer::headers::KEPT_FOR_MINUTES;

const PAGE: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Mancala server</title>
<h1>Mancala server</h1>
<p>An API to play Kalah, Oware and Congkak.</p>
<ul>
<li><a href=\"/docs/\">Documentation</a>, with forms to try each call, and <a href=\"/docs/rules\">the rules</a></li>
<li><a href=\"/openapi.json\">OpenAPI document</a>, for generators of clients</li>
<li><a href=\"/v1/variants\">Games and their options</a></li>
<li><a href=\"/v1/games?status=active\">Games in play</a></li>
</ul>
</html>
";

/// Answers with the page. Query parameters, which links from elsewhere may bring, are ignored.
pub async fn show() -> HttpResponse {
    HttpResponse::Ok().insert_header(KEPT_FOR_MINUTES).content_type("text/html; charset=utf-8").body(PAGE)
}
