//! The options of any game: how a choice is read, checked and written. Knows no option by name; only its game knows
//! what an option does.

use crate::{
    OptionKind, OptionSpec, OptionValue, OptionsError, PresetSpec, Variant, congkak, four_row, kalah,
    kumalak::{self, bestemshe, toguz_kumalak},
    options::{Kinds, check_overrides, parse_overrides, with_recorded, write_overrides},
    oware,
};

/// The options of one game: a variant, one of its presets, and the choices that differ from it. Always valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyOptions {
    /// Options of Kalah.
    Kalah(kalah::Options),
    /// Options of Oware.
    Oware(oware::Options),
    /// Options of Congkak.
    Congkak(congkak::Options),
    /// Options of Toguz Kumalak or Bestemshe.
    Kumalak(kumalak::Options),
    /// Options of Bao or Omweso.
    FourRow(four_row::AnyOptions),
}

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
        let unknown = |_| OptionsError::UnknownPreset { variant, preset: preset.to_owned() };
        let of_four_rows = |variant| {
            four_row::AnyOptions::within(variant, preset, overrides, kinds)
                .map(Self::FourRow)
                .map_err(OptionsError::from)
        };
        match variant {
            Variant::Kalah => {
                let preset: kalah::Preset = preset.parse().map_err(unknown)?;
                check(variant, preset.spec(), overrides, kinds)?;
                kalah::Options::new(preset, overrides).map(Self::Kalah)
            }
            Variant::Oware => {
                let preset: oware::Preset = preset.parse().map_err(unknown)?;
                check(variant, preset.spec(), overrides, kinds)?;
                oware::Options::new(preset, overrides).map(Self::Oware)
            }
            Variant::Congkak => {
                let preset: congkak::Preset = preset.parse().map_err(unknown)?;
                check(variant, preset.spec(), overrides, kinds)?;
                congkak::Options::new(preset, overrides).map(Self::Congkak)
            }
            Variant::ToguzKumalak => {
                let preset: toguz_kumalak::Preset = preset.parse().map_err(unknown)?;
                check(variant, preset.spec(), overrides, kinds)?;
                toguz_kumalak::Options::new(preset, overrides).map(|options| Self::Kumalak(options.into()))
            }
            Variant::Bestemshe => {
                let preset: bestemshe::Preset = preset.parse().map_err(unknown)?;
                check(variant, preset.spec(), overrides, kinds)?;
                bestemshe::Options::new(preset, overrides).map(|options| Self::Kumalak(options.into()))
            }
            Variant::Bao => of_four_rows(four_row::Variant::Bao),
            Variant::Omweso => of_four_rows(four_row::Variant::Omweso),
        }
    }

    /// The options of a preset with overrides such as `seeds=5;pie=true`; an empty text has none. An override may have
    /// any value that a game has had (R11).
    ///
    /// # Errors
    ///
    /// As [`AnyOptions::new`], and for a text of any other form.
    pub fn parse(variant: Variant, preset: &str, overrides: &str) -> Result<Self, OptionsError> {
        let overrides = parse_overrides(variant.options(), overrides, unknown_option(variant))?;
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
        let overrides = parse_overrides(variant.options(), overrides, unknown_option(variant))?;
        Self::recorded(variant, preset, &overrides)
    }

    /// Which game these options are for.
    #[must_use]
    pub fn variant(&self) -> Variant {
        match self {
            Self::Kalah(_) => Variant::Kalah,
            Self::Oware(_) => Variant::Oware,
            Self::Congkak(_) => Variant::Congkak,
            Self::Kumalak(options) => options.variant(),
            Self::FourRow(options) => options.variant().into(),
        }
    }

    /// The name of the preset that they are based on.
    #[must_use]
    pub const fn preset(&self) -> &'static str {
        match self {
            Self::Kalah(options) => options.preset().word(),
            Self::Oware(options) => options.preset().word(),
            Self::Congkak(options) => options.preset().word(),
            Self::Kumalak(options) => options.preset(),
            Self::FourRow(options) => options.preset(),
        }
    }

    /// The effective value of every option that matters to this game, in the order of [`Variant::options`]. As
    /// overrides of the preset they give the same options.
    #[must_use]
    pub fn values(&self) -> Vec<(&'static str, OptionValue)> {
        match self {
            Self::Kalah(options) => options.values().into(),
            Self::Oware(options) => options.values().into(),
            Self::Congkak(options) => options.values(),
            Self::Kumalak(options) => options.values(),
            Self::FourRow(options) => options.values(),
        }
    }

    /// The effective value of every option, also of those that do not matter to this game.
    #[must_use]
    pub fn all_values(&self) -> Vec<(&'static str, OptionValue)> {
        match self {
            Self::Kalah(options) => options.values().into(),
            Self::Oware(options) => options.values().into(),
            Self::Congkak(options) => options.all_values().into(),
            Self::Kumalak(options) => options.values(),
            Self::FourRow(options) => options.all_values(),
        }
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
        let specs = self.variant().options();
        match self {
            Self::Kalah(options) => write_overrides(specs, options.values(), options.preset().options().values()),
            Self::Oware(options) => write_overrides(specs, options.values(), options.preset().options().values()),
            Self::Congkak(options) => {
                write_overrides(specs, options.all_values(), options.preset().options().all_values())
            }
            Self::Kumalak(options) => options.overrides(),
            Self::FourRow(options) => options.overrides(),
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
