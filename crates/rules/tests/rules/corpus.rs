//! Texts that the fuzzer found interesting or that a reader once read wrongly: `corpus/<reader>/`, one text in each
//! file. File names describe the texts; a text without a known meaning keeps the name that the fuzzer gave it.

use std::{fs, path::Path};

use crate::readers;

type Reader = fn(&[u8]);

#[test]
fn every_reader_returns_for_every_text_of_the_corpus() {
    let readers: [(&str, Reader); 7] = [
        ("four_row_records", readers::four_row_records),
        ("kgp", readers::kgp),
        ("moves", readers::moves),
        ("ogn", readers::ogn),
        ("options", readers::options),
        ("positions", readers::positions),
        ("records", readers::records),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules/corpus");
    let mut folders: Vec<_> =
        fs::read_dir(&folder).expect("the corpus").map(|entry| entry.unwrap().file_name()).collect();
    folders.sort();
    assert_eq!(folders, readers.map(|(name, _)| name));
    let mut count = 0;
    for name in folders {
        for entry in fs::read_dir(folder.join(&name)).expect("the texts of a reader") {
            let path = entry.expect("a file").path();
            println!("{}", path.display());
            let data = fs::read(&path).expect("a text");
            // Every reader gets every text, because a client may send any of them anywhere.
            for (_, reader) in readers {
                reader(&data);
            }
            count += 1;
        }
    }
    assert!(count >= 40, "{count} texts");
}
