//! What the options of every game can do: be chosen, be read, and be written. Knows no game.

use super::{
    Contradiction, OptionKind, OptionSpec, OptionValue, OptionsError, PresetSpec, check_contradictions,
    check_overrides, write_overrides,
};

/// The options of one game, as `game_options!` declares them.
pub trait GameOptions: Copy {
    /// The descriptions of the options, in the order of lists.
    const OPTIONS: &'static [OptionSpec];

    /// Which choices exclude each other.
    const CONTRADICTIONS: &'static [Contradiction];

    /// The presets; the first is `standard`.
    const PRESETS: &'static [PresetSpec];

    /// The options of the preset with this name.
    #[must_use]
    fn of_preset(name: &str) -> Option<Self>;

    /// The preset that they are based on.
    fn preset(&self) -> &'static PresetSpec;

    /// Sets one option; `None` if the name is unknown or the value is of another kind.
    fn set(&mut self, name: &str, value: &OptionValue) -> Option<()>;

    /// The value of every option.
    fn all_values(&self) -> Vec<(&'static str, OptionValue)>;

    /// The options of a preset with overrides, each of which has a value of what `kinds` says.
    ///
    /// # Errors
    ///
    /// As [`AnyOptions::new`](crate::AnyOptions::new).
    fn within(
        variant: &'static str,
        preset: &str,
        overrides: &[(String, OptionValue)],
        kinds: fn(&OptionSpec) -> OptionKind,
    ) -> Result<Self, OptionsError> {
        let unknown = || OptionsError::UnknownPreset { variant, preset: preset.to_owned(), presets: Self::PRESETS };
        let mut options = Self::of_preset(preset).ok_or_else(unknown)?;
        check_overrides(variant, Self::OPTIONS, options.preset(), overrides, kinds)?;
        for (name, value) in overrides {
            let unknown = || OptionsError::UnknownOption { variant, option: name.clone() };
            options.set(name, value).ok_or_else(unknown)?;
        }
        check_contradictions(Self::CONTRADICTIONS, &options.all_values(), overrides)?;
        Ok(options)
    }

    /// The values of the options that matter beside the others. As overrides they give the same options.
    fn values(&self) -> Vec<(&'static str, OptionValue)> {
        let all = self.all_values();
        let holds = |(other, value): (&str, &OptionValue)| all.iter().any(|(name, is)| *name == other && is == value);
        let matters = |name: &str| {
            let mut refusals = Self::CONTRADICTIONS.iter().filter(|it| it.option == name && it.value.is_none());
            !refusals.any(|it| holds((it.other, &it.other_value)))
        };
        all.iter().filter(|(name, _)| matters(name)).cloned().collect()
    }

    /// The values that differ from the preset, as `name=value` joined by `;`.
    fn overrides(&self) -> String {
        let preset = Self::of_preset(self.preset().name).unwrap_or(*self);
        write_overrides(Self::OPTIONS, self.all_values(), preset.all_values())
    }
}
