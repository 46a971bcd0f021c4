//! Compares every action of random games with the naive form of the rules: legal moves, positions and ends.

use std::{collections::BTreeMap, env};

use mancala_rules::{AnyOptions, AnyPosition, EndReason, Move, OptionKind, OptionSpec, Variant};

use super::naive::Naive;
use crate::effects;

/// Random games of each preset, unless `COMPARED_GAMES` says how many.
const GAMES: u64 = 12;

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

#[test]
fn random_games_are_the_same_in_the_naive_form() {
    let mut ends: BTreeMap<EndReason, u32> = BTreeMap::new();
    let games = env::var("COMPARED_GAMES").ok().and_then(|games| games.parse().ok()).unwrap_or(GAMES);
    for variant in [Variant::ToguzKumalak, Variant::Bestemshe] {
        for preset in variant.presets() {
            for seed in 1..=games {
                *ends.entry(compare(variant, preset.name, seed)).or_default() += 1;
            }
        }
    }
    println!("{ends:?}");
    let expected = [EndReason::Majority, EndReason::NoMove, EndReason::Repetition, EndReason::SideEmpty];
    assert!(expected.iter().all(|reason| ends.get(reason).is_some_and(|&count| count > 2)), "{ends:?}");
}

/// Plays a game, half of them with other options than the preset's, and returns how it ended.
fn compare(variant: Variant, preset: &str, seed: u64) -> EndReason {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let options = if random.one_in(2) { options(variant, preset, &mut random) } else { plain(variant, preset) };
    let is_quiet = random.one_in(4);
    let mut position = AnyPosition::opening(&options);
    let values = options.all_values().into_iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect();
    let mut naive = Naive::read(values, &position.to_string());
    loop {
        let at = format!("{variant} {preset} {} seed {seed}: {position}", options.overrides());
        assert_eq!(naive.text(), position.to_string(), "{at}");
        let legal = position.legal_moves();
        assert_eq!(legal.iter().map(Move::to_string).collect::<Vec<_>>(), naive.legal(), "{at}");
        if let Some(outcome) = position.outcome() {
            let reason = outcome.reason.expect("it was played");
            assert_eq!(reason.word(), naive.reason, "{at}");
            return reason;
        }
        let m = choose(&position, is_quiet, &mut random);
        let (next, effects) = position.play(m).unwrap();
        effects::check(&position, m, &effects, &next);
        naive.play(&m.to_string());
        position = next;
    }
}

/// Any legal move; in a quiet game one that leaves the stores as they are, where there is one.
fn choose(position: &AnyPosition, is_quiet: bool, random: &mut Random) -> Move {
    let (alone, score) = (position.afresh(), position.board().score());
    let keeps_score = |m: &&Move| alone.play(**m).is_ok_and(|(next, _)| next.board().score() == score);
    let legal = position.legal_moves();
    let quiet: Vec<Move> = legal.iter().filter(keeps_score).copied().collect();
    if is_quiet && !quiet.is_empty() { quiet[random.below(quiet.len())] } else { legal[random.below(legal.len())] }
}

fn plain(variant: Variant, preset: &str) -> AnyOptions {
    AnyOptions::parse(variant, preset, "").unwrap()
}

/// A small board, and any value of half of the other options.
fn options(variant: Variant, preset: &str, random: &mut Random) -> AnyOptions {
    let mut text = format!("pits={};seeds={}", 1 + random.below(6), 1 + random.below(4));
    let mut options = AnyOptions::parse(variant, preset, &text).unwrap();
    for spec in &variant.options()[2..] {
        if random.one_in(2) {
            let longer = format!("{text};{}={}", spec.name, value(spec, random));
            // An option that contradicts an earlier one is left out.
            if let Ok(allowed) = AnyOptions::parse(variant, preset, &longer) {
                (text, options) = (longer, allowed);
            }
        }
    }
    options
}

fn value(spec: &OptionSpec, random: &mut Random) -> String {
    match spec.kind {
        OptionKind::Integer { min, max } => (usize::from(min) + random.below(usize::from(max - min) + 1)).to_string(),
        OptionKind::Boolean => random.one_in(2).to_string(),
        OptionKind::Choice(words) => words[random.below(words.len())].to_owned(),
    }
}
