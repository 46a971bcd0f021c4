//! The description of a game's presets and options, with the kinds and values of options. Knows no game.

use std::{borrow::Cow, fmt, str::FromStr};

use crate::word::OneOf;

/// A named set of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetSpec {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// The name to display.
    pub title: &'static str,
    /// A sentence that describes the preset, and the rules that it follows.
    pub description: &'static str,
    /// The documents or the tradition that it follows, in a few words.
    pub source: &'static str,
    /// Narrower bounds of integer options in this preset.
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

/// An option: its name, the values that it takes, and its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// Which values it takes.
    pub kind: OptionKind,
    /// Its value in the preset `standard`.
    pub default: OptionValue,
    /// How the texts of games have it, if it was chosen otherwise once.
    pub recorded: Option<RecordedOption>,
    /// A sentence on what the option decides.
    pub description: &'static str,
}

/// How the texts of games have an option. It never changes, because texts are kept (R11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedOption {
    /// Every value that a game may have.
    pub kind: OptionKind,
    /// The value in a text that does not name the option, whatever its preset.
    pub default: OptionValue,
}

impl OptionSpec {
    /// Every value that a game may have, also one that is no longer chosen.
    #[must_use]
    pub fn recorded_kind(&self) -> OptionKind {
        self.recorded.as_ref().map_or(self.kind, |recorded| recorded.kind)
    }

    /// Its value in a text of a game by the preset `standard` that does not name it.
    #[must_use]
    pub fn recorded_default(&self) -> &OptionValue {
        self.recorded.as_ref().map_or(&self.default, |recorded| &recorded.default)
    }
}

/// An option that is a number within bounds.
pub(crate) const fn integer(
    name: &'static str,
    (min, max): (u16, u16),
    default: u16,
    description: &'static str,
) -> OptionSpec {
    // A lossless cast: `From` cannot be called here.
    let default = OptionValue::Integer(default as i64);
    OptionSpec { name, kind: OptionKind::Integer { min, max }, default, recorded: None, description }
}

/// An option that is a number and had other bounds or another default once.
pub(crate) const fn changed_integer(
    name: &'static str,
    (min, max): (u16, u16),
    default: u16,
    (recorded_max, recorded_default): (u16, u16),
    description: &'static str,
) -> OptionSpec {
    let recorded = RecordedOption {
        kind: OptionKind::Integer { min, max: recorded_max },
        default: OptionValue::Integer(recorded_default as i64),
    };
    let default = OptionValue::Integer(default as i64);
    OptionSpec { name, kind: OptionKind::Integer { min, max }, default, recorded: Some(recorded), description }
}

/// An option that is on or off.
pub(crate) const fn switch(name: &'static str, default: bool, description: &'static str) -> OptionSpec {
    OptionSpec { name, kind: OptionKind::Boolean, default: OptionValue::Boolean(default), recorded: None, description }
}

/// An option that is one of several words.
pub(crate) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    default: &'static str,
    description: &'static str,
) -> OptionSpec {
    OptionSpec { name, kind: OptionKind::Choice(words), default: word(default), recorded: None, description }
}

/// The value of a choice.
pub(crate) const fn word(word: &'static str) -> OptionValue {
    OptionValue::Word(Cow::Borrowed(word))
}

/// Two choices that exclude each other (R1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The option that is refused.
    pub option: &'static str,
    /// Its refused value. `None` refuses every value that is given, even the default.
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
    /// A choice between these words.
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

    /// Reads a value of this kind as a game record writes it, without checking its bounds.
    pub(crate) fn parse(self, text: &str) -> Option<OptionValue> {
        let value = match self {
            Self::Integer { .. } => OptionValue::Integer(text.parse().ok()?),
            Self::Boolean => OptionValue::Boolean(text.parse().ok()?),
            Self::Choice(_) => OptionValue::Word(Cow::Owned(text.to_owned())),
        };
        // Comparing with the canonical text refuses other spellings of a number, such as `+5` and `05`.
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
    /// A word of a choice.
    Word(Cow<'static, str>),
}

impl OptionValue {
    pub(crate) fn integer<T: TryFrom<i64>>(&self) -> Option<T> {
        match self {
            Self::Integer(value) => T::try_from(*value).ok(),
            _ => None,
        }
    }

    pub(crate) fn boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn choice<T: FromStr>(&self) -> Option<T> {
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
    fn from(text: &'static str) -> Self {
        word(text)
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
