//! The content of a board's picture. Knows positions and names, and nothing of how they are drawn.

use mancala_rules::{AnyPosition, BySide, Effect, Side};

/// The content of a board's picture.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The position to draw.
    pub position: &'a AnyPosition,
    /// The player at each side of this position; `None` for a free seat, or for a position without a game.
    pub names: BySide<Option<PlayerLabel<'a>>>,
    /// The number of the ply that led to the position; 0 for the opening.
    pub ply: u32,
    /// The move that led to the position, if it is shown.
    pub last: Option<LastMove<'a>>,
    /// The status of the game.
    pub status: SceneStatus,
}

/// A player in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerLabel<'a> {
    /// The player's name.
    pub name: &'a str,
    /// What the player is, in parentheses after the name: for kinds of players whose names are not unique.
    pub mark: Option<PlayerMark>,
}

/// The mark after a name that others may have too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerMark {
    /// A guest.
    Guest,
    /// A player who is known from an imported game only.
    Imported,
    /// The second person at one device, who is no player of the service.
    Hotseat,
}

/// The move that led to a position.
#[derive(Clone, Debug)]
pub struct LastMove<'a> {
    /// The move in the notation of the rules, such as `C` or `swap`.
    pub word: String,
    /// The side that moved.
    pub side: Side,
    /// The name of the player who moved.
    pub name: Option<PlayerLabel<'a>>,
    /// The effects of the move, in their order.
    pub effects: &'a [Effect],
}

/// The status of a game, as a picture shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SceneStatus {
    /// This side is to move.
    Turn(Side),
    /// The game is finished.
    Over {
        /// The side that won; `None` for a draw.
        winner: Option<Side>,
        /// The reason as a word of the API, such as `side_empty`.
        reason: Option<String>,
    },
    /// A seat is free.
    Open,
    /// The game ended without a result.
    Aborted,
}

impl SceneStatus {
    /// The status of a position by the rules alone: `Turn` or `Over`.
    ///
    /// ```
    /// use mancala_picture::SceneStatus;
    /// use mancala_rules::{AnyOptions, AnyPosition, Side, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Kalah, "standard", "")?;
    /// assert_eq!(SceneStatus::of(&AnyPosition::opening(&options)), SceneStatus::Turn(Side::South));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of(position: &AnyPosition) -> Self {
        match position.outcome() {
            None => Self::Turn(position.turn()),
            Some(outcome) => {
                Self::Over { winner: outcome.winner, reason: outcome.reason.map(|reason| reason.to_string()) }
            }
        }
    }
}
