//! The options of either game: how a choice is read, checked and written. Knows no option by name; only its game knows
//! what an option does.

use crate::{
    OptionSpec, OptionValue, PresetSpec,
    four_row::{OptionsError, Variant, bao, omweso},
    options::{Kinds, check_overrides, parse_overrides, with_recorded, write_overrides},
};

/// The options of one game: a variant, one of its presets, and the choices that differ from it. Always valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyOptions {
    /// Options of Bao.
    Bao(bao::Options),
    /// Options of Omweso.
    Omweso(omweso::Options),
}

impl AnyOptions {
    /// The options of a preset, with overrides.
    ///
    /// ```
    /// use mancala_rules::four_row::{AnyOptions, Variant};
    ///
    /// let options = AnyOptions::new(Variant::Bao, "bga", &[("house_seeds".to_owned(), 8.into())])?;
    /// assert!(options.values().contains(&("house_seeds", 8.into())));
    ///
    /// let refused = AnyOptions::new(Variant::Bao, "kujifunza", &[("house_seeds".to_owned(), 6.into())]).unwrap_err();
    /// assert_eq!(refused.to_string(), "option `house_seeds` cannot be given while `start` is `full`");
    /// # Ok::<(), mancala_rules::four_row::OptionsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An unknown preset or option, or an option given twice. A value of the wrong kind or outside the bounds of the
    /// option. Values that contradict each other.
    pub fn new(variant: Variant, preset: &str, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        Self::within(variant, preset, overrides, |spec| spec.kind)
    }

    pub(crate) fn within(
        variant: Variant,
        preset: &str,
        overrides: &[(String, OptionValue)],
        kinds: Kinds,
    ) -> Result<Self, OptionsError> {
        let unknown = |_| OptionsError::UnknownPreset { variant, preset: preset.to_owned() };
        match variant {
            Variant::Bao => {
                let preset: bao::Preset = preset.parse().map_err(unknown)?;
                check(variant, preset.spec(), overrides, kinds)?;
                bao::Options::new(preset, overrides).map(Self::Bao)
            }
            Variant::Omweso => {
                let preset: omweso::Preset = preset.parse().map_err(unknown)?;
                check(variant, preset.spec(), overrides, kinds)?;
                omweso::Options::new(preset, overrides).map(Self::Omweso)
            }
        }
    }

    /// The options of a preset with overrides such as `takasia=take;circuits=20`; an empty text has none. An override
    /// may have any value that a game has had.
    ///
    /// # Errors
    ///
    /// As [`AnyOptions::new`], and for a text of any other form.
    pub fn parse(variant: Variant, preset: &str, overrides: &str) -> Result<Self, OptionsError> {
        let overrides = parse_overrides(variant.options(), overrides, unknown_option(variant))?;
        Self::within(variant, preset, &overrides, OptionSpec::recorded_kind)
    }

    /// The options of a stored or exported game, whose overrides [`AnyOptions::overrides`] has written.
    ///
    /// # Errors
    ///
    /// As [`AnyOptions::parse`].
    pub fn parse_recorded(variant: Variant, preset: &str, overrides: &str) -> Result<Self, OptionsError> {
        let overrides = parse_overrides(variant.options(), overrides, unknown_option(variant))?;
        let overrides = with_recorded(variant.options(), &overrides);
        Self::within(variant, preset, &overrides, OptionSpec::recorded_kind)
    }

    /// Which game these options are for.
    #[must_use]
    pub const fn variant(&self) -> Variant {
        match self {
            Self::Bao(_) => Variant::Bao,
            Self::Omweso(_) => Variant::Omweso,
        }
    }

    /// The name of the preset that they are based on.
    #[must_use]
    pub const fn preset(&self) -> &'static str {
        match self {
            Self::Bao(options) => options.preset().word(),
            Self::Omweso(options) => options.preset().word(),
        }
    }

    /// The effective value of every option that matters to this game, in the order of [`Variant::options`]. As
    /// overrides of the preset they give the same options.
    #[must_use]
    pub fn values(&self) -> Vec<(&'static str, OptionValue)> {
        match self {
            Self::Bao(options) => options.values(),
            Self::Omweso(options) => options.values().into(),
        }
    }

    /// The effective value of every option, also of those that do not matter to this game.
    #[must_use]
    pub fn all_values(&self) -> Vec<(&'static str, OptionValue)> {
        match self {
            Self::Bao(options) => options.all_values().into(),
            Self::Omweso(options) => options.values().into(),
        }
    }

    /// The values that differ from the preset, as stored games and game records have them and
    /// [`AnyOptions::parse_recorded`] reads them.
    #[must_use]
    pub fn overrides(&self) -> String {
        let specs = self.variant().options();
        match self {
            Self::Bao(options) => write_overrides(specs, options.all_values(), options.preset().options().all_values()),
            Self::Omweso(options) => write_overrides(specs, options.values(), options.preset().options().values()),
        }
    }
}

/// Checks each override by itself.
fn check(
    variant: Variant,
    preset: &PresetSpec,
    overrides: &[(String, OptionValue)],
    kinds: Kinds,
) -> Result<(), OptionsError> {
    check_overrides(variant.options(), preset, overrides, kinds, unknown_option(variant))
}

fn unknown_option(variant: Variant) -> impl Fn(&str) -> OptionsError {
    move |option| OptionsError::UnknownOption { variant, option: option.to_owned() }
}
