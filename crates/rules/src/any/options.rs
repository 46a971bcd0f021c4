//! The options of any game: how a choice is read, checked and written. Knows no option by name; only its game knows
//! what an option does.

use crate::{
    OptionBounds, OptionKind, OptionSpec, OptionValue, OptionsError, PresetSpec, Variant, congkak, kalah, oware,
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
        let unknown = |_| OptionsError::UnknownPreset { variant, preset: preset.to_owned() };
        match variant {
            Variant::Kalah => {
                let preset: kalah::Preset = preset.parse().map_err(unknown)?;
                check(variant, preset.spec(), overrides)?;
                kalah::Options::new(preset, overrides).map(Self::Kalah)
            }
            Variant::Oware => {
                let preset: oware::Preset = preset.parse().map_err(unknown)?;
                check(variant, preset.spec(), overrides)?;
                oware::Options::new(preset, overrides).map(Self::Oware)
            }
            Variant::Congkak => {
                let preset: congkak::Preset = preset.parse().map_err(unknown)?;
                check(variant, preset.spec(), overrides)?;
                congkak::Options::new(preset, overrides).map(Self::Congkak)
            }
        }
    }

    /// The options of a preset with the overrides of a game record, such as `seeds=5;pie=true`; an empty text has no
    /// overrides (R12).
    ///
    /// # Errors
    ///
    /// As [`AnyOptions::new`], and for a text of any other form.
    pub fn parse(variant: Variant, preset: &str, overrides: &str) -> Result<Self, OptionsError> {
        if overrides.is_empty() {
            return Self::new(variant, preset, &[]);
        }
        let overrides =
            overrides.split(';').map(|text| parse_override(variant, text)).collect::<Result<Vec<_>, _>>()?;
        Self::new(variant, preset, &overrides)
    }

    /// Which game these options are for.
    #[must_use]
    pub const fn variant(&self) -> Variant {
        match self {
            Self::Kalah(_) => Variant::Kalah,
            Self::Oware(_) => Variant::Oware,
            Self::Congkak(_) => Variant::Congkak,
        }
    }

    /// The name of the preset that they are based on.
    #[must_use]
    pub const fn preset(&self) -> &'static str {
        match self {
            Self::Kalah(options) => options.preset().word(),
            Self::Oware(options) => options.preset().word(),
            Self::Congkak(options) => options.preset().word(),
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
        }
    }

    /// The effective value of every option, also of those that do not matter to this game.
    #[must_use]
    pub fn all_values(&self) -> Vec<(&'static str, OptionValue)> {
        match self {
            Self::Kalah(options) => options.values().into(),
            Self::Oware(options) => options.values().into(),
            Self::Congkak(options) => options.all_values().into(),
        }
    }

    /// The values that differ from the preset, as a game record writes them and [`AnyOptions::parse`] reads them.
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
        match self {
            Self::Kalah(options) => differing(options.values(), options.preset().options().values()),
            Self::Oware(options) => differing(options.values(), options.preset().options().values()),
            Self::Congkak(options) => differing(options.all_values(), options.preset().options().all_values()),
        }
    }
}

/// The values that differ from those of the preset, as `name=value` joined by `;`.
fn differing<const N: usize>(values: [(&str, OptionValue); N], preset: [(&str, OptionValue); N]) -> String {
    let differing = values.into_iter().zip(preset).filter(|(value, preset)| value != preset);
    differing.map(|((name, value), _)| format!("{name}={value}")).collect::<Vec<_>>().join(";")
}

/// Checks each override by itself. The loop ends at the first unknown or repeated name. So the inner search visits at
/// most as many names as there are options.
fn check(variant: Variant, preset: &PresetSpec, overrides: &[(String, OptionValue)]) -> Result<(), OptionsError> {
    for (i, (name, value)) in overrides.iter().enumerate() {
        let spec = find(variant, name)?;
        let option = spec.name;
        if overrides[..i].iter().any(|(earlier, _)| earlier == name) {
            return Err(OptionsError::Repeated { option });
        }
        if !spec.kind.admits(value) {
            return Err(OptionsError::Value { option, expected: spec.kind });
        }
        if let Some(&OptionBounds { min, max, .. }) = preset.bounds.iter().find(|bounds| bounds.option == option) {
            let expected = OptionKind::Integer { min, max };
            if !expected.admits(value) {
                return Err(OptionsError::PresetValue { option, expected, preset: preset.name });
            }
        }
    }
    Ok(())
}

fn parse_override(variant: Variant, text: &str) -> Result<(String, OptionValue), OptionsError> {
    let (name, value) = text.split_once('=').ok_or_else(|| OptionsError::Malformed { text: text.to_owned() })?;
    let OptionSpec { name, kind, .. } = *find(variant, name)?;
    let value = kind.parse(value).ok_or(OptionsError::Value { option: name, expected: kind })?;
    Ok((name.to_owned(), value))
}

fn find(variant: Variant, name: &str) -> Result<&'static OptionSpec, OptionsError> {
    let unknown = || OptionsError::UnknownOption { variant, option: name.to_owned() };
    variant.options().iter().find(|spec| spec.name == name).ok_or_else(unknown)
}
