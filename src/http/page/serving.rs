//! Serves the page: its one document at every address of the page, and its files.

use actix_web::{
    HttpRequest, HttpResponse, guard,
    http::{
        Method,
        header::{self, HeaderName, HeaderValue},
    },
    web::{self, ServiceConfig},
};

use mancala_http::{
    answer::{
        code::Code,
        headers::{KEPT_FOR_EVER, KEPT_FOR_MINUTES},
        problem::Problem,
    },
    paths,
    request::{accept::prefers_page, conditional::IfNoneMatch, reader::reader},
};

use super::files::{self, File};

/// What the page may do: load its own files, call this server, install itself. It is put in no frame, and its forms send nothing
/// by themselves. Its scripts make no markup and no script of a text: the only policy of Trusted Types names the service worker.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                           connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types service-worker";

/// A window that opened the page, or was opened by it, cannot reach into it unless it is of the same origin.
const OPENER: (HeaderName, &str) = (HeaderName::from_static("cross-origin-opener-policy"), "same-origin");

/// Features of a browser that the page does not use, so no script may.
const PERMISSIONS: (HeaderName, &str) =
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=(), payment=(), usb=()");

/// For the document and the service worker, which name the present files: a browser revalidates them each time.
const REVALIDATED: (HeaderName, &str) = (header::CACHE_CONTROL, "no-cache");

/// The file that is shown at every address of the page.
const DOCUMENT: &str = "index.html";

/// The folder of files whose names contain a digest of their content.
const ASSETS: &str = "assets/";

/// Adds the routes of the page.
pub fn configure(config: &mut ServiceConfig) {
    for pattern in paths::PAGE_ADDRESSES {
        config.service(web::resource(pattern).guard(guard::Get()).to(show));
    }
    for pattern in paths::PAGE_FILES {
        config.service(web::resource(pattern).guard(guard::Get()).to(get_file));
    }
}

/// Answers with the document. Query parameters, which links from elsewhere may bring, are ignored.
async fn show(request: HttpRequest, known: IfNoneMatch) -> Result<HttpResponse, Problem> {
    answer(DOCUMENT, &request, &known)
}

/// Answers a request for an unknown address. A browser gets a page that says so and links to others; other clients get the problem.
pub fn not_found(request: &HttpRequest, problem: Problem) -> Result<HttpResponse, Problem> {
    let reads = [Method::GET, Method::HEAD].contains(request.method());
    if !(reads && reader(request).has_page && prefers_page(request)) {
        return Err(problem);
    }
    let mut response = answer(DOCUMENT, request, &IfNoneMatch::Nothing)?;
    *response.status_mut() = Code::NotFound.status();
    response.headers_mut().remove(header::ETAG);
    // The answer is a failure in a form of its own.
    response.extensions_mut().insert(Code::NotFound);
    Ok(response)
}

async fn get_file(request: HttpRequest, known: IfNoneMatch) -> Result<HttpResponse, Problem> {
    let name = match request.match_info().as_str().trim_start_matches('/') {
        // Browsers request this file if a document names no icon.
        "favicon.ico" => "icon-192.png",
        name => name,
    };
    answer(name, &request, &known)
}

fn answer(name: &str, request: &HttpRequest, known: &IfNoneMatch) -> Result<HttpResponse, Problem> {
    let file = files::find(name).ok_or_else(|| Problem::not_found("there is nothing at this address"))?;
    let mut response = file.fixed.answer(request, known);
    // The policies of the document hold for the scripts and styles that it loads.
    let policies = [(header::CONTENT_SECURITY_POLICY, PAGE_POLICY), OPENER, PERMISSIONS];
    let policies = policies.into_iter().filter(|_| !file.name.starts_with(ASSETS));
    for (name, value) in policies.chain([kept(file)]) {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// How long a browser may keep a file.
fn kept(file: &File) -> (HeaderName, &'static str) {
    if file.name.starts_with(ASSETS) {
        KEPT_FOR_EVER
    } else if [".html", ".js"].iter().any(|suffix| file.name.ends_with(suffix)) {
        REVALIDATED
    } else {
        KEPT_FOR_MINUTES
    }
}
