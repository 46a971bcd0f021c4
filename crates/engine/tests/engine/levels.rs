//! Computer opponents.

use mancala_engine::{Engine, Level, Signal};
use mancala_rules::{AnyOptions, AnyPosition, Move, Variant};

use crate::{GO_ON, opening, play_on};

#[test]
fn there_are_eight_levels() {
    assert!(Level::all().map(Level::number).eq(1..=8));
    for number in [0, 9, 255] {
        let error = Level::try_from(number).unwrap_err();
        assert_eq!(error.to_string(), format!("a level is a number from 1 to 8, not {number}"));
    }
}

#[test]
fn a_level_and_a_seed_determine_the_move() {
    let mut engine = Engine::new(1);
    for variant in Variant::ALL {
        for level in Level::all().take(6) {
            let position = play_on(&opening(variant, "standard", ""), 3, 4);
            let choose = |engine: &mut Engine, seed| engine.choose(&position, level, seed, &GO_ON).unwrap();
            let fresh: Vec<Move> = (0..4).map(|seed| choose(&mut Engine::new(1), seed)).collect();
            let used: Vec<Move> = (0..4).map(|seed| choose(&mut engine, seed)).collect();
            assert_eq!(fresh, used);
        }
    }
}

#[test]
fn the_weakest_level_often_but_not_always_takes_a_large_capture() {
    // A captures fifteen seeds; none of the other four moves brings more than one.
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").unwrap();
    let position = AnyPosition::parse(&options, "1,0,3,2,1,2/2,2,2,2,14,1 8-8 S - 20 1S").unwrap();
    let mut engine = Engine::new(1);
    let chosen: Vec<_> =
        (0..200).filter_map(|seed| engine.choose(&position, Level::MIN, seed, &GO_ON)).map(|m| m.to_string()).collect();
    let best = chosen.iter().filter(|m| *m == "A").count();
    assert!((50..150).contains(&best), "{best} of 200");
}

#[test]
fn a_search_that_is_stopped_at_once_has_a_reasonable_move() {
    let stopped = Signal::new();
    stopped.stop();
    let mut engine = Engine::new(1);
    for variant in Variant::ALL {
        for level in Level::all() {
            for seed in 0..20 {
                let position = play_on(&opening(variant, "standard", ""), seed, 8);
                let Some(m) = engine.choose(&position, level, seed, &stopped) else {
                    assert!(position.outcome().is_some(), "{position}");
                    continue;
                };
                assert!(position.legal_moves().contains(&m), "{variant} {level:?} {m}");
            }
        }
    }
    // The levels that do not err take the fifteen seeds even then.
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").unwrap();
    let position = AnyPosition::parse(&options, "1,0,3,2,1,2/2,2,2,2,14,1 8-8 S - 20 1S").unwrap();
    for level in Level::all().skip(5) {
        assert_eq!(engine.choose(&position, level, 0, &stopped).unwrap().to_string(), "A");
    }
}

#[test]
fn a_single_legal_move_is_played_without_a_search() {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").unwrap();
    let position = AnyPosition::parse(&options, "0,0,0,0,5,0/3,3,3,3,3,3 12-13 S - 20 1S").unwrap();
    let m = Engine::new(1).choose(&position, Level::MAX, 0, &GO_ON).unwrap();
    assert_eq!(m.to_string(), "E");
}
