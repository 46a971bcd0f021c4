//! Random options, positions and choices, from a seed that is printed when a test fails.

use std::fmt::Write;

use mancala_rules::{AnyOptions, AnyPosition, OptionKind, OptionValue, Variant};

/// Marsaglia's xorshift: random enough for games, and the same on every run.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// A preset, half of the time with some options changed.
    pub fn options(&mut self, variant: Variant) -> AnyOptions {
        let preset = variant.presets()[self.below(variant.presets().len())].name;
        let mut overrides: Vec<(String, OptionValue)> = vec![];
        if self.one_in(2) {
            for option in variant.options() {
                if self.one_in(3) {
                    overrides.push((option.name.to_owned(), self.value(option.kind)));
                }
            }
        }
        // Options that exclude each other are drawn again.
        AnyOptions::new(variant, preset, &overrides).unwrap_or_else(|_| self.options(variant))
    }

    fn value(&mut self, kind: OptionKind) -> OptionValue {
        match kind {
            OptionKind::Boolean => self.one_in(2).into(),
            OptionKind::Choice(words) => words[self.below(words.len())].into(),
            OptionKind::Integer { min, max } => {
                // Low bounds are reached in a game.
                let range = if self.one_in(2) { 5 } else { usize::from(max - min) + 1 };
                OptionValue::Integer(i64::from(min) + i64::try_from(self.below(range)).unwrap())
            }
        }
    }

    /// A made-up position with these options, in which any marks that may stand there do now and then.
    pub fn position(&mut self, options: &AnyOptions) -> AnyPosition {
        loop {
            let text = self.text(options);
            if let Ok(position) = AnyPosition::parse(options, &text) {
                return position;
            }
        }
    }

    fn text(&mut self, options: &AnyOptions) -> String {
        let has_house = options.values().contains(&("start", "house".into()));
        let reserve = if has_house && self.one_in(2) { [self.below(16), self.below(16)] } else { [0, 0] };
        let hand = if options.variant() == Variant::Omweso && self.one_in(8) { 2 + self.below(12) } else { 0 };
        let left = 64 - reserve[0] - reserve[1] - hand;
        let mut pits = [0; 32];
        let used: Vec<usize> = (0..32).filter(|_| !self.one_in(3)).collect();
        let heap = self.below(32);
        for _ in 0..left {
            let pit = if used.is_empty() || self.one_in(4) { heap } else { used[self.below(used.len())] };
            pits[pit] += 1;
        }
        let turn = self.below(2);
        let letter = |side: usize, index: usize| char::from(b"Aa"[side] + u8::try_from(index).unwrap());
        let (houses, blocked) = ([has_house && self.one_in(2), has_house && self.one_in(2)], self.below(200));
        let mut text = String::new();
        for (pit, seeds) in pits.iter().enumerate() {
            let house = if pit % 16 == 4 && houses[pit / 16] { "n" } else { "" };
            let mark = if pit == blocked { "t" } else { "" };
            let end = [",", "/", " "][usize::from(pit % 16 == 15) * (1 + pit / 16)];
            write!(text, "{seeds}{house}{mark}{end}").unwrap();
        }
        write!(text, "{}-{} {} ", reserve[0], reserve[1], ["S", "N"][turn]).unwrap();
        let mut flags = String::new();
        if hand > 0 {
            write!(flags, "e{}{hand}", letter(turn, 6 + self.below(4))).unwrap();
        } else {
            match self.below(8) {
                0 => write!(flags, "e{}", letter(turn, 6 + self.below(4))).unwrap(),
                1 => write!(flags, "e{}{}", letter(turn, 4), ["UV", "uv"][turn].chars().nth(self.below(2)).unwrap())
                    .unwrap(),
                _ => {}
            }
        }
        if options.variant() == Variant::Omweso {
            for mark in ["c", "x", "y", "K", "k"] {
                if self.one_in(if "Kk".contains(mark) { 4 } else { 8 }) {
                    flags.push_str(mark);
                }
            }
        }
        let first_turns = options.all_values().contains(&("first_turn_captures", false.into()));
        if first_turns && flags.is_empty() && self.one_in(2) {
            let own = ["F", "f"][turn];
            flags.push_str(if self.one_in(2) { "Ff" } else { own });
        }
        let flags = if flags.is_empty() { "-" } else { &flags };
        let plies = if self.one_in(10) { 95 + self.below(10) } else { self.below(90) };
        write!(text, "{flags} {plies} 1S").unwrap();
        text
    }
}
