//! Kinds of clocks and opponents that filters distinguish, as the words of columns.

/// A kind of clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClockKind {
    /// No clock.
    Unlimited,
    /// A time limit for each move.
    PerMove,
    /// A time bank for each player.
    Bank,
}

impl ClockKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            ClockKind::Unlimited => "unlimited",
            ClockKind::PerMove => "per_move",
            ClockKind::Bank => "bank",
        }
    }
}

/// A kind of opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpponentKind {
    /// Anyone may join.
    Open,
    /// Any player that has the join code.
    Link,
    /// A single invited player.
    Player,
    /// The creator plays both sides.
    Oneself,
    /// The computer.
    Computer,
    /// An imported game.
    Imported,
}

impl OpponentKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            OpponentKind::Open => "open",
            OpponentKind::Link => "link",
            OpponentKind::Player => "player",
            OpponentKind::Oneself => "self",
            OpponentKind::Computer => "computer",
            OpponentKind::Imported => "imported",
        }
    }
}
