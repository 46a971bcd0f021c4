//! Compares every action of random games with the naive form of the rules: legal words, refusals and positions.

use std::env;

use mancala_rules::{AnyPosition, Move, Variant};

use super::{effects, naive::Naive, random::Random};

/// Random games of each variant, unless `COMPARED_GAMES` says how many.
const GAMES: u64 = 20;

/// Words that are refused in most positions.
const OTHERS: [&str; 12] = ["pass", "swap", "agree", "A", "Bv", "c", "E7", "h40", "hv", "IV", "kU", "p0"];

#[test]
fn random_games_are_the_same_in_the_naive_form() {
    let mut actions = 0;
    let games = env::var("COMPARED_GAMES").ok().and_then(|games| games.parse().ok()).unwrap_or(GAMES);
    for variant in super::GAMES {
        for seed in 1..=games {
            actions += compare(variant, seed);
        }
    }
    println!("{actions} actions");
    assert!(actions > 20 * games, "{actions} actions");
}

/// Plays a game from its opening, or from a made-up position; returns how many actions it has.
fn compare(variant: Variant, seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let options = random.options(variant);
    let mut position = if random.one_in(4) { random.position(&options) } else { AnyPosition::opening(&options) };
    let values = options.all_values().into_iter().map(|(name, value)| (name, value.to_string())).collect();
    let mut naive = Naive::read(values, &position.to_string());
    for action in 0.. {
        let at = || format!("seed {seed}: {position} with {} {}", options.preset(), options.overrides());
        assert_eq!(naive.text(), position.to_string(), "{}", at());
        let reason = position.outcome().and_then(|outcome| outcome.reason);
        if action > 0 {
            assert_eq!(reason.map_or("", |reason| reason.word()), naive.reason, "{}", at());
        }
        let legal = position.legal_moves();
        assert_eq!(legal.iter().map(Move::to_string).collect::<Vec<_>>(), naive.legal(), "{}", at());
        for word in words(&position, action) {
            let m = word.parse::<Move>().ok();
            if let Some(m) = m {
                let refusal = position.play(m).err().map(|illegal| illegal.reason());
                assert_eq!(refusal, naive.refusal(&word), "{word} {}", at());
            }
        }
        assert_eq!(
            AnyPosition::parse(&options, &position.to_string()).map(|again| again.to_string()),
            Ok(naive.text())
        );
        if legal.is_empty() {
            return action;
        }
        // While arranging, small numbers are likelier.
        let choices = if position.arranging().is_some() { legal.len().min(8) } else { legal.len() };
        let m = legal[random.below(choices)];
        let (next, effects) = position.play(m).unwrap();
        effects::check(&position, m, &effects, &next);
        naive.play(&m.to_string());
        position = next;
    }
    0
}

/// Words of moves to try: all of the side to move, and some of both sides.
fn words(position: &AnyPosition, action: u64) -> Vec<String> {
    let mut words: Vec<String> = OTHERS.iter().map(|word| (*word).to_owned()).collect();
    if action.is_multiple_of(4) {
        for letter in 'A'..='P' {
            for end in ["", "U", "V", "0", "31"] {
                let word = format!("{letter}{end}");
                words.push(if position.turn().letter() == 'S' { word } else { word.to_lowercase() });
            }
        }
    }
    words
}
