//! The options of either game. Knows which game they are for, and not what an option does.

use super::{bestemshe, rules::Rules, toguz_kumalak};
use crate::{OptionValue, Variant, options::write_overrides};

/// The options of one of the two games. Always valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Options {
    /// Options of Toguz Kumalak.
    ToguzKumalak(toguz_kumalak::Options),
    /// Options of Bestemshe.
    Bestemshe(bestemshe::Options),
}

impl Options {
    /// Which game they are for.
    #[must_use]
    pub const fn variant(&self) -> Variant {
        match self {
            Self::ToguzKumalak(_) => Variant::ToguzKumalak,
            Self::Bestemshe(_) => Variant::Bestemshe,
        }
    }

    /// The name of the preset that they are based on.
    #[must_use]
    pub const fn preset(&self) -> &'static str {
        match self {
            Self::ToguzKumalak(options) => options.preset().word(),
            Self::Bestemshe(options) => options.preset().word(),
        }
    }

    /// The value of every option, in the order of [`Variant::options`].
    #[must_use]
    pub fn values(&self) -> Vec<(&'static str, OptionValue)> {
        match self {
            Self::ToguzKumalak(options) => options.values().into(),
            Self::Bestemshe(options) => options.values().into(),
        }
    }

    /// The values that differ from the preset, as a game record writes them.
    #[must_use]
    pub fn overrides(&self) -> String {
        let specs = self.variant().options();
        match self {
            Self::ToguzKumalak(options) => {
                write_overrides(specs, options.values(), options.preset().options().values())
            }
            Self::Bestemshe(options) => write_overrides(specs, options.values(), options.preset().options().values()),
        }
    }

    pub(super) const fn rules(&self) -> Rules {
        match self {
            Self::ToguzKumalak(options) => options.rules(),
            Self::Bestemshe(options) => options.rules(),
        }
    }
}

impl From<toguz_kumalak::Options> for Options {
    fn from(options: toguz_kumalak::Options) -> Self {
        Self::ToguzKumalak(options)
    }
}

impl From<bestemshe::Options> for Options {
    fn from(options: bestemshe::Options) -> Self {
        Self::Bestemshe(options)
    }
}
