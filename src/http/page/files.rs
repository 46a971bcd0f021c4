//! The files of the page, as the binary holds them.

use std::sync::LazyLock;

use crate::http::fixed::Fixed;

/// The files that the build script found in `web/dist`: their paths there, and their content.
static EMBEDDED: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let file = |(name, content): &(&'static str, &'static [u8])| File {
        name,
        fixed: Fixed::new(*content, content_type(name)),
    };
    EMBEDDED.iter().map(file).collect()
});

/// A file of the page.
#[derive(Debug)]
pub struct File {
    /// The path below `web/dist`, such as `assets/index-4f5e.js`.
    pub name: &'static str,
    pub fixed: Fixed,
}

/// The file of a name.
pub fn find(name: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.name == name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_has_a_type_and_a_tag_of_its_own() {
        assert!(find("index.html").is_some());
        for file in &*FILES {
            assert_ne!(file.fixed.content_type, "application/octet-stream", "{}", file.name);
            let same = FILES.iter().filter(|other| other.fixed.etag == file.fixed.etag);
            assert_eq!(same.count(), 1, "{}", file.name);
        }
    }
}
