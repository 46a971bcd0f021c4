//! The whole history of a finished game, cached as JSON.

use std::ops::Range;

use actix_web::web::Bytes;
use mancala_domain::Ply;
use mancala_wire::view::{moves::MoveView, wire::ALWAYS_JSON};

/// The longest history that is cached. Longer ones are rare, and are read page by page.
pub const PLIES_CACHED_MAX: u32 = 300;

/// The text of a `MovePage` before its plies, and after them if no page follows.
const BEGIN: &[u8] = br#"{"items":["#;
const END: &[u8] = br#"],"next_cursor":null}"#;

/// Plies of a game as JSON.
#[derive(Debug)]
pub struct History {
    /// The `MovePage` that has all of them: most answers are this one, which is not copied for them.
    json: Bytes,
    /// The offset at which each ply ends.
    ends: Vec<usize>,
    /// The position after each ply, in text notation, if they are kept.
    positions: Vec<Box<str>>,
}

/// Some plies of a history.
pub struct HistoryPage<'a> {
    history: &'a History,
    /// Where their JSON is, with commas in between.
    items: Range<usize>,
    /// Whether more plies follow.
    pub more: bool,
}

impl History {
    pub fn of(plies: &[Ply], view: fn(&Ply) -> MoveView) -> Self {
        let (mut json, mut ends) = (BEGIN.to_vec(), Vec::with_capacity(plies.len()));
        for ply in plies {
            if !ends.is_empty() {
                json.push(b',');
            }
            serde_json::to_writer(&mut json, &view(ply)).expect(ALWAYS_JSON);
            ends.push(json.len());
        }
        json.extend_from_slice(END);
        json.shrink_to_fit();
        Self { json: json.into(), ends, positions: vec![] }
    }

    /// Adds the positions as text.
    #[must_use]
    pub fn with_positions(mut self, plies: &[Ply]) -> Self {
        self.positions = plies.iter().map(|ply| ply.position.to_string().into()).collect();
        self
    }

    /// The position after a ply, counted from 0.
    pub fn position(&self, ply: u32) -> Option<&str> {
        self.positions.get(ply as usize).map(AsRef::as_ref)
    }

    /// Up to `limit` plies after the first `skipped` ones.
    pub fn page(&self, skipped: u32, limit: u32) -> HistoryPage<'_> {
        let at = |count: u32| usize::try_from(count).unwrap_or(usize::MAX).min(self.ends.len());
        let (begin, end) = (at(skipped), at(skipped.saturating_add(limit)));
        let of_all = self.items();
        // A comma stands between two plies.
        let begins = begin.checked_sub(1).map_or(of_all.start, |before| (self.ends[before] + 1).min(of_all.end));
        let ends = end.checked_sub(1).map_or(of_all.start, |last| self.ends[last]);
        HistoryPage { history: self, items: begins.min(ends)..ends, more: end < self.ends.len() }
    }

    /// The range of all plies in the JSON.
    fn items(&self) -> Range<usize> {
        BEGIN.len()..self.json.len() - END.len()
    }

    /// Its size in memory, in bytes.
    pub fn weight(&self) -> usize {
        let positions: usize = self.positions.iter().map(|text| size_of::<Box<str>>() + text.len()).sum();
        self.json.len() + self.ends.len() * size_of::<usize>() + positions
    }
}

impl HistoryPage<'_> {
    /// The JSON of a `MovePage`.
    pub fn json(&self, next_cursor: Option<&str>) -> Bytes {
        let Self { history, items, .. } = self;
        if next_cursor.is_none() && *items == history.items() {
            return history.json.clone();
        }
        let cursor = serde_json::to_string(&next_cursor).expect(ALWAYS_JSON);
        [BEGIN, &history.json[items.clone()], br#"],"next_cursor":"#, cursor.as_bytes(), b"}"].concat().into()
    }
}
