//! Sends any bytes to the reader of a single move of a game with four rows: the function `four_row_moves` of
//! `crates/rules/tests/rules/readers.rs`. Run it in `crates/rules`, as `README.md` there says.

#![no_main]

#[expect(dead_code, reason = "every target has a reader of its own")]
#[path = "../../tests/rules/readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| readers::four_row_moves(data));
