//! The option of the toy, and its preset. Knows no rule and no position.

game_options! {
    /// The options of the toy. Always within bounds.
    pub struct Options {
        seeds: integer(u8, 1, 6) = 3, "Seeds per pit at the start.";
    }

    contradictions: [];

    /// A named set of options.
    pub enum Preset {
        Standard = "standard" {
            title: "Standard",
            description: "The only way to play it.",
            source: "This page",
        }
    }
}
