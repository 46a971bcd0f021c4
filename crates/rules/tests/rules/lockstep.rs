//! The opening of Congkak in which both sides sow at once (R10).

use mancala_rules::{
    AnyOptions, AnyPosition, Effect, Lockstep, ParsePositionError, Side, Variant,
    notation::{Record, read_moves, write_moves},
    packed,
};

const SMALL: &str = "pits=3;seeds=2;opening=lockstep";

fn options(overrides: &str) -> AnyOptions {
    AnyOptions::parse(Variant::Congkak, "standard", overrides).unwrap()
}

fn play(position: &AnyPosition, m: &str) -> (AnyPosition, Vec<Effect>) {
    position.play(m.parse().unwrap()).unwrap()
}

/// The effects in a few letters: whose hand, what it lifts, where seeds fall, what is captured.
fn written(effects: &[Effect]) -> String {
    let word = |effect: &Effect| match effect {
        Effect::Choose { pit } => format!("choose {pit}"),
        Effect::Hand { side } => side.letter().to_string(),
        Effect::Lift { pit, seeds } => format!("lift {pit}{seeds}"),
        Effect::Relay { pit, seeds } => format!("relay {pit}{seeds}"),
        Effect::Sow { to } => to.to_string().replace("south_store", "+").replace("north_store", "-"),
        Effect::Capture { seeds, .. } => format!("capture {seeds}"),
        other => format!("{other:?}"),
    };
    effects.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn south_chooses_and_nothing_is_sown_before_north_has_chosen() {
    let opening = AnyPosition::opening(&options(SMALL));
    assert_eq!(opening.to_string(), "2,2,2/2,2,2 0-0 S l 0 1S");
    assert_eq!(opening.lockstep(), Some(Lockstep { chosen: None }));
    let (chosen, effects) = play(&opening, "A");
    assert_eq!(chosen.to_string(), "2,2,2/2,2,2 0-0 N lA 1 1S");
    assert_eq!((written(&effects).as_str(), chosen.turn()), ("choose A", Side::North));
    assert_eq!(chosen.lockstep(), Some(Lockstep { chosen: Some("A".parse().unwrap()) }));
    let legal: Vec<_> = chosen.legal_moves().iter().map(ToString::to_string).collect();
    assert_eq!(legal, ["a", "b", "c"]);
    assert_eq!(chosen.play("B".parse().unwrap()).unwrap_err().reason(), "not_your_pit");
}

/// Worked by hand. Both sides mirror each other until South, a seed ahead in the last step, captures first.
#[test]
fn both_hands_drop_a_seed_in_each_step_and_relay_in_step() {
    let (chosen, _) = play(&AnyPosition::opening(&options(SMALL)), "A");
    let (after, effects) = play(&chosen, "a");
    assert_eq!(after.to_string(), "0,2,0/0,2,0 4-4 S - 2 1S");
    assert_eq!(after.lockstep(), None);
    assert_eq!(
        written(&effects),
        "S lift A2 N lift a2 S B N b S C relay C3 N c relay c3 S + N - S a N A S b relay b4 N B relay B4 \
         S c N C S A N a S B N b S C relay C2 N c relay c2 S + N - S a relay a3 N A relay A3 \
         S b N B S c N C S A capture 2 N a capture 2"
    );
}

/// North's hand ends in its store in the second step, South's in an empty pit of the other row in the fifth.
#[test]
fn a_hand_that_ends_in_its_store_moves_next() {
    let (chosen, _) = play(&AnyPosition::opening(&options(SMALL)), "A");
    let (after, effects) = play(&chosen, "b");
    assert_eq!(after.to_string(), "0,3,0/3,1,3 1-1 N - 2 1S");
    assert_eq!(written(&effects), "S lift A2 N lift b2 S B N c S C relay C3 N - S + a b");
}

#[test]
fn the_hand_that_is_empty_first_moves_next() {
    let start = "1,0,2,0/0,1,0,5 8-7 S l 0 1S";
    let position = AnyPosition::parse_with_any_total(&options("pits=4;seeds=3;opening=lockstep"), start).unwrap();
    let (chosen, _) = play(&position, "A");
    let (after, effects) = play(&chosen, "d");
    // South's only seed falls in B, which faces nothing, and is captured alone. North's five end in D, an empty pit.
    assert_eq!(written(&effects), "S lift A1 N lift d5 S B capture 1 N - A B C D");
    assert_eq!(after.to_string(), "1,1,3,1/0,1,0,0 9-8 S - 2 1S");
}

#[test]
fn only_a_lockstep_opening_has_its_flag() {
    use ParsePositionError::{FlagByOptions, FlagByPosition, Flags};
    let refuse = |overrides: &str, text: &str, error| {
        assert_eq!(AnyPosition::parse_with_any_total(&options(overrides), text), Err(error), "{text}");
    };
    let l = 'l';
    refuse("pits=3;seeds=2", "2,2,2/2,2,2 0-0 S l 0 1S", FlagByOptions { flag: l });
    for wrong in [
        "2,2,2/2,2,2 0-0 N l 0 1S",
        "2,2,2/2,2,2 0-0 S lA 0 1S",
        "0,2,2/2,2,2 0-2 N lA 0 1S",
        "2,2,2/2,2,2 0-0 N lD 0 1S",
        "2,2,2/2,2,2 0-0 S el 0 1S",
        "2,2,2/2,2,2 0-0 S ol 0 1S",
    ] {
        refuse(SMALL, wrong, FlagByPosition { flag: l });
    }
    for wrong in ["A", "la", "lAB", "lM", "l-", "Al", "le", "eA", "-A"] {
        refuse(SMALL, &format!("2,2,2/2,2,2 0-0 N {wrong} 0 1S"), Flags);
    }
    let later = options(&format!("{SMALL};rounds=multi"));
    for round in ["2S", "1N"] {
        let text = format!("2,2,2/2,2,2 0-0 S l 0 {round}");
        assert_eq!(AnyPosition::parse(&later, &text), Err(FlagByPosition { flag: l }));
    }
    let others =
        Variant::ALL.into_iter().filter(|&variant| variant.rows_per_side() == 1 && variant != Variant::Congkak);
    for variant in others {
        let options = AnyOptions::parse(variant, "standard", "").unwrap();
        let text = AnyPosition::opening(&options).to_string().replace(" - ", " l ");
        assert_eq!(AnyPosition::parse(&options, &text), Err(FlagByOptions { flag: l }), "{text}");
    }
}

#[test]
fn a_position_without_the_flag_goes_on_in_turns() {
    let position = AnyPosition::parse(&options(SMALL), "2,2,2/2,2,2 0-0 S - 0 1S").unwrap();
    assert_eq!(position.lockstep(), None);
    // A drops B and C; C's three drop in the store, a and b; b's three in c, A and B; B's four in C, the store, a and b,
    // which is empty.
    assert_eq!(play(&position, "A").0.to_string(), "1,0,1/4,1,3 2-0 N - 1 1S");
}

#[test]
fn a_round_that_is_over_at_the_start_has_no_lockstep_opening() {
    let text = "0,0,0/2,2,2 6-0 S l 0 1S";
    let position = AnyPosition::parse(&options(SMALL), text).unwrap();
    assert_eq!(position.to_string(), "0,0,0/0,0,0 6-6 S o 0 1S");
}

#[test]
fn every_opening_of_the_usual_board_keeps_its_seeds_and_ends() {
    for overrides in
        ["opening=lockstep", "opening=lockstep;capture_needs_lap=true", "opening=lockstep;pits=12;seeds=12"]
    {
        let opening = AnyPosition::opening(&options(overrides));
        for south in opening.legal_moves() {
            let (chosen, _) = opening.play(south).unwrap();
            assert!(chosen.essence().contains('l'));
            for north in chosen.legal_moves() {
                let (after, effects) = chosen.play(north).unwrap();
                assert_eq!(after.board().total(), opening.board().total());
                assert_eq!((after.plies(), after.lockstep()), (2, None));
                assert!(effects.len() < 20_000);
            }
        }
    }
}

#[test]
fn a_record_writes_both_choices_as_moves() {
    let opening = AnyPosition::opening(&options(SMALL));
    let moves = read_moves(&opening, "1. A b").unwrap();
    assert_eq!(write_moves(&moves), "A b");
}

#[test]
fn a_position_is_packed_once_the_opening_is_sown() {
    let opening = AnyPosition::opening(&options(SMALL));
    let is_packed = |position: &AnyPosition| {
        let position = position.of_game().expect("it is Congkak");
        packed::Congkak::new(position).is_some_and(|game| game.pack(position).is_some())
    };
    let (chosen, _) = play(&opening, "A");
    let (after, _) = play(&chosen, "b");
    assert_eq!([&opening, &chosen, &after].map(is_packed), [false, false, true]);
}

#[test]
fn a_record_counts_the_captures_of_each_hand_at_its_own_choice() {
    let written = |start: &AnyPosition, moves: [&str; 2]| {
        let moves = moves.map(|m| m.parse().unwrap()).into();
        let text = Record::new(start, moves).unwrap().to_string();
        text.lines().last().unwrap().to_owned()
    };
    let opening = AnyPosition::opening(&options(SMALL));
    assert_eq!(written(&opening, ["A", "a"]), "1. A+2 a+2 *");
    let start = "1,0,2,0/0,1,0,5 8-7 S l 0 1S";
    let position = AnyPosition::parse_with_any_total(&options("pits=4;seeds=3;opening=lockstep"), start).unwrap();
    assert_eq!(written(&position, ["A", "d"]), "1. A+1 d *");
}
