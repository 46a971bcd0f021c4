//! Enums whose values have one stable word each, which is stored, sent and read back.
//!
//! Does not know what the words mean.

use std::fmt;

/// Defines a plain enum whose values have one word each, with `ALL`, `WORDS`, `word`, `Display` and `FromStr`. A value may be
/// there under a condition only: `Value = "word" if feature = "name"`.
macro_rules! worded_enum {
    (
        $(#[$about:meta])*
        pub enum $name:ident { $( $(#[$doc:meta])* $value:ident = $word:literal $(if $condition:meta)?, )+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$doc])* $(#[cfg($condition)])? $value, )+ }

        impl $name {
            /// Every value, in the order of definition.
            pub const ALL: [Self; Self::WORDS.len()] = [$( $(#[cfg($condition)])? Self::$value ),+];

            /// The word of every value, in the same order.
            pub const WORDS: &'static [&'static str] = &[$( $(#[cfg($condition)])? $word ),+];

            /// The word by which this value is stored and sent.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $( $(#[cfg($condition)])? Self::$value => $word, )+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $( $(#[cfg($condition)])? $word => Ok(Self::$value), )+
                    _ => Err($crate::UnknownWord { expected: Self::WORDS }),
                }
            }
        }
    };
}

/// A text is none of the words that an enum knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// The words that the enum knows.
    pub expected: &'static [&'static str],
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", OneOf(self.expected))
    }
}

impl std::error::Error for UnknownWord {}

/// Shows a list of words as "`own` or `both`".
pub(super) struct OneOf(pub &'static [&'static str]);

impl fmt::Display for OneOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, word) in self.0.iter().enumerate() {
            let joint = match i {
                0 => "",
                _ if i + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{joint}`{word}`")?;
        }
        Ok(())
    }
}
