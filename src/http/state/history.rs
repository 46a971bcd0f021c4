//! The whole history of a finished game, cached as JSON.

use crate::{
    domain::Ply,
    http::view::{moves::MoveView, wire::ALWAYS_JSON},
};

/// The longest history that is cached. Longer ones are rare, and are read page by page.
pub(crate) const PLIES_CACHED_MAX: u32 = 300;

/// Plies of a game as JSON.
#[derive(Debug)]
pub struct History {
    json: Vec<u8>,
    /// The offset at which each ply ends.
    ends: Vec<usize>,
    /// The position after each ply, in text notation, if they are kept.
    positions: Vec<Box<str>>,
}

/// Some plies of a history.
pub(crate) struct Page<'a> {
    /// Their JSON, with commas in between.
    items: &'a [u8],
    /// Whether more plies follow.
    pub(crate) more: bool,
}

impl History {
    pub(crate) fn of(plies: &[Ply], view: fn(&Ply) -> MoveView) -> Self {
        let mut history = Self { json: vec![], ends: Vec::with_capacity(plies.len()), positions: vec![] };
        for ply in plies {
            if !history.ends.is_empty() {
                history.json.push(b',');
            }
            serde_json::to_writer(&mut history.json, &view(ply)).expect(ALWAYS_JSON);
            history.ends.push(history.json.len());
        }
        history.json.shrink_to_fit();
        history
    }

    /// The same with the positions as text.
    pub(crate) fn with_positions(mut self, plies: &[Ply]) -> Self {
        self.positions = plies.iter().map(|ply| ply.position.to_string().into()).collect();
        self
    }

    /// The position after a ply, counted from 0.
    pub(crate) fn position(&self, ply: u32) -> Option<&str> {
        self.positions.get(ply as usize).map(AsRef::as_ref)
    }

    /// Up to `limit` plies after the first `skipped` ones.
    pub(crate) fn page(&self, skipped: u32, limit: u32) -> Page<'_> {
        let at = |count: u32| usize::try_from(count).unwrap_or(usize::MAX).min(self.ends.len());
        let (begin, end) = (at(skipped), at(skipped.saturating_add(limit)));
        // A comma stands between two plies.
        let begins = begin.checked_sub(1).map_or(0, |before| (self.ends[before] + 1).min(self.json.len()));
        let ends = end.checked_sub(1).map_or(0, |last| self.ends[last]);
        Page { items: &self.json[begins.min(ends)..ends], more: end < self.ends.len() }
    }

    /// Its size in memory, in bytes.
    pub fn weight(&self) -> usize {
        let positions: usize = self.positions.iter().map(|text| size_of::<Box<str>>() + text.len()).sum();
        self.json.len() + self.ends.len() * size_of::<usize>() + positions
    }
}

impl Page<'_> {
    /// The JSON of a `MovePage`.
    pub(crate) fn json(&self, next_cursor: Option<&str>) -> Vec<u8> {
        let cursor = serde_json::to_string(&next_cursor).expect(ALWAYS_JSON);
        [br#"{"items":["#, self.items, br#"],"next_cursor":"#, cursor.as_bytes(), b"}"].concat()
    }
}
