//! The options of any game: how a choice is read, checked and written. Knows no option by name; only its game knows
//! what an option does.

use crate::{
    AnyOptions, Game, OptionKind, OptionSpec, OptionValue, OptionsError, Variant,
    options::{GameOptions, parse_overrides, with_recorded},
};

impl AnyOptions {
    /// The options of a preset, with overrides.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, Variant};
    ///
    /// let options = AnyOptions::new(Variant::Oware, "awari", &[("seeds".to_owned(), 3.into())])?;
    /// assert_eq!((options.preset(), options.overrides().as_str()), ("awari", "seeds=3"));
    ///
    /// let refused = AnyOptions::new(Variant::Oware, "awari", &[("seeds".to_owned(), 13.into())]).unwrap_err();
    /// assert_eq!(refused.to_string(), "option `seeds` must be an integer from 1 to 12");
    /// # Ok::<(), mancala_rules::OptionsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An unknown preset or option, or an option given twice. A value of the wrong kind or outside the bounds of the
    /// option or the preset. Values that contradict each other.
    pub fn new(variant: Variant, preset: &str, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        Self::within(variant, preset, overrides, |spec| spec.kind)
    }

    /// The options of a stored or exported game, with overrides that are read already: see [`AnyOptions::parse_recorded`].
    ///
    /// # Errors
    ///
    /// As [`AnyOptions::new`].
    pub fn recorded(variant: Variant, preset: &str, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        let overrides = with_recorded(variant.options(), overrides);
        Self::within(variant, preset, &overrides, OptionSpec::recorded_kind)
    }

    /// The options of a preset, with overrides: each has a value of what `kinds` says, [`OptionSpec::kind`] as in
    /// [`AnyOptions::new`] or [`OptionSpec::recorded_kind`].
    ///
    /// # Errors
    ///
    /// As [`AnyOptions::new`].
    pub fn within(
        variant: Variant,
        preset: &str,
        overrides: &[(String, OptionValue)],
        kinds: fn(&OptionSpec) -> OptionKind,
    ) -> Result<Self, OptionsError> {
        for_variant!(variant, Position => {
            <Position as Game>::Options::within(variant.word(), preset, overrides, kinds).map(Self::from)
        })
    }

    /// The options of a preset with overrides such as `seeds=5;pie=true`; an empty text has none. An override may have
    /// any value that a game has had (R11).
    ///
    /// # Errors
    ///
    /// As [`AnyOptions::new`], and for a text of any other form.
    pub fn parse(variant: Variant, preset: &str, overrides: &str) -> Result<Self, OptionsError> {
        let overrides = parse_overrides(variant.word(), variant.options(), overrides)?;
        Self::within(variant, preset, &overrides, OptionSpec::recorded_kind)
    }

    /// The options of a stored or exported game, whose overrides [`AnyOptions::overrides`] has written. An option that
    /// is not named has the value that it had when that was first written, whatever its default is today (R11).
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, Variant};
    ///
    /// let chosen = AnyOptions::parse(Variant::Omweso, "standard", "")?;
    /// assert_eq!(chosen.overrides(), "circuits=100");
    /// let recorded = AnyOptions::parse_recorded(Variant::Omweso, "standard", "")?;
    /// assert!(recorded.values().contains(&("circuits", 40.into())));
    /// assert_eq!(recorded.overrides(), "");
    /// # Ok::<(), mancala_rules::OptionsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`AnyOptions::parse`].
    pub fn parse_recorded(variant: Variant, preset: &str, overrides: &str) -> Result<Self, OptionsError> {
        let overrides = parse_overrides(variant.word(), variant.options(), overrides)?;
        Self::recorded(variant, preset, &overrides)
    }

    /// The name of the preset that they are based on.
    #[must_use]
    pub fn preset(&self) -> &'static str {
        for_game!(self, Self, options => options.preset().name)
    }

    /// The effective value of every option that matters to this game, in the order of [`Variant::options`]. As
    /// overrides of the preset they give the same options.
    #[must_use]
    pub fn values(&self) -> Vec<(&'static str, OptionValue)> {
        for_game!(self, Self, options => options.values())
    }

    /// The effective value of every option, also of those that do not matter to this game.
    #[must_use]
    pub fn all_values(&self) -> Vec<(&'static str, OptionValue)> {
        for_game!(self, Self, options => options.all_values())
    }

    /// The values that differ from the preset, as stored games and game records have them and
    /// [`AnyOptions::parse_recorded`] reads them.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Kalah, "bga", "pie=true;seeds=5;end=no_move")?;
    /// assert_eq!(options.overrides(), "seeds=5;pie=true");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn overrides(&self) -> String {
        for_game!(self, Self, options => options.overrides())
    }
}
