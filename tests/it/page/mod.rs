//! The web page: its addresses, its files and their headers. What it does in a browser is tested in `web/tests`.

pub mod serving;
