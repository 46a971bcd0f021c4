//! The web page: a game in the browser, which uses the public API like any other client.
//!
//! This module knows the built files of `web/dist` and the addresses of the page. It knows no game and no player.

mod files;
mod serving;

pub use serving::{configure, not_found};
