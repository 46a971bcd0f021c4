//! The person who reads a page that the server writes itself.

use actix_web::HttpRequest;

use super::language::preferred_language;
use crate::answer::problem_page::Reader;

/// Whether the server has a page for people, or only the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Served,
    Off,
}

/// The person who reads the answer to a request.
pub fn reader(request: &HttpRequest) -> Reader {
    let has_page = request.app_data::<Page>().is_some_and(|page| *page == Page::Served);
    Reader { language: preferred_language(request), has_page }
}
