//! The guarantees of every search, in each game.

use std::{
    thread,
    time::{Duration, Instant},
};

use mancala_engine::{Candidate, Engine, Level, Limits, POINTS_PER_SEED, Signal};
use mancala_rules::{AnyOptions, AnyPosition, OptionKind, Variant};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::{GO_ON, opening, play_on};

/// The most positions of a search here.
const NODES: u64 = 2_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_position_has_an_answer(options in any_options(), seed in any::<u64>(), plies in 0..80_u32) {
        let position = play_on(&AnyPosition::opening(&options), seed, plies);
        let mut engine = Engine::new(1);
        let legal = position.legal_moves();
        let Some(found) = engine.search(&position, Limits::nodes(NODES), &GO_ON) else {
            prop_assert!(legal.is_empty());
            return Ok(());
        };
        prop_assert!(legal.contains(&found.best()));
        prop_assert!(found.nodes <= NODES);
        prop_assert!(found.value.points.abs() <= i32::from(position.total()) * POINTS_PER_SEED);
        prop_assert!(!found.value.is_exact || found.value.points % POINTS_PER_SEED == 0);
        let mut after = position.clone();
        for &m in &found.line {
            prop_assert!(after.legal_moves().contains(&m), "{} in {}", m, after);
            after.play_unchecked(m);
        }
        let candidates = engine.candidates(&position, Limits::nodes(NODES), &GO_ON);
        let mut listed: Vec<_> = candidates.iter().map(Candidate::m).collect();
        listed.sort_by_key(|m| legal.iter().position(|legal| legal == m));
        prop_assert_eq!(&listed[..], &legal[..]);
        let level = Level::try_from(u8::try_from(seed % 6).unwrap() + 1).unwrap();
        let m = engine.choose(&position, level, seed, &GO_ON).unwrap();
        prop_assert!(legal.contains(&m));
        prop_assert!(engine.review(&position, m, Limits::nodes(NODES), &GO_ON).unwrap().loss >= 0);
    }
}

/// Any preset with any overrides that it allows.
fn any_options() -> impl Strategy<Value = AnyOptions> {
    let picks = vec(prop::option::weighted(0.3, 0..1000_u16), 12);
    (select(&Variant::ALL[..]), any::<prop::sample::Index>(), picks).prop_map(|(variant, preset, picks)| {
        let preset = preset.get(variant.presets()).name;
        let mut options = AnyOptions::parse(variant, preset, "").expect("a preset is valid");
        for (spec, pick) in variant.options().iter().zip(picks) {
            let Some(pick) = pick else { continue };
            let value = match spec.kind {
                OptionKind::Integer { min, max } => (min + pick % (max - min + 1)).to_string(),
                OptionKind::Boolean => pick.is_multiple_of(2).to_string(),
                OptionKind::Choice(words) => words[usize::from(pick) % words.len()].to_owned(),
            };
            let others = options.overrides();
            let joint = if others.is_empty() { "" } else { ";" };
            // An option that the preset or an earlier option forbids is left out.
            let longer = format!("{others}{joint}{}={value}", spec.name);
            options = AnyOptions::parse(variant, preset, &longer).unwrap_or(options);
        }
        options
    })
}

#[test]
fn the_same_question_has_the_same_answer() {
    for variant in Variant::ALL {
        let position = play_on(&opening(variant, "standard", ""), 5, 6);
        let first = Engine::new(1).search(&position, Limits::nodes(30_000), &GO_ON).unwrap();
        let mut engine = Engine::new(1);
        assert_eq!(engine.search(&position, Limits::nodes(30_000), &GO_ON).unwrap(), first);
        engine.search(&play_on(&position, 6, 3), Limits::nodes(10_000), &GO_ON);
        engine.forget();
        assert_eq!(engine.search(&position, Limits::nodes(30_000), &GO_ON).unwrap(), first);
    }
}

#[test]
fn the_line_of_best_play_goes_on_in_every_game() {
    for variant in Variant::ALL {
        let mut position = play_on(&opening(variant, "standard", ""), 5, 6);
        let found = Engine::new(1).search(&position, Limits::nodes(30_000), &GO_ON).unwrap();
        assert!(found.line.len() > 1, "{variant}: {:?}", found.line);
        for m in found.line {
            assert!(position.legal_moves().contains(&m), "{m} in {position}");
            position.play_unchecked(m);
        }
    }
}

#[test]
fn the_table_of_one_game_is_not_used_for_another() {
    let limits = Limits::nodes(20_000);
    let mut engine = Engine::new(1);
    for overrides in ["pits=4;seeds=2", "pits=4;seeds=2;capture=none", "pits=4;seeds=2;extra_turn=none"] {
        let position = opening(Variant::Kalah, "standard", overrides);
        let fresh = Engine::new(1).search(&position, limits, &GO_ON).unwrap();
        assert_eq!(engine.search(&position, limits, &GO_ON).unwrap(), fresh, "{overrides}");
    }
}

#[test]
fn limits_are_kept() {
    let position = opening(Variant::Kalah, "standard", "");
    let mut engine = Engine::new(1);
    for nodes in [0, 1, 10, 1000] {
        let found = engine.search(&position, Limits::nodes(nodes), &GO_ON).unwrap();
        assert!(found.nodes <= nodes.max(1), "{found:?}");
        assert!(!found.is_stopped);
    }
    let found = engine.search(&position, Limits { depth: 3, ..Limits::nodes(u64::MAX) }, &GO_ON).unwrap();
    assert_eq!(found.depth, 3);
}

#[test]
fn a_stop_signal_ends_a_search_at_once_with_a_legal_move() {
    for (variant, overrides) in
        [(Variant::Kalah, ""), (Variant::Oware, ""), (Variant::Congkak, ""), (Variant::Kalah, "pits=12;seeds=12")]
    {
        let position = opening(variant, "standard", overrides);
        let mut engine = Engine::new(1);
        let stop = Signal::new();
        let (found, waited) = thread::scope(|scope| {
            let searching = scope.spawn(|| engine.search(&position, Limits::nodes(u64::MAX), &stop));
            thread::sleep(Duration::from_millis(50));
            stop.stop();
            let stopped = Instant::now();
            (searching.join().unwrap().unwrap(), stopped.elapsed())
        });
        assert!(waited < Duration::from_secs(2), "{waited:?}");
        assert!(found.is_stopped && found.depth > 0);
        assert!(position.legal_moves().contains(&found.best()));
        assert_eq!(engine.solve(&position, &stop, |_| {}), None);
        assert!(engine.choose(&position, Level::MAX, 0, &stop).is_some_and(|m| position.legal_moves().contains(&m)));
    }
}

#[test]
fn a_paused_search_finds_the_same_after_it_continues() {
    let position = opening(Variant::Kalah, "standard", "");
    let expected = Engine::new(1).search(&position, Limits::nodes(300_000), &GO_ON).unwrap();
    let signal = Signal::new();
    signal.rest();
    thread::scope(|scope| {
        let searching = scope.spawn(|| Engine::new(1).search(&position, Limits::nodes(300_000), &signal));
        thread::sleep(Duration::from_millis(100));
        assert!(!searching.is_finished(), "it is paused");
        signal.go_on();
        assert_eq!(searching.join().unwrap().unwrap(), expected);
        // A stop ends a paused search, and a later pause has no effect.
        signal.rest();
        let searching = scope.spawn(|| Engine::new(1).search(&position, Limits::nodes(u64::MAX), &signal));
        signal.stop();
        signal.rest();
        assert!(searching.join().unwrap().unwrap().is_stopped);
    });
}

/// The recursion is as deep as a line is long, and threads have 2 MiB of stack.
#[test]
fn long_lines_do_not_overflow_the_stack() {
    let options =
        AnyOptions::parse(Variant::Oware, "standard", "pits=12;seeds=1;repetition=5;must_feed=false").unwrap();
    let few = "0,0,0,0,0,0,0,0,0,0,1,0/0,0,0,0,0,0,1,0,0,0,0,0 11-11 S - 40 1S";
    let position = AnyPosition::parse(&options, few).unwrap();
    let mut engine = Engine::new(1);
    let found = engine.search(&position, Limits::nodes(100_000), &GO_ON).unwrap();
    assert!(position.legal_moves().contains(&found.best()));
    let stop = Signal::new();
    thread::scope(|scope| {
        scope.spawn(|| engine.solve(&position, &stop, |_| {}));
        thread::sleep(Duration::from_millis(500));
        stop.stop();
    });
}

#[test]
fn a_finished_game_has_no_move_to_search() {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").unwrap();
    let over = AnyPosition::parse(&options, "0,0,0,0,0,0/0,0,0,0,0,0 21-27 N o 40 1S").unwrap();
    let mut engine = Engine::new(1);
    assert_eq!(engine.search(&over, Limits::nodes(NODES), &GO_ON), None);
    assert_eq!(engine.candidates(&over, Limits::nodes(NODES), &GO_ON), []);
    assert_eq!(engine.solve(&over, &GO_ON, |_| {}), None);
    assert_eq!(engine.choose(&over, Level::MIN, 0, &GO_ON), None);
}

#[test]
fn a_hint_is_that_of_a_fresh_engine_and_ranks_every_move() {
    let mut engine = Engine::new(1);
    for variant in Variant::ALL {
        let small = if variant.rows_per_side() == 1 { "pits=3;seeds=3" } else { "" };
        let options = AnyOptions::parse(variant, "standard", small).expect("a small board");
        let position = play_on(&AnyPosition::opening(&options), 5, 2);
        let hint = engine.hint(&position, &GO_ON).expect("the game is not over");
        assert_eq!(Engine::new(1).hint(&position, &GO_ON).as_ref(), Some(&hint));
        let mut hinted: Vec<_> = hint.candidates.iter().map(Candidate::m).collect();
        let points = |candidate: &Candidate| candidate.value.points_for(position.turn());
        assert!(hint.candidates.is_sorted_by(|better, worse| points(better) >= points(worse)), "{hint:?}");
        hinted.sort_by_key(|m| position.legal_moves().iter().position(|legal| legal == m));
        assert_eq!(&hinted[..], &position.legal_moves()[..]);
        assert!(hint.depth > 0 && !hint.is_stopped);
        let stopped = Signal::new();
        stopped.stop();
        assert!(engine.hint(&position, &stopped).is_some_and(|hint| hint.is_stopped));
    }
}
