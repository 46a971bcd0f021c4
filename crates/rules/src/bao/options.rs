//! The options of a game of Bao (R20), and its presets (R33). Knows no rule and no position.

use crate::{four_row::help, options::needless};

game_options! {
    /// The options of Bao (R20). Always within bounds and free of contradictions.
    pub struct Options {
        start: choice(Start) = Start::House,
            "Whether a side begins with a house and a reserve, or with two seeds in each pit.";
        house_seeds: integer(u8, 6, 12) = 6, "Seeds of the house at the start; the reserve is 28 less these.";
        singletons: choice(Singletons) = Singletons::HouseLost,
            "Whether a single seed may not be played beside a fuller pit once the house is lost, or whenever it does not work.";
        harvest_ends_house: switch = false, "Whether the first capture in the second stage ends the own house.";
        takasia: choice(Takasia) = Takasia::Block,
            "Whether the only pit that a sowing without a capture threatens is blocked, and must then be taken.";
        takasia_single: switch = false, "Whether a pit of one seed may be blocked too.";
        takasia_house_lap: switch = false, "Whether a first lap out of a working house goes on from the blocked pit.";
        endless: choice(Endless) = Endless::Draw, "Whether an endless sowing is a draw, is lost, or is no legal move.";
        // Texts of games without it are of 12 circuits.
        circuits: changed_integer(u16, 4, 100, 100, 12) = 40, help::CIRCUITS;
        // More than 2,000 was chosen once, and texts of games have it. A stored game ends after 2,000 plies in any case.
        max_plies: changed_integer(u16, 100, 2000, 10_000, 1000) = 1000, help::MAX_PLIES;
    }

    contradictions: [
        needless("house_seeds", "start", Start::Full.word()),
        needless("singletons", "start", Start::Full.word()),
        needless("harvest_ends_house", "start", Start::Full.word()),
        needless("takasia_house_lap", "start", Start::Full.word()),
        needless("takasia_single", "takasia", Takasia::Off.word()),
        needless("takasia_house_lap", "takasia", Takasia::Off.word()),
    ];

    /// A named set of options (R33).
    pub enum Preset {
        Standard = "standard" {
            title: "Standard",
            description: "Bao la kiswahili as Alex de Voogt describes it, with house, reserve and takasia.",
            source: "De Voogt, Limits of the Mind; what all sources share",
        }
        Kujifunza = "kujifunza" {
            title: "Kujifunza",
            description: "Bao la kujifunza, the beginners' game: two seeds in each pit, and the second stage alone.",
            source: "Mancala World, Polovynka, Board Game Arena",
            options: { start: Start::Full, takasia: Takasia::Off },
        }
        Donkers = "donkers" {
            title: "Donkers",
            description: "Rules for the computer: the first harvest ends the house, and an endless sowing is no legal move.",
            source: "Donkers's thesis of 2003, appendix C",
            options: { harvest_ends_house: true, takasia_single: true, endless: Endless::Illegal },
        }
        Gering = "gering" {
            title: "Gering",
            description: "As Mancala World describes it: single seeds rest while the house sleeps, and more pits can be blocked.",
            source: "Mancala World",
            options: { singletons: Singletons::NoHouse, takasia_single: true, takasia_house_lap: true },
        }
        Bga = "bga" {
            title: "Board Game Arena",
            description: "The game of that site: a blocked pit must be taken, and an endless sowing loses.",
            source: "The implementation at Board Game Arena",
            options: { takasia: Takasia::Take, takasia_single: true, endless: Endless::Lose },
        }
        Malawi = "malawi" {
            title: "Malawi",
            description: "The standard game with eight seeds in the house.",
            source: "Abstract Play's set-up of that name",
            options: { house_seeds: 8 },
        }
    }
}

worded_enum! {
    /// How the seeds lie at the start (R24).
    pub enum Start {
        /// Ten seeds or more in and beside the house, the rest in reserve.
        House = "house",
        /// Two seeds in each pit, and neither house nor reserve: Bao la kujifunza.
        Full = "full",
    }
}

worded_enum! {
    /// When a single seed may not be played beside a fuller pit in the first stage (R24).
    pub enum Singletons {
        /// Once the house is lost.
        HouseLost = "house_lost",
        /// Whenever the house does not work.
        NoHouse = "no_house",
    }
}

worded_enum! {
    /// The treatment of the only pit that a takata threatens (R27).
    pub enum Takasia {
        /// Nothing.
        Off = "off",
        /// The pit is blocked in the next turn.
        Block = "block",
        /// The pit is blocked in the next turn, and must be captured in the turn after that.
        Take = "take",
    }
}

worded_enum! {
    /// The treatment of an endless sowing (R31).
    pub enum Endless {
        /// The game is a draw.
        Draw = "draw",
        /// The mover loses.
        Lose = "lose",
        /// The move is not legal.
        Illegal = "illegal",
    }
}

impl Options {
    /// Whether each side begins with a house, and so with a reserve.
    #[must_use]
    pub const fn has_house(&self) -> bool {
        matches!(self.start, Start::House)
    }

    /// Seeds in each reserve at the start.
    pub(super) fn reserve(&self) -> u16 {
        if self.has_house() { 28 - u16::from(self.house_seeds) } else { 0 }
    }
}
