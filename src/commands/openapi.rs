//! `openapi`: prints the OpenAPI document.

use mancala_server::{config::OpenapiVersion, http};

use super::{failure::Failure, output::print};

pub fn openapi(version: OpenapiVersion) -> Result<(), Failure> {
    let document = match version {
        OpenapiVersion::V3_1 => http::document().to_pretty_json(),
        OpenapiVersion::V3_0 => serde_json::to_string_pretty(&http::document_3_0()),
    };
    let document = document.map_err(Failure::new)?;
    print(&format_args!("{document}\n"))
}
