//! `openapi`: prints the OpenAPI document.

use mancala_server::http;

use super::{failure::Failure, output::print};

pub fn openapi() -> Result<(), Failure> {
    let document = http::document().to_pretty_json().map_err(Failure::new)?;
    print(&format_args!("{document}\n"))
}
