//! Answers that concurrent requests share: pages of games, and answers of the explorer. Knows no parameters of a request.

use std::{
    hash::{DefaultHasher, Hash},
    sync::Arc,
};

use actix_web::{http::header::EntityTag, web::Bytes};
use mancala_db::lists::{Filter, PageKey};
use mancala_domain::PlayerId;
use mancala_wire::view::{shown_game::ME_BYTES, wire::ALWAYS_JSON};

use super::recent::Remembered;
use crate::answer::headers::hash_tag;

/// A page of a filtered list. Requests with equal values share one read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wanted {
    pub filter: Filter,
    pub after: Option<PageKey>,
    pub limit: u32,
}

/// The games of a page.
#[derive(Debug)]
pub struct Page {
    pub games: Vec<Arc<Remembered>>,
    /// The key after which the next page begins, if there may be one.
    pub next: Option<PageKey>,
}

/// An answer about a position, which every caller gets.
#[derive(Clone, Debug)]
pub struct Explored {
    pub etag: EntityTag,
    pub json: Bytes,
    pub plies_read: u32,
}

impl Page {
    /// The JSON of a `GamePage`, and its tag. The text of a cursor differs each time, so the tag covers its place and its `scope`: the
    /// list, the viewer and the expiry.
    pub fn json(&self, viewer: Option<PlayerId>, next_cursor: Option<&str>, scope: u64) -> (Vec<u8>, EntityTag) {
        let bytes: usize = self.games.iter().map(|known| known.shown_to_all().json.len() + ME_BYTES).sum();
        let mut json = Vec::with_capacity(bytes + ME_BYTES + next_cursor.map_or(0, str::len));
        let mut digest = DefaultHasher::new();
        json.extend_from_slice(br#"{"items":["#);
        for (n, known) in self.games.iter().enumerate() {
            if n > 0 {
                json.push(b',');
            }
            known.write_json(viewer, &mut json).hash(&mut digest);
        }
        json.extend_from_slice(br#"],"next_cursor":"#);
        serde_json::to_writer(&mut json, &next_cursor).expect(ALWAYS_JSON);
        json.push(b'}');
        self.next.map(|key| (key.at, key.id, scope)).hash(&mut digest);
        (json, hash_tag(&digest))
    }
}
