//! Which games there are. Knows their names, and nothing of what each offers.

worded_enum! {
    /// A game.
    pub enum Variant {
        /// Kalah, also called Kalaha and, in much of the West, simply Mancala.
        Kalah = "kalah",
        /// Oware, also called Awale, Wari and Awari.
        Oware = "oware",
        /// Congkak, of Malaysia, Indonesia and Singapore: a sowing goes on from the pit where its last seed falls.
        Congkak = "congkak",
    }
}

impl Variant {
    /// The name to display.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Kalah => "Kalah",
            Self::Oware => "Oware",
            Self::Congkak => "Congkak",
        }
    }

    /// The version of this game's rules. It rises when the same moves no longer lead to the same positions.
    #[must_use]
    pub const fn rules_version(self) -> u16 {
        match self {
            Self::Kalah | Self::Oware | Self::Congkak => 1,
        }
    }
}
