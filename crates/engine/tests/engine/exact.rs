//! Exact values, against published ones and against brute force.

use std::{collections::HashMap, sync::Arc};

use mancala_engine::{Endgames, Engine, Evaluation, Limits, POINTS_PER_SEED};
use mancala_rules::{AnyOptions, AnyPosition, Move, Side, Variant};

use crate::{GO_ON, Random, brute_force::BruteForce, opening, play_on};

/// Kalah by preset and options: the value for South, and those of its first moves where they are known. From Irving, Donkers
/// and Uiterwijk, "Solving Kalah" (2000), and a solver of another author. Boards that take longer are in `benches/engine.rs`.
const SOLVED: [(&str, &str, i32, &[i32]); 9] = [
    ("standard", "pits=2;seeds=2", -2, &[]),
    ("standard", "pits=4;seeds=2", 6, &[]),
    ("standard", "pits=4;seeds=3", 6, &[-6, 6, 2, -2]),
    ("standard", "pits=4;seeds=4", 2, &[]),
    ("standard", "pits=5;seeds=3", 6, &[]),
    ("standard", "pits=6;seeds=2", 6, &[]),
    ("empty_capture", "pits=6;seeds=1", 2, &[]),
    ("empty_capture", "pits=6;seeds=2", 10, &[]),
    ("standard", "pits=3;seeds=3;extra_turn=optional", 4, &[]),
];

#[test]
fn kalah_has_its_published_values() {
    let mut engine = Engine::new(16);
    for (preset, overrides, value, moves) in SOLVED {
        let opening = opening(Variant::Kalah, preset, overrides);
        let mut last = None;
        let solution = engine.solve(&opening, &GO_ON, |progress| last = Some(progress)).unwrap();
        assert_eq!(solution.value, value, "{preset} {overrides}");
        let values: Vec<_> = solution.moves.iter().map(|&(_, value)| value).collect();
        assert!(moves.is_empty() || values == moves, "{preset} {overrides}: {values:?}");
        assert!(solution.moves.iter().map(|&(m, _)| m).eq(opening.legal_moves()));
        assert!(last.is_some_and(|last| last.nodes <= solution.nodes && last.moves == solution.moves.len()));
    }
}

/// Small boards of each game with every option that changes what a value depends on. The number is how many random
/// moves lead from the opening to positions that brute force can solve.
const SMALL: [(Variant, &str, &str, u32); 55] = [
    (Variant::Kalah, "standard", "pits=3;seeds=2", 0),
    (Variant::Kalah, "standard", "pits=1;seeds=5", 0),
    (Variant::Kalah, "standard", "pits=2;seeds=3;remaining=emptier", 0),
    (Variant::Kalah, "standard", "pits=3;seeds=2;remaining=discard", 0),
    (Variant::Kalah, "standard", "pits=3;seeds=2;extra_turn=none", 0),
    (Variant::Kalah, "standard", "pits=3;seeds=2;majority_end=true", 0),
    (Variant::Kalah, "standard", "pits=2;seeds=3;majority_end=true;majority_remaining=sweep", 0),
    (Variant::Kalah, "bga", "pits=2", 0),
    (Variant::Kalah, "both_stores", "pits=2", 0),
    (Variant::Kalah, "self_capture", "pits=2", 0),
    (Variant::Kalah, "no_capture", "pits=2", 0),
    (Variant::Kalah, "standard", "pits=3;seeds=2;capture_land=opponent", 0),
    (Variant::Kalah, "standard", "pits=3;seeds=2;extra_turn=optional", 0),
    (Variant::Kalah, "bga", "pits=2;extra_turn=optional", 0),
    (Variant::Kalah, "standard", "pits=3;seeds=2;capture=optional", 0),
    (Variant::Kalah, "standard", "pits=8;seeds=1;capture=optional;empty_capture=true;pie=true", 12),
    (Variant::Kalah, "standard", "pits=3;seeds=2;pie=true", 0),
    (Variant::Kalah, "standard", "pits=2;seeds=2;pie=true;extra_turn=optional", 0),
    (Variant::Kalah, "standard", "pits=8;seeds=1", 12),
    (Variant::Kalah, "standard", "", 34),
    (Variant::Oware, "standard", "pits=2;seeds=1", 0),
    (Variant::Oware, "standard", "pits=1;seeds=4", 0),
    (Variant::Oware, "standard", "pits=3;seeds=1", 2),
    (Variant::Oware, "standard", "pits=4;seeds=1", 12),
    (Variant::Oware, "wari", "pits=2;seeds=1;repetition=3", 2),
    (Variant::Oware, "awari", "pits=3;seeds=1;repetition=2", 3),
    (Variant::Oware, "standard", "pits=3;seeds=2", 18),
    (Variant::Oware, "awari", "pits=2;seeds=2", 8),
    (Variant::Oware, "standard", "pits=2;seeds=2;repetition_award=split", 8),
    (Variant::Oware, "forfeit", "pits=2;seeds=2;majority_end=false", 8),
    (Variant::Oware, "wari", "pits=2;seeds=1;must_feed=false", 0),
    (Variant::Oware, "leave_first", "pits=8;seeds=1", 60),
    (Variant::Congkak, "standard", "pits=3;seeds=2", 0),
    (Variant::Congkak, "skeat", "pits=2;seeds=3", 0),
    (Variant::Congkak, "tournament", "pits=3;seeds=2", 0),
    (Variant::Congkak, "match", "pits=2;seeds=2;max_rounds=2", 0),
    (Variant::Congkak, "match", "pits=2;seeds=2;max_rounds=3;round_starter=alternate", 0),
    (Variant::Congkak, "match", "pits=2;seeds=2;max_rounds=3;match_victory=rounds_won", 0),
    (Variant::Congkak, "match", "pits=2;seeds=2;max_rounds=2;match_victory=pits_burnt", 0),
    (Variant::Congkak, "match", "pits=2;seeds=2;max_rounds=2;burnt_pits=false", 0),
    (Variant::Congkak, "standard", "pits=3;seeds=2;opening=lockstep", 0),
    (Variant::Congkak, "match", "pits=2;seeds=2;max_rounds=2;opening=lockstep", 0),
    (Variant::Congkak, "standard", "pits=8;seeds=1", 4),
    (Variant::ToguzKumalak, "standard", "pits=2;seeds=2;repetition=2", 0),
    (Variant::ToguzKumalak, "standard", "pits=2;seeds=1;repetition=2;repetition_award=draw", 0),
    (Variant::ToguzKumalak, "xorgol", "pits=3;seeds=1;repetition=2;repetition_award=draw", 2),
    (Variant::ToguzKumalak, "app", "pits=2;seeds=2;majority_end=false;repetition=2", 4),
    (Variant::ToguzKumalak, "ludii", "pits=3;seeds=2;repetition=2;repetition_award=draw", 12),
    (Variant::ToguzKumalak, "standard", "pits=2;seeds=3;majority_end=false;repetition=2", 0),
    (Variant::ToguzKumalak, "app", "pits=2;seeds=3;majority_end=false", 0),
    (Variant::Bestemshe, "standard", "pits=2;seeds=2", 0),
    (Variant::Bestemshe, "solved", "pits=2;seeds=1", 0),
    (Variant::Bestemshe, "solved", "pits=3;seeds=1", 2),
    (Variant::Bestemshe, "standard", "pits=2;seeds=2;majority_end=false;repetition=2", 4),
    (Variant::Bestemshe, "solved", "pits=3;seeds=2", 12),
];

/// How many games are played on each board.
const GAMES: u64 = 6;

#[test]
fn exact_values_match_brute_force() {
    let mut exact: HashMap<Variant, u32> = HashMap::new();
    let mut engine = Engine::new(1);
    for (variant, preset, overrides, plies) in SMALL {
        let opening = opening(variant, preset, overrides);
        let mut brute_force = BruteForce::default();
        for (seed, further) in (0..GAMES).zip(0..) {
            let position = play_on(&opening, seed, plies + further);
            let Some(expected) = brute_force.value(&position) else { continue };
            let limits = Limits::nodes(if seed.is_multiple_of(2) { 5_000 } else { 200 });
            let Some(found) = engine.search(&position, limits, &GO_ON) else { continue };
            if check(&position, found.value, expected) {
                *exact.entry(variant).or_default() += 1;
                let best = brute_force.value_of_move(&position, found.best());
                assert_eq!(best, Some(expected), "{} in {position}", found.best());
            }
            for candidate in engine.candidates(&position, limits, &GO_ON) {
                let expected = brute_force.value_of_move(&position, candidate.m());
                expected.map(|expected| check(&position, candidate.value, expected));
            }
        }
    }
    // A game with four rows is never small enough for brute force.
    let mut two_rows = Variant::ALL.iter().filter(|variant| variant.rows_per_side() == 1);
    assert!(two_rows.all(|variant| exact[variant] >= 15), "{exact:?}");
}

#[test]
fn solved_values_match_brute_force() {
    let (mut engine, mut solved) = (Engine::new(1), 0);
    for (variant, preset, overrides, plies) in SMALL {
        let position = play_on(&opening(variant, preset, overrides), 7, plies);
        let mut brute_force = BruteForce::default();
        let Some(expected) = brute_force.value(&position) else { continue };
        let Some(solution) = engine.solve(&position, &GO_ON, |_| {}) else { continue };
        assert_eq!(solution.value, expected, "{preset} {overrides} {position}");
        for (m, value) in solution.moves {
            assert_eq!(brute_force.value_of_move(&position, m), Some(value), "{m} in {position}");
        }
        solved += 1;
    }
    assert!(solved >= 25, "{solved}");
}

/// Options, and the values among which each is chosen at random.
type Choices = &'static [(&'static str, &'static [&'static str])];

/// Small boards by many options.
const VARIED: [(Variant, Choices); 3] = [
    (
        Variant::Kalah,
        &[
            ("pits", &["2", "3", "4"]),
            ("extra_turn", &["mandatory", "optional", "none"]),
            ("sow_stores", &["own", "both"]),
            ("capture_land", &["own", "opponent", "any"]),
            ("empty_capture", &["true", "false"]),
            ("end", &["side_empty", "no_move"]),
            ("remaining", &["side_owner", "emptier", "discard"]),
            ("majority_end", &["true", "false"]),
        ],
    ),
    (
        Variant::Oware,
        &[
            ("pits", &["2", "3", "4"]),
            ("must_feed", &["true", "false"]),
            ("majority_end", &["true", "false"]),
            ("repetition", &["2", "3"]),
            (
                "grand_slam",
                &["no_capture", "capture", "illegal", "avoid", "forfeit_rest", "leave_landing", "leave_first"],
            ),
            ("repetition_award", &["side_owner", "split"]),
        ],
    ),
    (
        Variant::Congkak,
        &[
            ("pits", &["2", "3", "4"]),
            ("empty_capture", &["true", "false"]),
            ("capture_needs_lap", &["true", "false"]),
            ("rounds", &["single", "multi"]),
            ("seeds", &["2", "3"]),
        ],
    ),
];

/// How many random positions of each game are tried. A hundred times as many were tried once.
const RANDOM_POSITIONS: u32 = 150;

#[test]
fn exact_values_match_brute_force_in_random_positions() {
    let (mut random, mut engine) = (Random(1), Engine::new(1));
    for (variant, choices) in VARIED {
        let mut exact = 0;
        for _ in 0..RANDOM_POSITIONS {
            let mut overrides: Vec<String> = Vec::new();
            for (name, values) in choices {
                overrides.push(format!("{name}={}", values[random.draw(values.len())]));
            }
            let Ok(options) = AnyOptions::parse(variant, "standard", &overrides.join(";")) else { continue };
            let (seed, plies) = (random.draw(1000) as u64, [0, 1, 2, 3, 4, 5][random.draw(6)]);
            let position = play_on(&random_position(&options, &mut random), seed, plies);
            let Some(expected) = BruteForce::default().value(&position) else { continue };
            // Entries of earlier positions may serve this one.
            if random.draw(2) == 0 {
                engine.forget();
            }
            let Some(found) = engine.search(&position, Limits::nodes(3_000), &GO_ON) else { continue };
            exact += u32::from(check(&position, found.value, expected));
        }
        assert!(exact >= RANDOM_POSITIONS / 3, "{exact} of {variant}");
    }
}

#[test]
fn known_endgames_match_brute_force_in_every_game() {
    let (mut random, mut exact) = (Random(2), HashMap::<Variant, u32>::new());
    let endgames = Arc::new(Endgames::default());
    for (variant, choices) in VARIED {
        for _ in 0..RANDOM_POSITIONS / 5 {
            let mut overrides: Vec<String> = Vec::new();
            for (name, values) in choices {
                overrides.push(format!("{name}={}", values[random.draw(values.len())]));
            }
            let Ok(options) = AnyOptions::parse(variant, "standard", &overrides.join(";")) else { continue };
            let mut engine = Engine::new(1).with_endgames(Arc::clone(&endgames));
            for _ in 0..5 {
                let position = random_position(&options, &mut random);
                let Some(expected) = BruteForce::default().value(&position) else { continue };
                for candidate in engine.candidates(&position, Limits::nodes(2_000), &GO_ON) {
                    let of_move = BruteForce::default().value_of_move(&position, candidate.m());
                    of_move.map(|of_move| check(&position, candidate.value, of_move));
                }
                let Some(found) = engine.search(&position, Limits::nodes(2_000), &GO_ON) else { continue };
                *exact.entry(variant).or_default() += u32::from(check(&position, found.value, expected));
            }
        }
    }
    assert!(exact.values().all(|&exact| exact >= RANDOM_POSITIONS / 3), "{exact:?}");
}

/// Options of Oware by what a repetition and a large capture bring.
const OWARE: [(&str, &str); 8] = [
    ("standard", "pits=2"),
    ("standard", "pits=3;majority_end=false"),
    ("standard", "pits=2;majority_remaining=sweep;repetition=3"),
    ("app", "pits=2"),
    ("wari", "pits=2;must_feed=false"),
    ("awari", "pits=3"),
    ("forfeit", "pits=2"),
    ("leave_first", "pits=2;repetition_award=split"),
];

/// The positions before decide what a repetition ends. So whatever is exact is so with all of them.
#[test]
fn known_endgames_of_oware_match_brute_force_after_any_history() {
    let (mut random, mut with_history) = (Random(3), [0; 2]);
    let endgames = Arc::new(Endgames::default());
    for seed in 0..2_000 {
        let (preset, overrides) = OWARE[seed % OWARE.len()];
        let options = AnyOptions::parse(Variant::Oware, preset, overrides).unwrap();
        let start = random_position(&options, &mut random);
        let position = play_on(&start, seed as u64, [0, 1, 2, 4, 6, 9, 13][random.draw(7)]);
        // The tables are of games with an even number of seeds.
        if !position.total().is_multiple_of(2) || position.outcome().is_some() {
            continue;
        }
        let Some(expected) = BruteForce::default().value(&position) else { continue };
        let mut engine = Engine::new(1).with_endgames(Arc::clone(&endgames));
        let found = engine.search(&position, Limits::nodes(30), &GO_ON).expect("it is not over");
        let is_exact = check(&position, found.value, expected);
        if position.history().is_some_and(|history| history.len() > 2) {
            with_history[usize::from(is_exact)] += 1;
        }
    }
    let [open, exact] = with_history;
    assert!(exact > 100 && exact > open, "{exact} exact, {open} not");
}

#[test]
fn oware_with_few_seeds_is_exact_after_a_long_game() {
    let opening = opening(Variant::Oware, "standard", "");
    let endgames = Arc::new(Endgames::default());
    let (mut exact, mut few, mut without) = (0, 0, 0);
    for seed in 0..3 {
        let mut position = opening.clone();
        let mut random = Random(seed);
        while position.outcome().is_none() {
            let moves = position.legal_moves();
            let board = position.board();
            let stores: u16 = Side::ALL.into_iter().map(|side| board.store(side)).sum();
            if stores >= 48 - 9 {
                let search = |mut engine: Engine| engine.search(&position, Limits::nodes(1_000), &GO_ON).unwrap().value;
                let value = search(Engine::new(1).with_endgames(Arc::clone(&endgames)));
                (few, exact) = (few + 1, exact + u32::from(value.is_exact));
                without += u32::from(search(Engine::new(1)).is_exact);
            }
            position.play_unchecked(moves[random.draw(moves.len())]);
        }
    }
    assert!(few > 30 && 4 * exact > 3 * few && without < exact / 2, "{exact} and {without} of {few}");
}

#[test]
fn a_known_endgame_is_exact_with_its_line_at_once() {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").unwrap();
    let position = AnyPosition::parse(&options, "2,0,0,1,0,3/0,0,2,2,0,2 18-18 S - 40 1S").unwrap();
    let limits = Limits::nodes(20);
    assert!(!Engine::new(1).search(&position, limits, &GO_ON).unwrap().value.is_exact);
    let mut engine = Engine::new(1).with_endgames(Arc::default());
    let found = engine.search(&position, limits, &GO_ON).unwrap();
    assert!(found.value.is_exact);
    // The whole line is known, to the end of the game.
    let mut at = position.clone();
    for &m in &found.line {
        at.play_unchecked(m);
    }
    let score = at.outcome().expect("the line ends the game").score;
    assert_eq!((i32::from(score.south) - i32::from(score.north)) * POINTS_PER_SEED, found.value.points, "{found:?}");
}

#[test]
fn a_proof_is_not_reused_for_the_mirrored_position() {
    // So few seeds go round until the same position has occurred three times: the history decides.
    for (text, expected) in [("0,0,1/0,0,2 3-3 S - 1 1S", -1), ("1,0,2/0,0,0 3-3 S - 1 1S", 3)] {
        let options = AnyOptions::parse(Variant::Oware, "standard", "pits=3;repetition=3;grand_slam=capture").unwrap();
        let position = AnyPosition::parse_with_any_total(&options, text).unwrap();
        assert_eq!(BruteForce::default().value(&position), Some(expected));
        let found = Engine::new(1).search(&position, Limits::nodes(20_000), &GO_ON).unwrap();
        assert!(check(&position, found.value, expected), "{found:?}");
    }
}

/// A few seeds at random on a board, with South to move.
fn random_position(options: &AnyOptions, random: &mut Random) -> AnyPosition {
    let pits = usize::from(AnyPosition::opening(options).board().pits_per_side());
    let mut seeds = vec![0; 2 * pits];
    for _ in 0..2 + random.draw(5) {
        seeds[random.draw(2 * pits)] += 1;
    }
    let row = |pits: &[i32]| pits.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
    let text = format!("{}/{} 3-3 S - 1 1S", row(&seeds[..pits]), row(&seeds[pits..]));
    AnyPosition::parse_with_any_total(options, &text).expect("any seeds are valid there")
}

#[test]
fn a_proven_line_leads_to_its_value() {
    let mut engine = Engine::new(1);
    for (overrides, seed) in [("pits=3;seeds=2", 1), ("pits=2;seeds=4", 2), ("pits=3;seeds=2;pie=true", 3)] {
        let mut position = play_on(&opening(Variant::Kalah, "standard", overrides), seed, 1);
        let found = engine.search(&position, Limits::nodes(100_000), &GO_ON).unwrap();
        assert!(found.value.is_exact);
        let (mut brute_force, mut wanted) = (BruteForce::default(), found.value.points / POINTS_PER_SEED);
        for m in found.line {
            assert!(position.legal_moves().contains(&m));
            position.play_unchecked(m);
            wanted = if m == Move::Swap { -wanted } else { wanted };
            assert_eq!(brute_force.value(&position), Some(wanted), "{m} leads to {position}");
        }
    }
}

#[test]
fn the_right_to_swap_is_worth_the_better_side() {
    let mut engine = Engine::new(1);
    let mut plain = opening(Variant::Kalah, "standard", "pits=3;seeds=2");
    let mut pie = opening(Variant::Kalah, "standard", "pits=3;seeds=2;pie=true");
    while plain.turn() == Side::South {
        let m = plain.legal_moves()[0];
        plain.play_unchecked(m);
        pie.play_unchecked(m);
    }
    let value = |position: &AnyPosition, engine: &mut Engine| {
        engine.search(position, Limits::nodes(1_000_000), &GO_ON).unwrap().value
    };
    let (plain, with_pie) = (value(&plain, &mut engine), value(&pie, &mut engine));
    assert!(plain.is_exact && with_pie.is_exact);
    assert_eq!(with_pie.points_for(Side::North), plain.points.abs());
}

/// Whether a value is exact. Asserts that an exact value is the expected one.
fn check(position: &AnyPosition, value: Evaluation, expected: i32) -> bool {
    assert!(!value.is_exact || value.points == expected * POINTS_PER_SEED, "{position}: {value:?}, not {expected}");
    value.is_exact
}
