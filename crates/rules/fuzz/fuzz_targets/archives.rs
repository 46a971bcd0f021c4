//! Sends any bytes to the reader of archived logs, of the crate `mancala-domain`. It must return, and a log that is read must come back from its
//! own archive. Run it in `crates/rules`, as `CONTRIBUTING.md` says; the archives in `crates/domain/tests/archives_v1.txt` are its seeds.

#![no_main]

use mancala_domain::{decode, decode_unverified, encode};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let unverified = decode_unverified(data);
    if let Ok(log) = decode(data) {
        assert_eq!(unverified.as_ref(), Ok(&log));
        let archive = encode(&log).expect("a log that was read can be written");
        assert_eq!(decode(&archive), Ok(log));
    }
});
