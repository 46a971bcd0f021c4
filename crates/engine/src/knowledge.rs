//! Knowledge of positions with few seeds, as a search uses it. Does not know how it was found.

use std::sync::Arc;

use mancala_rules::packed::{Path, Position};

use crate::{endgame_kalah::KalahEndgame, endgame_oware::OwareEndgame, value::Bounds};

/// Knowledge of positions with few seeds.
pub(crate) trait Knowledge {
    /// Whether anything is.
    const ARE_KNOWN: bool;

    /// Whether a search with it orders moves by what earlier depths found of them: in reviews of Oware. There the same errors
    /// take a quarter fewer positions. Levels keep the order that their steps were measured with.
    const ORDERS_BY_ESTIMATES: bool = false;

    /// Whether a search with it looks less far ahead for later moves: in reviews of Oware, which judge better with half as many positions
    /// so. Levels search as their steps were measured.
    const REDUCES_LATER_MOVES: bool = false;

    /// The least depth at which a search with it looks into the table.
    const TABLE_DEPTH: u8 = 0;

    /// Whether anything is known of a position that is not over.
    fn covers(&self, position: &Position) -> bool;

    /// The proven bounds of what the side to move still gains in a position that is not over. `path` is the line of play to it.
    fn gain(&self, position: &Position, path: &Path) -> Option<Bounds>;

    /// Narrower bounds, found by visiting thousands of positions; `None` if no narrower ones can be found.
    fn gain_by_strategy(&self, _: &Position, _: &Path) -> Option<Bounds> {
        None
    }
}

/// Nothing is known.
#[derive(Debug)]
pub(crate) struct Unknown;

impl Knowledge for Unknown {
    const ARE_KNOWN: bool = false;

    fn covers(&self, _: &Position) -> bool {
        false
    }

    fn gain(&self, _: &Position, _: &Path) -> Option<Bounds> {
        None
    }
}

impl Knowledge for Arc<KalahEndgame> {
    const ARE_KNOWN: bool = true;

    #[inline]
    fn covers(&self, position: &Position) -> bool {
        KalahEndgame::gain(self, position).is_some()
    }

    #[inline]
    fn gain(&self, position: &Position, _: &Path) -> Option<Bounds> {
        KalahEndgame::gain(self, position).map(Bounds::exact)
    }
}

impl Knowledge for Arc<OwareEndgame> {
    const ARE_KNOWN: bool = true;

    const ORDERS_BY_ESTIMATES: bool = true;

    const REDUCES_LATER_MOVES: bool = true;

    /// Most positions are at depth 1, where waiting for the table's memory takes as long as looking at all moves.
    const TABLE_DEPTH: u8 = 2;

    #[inline]
    fn covers(&self, position: &Position) -> bool {
        OwareEndgame::covers(self, position)
    }

    #[inline]
    fn gain(&self, position: &Position, path: &Path) -> Option<Bounds> {
        OwareEndgame::gain(self, position, path)
    }

    fn gain_by_strategy(&self, position: &Position, path: &Path) -> Option<Bounds> {
        OwareEndgame::gain_by_strategy(self, position, path)
    }
}
