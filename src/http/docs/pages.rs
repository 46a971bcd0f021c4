//! The pages of the documentation, and the files that they load.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{Arc, LazyLock},
};

use actix_web::{HttpRequest, HttpResponse, web::Bytes};
use mancala_http::{answer::problem::Problem, request::conditional::IfNoneMatch};
use utoipa::openapi::{OpenApi, Server};
use utoipa_swagger_ui::Config;

use super::{
    markdown::{self, Rendered},
    order::ORDER,
};
use crate::http::{fixed::Fixed, openapi::downgrade};

/// The path of the OpenAPI document.
pub const DOCUMENT: &str = "/openapi.json";

/// The path of its copy for older generators.
pub const DOCUMENT_3_0: &str = "/openapi-3.0.json";

/// The folder of the pages, as a route's pattern.
pub const FOLDER: &str = "/docs/{page:.*}";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JSON: &str = "application/json";

/// A Markdown file that is served as a page.
struct Source {
    /// The page's name in the folder.
    page: &'static str,
    /// The file's name, by which other files link to it.
    file: &'static str,
    /// Its name in the pages' menu.
    menu: &'static str,
    text: &'static str,
}

const SOURCES: [Source; 5] = [
    Source { page: "api", file: "api.md", menu: "Guide", text: include_str!("../../../docs/api.md") },
    Source {
        page: "asynchronous",
        file: "asynchronous.md",
        menu: "Example",
        text: include_str!("../../../docs/asynchronous.md"),
    },
    Source { page: "rules", file: "rules.md", menu: "Rules", text: include_str!("../../../docs/rules.md") },
    Source { page: "explorer", file: "explorer.md", menu: "Explorer", text: include_str!("../../../docs/explorer.md") },
    Source { page: "clients", file: "clients.md", menu: "Clients", text: include_str!("../../../docs/clients.md") },
];

/// Files that the pages load. Swagger UI's own files come from its package.
const FILES: [(&str, &str, &str); 2] =
    [("docs.css", CSS, include_str!("files/docs.css")), ("icon.svg", SVG, include_str!("files/icon.svg"))];

/// The files of Swagger UI that the page of the document loads.
const SWAGGER_FILES: [(&str, &str); 2] = [("swagger-ui.css", CSS), ("swagger-ui-bundle.js", SCRIPT)];

/// The script that starts Swagger UI on the page.
const START_SCRIPT: &str = include_str!("files/swagger-initializer.js");

/// The additions to the head of the reference page, and its body.
const REFERENCE_HEAD: &str = "<link rel=\"stylesheet\" href=\"swagger-ui.css\">\n\
    <script src=\"./swagger-ui-bundle.js\" defer></script>\n<script src=\"./swagger-initializer.js\" defer></script>\n";
const REFERENCE_BODY: &str = "<div id=\"swagger-ui\"></div>\n\
    <noscript><p>The reference needs JavaScript. The other pages do not.</p></noscript>\n";

/// The pages from Markdown and the files beside them. They are the same in every server of a process.
static PAGES: LazyLock<BTreeMap<&'static str, Fixed>> = LazyLock::new(|| {
    let mut pages = BTreeMap::new();
    for source in &SOURCES {
        let Rendered { title, sections, html } = markdown::render(source.text, address);
        // The list of sections stands below the first heading.
        let html = html.replacen("</h1>\n", &format!("</h1>\n{}", contents(&sections)), 1);
        let body = format!("<article>\n{html}</article>\n");
        pages.insert(source.page, Fixed::new(frame(source.page, &title, "", &body), HTML));
    }
    pages.insert("", Fixed::new(frame("", "API reference", REFERENCE_HEAD, REFERENCE_BODY), HTML));
    for (name, content_type, text) in FILES {
        pages.insert(name, Fixed::new(text, content_type));
    }
    for (name, content_type) in SWAGGER_FILES {
        pages.insert(name, Fixed::new(swagger_file(name), content_type));
    }
    let order = serde_json::to_string(&ORDER[..]).expect("words are JSON");
    pages.insert("swagger-initializer.js", Fixed::new(START_SCRIPT.replacen("[/* ORDER */]", &order, 1), SCRIPT));
    pages
});

/// The document of a service and its pages.
#[derive(Clone, Debug)]
pub struct Documentation {
    document: Fixed,
    document_3_0: Fixed,
    pages: &'static BTreeMap<&'static str, Fixed>,
}

impl Documentation {
    /// The documentation of a document. `public_url` is where clients reach the service.
    pub fn of(mut document: OpenApi, public_url: Option<String>) -> Self {
        if let Some(url) = public_url {
            document.servers = Some(vec![Server::new(url)]);
        }
        let older = downgrade(serde_json::to_value(&document).expect("a document is JSON"));
        Self {
            document: Fixed::new(document.to_json().expect("a document is JSON"), JSON),
            document_3_0: Fixed::new(older.to_string(), JSON),
            pages: &PAGES,
        }
    }

    pub fn document(&self, request: &HttpRequest, known: &IfNoneMatch) -> HttpResponse {
        self.document.answer(request, known)
    }

    pub fn document_3_0(&self, request: &HttpRequest, known: &IfNoneMatch) -> HttpResponse {
        self.document_3_0.answer(request, known)
    }

    /// A page or a file of the folder, by its name there.
    pub fn page(&self, name: &str, request: &HttpRequest, known: &IfNoneMatch) -> Result<HttpResponse, Problem> {
        let page = self.pages.get(name).ok_or_else(|| Problem::not_found("there is no such page"))?;
        Ok(page.answer(request, known))
    }
}

/// Where a file is served to which a page links, seen from the folder.
fn address(file: &str) -> Option<&'static str> {
    if file == "../openapi/openapi.json" {
        return Some(DOCUMENT);
    }
    SOURCES.iter().find(|source| source.file == file).map(|source| source.page)
}

/// The list of a page's sections.
fn contents(sections: &[(String, String)]) -> String {
    let mut list = String::from("<details class=\"contents\">\n<summary>Sections</summary>\n<ul>\n");
    for (anchor, title) in sections {
        let _ = writeln!(list, "<li><a href=\"#{anchor}\">{}</a></li>", escaped(title));
    }
    list + "</ul>\n</details>\n"
}

/// A page: its head, the menu, and its body. `page` is its name in the folder.
fn frame(page: &str, title: &str, head: &str, body: &str) -> String {
    let title = escaped(title);
    let mut menu = String::new();
    let pages = SOURCES.iter().map(|source| (source.page, source.menu));
    for (name, text) in [("", "Reference")].into_iter().chain(pages) {
        let current = if name == page { " aria-current=\"page\"" } else { "" };
        let _ = writeln!(menu, "<a href=\"./{name}\"{current}>{text}</a>");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} – Mancala server</title>\n\
         <link rel=\"icon\" type=\"image/svg+xml\" href=\"./icon.svg\">\n\
         {head}<link rel=\"stylesheet\" href=\"./docs.css\">\n</head>\n<body>\n\
         <header class=\"top\">\n<a class=\"logo\" href=\"./\">{LOGO}Mancala server</a>\n\
         <nav aria-label=\"Pages\">\n{menu}<a href=\"{DOCUMENT}\">OpenAPI</a>\n</nav>\n</header>\n\
         <main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// The logo in a page, in the colour of the text beside it.
const LOGO: &str = include_str!("files/logo.svg");

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A file of Swagger UI, from its package.
fn swagger_file(name: &str) -> Bytes {
    let config: Arc<Config<'static>> = Arc::default();
    let file = utoipa_swagger_ui::serve(name, config).ok().flatten().expect("the package has the file");
    Bytes::from(file.bytes.into_owned())
}
