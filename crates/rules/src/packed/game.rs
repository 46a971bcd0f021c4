//! The operations of every packed game. Knows no game.

use super::{Path, Pits, Position};

/// The rules of one game, prepared for its options.
pub trait Game {
    /// The pits of the side to move that may be sown (R4); none exactly when the game is over.
    fn legal_pits(&self, position: &Position) -> Pits;

    /// The position after sowing one of [`Game::legal_pits`]. Any other pit does not panic, but may lead to a position
    /// that no game has.
    ///
    /// `path` holds the earlier positions, at least those since the last capture. Only a game with a rule against
    /// repetition reads it.
    #[must_use]
    fn play(&self, position: &Position, pit: u8, path: &Path) -> Position;

    /// A legal pit that gives an extra move (R7), nearest to the store; `None` if there is none, or if telling takes as
    /// long as playing.
    #[inline]
    fn extra_pit(&self, _: &Position) -> Option<u8> {
        None
    }
}
