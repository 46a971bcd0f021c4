//! The house of a side in Bao. Knows no board.

/// The state of a side's house (R24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum House {
    /// The house is owned, and holds enough seeds to be more than a pit like any other.
    Working,
    /// The house is owned, and holds too few seeds.
    Idle,
    /// The house was lifted or captured, for good.
    Lost,
}

impl House {
    /// Whether the side still owns it.
    #[must_use]
    pub const fn is_owned(self) -> bool {
        !matches!(self, Self::Lost)
    }
}
