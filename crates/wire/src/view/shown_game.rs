//! The JSON of a game with its tag, made once for everyone and completed for each viewer.

use std::hash::{DefaultHasher, Hash, Hasher};

use actix_web::{http::header::EntityTag, web::Bytes};
use mancala_db::{games::SeatedGame, idempotency::StoredAnswer};
use mancala_domain::{GameId, PlayerId};
use memchr::memmem;

use super::{
    game::{GameView, MeView},
    moves::MoveJson,
    wire::ALWAYS_JSON,
};

/// A game's JSON, and the tag of exactly that JSON.
#[derive(Clone, Debug)]
pub struct ShownGame {
    pub version: u32,
    pub etag: EntityTag,
    pub json: Bytes,
    /// The digest in the tag.
    pub digest: u64,
}

impl ShownGame {
    /// The view of `viewer`. The tag is `W/"<version>-<h>"`, where `h` is a digest of the JSON, with names and the viewer's own
    /// fields.
    pub fn of(seated: &SeatedGame, viewer: Option<PlayerId>) -> Self {
        let last_move = seated.last_ply.as_ref().map(MoveJson::of);
        let shown = Self::new(&GameView::without_me(seated, viewer, last_move));
        match viewer {
            Some(viewer) => shown.with_me(&MeView::of(seated, viewer)),
            None => shown,
        }
    }

    /// The game after a move whose JSON exists already, for every viewer but a creator with a join code.
    pub fn after_move(seated: &SeatedGame, played: MoveJson) -> Self {
        Self::new(&GameView::without_me(seated, None, Some(played)))
    }

    fn new(view: &GameView) -> Self {
        let mut json = Vec::with_capacity(GAME_BYTES);
        serde_json::to_writer(&mut json, view).expect(ALWAYS_JSON);
        let mut hasher = DefaultHasher::new();
        json.hash(&mut hasher);
        Self::tagged(view.version, json.into(), hasher.finish())
    }

    fn tagged(version: u32, json: Bytes, digest: u64) -> Self {
        Self { version, etag: EntityTag::new_weak(format!("{version}-{digest:016x}")), json, digest }
    }

    /// The view of everyone, with the fields that only one viewer sees.
    #[must_use]
    pub fn with_me(&self, me: &MeView) -> Self {
        let mut json = Vec::with_capacity(self.json.len() + ME_BYTES);
        let digest = self.write_with_me(me, &mut json);
        Self::tagged(self.version, json.into(), digest)
    }

    /// Appends the same JSON, and returns its digest.
    pub fn write_with_me(&self, me: &MeView, json: &mut Vec<u8>) -> u64 {
        json.extend_from_slice(self.open());
        json.extend_from_slice(ME);
        let begin = json.len();
        serde_json::to_writer(&mut *json, me).expect(ALWAYS_JSON);
        let mut hasher = DefaultHasher::new();
        (self.digest, &json[begin..]).hash(&mut hasher);
        json.push(b'}');
        hasher.finish()
    }

    /// The JSON without its closing brace.
    fn open(&self) -> &[u8] {
        self.json.strip_suffix(b"}").expect("a game is a JSON object")
    }

    /// The JSON without the effects of the last move, in two parts. An answer to a move has them beside the game.
    pub fn without_effects(&self) -> [&[u8]; 2] {
        // A quotation mark in a name is escaped, so only keys match.
        let find = |from: usize, key: &[u8]| memmem::find(&self.json[from..], key).map(|at| from + at);
        let last_move = find(0, br#""last_move":{"#);
        let begin = last_move.and_then(|last_move| Some(find(last_move, EFFECTS)? + EFFECTS.len()));
        let end = begin.and_then(|begin| find(begin, br#"],"position":"#));
        let (begin, end) = begin.zip(end).unwrap_or((self.json.len(), self.json.len()));
        [&self.json[..begin], &self.json[end..]]
    }

    /// The answer to the game's creation.
    pub fn as_created(&self, id: GameId) -> StoredAnswer {
        StoredAnswer {
            location: format!("/v1/games/{}", id.0),
            etag: self.etag.to_string(),
            body: String::from_utf8(self.json.to_vec()).expect(ALWAYS_JSON),
        }
    }
}

/// The capacity reserved for the fields that one viewer has beside the common ones.
pub const ME_BYTES: usize = 96;

/// How the fields of one viewer begin, after those of everyone.
const ME: &[u8] = br#","me":"#;

/// How the effects of a move begin in JSON.
const EFFECTS: &[u8] = br#""effects":["#;

/// Room for nearly every game's JSON.
const GAME_BYTES: usize = 2048;
