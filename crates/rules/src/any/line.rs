//! The line of play that a search goes down and up again, with one history for all its positions (R8, R45). Knows which
//! earlier positions matter, and no other rule.

use std::mem;

use super::AnyPosition;
use crate::{Board, History, Move, Side};

/// The history of a position whose earlier positions do not matter.
static NONE: History = History::EMPTY;

/// The positions that led to the one that is searched.
///
/// A history may hold a thousand boards. Here the positions of a search share it: they are those without history, as
/// [`AnyPosition::afresh`] gives them. A search enters the position in which it plays a move, and leaves it on
/// the way back.
///
/// ```
/// use mancala_rules::{AnyOptions, AnyPosition, Line, Variant};
///
/// let options = AnyOptions::parse(Variant::Bestemshe, "standard", "pits=1;seeds=2;repetition=2")?;
/// let opening = AnyPosition::opening(&options);
/// let mut line = Line::to(&opening);
/// let after = line.play(&opening, "A".parse()?);
/// line.enter(&opening);
/// assert!(line.has_history(&after));
/// line.leave();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Line {
    /// The positions that were entered since the last capture, after those of the game.
    history: History,
    /// How to leave each position that was entered.
    entered: Vec<Entered>,
}

/// The history from before a position was entered.
#[derive(Clone, Debug)]
enum Entered {
    /// The same: the game has no rule against repetition.
    Same,
    /// The history lacked the position, and perhaps held an older one.
    Longer(Option<(Board, Side)>),
    /// This history. The position came by a capture, so that no earlier one matters to it.
    Cleared(History),
}

impl Line {
    /// The line that has led to a position.
    #[must_use]
    pub fn to(position: &AnyPosition) -> Self {
        Self { history: position.history().cloned().unwrap_or_default(), entered: Vec::new() }
    }

    /// The position after a legal move, without its history. The position before it is the next one to enter.
    #[must_use]
    pub fn play(&self, before: &AnyPosition, m: Move) -> AnyPosition {
        before.after(m, before.recurring().map_or(&NONE, |(board, _)| self.history_of(&board)))
    }

    /// Whether earlier positions matter to this one, which is the next one to enter.
    #[must_use]
    pub fn has_history(&self, position: &AnyPosition) -> bool {
        let has_earlier = |(board, _): (Board, Side)| !self.history_of(&board).is_empty();
        position.recurring().is_some_and(has_earlier) && position.outcome().is_none()
    }

    /// Adds the position in which a move is played.
    pub fn enter(&mut self, position: &AnyPosition) {
        let Some((board, turn)) = position.recurring() else { return self.entered.push(Entered::Same) };
        let is_quiet = !self.history_of(&board).is_empty();
        let before = if is_quiet { History::EMPTY } else { mem::take(&mut self.history) };
        let dropped = self.history.push(board, turn);
        self.entered.push(if is_quiet { Entered::Longer(dropped) } else { Entered::Cleared(before) });
    }

    /// Removes the position that was entered last.
    pub fn leave(&mut self) {
        match self.entered.pop() {
            Some(Entered::Longer(dropped)) => self.history.pop(dropped),
            Some(Entered::Cleared(before)) => self.history = before,
            Some(Entered::Same) | None => {}
        }
    }

    /// The history of a position that comes right after the newest one.
    fn history_of(&self, board: &Board) -> &History {
        let is_quiet = self.history.newest().is_some_and(|newest| newest.stores() == board.stores());
        if is_quiet { &self.history } else { &NONE }
    }
}
