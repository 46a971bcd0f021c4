//! Kinds of games that lists tell apart, in the database's words.

/// A kind of clock.
#[derive(Clone, Copy, Debug)]
pub enum ClockKind {
    Unlimited,
    PerMove,
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
#[derive(Clone, Copy, Debug)]
pub enum OpponentKind {
    Open,
    Link,
    Player,
    Oneself,
    Computer,
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
