//! Which games with four rows there are. Knows their names, and nothing of what each offers.

worded_enum! {
    /// A game with four rows.
    pub enum Variant {
        /// Bao la kiswahili, of the East African coast.
        Bao = "bao",
        /// Omweso, of Uganda.
        Omweso = "omweso",
    }
}

impl Variant {
    /// The name to display.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Bao => "Bao",
            Self::Omweso => "Omweso",
        }
    }

    /// The version of this game's rules. It rises when the same moves no longer lead to the same positions.
    #[must_use]
    pub const fn rules_version(self) -> u16 {
        match self {
            Self::Bao | Self::Omweso => 1,
        }
    }

    /// Whether a board is drawn with `A` at its owner's right end: upward is then counter-clockwise (R19).
    #[must_use]
    pub const fn is_drawn_from_the_right(self) -> bool {
        match self {
            Self::Bao => false,
            Self::Omweso => true,
        }
    }
}
