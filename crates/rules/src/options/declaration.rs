//! The declaration of a game's options and presets, from which their types, descriptions and checks follow. Knows no game.

/// Declares the options and the presets of a game: each name, bound, default and sentence stands here once.
///
/// An option is `name: kind = default, "what it decides";`. The default is the value in the preset `standard`. Kinds are
/// `integer(type, min, max)`, `switch`, `choice(Enum)` and `changed_integer(type, min, max, recorded max, recorded default)`,
/// which had other bounds or another default once. A preset names the options in which it differs from the defaults.
macro_rules! game_options {
    (
        $(#[$about:meta])*
        pub struct Options {
            $( $option:ident: $kind:ident $(($($of:tt)*))? = $default:expr, $help:expr; )+
        }

        contradictions: [ $($contradiction:expr),* $(,)? ];

        $(#[$about_presets:meta])*
        pub enum Preset {
            $(
                $preset:ident = $word:literal {
                    title: $title:literal,
                    description: $description:literal,
                    source: $source:literal,
                    $(bounds: { $($bounded:ident: ($min:literal, $max:literal)),+ },)?
                    $(options: { $($differing:ident: $value:expr),+ $(,)? },)?
                }
            )+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct Options {
            pub(crate) preset: Preset,
            $( pub(crate) $option: option_kind!(type of $kind $(($($of)*))?), )+
        }

        worded_enum! {
            $(#[$about_presets])*
            pub enum Preset { $( #[doc = concat!("The preset `", $word, "`.")] $preset = $word, )+ }
        }

        impl Preset {
            /// The options of the preset.
            #[must_use]
            pub const fn options(self) -> Options {
                const STANDARD: Options = Options { preset: Preset::ALL[0], $( $option: $default, )+ };
                match self {
                    $( Self::$preset => Options { preset: self, $($( $differing: $value, )+)? ..STANDARD }, )+
                }
            }
        }

        impl $crate::options::GameOptions for Options {
            const OPTIONS: &'static [$crate::OptionSpec] =
                &[$( option_kind!(spec of $kind $(($($of)*))?, stringify!($option), $default, $help) ),+];

            const CONTRADICTIONS: &'static [$crate::Contradiction] = &[$( $contradiction ),*];

            const PRESETS: &'static [$crate::PresetSpec] = &[$(
                $crate::PresetSpec {
                    name: $word,
                    title: $title,
                    description: $description,
                    source: $source,
                    bounds: &[$($(
                        $crate::OptionBounds { option: stringify!($bounded), min: $min, max: $max }
                    ),+)?],
                }
            ),+];

            fn of_preset(word: &str) -> Option<Self> {
                word.parse().ok().map(Preset::options)
            }

            fn preset(&self) -> &'static $crate::PresetSpec {
                &Self::PRESETS[self.preset as usize]
            }

            fn set(&mut self, name: &str, value: &$crate::OptionValue) -> Option<()> {
                match name {
                    $( stringify!($option) => self.$option = option_kind!(read $kind from value), )+
                    _ => return None,
                }
                Some(())
            }

            fn all_values(&self) -> Vec<(&'static str, $crate::OptionValue)> {
                vec![$( (stringify!($option), option_kind!(write $kind self.$option)) ),+]
            }
        }
    };
}

/// What follows from the kind of an option.
macro_rules! option_kind {
    (type of integer($type:ident, $min:expr, $max:expr)) => { $type };
    (type of changed_integer($type:ident, $($bound:expr),+)) => { $type };
    (type of switch) => { bool };
    (type of choice($choice:ident)) => { $choice };

    (spec of integer($type:ident, $min:expr, $max:expr), $name:expr, $default:expr, $help:expr) => {
        $crate::options::integer($name, ($min, $max), $default, $help)
    };
    (spec of changed_integer($type:ident, $min:expr, $max:expr, $($recorded:expr),+), $name:expr, $default:expr, $help:expr) => {
        $crate::options::changed_integer($name, ($min, $max), $default, ($($recorded),+), $help)
    };
    (spec of switch, $name:expr, $default:expr, $help:expr) => { $crate::options::switch($name, $default, $help) };
    (spec of choice($choice:ident), $name:expr, $default:expr, $help:expr) => {
        $crate::options::choice($name, $choice::WORDS, $default.word(), $help)
    };

    (read integer from $value:expr) => { $value.integer()? };
    (read changed_integer from $value:expr) => { $value.integer()? };
    (read switch from $value:expr) => { $value.boolean()? };
    (read choice from $value:expr) => { $value.choice()? };

    (write integer $value:expr) => { $crate::OptionValue::Integer($value.into()) };
    (write changed_integer $value:expr) => { $crate::OptionValue::Integer($value.into()) };
    (write switch $value:expr) => { $crate::OptionValue::Boolean($value) };
    (write choice $value:expr) => { $crate::options::word($value.word()) };
}
