//! What can be chosen before a game: presets, options, and the errors of a bad choice (R1, R11).
//!
//! Knows how a choice is described, checked and written. What an option does is known to its game alone.

use std::{borrow::Cow, fmt, str::FromStr};

use super::{Variant, congkak, kalah, oware, word::OneOf};

/// The options of one game: a variant, a preset of it, and what was chosen differently. Always valid.
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
    /// # Errors
    ///
    /// An unknown preset or option, an option given twice, a value of the wrong kind or out of its bounds or out of the
    /// preset's bounds, or values that contradict each other.
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

    /// The same from the text of a game record, such as `seeds=5;pie=true`; the empty text overrides nothing (R12).
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

    /// The name of the preset that they started from.
    #[must_use]
    pub const fn preset(&self) -> &'static str {
        match self {
            Self::Kalah(options) => options.preset().word(),
            Self::Oware(options) => options.preset().word(),
            Self::Congkak(options) => options.preset().word(),
        }
    }

    /// The effective value of every option that matters to such a game, in the order of [`Variant::options`]. Given as
    /// overrides of the preset they make the same options.
    #[must_use]
    pub fn values(&self) -> Vec<(&'static str, OptionValue)> {
        match self {
            Self::Kalah(options) => options.values().into(),
            Self::Oware(options) => options.values().into(),
            Self::Congkak(options) => options.values(),
        }
    }

    /// The same of every option, also of those that say nothing about such a game.
    #[must_use]
    pub fn all_values(&self) -> Vec<(&'static str, OptionValue)> {
        match self {
            Self::Kalah(options) => options.values().into(),
            Self::Oware(options) => options.values().into(),
            Self::Congkak(options) => options.all_values().into(),
        }
    }

    /// What differs from the preset, as a game record writes it and [`AnyOptions::parse`] reads it.
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

fn differing<const N: usize>(ours: [(&str, OptionValue); N], plain: [(&str, OptionValue); N]) -> String {
    let differing = ours.into_iter().zip(plain).filter(|(ours, plain)| ours != plain);
    differing.map(|((name, value), _)| format!("{name}={value}")).collect::<Vec<_>>().join(";")
}

/// A named set of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetSpec {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// One sentence on what it is and whose rules it follows.
    pub description: &'static str,
    /// The documents or the tradition that it follows, in a few words.
    pub source: &'static str,
    /// Options whose bounds are narrower here than in general.
    pub bounds: &'static [OptionBounds],
}

/// The narrower bounds that a preset sets for an integer option (R11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionBounds {
    /// The name of the option.
    pub option: &'static str,
    /// The least value allowed.
    pub min: u16,
    /// The greatest value allowed.
    pub max: u16,
}

/// One option: its name, what it may be, and what it is unless chosen otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// Which values it takes.
    pub kind: OptionKind,
    /// Its value in the preset `standard`.
    pub default: OptionValue,
    /// One sentence on what it decides.
    pub description: &'static str,
}

/// A number within bounds.
pub(super) const fn integer(
    name: &'static str,
    (min, max): (u16, u16),
    default: u16,
    description: &'static str,
) -> OptionSpec {
    // A lossless cast: `From` cannot be called here.
    let default = OptionValue::Integer(default as i64);
    OptionSpec { name, kind: OptionKind::Integer { min, max }, default, description }
}

/// A switch that is on in the preset `standard`.
pub(super) const fn switched_on(name: &'static str, description: &'static str) -> OptionSpec {
    OptionSpec { name, kind: OptionKind::Boolean, default: OptionValue::Boolean(true), description }
}

/// A switch that is off in the preset `standard`.
pub(super) const fn switched_off(name: &'static str, description: &'static str) -> OptionSpec {
    OptionSpec { name, kind: OptionKind::Boolean, default: OptionValue::Boolean(false), description }
}

/// A choice that is its first word in the preset `standard`.
pub(super) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    description: &'static str,
) -> OptionSpec {
    let default = OptionValue::Word(Cow::Borrowed(words[0]));
    OptionSpec { name, kind: OptionKind::Choice(words), default, description }
}

/// Two choices that cannot stand together (R1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The option that is refused.
    pub option: &'static str,
    /// The value of it that is refused. `None`: any that is given, also the one that it would have anyway.
    pub value: Option<OptionValue>,
    /// The option that it contradicts.
    pub other: &'static str,
    /// The value of that option.
    pub other_value: OptionValue,
}

/// Which values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// An integer within bounds, both included.
    Integer {
        /// The least value allowed.
        min: u16,
        /// The greatest value allowed.
        max: u16,
    },
    /// True or false.
    Boolean,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl OptionKind {
    /// Whether a value is of this kind and within its bounds.
    #[must_use]
    pub fn admits(self, value: &OptionValue) -> bool {
        match (self, value) {
            (Self::Integer { min, max }, OptionValue::Integer(value)) => {
                (i64::from(min)..=i64::from(max)).contains(value)
            }
            (Self::Boolean, OptionValue::Boolean(_)) => true,
            (Self::Choice(words), OptionValue::Word(word)) => words.contains(&word.as_ref()),
            _ => false,
        }
    }

    /// Reads a value of this kind as a game record writes it; its bounds are for [`check`] to see to.
    fn parse(self, text: &str) -> Option<OptionValue> {
        let value = match self {
            Self::Integer { .. } => OptionValue::Integer(text.parse().ok()?),
            Self::Boolean => OptionValue::Boolean(text.parse().ok()?),
            Self::Choice(_) => OptionValue::Word(Cow::Owned(text.to_owned())),
        };
        // Comparing with what is written refuses other spellings of a number, such as `+5` and `05`.
        (value.to_string() == text).then_some(value)
    }
}

/// "an integer from 1 to 12", "true or false", "`own` or `both`".
impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { min, max } if min == max => write!(f, "the integer {min}"),
            Self::Integer { min, max } => write!(f, "an integer from {min} to {max}"),
            Self::Boolean => f.write_str("true or false"),
            Self::Choice(words) => OneOf(words).fmt(f),
        }
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// A number, such as seeds.
    Integer(i64),
    /// A switch.
    Boolean(bool),
    /// One of the words of a choice.
    Word(Cow<'static, str>),
}

impl OptionValue {
    pub(super) fn integer<T: TryFrom<i64>>(&self) -> Option<T> {
        match self {
            Self::Integer(value) => T::try_from(*value).ok(),
            _ => None,
        }
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn choice<T: FromStr>(&self) -> Option<T> {
        match self {
            Self::Word(word) => word.parse().ok(),
            _ => None,
        }
    }
}

impl From<u8> for OptionValue {
    fn from(value: u8) -> Self {
        Self::Integer(value.into())
    }
}

impl From<bool> for OptionValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<&'static str> for OptionValue {
    fn from(word: &'static str) -> Self {
        Self::Word(Cow::Borrowed(word))
    }
}

/// As in a game record: `5`, `true`, `own`.
impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Boolean(value) => value.fmt(f),
            Self::Word(word) => f.pad(word),
        }
    }
}

/// Why options were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// The variant has no preset of this name.
    #[error("{variant} has no preset {preset:?}")]
    UnknownPreset {
        /// The game.
        variant: Variant,
        /// The name that was given.
        preset: String,
    },
    /// The variant has no option of this name.
    #[error("{variant} has no option {option:?}")]
    UnknownOption {
        /// The game.
        variant: Variant,
        /// The name that was given.
        option: String,
    },
    /// The option is given more than once.
    #[error("option `{option}` is given twice")]
    Repeated {
        /// The option.
        option: &'static str,
    },
    /// The value is of the wrong kind or out of bounds.
    #[error("option `{option}` must be {expected}")]
    Value {
        /// The option.
        option: &'static str,
        /// What it may be.
        expected: OptionKind,
    },
    /// The value is allowed in general but not in this preset.
    #[error("option `{option}` must be {expected} in preset `{preset}`")]
    PresetValue {
        /// The option.
        option: &'static str,
        /// What it may be in the preset.
        expected: OptionKind,
        /// The preset.
        preset: &'static str,
    },
    /// Two options contradict each other.
    #[error("option `{option}` cannot be {} while `{other}` is `{other_value}`", or_given(.value.as_ref()))]
    Contradiction {
        /// The option.
        option: &'static str,
        /// Its value; `None` if there is none that it could have.
        value: Option<OptionValue>,
        /// The option that it contradicts.
        other: &'static str,
        /// That option's value.
        other_value: OptionValue,
    },
    /// A part of the text is not of the form `name=value`.
    #[error("options must be written as `name=value` joined by `;`, not {text:?}")]
    Malformed {
        /// The part that is not.
        text: String,
    },
}

impl OptionsError {
    /// The name of the option at fault, if it is one option's.
    #[must_use]
    pub fn option(&self) -> Option<&str> {
        match self {
            Self::UnknownPreset { .. } | Self::Malformed { .. } => None,
            Self::UnknownOption { option, .. } => Some(option),
            Self::Repeated { option }
            | Self::Value { option, .. }
            | Self::PresetValue { option, .. }
            | Self::Contradiction { option, .. } => Some(option),
        }
    }
}

/// Checks each override by itself. The inner search is short: the loop ends at the first unknown or repeated name, so
/// it never sees more names than there are options.
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

/// Checks all options together: `values` are those of every option, `overrides` what was given.
pub(super) fn check_contradictions(
    contradictions: &[Contradiction],
    values: &[(&'static str, OptionValue)],
    overrides: &[(String, OptionValue)],
) -> Result<(), OptionsError> {
    let is = |option: &str, wanted: &OptionValue| values.iter().any(|(name, value)| *name == option && value == wanted);
    let given = |option: &str| overrides.iter().any(|(name, _)| name == option);
    for Contradiction { option, value, other, other_value } in contradictions {
        let refused = value.as_ref().map_or_else(|| given(option), |value| is(option, value));
        if refused && is(other, other_value) {
            return Err(match value {
                // What was given is named, not what it contradicts.
                Some(value) if !given(option) && given(other) => OptionsError::Contradiction {
                    option: other,
                    value: Some(other_value.clone()),
                    other: option,
                    other_value: value.clone(),
                },
                _ => OptionsError::Contradiction {
                    option,
                    value: value.clone(),
                    other,
                    other_value: other_value.clone(),
                },
            });
        }
    }
    Ok(())
}

fn or_given(value: Option<&OptionValue>) -> String {
    value.map_or_else(|| "given".to_owned(), |value| format!("`{value}`"))
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
