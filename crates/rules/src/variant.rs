//! The variants. Knows their names and the shapes of their boards, and nothing of their options.

worded_enum! {
    /// A game.
    pub enum Variant {
        /// Kalah, also called Kalaha and, in much of the West, simply Mancala.
        Kalah = "kalah",
        /// Oware, also called Awale, Wari and Awari.
        Oware = "oware",
        /// Congkak, of Malaysia, Indonesia and Singapore: a sowing continues from the pit where its last seed falls.
        Congkak = "congkak",
        /// Bao la kiswahili, of the East African coast: each side has two rows, a reserve and a house.
        Bao = "bao",
        /// Omweso, of Uganda: each side has two rows, and some pits may be sown backward.
        Omweso = "omweso",
        /// Toguz Kumalak, in Kyrgyzstan toguz korgool: an even number of seeds is captured, and a pit may be won.
        ToguzKumalak = "toguz_kumalak",
        /// Bestemshe, a smaller Toguz Kumalak without the winning of pits.
        Bestemshe = "bestemshe",
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
            Self::Bao => "Bao",
            Self::Omweso => "Omweso",
            Self::ToguzKumalak => "Toguz Kumalak",
            Self::Bestemshe => "Bestemshe",
        }
    }

    /// Other names of the game and of its close relatives, as people look for them; `docs/rules.md` has their sources. A
    /// name may stand for two games.
    #[must_use]
    pub const fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Kalah => &["Kalaha", "Mancala", "Mankala", "Awalé", "Калах"],
            Self::Oware => &[
                "Awalé", "Awélé", "Awari", "Wari", "Warri", "Ayo", "Ayoayo", "Ouri", "Ouril", "Uril", "Wali", "Adji",
                "Abapa",
            ],
            Self::Congkak => &[
                "Congklak",
                "Congka",
                "Main Congkak",
                "Main Chongkak",
                "Chongkak",
                "Tjongklak",
                "Jogklak",
                "Dakon",
                "Dhakon",
                "Sungka",
                "Chongka",
                "Chonka",
                "Tsjoncka",
                "Kunggit",
                "Naranj",
                "Ohvalhu",
                "Mak Khom",
            ],
            Self::ToguzKumalak => {
                &["Toguz korgool", "Toguz Xorgol", "Togyzkumalak", "Togyzqumalaq", "Тоғызқұмалақ", "Тогуз коргоол"]
            }
            Self::Bestemshe => &["Bestemshi", "Бестемше"],
            Self::Bao => &["Bao la Kiswahili", "Bawo"],
            Self::Omweso => &["Mweso", "Coro"],
        }
    }

    /// The version of this game's rules. It rises when the same moves no longer lead to the same positions.
    #[must_use]
    pub const fn rules_version(self) -> u16 {
        match self {
            Self::Kalah
            | Self::Oware
            | Self::Congkak
            | Self::Bao
            | Self::Omweso
            | Self::ToguzKumalak
            | Self::Bestemshe => 1,
        }
    }

    /// How many rows each side has. With one row there are stores, and their seeds decide; with two rows there are
    /// reserves, and a score decides nothing (R31).
    #[must_use]
    pub const fn rows_per_side(self) -> u8 {
        match self {
            Self::Kalah | Self::Oware | Self::Congkak | Self::ToguzKumalak | Self::Bestemshe => 1,
            Self::Bao | Self::Omweso => 2,
        }
    }

    /// Whether a board is drawn with `A` at its owner's right end: upward is then counter-clockwise (R19).
    #[must_use]
    pub const fn is_drawn_from_the_right(self) -> bool {
        match self {
            Self::Kalah | Self::Oware | Self::Congkak | Self::Bao | Self::ToguzKumalak | Self::Bestemshe => false,
            Self::Omweso => true,
        }
    }
}
