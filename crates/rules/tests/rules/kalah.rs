//! Rules that only Kalah has: captures that may be declined (R5).

use mancala_rules::{AnyOptions, AnyPosition, Effect, Move, MoveList, Variant, notation, packed};

fn import(overrides: &str, text: &str) -> AnyPosition {
    AnyPosition::parse(&AnyOptions::parse(Variant::Kalah, "standard", overrides).unwrap(), text).unwrap()
}

fn list(moves: &MoveList) -> String {
    moves.iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
}

/// A ends in B, which is empty and faces five seeds. F ends in the other row.
const CAPTURING: &str = "1,0,0,0,0,3/0,0,0,0,5,0 20-19 S - 30 1S";

#[test]
fn a_capture_that_is_a_choice_comes_before_declining_it() {
    assert_eq!(list(&import("capture=optional", CAPTURING).legal_moves()), "A A~ F");
    assert_eq!(list(&import("", CAPTURING).legal_moves()), "A F");
    assert_eq!(list(&import("capture=none", CAPTURING).legal_moves()), "A F");
}

#[test]
fn a_declined_capture_leaves_both_piles() {
    let position = import("capture=optional", CAPTURING);
    let (after, effects) = position.play("A~".parse().unwrap()).unwrap();
    assert_eq!(after.to_string(), "0,1,0,0,0,3/0,0,0,0,5,0 20-19 N - 31 1S");
    assert!(effects.iter().all(|effect| matches!(effect, Effect::Lift { .. } | Effect::Sow { .. })), "{effects:?}");
    let (taken, effects) = position.play("A".parse().unwrap()).unwrap();
    assert_eq!(taken.to_string(), "0,0,0,0,0,0/0,0,0,0,0,0 29-19 S o 31 1S");
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Capture { seeds: 6, .. })), "{effects:?}");
}

#[test]
fn a_refused_declining_names_the_first_reason() {
    for (m, reason) in [("F~", "no_decline"), ("B~", "empty_pit"), ("e~", "not_your_pit"), ("G~", "no_such_pit")] {
        assert_eq!(import("capture=optional", CAPTURING).play(m.parse().unwrap()).unwrap_err().reason(), reason, "{m}");
    }
    for overrides in ["", "capture=none"] {
        let refused = import(overrides, CAPTURING).play("A~".parse().unwrap()).unwrap_err();
        assert_eq!(refused.reason(), "no_decline");
        assert_eq!(refused.to_string(), "sowing pit A offers no capture to decline");
    }
}

#[test]
fn no_other_game_has_a_capture_to_decline() {
    for variant in [Variant::Oware, Variant::Congkak] {
        let opening = AnyPosition::opening(&AnyOptions::parse(variant, "standard", "").unwrap());
        let m = opening.read_move("A~").unwrap();
        assert_eq!(opening.play(m).unwrap_err().reason(), "no_decline");
    }
    for variant in [Variant::Bao, Variant::Omweso] {
        let opening = AnyPosition::opening(&AnyOptions::parse(variant, "standard", "").unwrap());
        assert!(opening.read_move("A~").is_err());
        assert_eq!(opening.play("A~".parse().unwrap()).unwrap_err().reason(), "wrong_form");
    }
}

#[test]
fn a_declined_capture_has_one_spelling() {
    for wrong in ["~", "~A", "A~~", "A ~", "AU~", "A1~", "pass~", "Q~", "A-"] {
        assert!(wrong.parse::<Move>().is_err(), "{wrong}");
    }
    for word in ["A~", "l~"] {
        assert_eq!(word.parse::<Move>().unwrap().to_string(), word);
    }
}

#[test]
fn a_record_marks_the_letter_of_a_declined_capture() {
    let position = import("capture=optional", CAPTURING);
    let moves = notation::read_moves(&position, "1. A~ e 2. B").unwrap();
    assert_eq!(notation::write_moves(&moves), "A~ e B");
    let refused = notation::read_moves(&position, "F~").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "line 1, column 1: move 1 cannot be F~: sowing pit F offers no capture to decline; legal are A, A~, F"
    );
}

#[test]
fn only_the_general_form_searches_captures_that_are_a_choice() {
    for (overrides, is_packed) in [("", true), ("capture=none", true), ("capture=optional", false)] {
        let position = import(overrides, CAPTURING);
        let position = position.of_game().expect("it is Kalah");
        assert_eq!(packed::Kalah::new(position).is_some(), is_packed, "{overrides}");
    }
}
