//! The list of games. A new game is a folder of its own and a line here.

/// Makes what exists once for each game, and the macros that choose between them.
macro_rules! games {
    ($d:tt $( $(#[$about:meta])+ $game:ident = $word:literal, $position:ty $(, if $condition:meta)?; )+) => {
        worded_enum! {
            /// A game. There may be more of them.
            #[non_exhaustive]
            pub enum Variant { $( $(#[$about])+ $game = $word $(if $condition)?, )+ }
        }

        /// The options of one game: a variant, one of its presets, and the choices that differ from it. Always valid.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum AnyOptions {
            $(
                #[doc = concat!("Options of `", $word, "`.")]
                $(#[cfg($condition)])?
                $game(<$position as Game>::Options),
            )+
        }

        /// A position of one of the games.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum State { $( $(#[cfg($condition)])? $game($position), )+ }

        $(
            $(#[cfg($condition)])?
            impl From<$position> for State {
                fn from(position: $position) -> Self {
                    Self::$game(position)
                }
            }

            $(#[cfg($condition)])?
            impl From<<$position as Game>::Options> for AnyOptions {
                fn from(options: <$position as Game>::Options) -> Self {
                    Self::$game(options)
                }
            }
        )+

        impl State {
            /// Which game this position is of.
            pub(crate) const fn variant(&self) -> Variant {
                match self { $( $(#[cfg($condition)])? Self::$game(_) => Variant::$game, )+ }
            }
        }

        impl AnyOptions {
            /// Which game these options are for.
            #[must_use]
            pub const fn variant(&self) -> Variant {
                match self { $( $(#[cfg($condition)])? Self::$game(_) => Variant::$game, )+ }
            }
        }

        /// Evaluates an expression with the type of a variant's positions: `for_variant!(variant, Position => …)`.
        macro_rules! for_variant {
            ($d variant:expr, $d position:ident => $d value:expr) => {
                match $d variant {
                    $(
                        $(#[cfg($condition)])?
                        $crate::Variant::$game => { type $d position = $position; $d value }
                    )+
                }
            };
        }

        /// Evaluates an expression with what `AnyOptions` or a `State` holds: `for_game!(state, State, position => …)`. A further name
        /// is that of the type of the game's positions: `for_game!(options, AnyOptions, options, Position => …)`.
        macro_rules! for_game {
            ($d any:expr, $d kind:ident, $d inner:ident, $d position:ident => $d value:expr) => {
                match $d any {
                    $(
                        $(#[cfg($condition)])?
                        $d kind::$game($d inner) => { type $d position = $position; $d value }
                    )+
                }
            };
            ($d any:expr, $d kind:ident, $d inner:ident => $d value:expr) => {
                match $d any { $( $(#[cfg($condition)])? $d kind::$game($d inner) => $d value, )+ }
            };
        }
    };
}

use crate::Game;

games! { $
    /// Kalah, also called Kalaha and, in much of the West, simply Mancala.
    Kalah = "kalah", crate::kalah::Position;
    /// Oware, also called Awale, Wari and Awari.
    Oware = "oware", crate::oware::Position;
    /// Congkak, of Malaysia, Indonesia and Singapore: a sowing continues from the pit where its last seed falls.
    Congkak = "congkak", crate::congkak::Position;
    /// Bao la kiswahili, of the East African coast: each side has two rows, a reserve and a house.
    Bao = "bao", crate::bao::Position;
    /// Omweso, of Uganda: each side has two rows, and some pits may be sown backward.
    Omweso = "omweso", crate::omweso::Position;
    /// Toguz Kumalak, in Kyrgyzstan toguz korgool: an even number of seeds is captured, and a pit may be won.
    ToguzKumalak = "toguz_kumalak", crate::toguz_kumalak::Position;
    /// Bestemshe, a smaller Toguz Kumalak without the winning of pits.
    Bestemshe = "bestemshe", crate::bestemshe::Position;
    /// A made-up game, the example of the guide.
    Toy = "toy", crate::toy::Position, if feature = "toy";
}
