//! Rules of Toguz Kumalak and Bestemshe by hand-made examples: tuzdyks, ends, circles, made-up positions.

use mancala_rules::{
    AnyOptions, AnyPosition, Effect, EndReason, HISTORY_MAX, History, Move, OptionsError, ParsePositionError, Place,
    Side, Variant,
};

const TOGUZ: Variant = Variant::ToguzKumalak;
const BESTEMSHE: Variant = Variant::Bestemshe;

fn options(variant: Variant, preset: &str, overrides: &str) -> AnyOptions {
    AnyOptions::parse(variant, preset, overrides).unwrap()
}

fn import(variant: Variant, preset: &str, overrides: &str, text: &str) -> AnyPosition {
    AnyPosition::parse(&options(variant, preset, overrides), text).unwrap()
}

fn reason(position: &AnyPosition) -> Option<EndReason> {
    position.outcome().and_then(|outcome| outcome.reason)
}

#[track_caller]
fn play(position: &AnyPosition, moves: &str) -> AnyPosition {
    moves.split(' ').fold(position.clone(), |position, m| position.play(m.parse().unwrap()).unwrap().0)
}

/// Where tuzdyks cannot be.
const TUZDYKS: ParsePositionError =
    ParsePositionError::Rule("a row has at most one tuzdyk, not in its last pit, and not where the other one bars it");

#[track_caller]
fn refuse(options: &AnyOptions, text: &str, expected: ParsePositionError) {
    assert_eq!(AnyPosition::parse(options, text), Err(expected));
}

#[test]
fn a_tuzdyk_is_made_by_a_capture_of_three_and_an_effect_of_its_own() {
    let position = import(TOGUZ, "standard", "", "0,0,0,0,0,0,0,0,2/2,0,0,0,0,0,0,0,5 76-77 S - 40 1S");
    let (next, effects) = position.play("I".parse().unwrap()).unwrap();
    let a = "a".parse().unwrap();
    let expected = [
        Effect::Lift { pit: "I".parse().unwrap(), seeds: 2 },
        Effect::Sow { to: Place::Pit("I".parse().unwrap()) },
        Effect::Sow { to: Place::Pit(a) },
        Effect::Capture { from: [a].into_iter().collect(), seeds: 3, to: Side::South },
        Effect::Tuzdyk { pit: a, side: Side::South },
    ];
    assert_eq!(effects, expected);
    assert_eq!((next.tuzdyk(Side::South), next.tuzdyk(Side::North)), (Some(a), None));
}

#[test]
fn a_seed_that_falls_in_a_tuzdyk_falls_in_its_owners_store() {
    let position = import(TOGUZ, "standard", "", "0,0,0,3,t,0,0,0,0/0,t,0,0,0,0,0,0,9 75-75 S - 40 1S");
    let (next, effects) = position.play("D".parse().unwrap()).unwrap();
    assert_eq!(effects[2], Effect::Sow { to: Place::Store(Side::North) });
    assert_eq!(next.to_string(), "0,0,0,1,t,1,0,0,0/0,t,0,0,0,0,0,0,9 75-76 N - 41 1S");
    assert_eq!(next.play("A".parse().unwrap()).unwrap_err().reason(), "not_your_pit");
    assert_eq!(position.play("E".parse().unwrap()).unwrap_err().reason(), "empty_pit");
}

#[test]
fn words_of_other_games_are_refused() {
    let opening = AnyPosition::opening(&options(TOGUZ, "standard", ""));
    for (m, reason) in [
        (Move::Pass, "no_pass"),
        (Move::Swap, "no_swap"),
        (Move::Agree, "no_agree"),
        ("J".parse().unwrap(), "no_such_pit"),
        ("a".parse().unwrap(), "not_your_pit"),
        ("A7".parse().unwrap(), "wrong_form"),
    ] {
        assert_eq!(opening.play(m).unwrap_err().reason(), reason, "{m}");
    }
}

#[test]
fn tuzdyks_that_no_game_has_are_refused() {
    let standard = options(TOGUZ, "standard", "pits=3;seeds=2");
    let facing = options(TOGUZ, "ludii", "pits=3;seeds=2");
    for two_in_a_row in ["t,t,0/0,0,6 3-3 S - 0 1S", "0,0,6/t,t,0 3-3 S - 0 1S"] {
        refuse(&standard, two_in_a_row, TUZDYKS);
    }
    refuse(&standard, "0,0,t/0,0,6 3-3 S - 0 1S", TUZDYKS);
    let (same_number, across) = ("t,0,3/t,0,3 3-3 S - 0 1S", "0,t,3/0,t,3 3-3 S - 0 1S");
    refuse(&standard, same_number, TUZDYKS);
    assert!(AnyPosition::parse(&facing, same_number).is_ok());
    refuse(&facing, across, TUZDYKS);
    let both = "t,0,3/0,t,3 3-3 S - 0 1S";
    for options in [&standard, &facing] {
        assert_eq!(AnyPosition::parse(options, both).unwrap().to_string(), both);
    }
}

#[test]
fn games_without_tuzdyks_refuse_the_mark() {
    for (variant, overrides) in [
        (BESTEMSHE, "pits=3;seeds=2"),
        (Variant::Kalah, "pits=3;seeds=2"),
        (Variant::Oware, "pits=3;seeds=2"),
        (Variant::Congkak, "pits=3;seeds=2"),
        (Variant::Congkak, "pits=3;seeds=2;rounds=multi"),
    ] {
        let options = options(variant, "standard", overrides);
        refuse(&options, "t,0,3/0,0,3 3-3 S - 0 1S", ParsePositionError::MarkByOptions { mark: 't' });
    }
}

#[test]
fn marks_and_flags_of_other_games_are_refused() {
    let standard = options(TOGUZ, "standard", "pits=3;seeds=2");
    refuse(&standard, "x,0,3/0,0,3 3-3 S - 0 1S", ParsePositionError::MarkByOptions { mark: 'x' });
    refuse(&standard, "0,0,3/0,0,3 3-3 S - 0 2S", ParsePositionError::SingleRound);
    for flag in ['e', 'p', 'w', 'l'] {
        let text = format!("0,0,3/0,0,3 3-3 S {flag} 0 1S");
        refuse(&standard, &text, ParsePositionError::FlagByOptions { flag });
    }
    refuse(&standard, "0,0,3/0,0 3-3 S - 0 1S", ParsePositionError::Rows);
    refuse(&standard, "0,3/0,3 3-3 S - 0 1S", ParsePositionError::PitsPerSide { expected: 3 });
    refuse(&standard, "0,0,3/0,0,3 3-4 S - 0 1S", ParsePositionError::SeedTotal { expected: 12, found: 13 });
}

#[test]
fn a_made_up_position_that_is_over_comes_back_ended() {
    for (overrides, text, after, expected) in [
        ("", "0,0,2/0,1,1 7-1 S - 9 1S", "0,0,2/0,1,1 7-1 S o 9 1S", EndReason::Majority),
        ("majority_remaining=sweep", "0,0,2/0,1,1 7-1 S - 9 1S", "0,0,0/0,0,0 9-3 S o 9 1S", EndReason::Majority),
        ("", "0,0,0/0,1,1 6-4 S - 9 1S", "0,0,0/0,0,0 6-6 S o 9 1S", EndReason::NoMove),
        ("end=side_empty", "0,0,0/0,1,1 6-4 N - 9 1S", "0,0,0/0,0,0 6-6 N o 9 1S", EndReason::SideEmpty),
    ] {
        let position = import(TOGUZ, "standard", format!("pits=3;seeds=2;{overrides}").trim_end_matches(';'), text);
        assert_eq!((position.to_string().as_str(), reason(&position)), (after, Some(expected)));
    }
    let fed = "0,0,0/0,1,1 6-4 N - 9 1S";
    assert_eq!(import(TOGUZ, "standard", "pits=3;seeds=2", fed).to_string(), fed);
}

/// South and North each walk a single seed round. After ten plies the position comes again.
const CIRCLE: &str = "1,0,0,0,0/1,0,0,0,0 25-23 S - 0 1S";
const ROUND: &str = "A a B b C c D d E e";

#[test]
fn a_position_may_come_as_often_as_the_options_say() {
    for times in 2..=5 {
        let mut position = import(BESTEMSHE, "standard", &format!("repetition={times}"), CIRCLE);
        for _ in 2..=times {
            assert_eq!(reason(&position), None);
            position = play(&position, ROUND);
        }
        assert_eq!(reason(&position), Some(EndReason::Repetition), "{times} times");
        assert_eq!(position.to_string(), format!("0,0,0,0,0/0,0,0,0,0 26-24 S o {} 1S", 10 * (times - 1)));
    }
}

#[test]
fn the_seeds_left_at_a_repetition_go_where_the_options_say() {
    // Both seeds lie in South's row when the position comes again.
    let text = "1,0,0,0,1/0,0,0,0,0 25-23 S - 0 1S";
    for (award, stores) in [("side_owner", "27-23"), ("split", "26-24"), ("draw", "25-25")] {
        let overrides = format!("repetition=2;repetition_award={award}");
        let position = play(&import(BESTEMSHE, "standard", &overrides, text), "E a A b B c C d D e");
        assert_eq!(position.to_string(), format!("0,0,0,0,0/0,0,0,0,0 {stores} S o 10 1S"), "{award}");
    }
}

#[test]
fn a_draw_by_repetition_needs_the_end_at_a_majority() {
    for variant in [TOGUZ, BESTEMSHE] {
        let refused = AnyOptions::parse(variant, "standard", "repetition_award=draw;majority_end=false").unwrap_err();
        assert!(matches!(refused, OptionsError::Contradiction { .. }), "{refused}");
        assert_eq!(refused.option(), Some("repetition_award"));
    }
    let refused = AnyOptions::parse(BESTEMSHE, "solved", "majority_end=false").unwrap_err();
    assert_eq!(refused.option(), Some("majority_end"));
}

#[test]
fn a_stored_repetition_is_taken_from_the_record() {
    let start = import(BESTEMSHE, "solved", "", CIRCLE);
    let before = play(&start, "A a B b C c D d E");
    let after = play(&before, "e");
    let (replayed, effects) = before.afresh().replay("e".parse().unwrap(), &after.to_string()).unwrap();
    assert_eq!((replayed.to_string(), reason(&replayed)), (after.to_string(), Some(EndReason::Repetition)));
    assert_eq!(effects[2], Effect::Level { south: 0, north: 2, odd: None });
}

#[test]
fn a_change_of_a_store_forgets_the_earlier_positions() {
    let start = import(BESTEMSHE, "standard", "", "1,0,0,0,1/1,3,0,0,1 20-23 S - 0 1S");
    let quiet = play(&start, "A b");
    assert_eq!(quiet.history().map(History::len), Some(2));
    let captured = play(&quiet, "E");
    assert_eq!(captured.board().score().south, 22);
    assert_eq!(captured.history().map(History::len), Some(0));
}

/// Moves that avoid captures and repetitions, found by going back from dead ends.
#[test]
fn a_game_ends_after_so_many_plies_without_a_change_of_the_stores() {
    let text = "1,0,0,0,1,0,0,0,1,0,0,0/1,0,0,0,1,0,0,0,1,0,0,0 9-9 S - 0 1S";
    let start = import(BESTEMSHE, "standard", "pits=12;seeds=1;repetition=5", text);
    let quiet = |position: &AnyPosition| -> Vec<AnyPosition> {
        let next = position.legal_moves().into_iter().map(|m| position.play(m).unwrap().0);
        let is_quiet = |next: &AnyPosition| next.outcome().is_none() && next.board().score() == start.board().score();
        next.filter(is_quiet).collect()
    };
    let mut line = vec![(start.clone(), quiet(&start))];
    while line.len() <= HISTORY_MAX {
        let next = line.last_mut().and_then(|(_, open)| open.pop());
        match next {
            Some(next) => line.push((next.clone(), quiet(&next))),
            None => drop(line.pop().expect("there is a line that is long enough")),
        }
    }
    let (last, open) = line.last().unwrap();
    assert_eq!((last.plies(), open.len(), last.outcome()), (u32::try_from(HISTORY_MAX).unwrap(), 0, None));
    for m in last.legal_moves() {
        let ended = last.play(m).unwrap().0;
        let is_quiet = ended.board().score() == last.board().score();
        assert!(reason(&ended) == Some(EndReason::Repetition) || !is_quiet, "{ended}");
    }
}
