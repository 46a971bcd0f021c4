//! What is known of a variant before a game begins. Every answer is the game's own.

use crate::{
    Contradiction, Game, GameSpec, IllegalMove, OptionSpec, PresetSpec, Refusal, Variant, illegal_move::SHARED,
    options::GameOptions,
};

impl Variant {
    /// What is the same in all positions of the game.
    #[must_use]
    pub const fn spec(self) -> &'static GameSpec {
        for_variant!(self, Position => &<Position as Game>::SPEC)
    }

    /// The name to display.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.spec().title
    }

    /// Other names of the game and of its close relatives, as people look for them.
    #[must_use]
    pub const fn aliases(self) -> &'static [&'static str] {
        self.spec().aliases
    }

    /// The version of this game's rules. It rises when the same moves no longer lead to the same positions.
    #[must_use]
    pub const fn rules_version(self) -> u16 {
        self.spec().rules_version
    }

    /// The rules for beginners, as Markdown.
    #[must_use]
    pub const fn rules(self) -> &'static str {
        self.spec().rules
    }

    /// How many rows each side has: one with stores, or two with reserves.
    #[must_use]
    pub const fn rows_per_side(self) -> u8 {
        self.spec().rows_per_side
    }

    /// Whether a board is drawn with `A` at its owner's right end.
    #[must_use]
    pub const fn is_drawn_from_the_right(self) -> bool {
        self.spec().is_drawn_from_the_right
    }

    /// The rules of this game that forbid moves, beside those of every game.
    pub fn refusals(self) -> impl Iterator<Item = &'static Refusal> {
        self.spec().refusals.iter().copied().flatten()
    }

    /// Named sets of options; the first is `standard` (R11, R33, R47).
    ///
    /// ```
    /// use mancala_rules::Variant;
    ///
    /// let names: Vec<_> = Variant::Oware.presets().iter().map(|preset| preset.name).collect();
    /// assert_eq!(names[..3], ["standard", "app", "wari"]);
    /// ```
    #[must_use]
    pub const fn presets(self) -> &'static [PresetSpec] {
        for_variant!(self, Position => <<Position as Game>::Options as GameOptions>::PRESETS)
    }

    /// The options of the game (R1, R20, R40).
    #[must_use]
    pub const fn options(self) -> &'static [OptionSpec] {
        for_variant!(self, Position => <<Position as Game>::Options as GameOptions>::OPTIONS)
    }

    /// Which choices exclude each other (R1, R20, R40).
    #[must_use]
    pub const fn contradictions(self) -> &'static [Contradiction] {
        for_variant!(self, Position => <<Position as Game>::Options as GameOptions>::CONTRADICTIONS)
    }
}

impl IllegalMove {
    /// The words of all reasons, of all games.
    #[must_use]
    pub fn reasons() -> Vec<&'static str> {
        let mut reasons = SHARED.to_vec();
        for refusal in Variant::ALL.iter().flat_map(|variant| variant.refusals()) {
            if !reasons.contains(&refusal.reason) {
                reasons.push(refusal.reason);
            }
        }
        reasons
    }
}
