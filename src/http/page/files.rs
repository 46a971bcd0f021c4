//! The files of the page, as the binary holds them: plain and compressed, each with its tag.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io::Write,
    sync::LazyLock,
};

use actix_web::{http::header::EntityTag, web::Bytes};
use flate2::{Compression, write::GzEncoder};

/// The files that the build script found in `web/dist`: their paths there, and their content.
static EMBEDDED: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// All files. The first use compresses them, once for the process.
static FILES: LazyLock<Vec<File>> =
    LazyLock::new(|| EMBEDDED.iter().map(|(name, content)| File::of(name, content)).collect());

/// Smaller files are not compressed: they fit in two packets anyway.
const BYTES_MIN: usize = 2048;

/// A file of the page.
#[derive(Debug)]
pub struct File {
    /// The path below `web/dist`, such as `assets/index-4f5e.js`.
    pub name: &'static str,
    pub content_type: &'static str,
    pub content: Bytes,
    /// The content as gzip, where that is smaller.
    pub compressed: Option<Bytes>,
    /// A digest of the content.
    pub etag: EntityTag,
}

/// The file of a name.
pub fn find(name: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.name == name)
}

/// All files.
pub fn all() -> &'static [File] {
    &FILES
}

impl File {
    fn of(name: &'static str, content: &'static [u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        Self {
            name,
            content_type: content_type(name),
            content: Bytes::from_static(content),
            compressed: (content.len() >= BYTES_MIN).then(|| gzip(content)).filter(|small| small.len() < content.len()),
            etag: EntityTag::new_weak(format!("{:016x}", hasher.finish())),
        }
    }
}

/// The type of a file by its suffix. The build writes no others.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, suffix)| suffix) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

fn gzip(content: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(content.len() / 3), Compression::best());
    encoder.write_all(content).expect("a Vec takes everything");
    encoder.finish().expect("a Vec takes everything").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_has_a_type_and_a_tag_of_its_own() {
        assert!(find("index.html").is_some());
        for file in all() {
            assert_ne!(file.content_type, "application/octet-stream", "{}", file.name);
            let same = all().iter().filter(|other| other.etag == file.etag);
            assert_eq!(same.count(), 1, "{}", file.name);
        }
    }
}
