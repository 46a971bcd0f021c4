//! Serves the page: its one document at every address of the page, and its files.

use actix_web::{
    HttpRequest, HttpResponse, guard,
    http::header::{self, HeaderValue},
    web::{self, ServiceConfig},
};

use super::files::{self, File};
use crate::http::{
    answer::{
        headers::{KEPT_FOR_EVER, KEPT_FOR_MINUTES},
        problem::Problem,
    },
    layers::compress,
    paths,
    request::conditional::IfNoneMatch,
};

/// Whether the server has a page for people, or only the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Served,
    Off,
}

/// What the page may do: load its own files, call this server, install itself. It is put in no frame, and its forms send nothing
/// by themselves.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                           connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'none'";

/// Features of a browser that the page does not use, so no script may.
const PERMISSIONS: (&str, &str) =
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");

/// For the document and the service worker, which name the present files: a browser revalidates them each time.
const REVALIDATED: (header::HeaderName, &str) = (header::CACHE_CONTROL, "no-cache");

/// The folder of files whose names contain a digest of their content.
const ASSETS: &str = "assets/";

/// Adds the routes of the page.
pub fn configure(config: &mut ServiceConfig) {
    // Compressed before the first request.
    files::all();
    for pattern in paths::PAGE_ADDRESSES {
        config.service(web::resource(pattern).guard(guard::Get()).to(show));
    }
    for pattern in paths::PAGE_FILES {
        config.service(web::resource(pattern).guard(guard::Get()).to(get_file));
    }
}

/// Answers with the document. Query parameters, which links from elsewhere may bring, are ignored.
async fn show(request: HttpRequest, known: IfNoneMatch) -> Result<HttpResponse, Problem> {
    answer("index.html", &request, &known)
}

async fn get_file(request: HttpRequest, known: IfNoneMatch) -> Result<HttpResponse, Problem> {
    let path = request.match_info().as_str().trim_start_matches('/').to_owned();
    answer(&path, &request, &known)
}

fn answer(name: &str, request: &HttpRequest, known: &IfNoneMatch) -> Result<HttpResponse, Problem> {
    let file = files::find(name).ok_or_else(|| Problem::not_found("there is nothing at this address"))?;
    let is_news = !known.has(&file.etag);
    let mut response = if is_news { HttpResponse::Ok() } else { HttpResponse::NotModified() };
    response
        .insert_header((header::ETAG, file.etag.clone()))
        .insert_header(kept(file))
        .insert_header((header::CONTENT_SECURITY_POLICY, PAGE_POLICY))
        .insert_header(PERMISSIONS);
    if !is_news {
        return Ok(response.finish());
    }
    response.content_type(file.content_type);
    Ok(match &file.compressed {
        Some(compressed) if compress::accepts_gzip(request) => {
            let gzip = HeaderValue::from_static("gzip");
            response.insert_header((header::CONTENT_ENCODING, gzip)).insert_header((header::VARY, "Accept-Encoding"));
            response.body(compressed.clone())
        }
        _ => response.body(file.content.clone()),
    })
}

/// How long a browser may keep a file.
fn kept(file: &File) -> (header::HeaderName, &'static str) {
    if file.name.starts_with(ASSETS) {
        KEPT_FOR_EVER
    } else if [".html", ".js"].iter().any(|suffix| file.name.ends_with(suffix)) {
        REVALIDATED
    } else {
        KEPT_FOR_MINUTES
    }
}
