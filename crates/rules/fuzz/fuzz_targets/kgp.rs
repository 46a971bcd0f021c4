//! See `tests/rules/readers.rs`, whose checks the tests share.

#![no_main]

#[expect(dead_code, reason = "every target has a reader of its own")]
#[path = "../../tests/rules/readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| readers::kgp(data));
