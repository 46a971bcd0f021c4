//! Made-up positions of Kalah: which are ended by the rules, and which are refused.

use mancala_rules::{AnyOptions, AnyPosition, EndReason, ParsePositionError, SEEDS_MAX, Variant};

fn import(preset: &str, overrides: &str, text: &str) -> Result<AnyPosition, ParsePositionError> {
    let options = AnyOptions::parse(Variant::Kalah, preset, overrides).unwrap();
    AnyPosition::parse(&options, text)
}

/// Imports `text` and expects it to come back as `expected`, ended for `reason`.
#[track_caller]
fn check(preset: &str, overrides: &str, text: &str, expected: &str, reason: Option<EndReason>) {
    let position = import(preset, overrides, text).unwrap();
    assert_eq!(position.to_string(), expected);
    assert_eq!(position.outcome().and_then(|outcome| outcome.reason), reason);
    assert_eq!(position.legal_moves().is_empty(), position.outcome().is_some());
}

#[track_caller]
fn refuse(preset: &str, overrides: &str, text: &str, expected: ParsePositionError) {
    assert_eq!(import(preset, overrides, text), Err(expected));
}

#[test]
fn an_empty_row_is_the_end_and_the_rest_is_swept() {
    let text = "0,0,0,0,0,0/0,2,0,0,3,0 21-22 S - 7 1S";
    let swept = "0,0,0,0,0,0/0,0,0,0,0,0 21-27 S o 7 1S";
    check("standard", "", text, swept, Some(EndReason::SideEmpty));
    check("bga", "", text, swept, Some(EndReason::NoMove));
}

#[test]
fn the_side_whose_row_is_empty_need_not_be_the_side_to_move() {
    let text = "0,0,0,0,0,0/0,2,0,0,3,0 21-22 N - 7 1S";
    check("standard", "", text, "0,0,0,0,0,0/0,0,0,0,0,0 21-27 N o 7 1S", Some(EndReason::SideEmpty));
    check("bga", "", text, text, None);
}

#[test]
fn seeds_left_go_where_the_options_say() {
    let text = "0,0,0,0,0,0/0,2,0,0,3,0 21-22 N - 7 1S";
    let side_empty = Some(EndReason::SideEmpty);
    check("standard", "remaining=emptier", text, "0,0,0,0,0,0/0,0,0,0,0,0 26-22 N o 7 1S", side_empty);
    check("standard", "remaining=discard", text, "0,0,0,0,0,0/0,2,0,0,3,0 21-22 N o 7 1S", side_empty);
    let stuck = "0,2,0,0,3,0/0,0,0,0,0,0 21-22 N - 7 1S";
    let no_move = Some(EndReason::NoMove);
    check("bga", "remaining=emptier", stuck, "0,0,0,0,0,0/0,0,0,0,0,0 21-27 N o 7 1S", no_move);
    check("bga", "remaining=discard", stuck, "0,2,0,0,3,0/0,0,0,0,0,0 21-22 N o 7 1S", no_move);
}

#[test]
fn a_board_without_seeds_in_pits_is_over() {
    let text = "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N - 7 1S";
    let over = "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N o 7 1S";
    for (preset, overrides, reason) in [
        ("standard", "", EndReason::SideEmpty),
        ("standard", "remaining=emptier", EndReason::SideEmpty),
        ("standard", "remaining=discard", EndReason::SideEmpty),
        ("bga", "", EndReason::NoMove),
    ] {
        check(preset, overrides, text, over, Some(reason));
    }
}

#[test]
fn a_majority_comes_before_an_empty_row() {
    let text = "0,0,0,0,0,0/0,0,0,0,0,3 25-20 N - 7 1S";
    let majority = Some(EndReason::Majority);
    check("bga", "", text, "0,0,0,0,0,0/0,0,0,0,0,3 25-20 N o 7 1S", majority);
    check("standard", "majority_end=true", text, "0,0,0,0,0,0/0,0,0,0,0,3 25-20 N o 7 1S", majority);
    let sweeping = "majority_end=true;majority_remaining=sweep";
    check("standard", sweeping, text, "0,0,0,0,0,0/0,0,0,0,0,0 25-23 N o 7 1S", majority);
    let all_ways = "majority_end=true;majority_remaining=sweep;remaining=emptier";
    check("standard", all_ways, text, "0,0,0,0,0,0/0,0,0,0,0,0 25-23 N o 7 1S", majority);
}

#[test]
fn either_side_may_have_the_majority_and_half_is_not_enough() {
    let text = "1,0,0,0,0,0/0,0,0,0,0,1 21-25 S - 7 1S";
    check("bga", "", text, "1,0,0,0,0,0/0,0,0,0,0,1 21-25 S o 7 1S", Some(EndReason::Majority));
    let half = "1,0,0,0,0,0/0,0,0,0,0,1 22-24 S - 7 1S";
    check("bga", "", half, half, None);
}

#[test]
fn an_optional_extra_move_that_cannot_be_made_lapses() {
    let text = "0,0,0,0,0,0/0,2,0,0,3,0 21-22 S e 7 1S";
    let optional = "extra_turn=optional;end=no_move";
    check("standard", optional, text, "0,0,0,0,0,0/0,2,0,0,3,0 21-22 N - 7 1S", None);
    check("standard", "end=no_move", text, "0,0,0,0,0,0/0,0,0,0,0,0 21-27 S o 7 1S", Some(EndReason::NoMove));
    let bare = "0,0,0,0,0,0/0,0,0,0,0,0 24-24 S e 7 1S";
    check("standard", optional, bare, "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N o 7 1S", Some(EndReason::NoMove));
}

#[test]
fn the_end_clears_the_flags_of_a_running_game_and_keeps_the_seats() {
    let pie = "0,0,0,0,0,0/4,4,4,4,4,4 24-0 S ep 7 1S";
    check("standard", "pie=true", pie, "0,0,0,0,0,0/0,0,0,0,0,0 24-24 S o 7 1S", Some(EndReason::SideEmpty));
    let swapped = "0,0,0,0,0,0/4,4,4,4,4,4 24-0 S ew 7 1S";
    check("standard", "pie=true", swapped, "0,0,0,0,0,0/0,0,0,0,0,0 24-24 S wo 7 1S", Some(EndReason::SideEmpty));
}

#[test]
fn a_right_to_swap_does_not_keep_a_game_going() {
    let text = "4,4,4,4,4,4/0,0,0,0,0,0 0-24 N p 7 1S";
    check("bga", "pie=true", text, "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N o 7 1S", Some(EndReason::NoMove));
}

#[test]
fn a_finished_position_stays_as_it_is_and_has_no_reason() {
    for text in [
        "4,4,4,4,4,4/4,4,4,4,4,4 0-0 N o 0 1S",
        "0,0,0,0,0,0/0,2,0,0,3,0 21-22 S o 7 1S",
        "1,0,0,0,0,0/0,0,0,0,0,1 21-25 S wo 7 1S",
    ] {
        let position = import("bga", "pie=true", text).unwrap();
        assert_eq!(position.to_string(), text);
        let outcome = position.outcome().unwrap();
        assert_eq!(outcome.reason, None);
        assert_eq!(outcome.score.south, position.board().store(mancala_rules::Side::South));
        assert!(position.legal_moves().is_empty());
        assert_eq!(position.play("A".parse().unwrap()).unwrap_err().reason(), "game_over");
    }
}

#[test]
fn a_text_of_another_form_is_refused() {
    use ParsePositionError::{Fields, FlagByOptions, Flags, Plies, Rows, SingleRound, Stores, Turn};
    let good = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S";
    assert!(import("standard", "", good).is_ok());
    for (part, other, error) in [
        (" 1S", "", Fields),
        ("1S", "1S ", Fields),
        (" S ", "  S ", Fields),
        ("4,4,0", " 4,4,0", Fields),
        (" 1-0", "\t1-0", Fields),
        ("/", ",", Rows),
        ("/", "//", Rows),
        ("4,4,0", "4,4,0,0", Rows),
        ("4,4,0,5,5,5", "", Rows),
        ("4,4,0", "4,,0", Rows),
        ("4,4,0", "4,4,00", Rows),
        ("4,4,0", "04,4,0", Rows),
        ("4,4,0", "+4,4,0", Rows),
        ("4,4,0", "-4,4,0", Rows),
        ("4,4,0", "4,4,X", Rows),
        ("4,4,0", "4,4,xx", Rows),
        ("4,4,0", "4,4,289", Rows),
        ("4,4,0", "4,4,65540", Rows),
        ("4,4,0", "4,4,4294967300", Rows),
        ("4,4,0", "4,4,٤", Rows),
        ("1-0", "1:0", Stores),
        ("1-0", "1-", Stores),
        ("1-0", "1--0", Stores),
        ("1-0", "1-0-0", Stores),
        ("1-0", "01-0", Stores),
        (" S ", " s ", Turn),
        (" S ", " W ", Turn),
        (" S ", " SN ", Turn),
        (" e ", " ee ", Flags),
        (" e ", " -e ", Flags),
        (" e ", " we ", Flags),
        (" e ", " E ", Flags),
        (" e ", " x ", FlagByOptions { flag: 'x' }),
        (" e 1 ", " e 01 ", Plies),
        (" e 1 ", " e -1 ", Plies),
        (" e 1 ", " e one ", Plies),
        (" e 1 ", " e 2147483648 ", Plies),
        (" e 1 ", " e 99999999999999999999 ", Plies),
        ("1S", "S", SingleRound),
        ("1S", "1", SingleRound),
        ("1S", "01S", SingleRound),
        ("1S", "0S", SingleRound),
        ("1S", "1X", SingleRound),
    ] {
        let text = good.replacen(part, other, 1);
        assert_ne!(text, good);
        assert_eq!(import("standard", "", &text), Err(error), "{text}");
    }
    assert_eq!(import("standard", "", ""), Err(Fields));
    let thirteen = "0,0,0,0,0,0,0,0,0,0,0,0,0";
    let text = format!("{thirteen}/{thirteen} 24-24 S - 0 1S");
    assert_eq!(import("standard", "", &text), Err(Rows));
}

#[test]
fn the_board_must_be_that_of_the_options() {
    let five = "4,4,4,4,4/4,4,4,4,4 4-4 S - 0 1S";
    refuse("standard", "", five, ParsePositionError::PitsPerSide { expected: 6 });
    let opening = "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S";
    refuse("standard", "seeds=5", opening, ParsePositionError::SeedTotal { expected: 60, found: 48 });
    let more = "5,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S";
    refuse("standard", "", more, ParsePositionError::SeedTotal { expected: 48, found: 49 });
    let finished = "0,0,0,0,0,0/0,0,0,0,0,0 24-23 S o 0 1S";
    refuse("standard", "", finished, ParsePositionError::SeedTotal { expected: 48, found: 47 });
}

#[test]
fn the_most_seeds_and_plies_are_taken() {
    let text = format!("0,0,0,0,0,0,0,0,0,0,0,1/{},1 286-0 S - 2147483647 1S", ["0"; 11].join(","));
    check("standard", "pits=12;seeds=12", &text, &text, None);
    let all = format!("{}/{} {SEEDS_MAX}-0 S o 0 1S", ["0"; 12].join(","), ["0"; 12].join(","));
    check("standard", "pits=12;seeds=12", &all, &all, None);
}

#[test]
fn plies_stop_counting_at_their_bound() {
    let position = import("standard", "", "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 2147483647 1S").unwrap();
    let (next, _) = position.play("A".parse().unwrap()).unwrap();
    assert_eq!(next.to_string(), "0,5,5,5,5,4/4,4,4,4,4,4 0-0 N - 2147483647 1S");
}

#[test]
fn there_is_one_round_and_south_opens_it() {
    let error = ParsePositionError::SingleRound;
    refuse("standard", "", "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 2S", error);
    refuse("standard", "", "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1N", error);
}

#[test]
fn a_flag_that_the_options_cannot_produce_is_refused() {
    let refused = |overrides: &str, flags: &str, flag| {
        let text = format!("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S {flags} 0 1S");
        refuse("standard", overrides, &text, ParsePositionError::FlagByOptions { flag });
    };
    refused("extra_turn=none", "e", 'e');
    refused("", "p", 'p');
    refused("", "w", 'w');
    refused("", "ew", 'w');
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    for (side, flags, flag) in
        [("S", "eo", 'e'), ("S", "po", 'p'), ("S", "pw", 'p'), ("N", "pw", 'p'), ("N", "ep", 'p'), ("S", "epwo", 'e')]
    {
        let text = format!("4,4,4,4,4,4/4,4,4,4,4,4 0-0 {side} {flags} 0 1S");
        refuse("standard", "pie=true", &text, ParsePositionError::FlagByPosition { flag });
    }
    for (side, flags) in [("S", "p"), ("N", "p"), ("S", "ep"), ("S", "ew"), ("N", "ew"), ("S", "w"), ("S", "-")] {
        let text = format!("4,4,4,4,4,4/4,4,4,4,4,4 0-0 {side} {flags} 0 1S");
        check("standard", "pie=true", &text, &text, None);
    }
}

#[test]
fn parsing_with_any_total_accepts_other_numbers_of_seeds() {
    let options = AnyOptions::parse(Variant::Kalah, "bga", "").unwrap();
    let few = "0,0,1,0,0,0/0,0,0,0,0,1 2-2 S - 0 1S";
    let position = AnyPosition::parse_with_any_total(&options, few).unwrap();
    assert_eq!(position.to_string(), few);
    let majority = "0,0,1,0,0,0/0,0,0,0,0,1 3-0 S - 0 1S";
    let position = AnyPosition::parse_with_any_total(&options, majority).unwrap();
    assert_eq!(position.outcome().unwrap().reason, Some(EndReason::Majority));
    let many = "288,0,1,0,0,0/0,0,0,0,0,1 2-2 S - 0 1S";
    let error = ParsePositionError::SeedTotal { expected: 48, found: 294 };
    assert_eq!(AnyPosition::parse_with_any_total(&options, many), Err(error));
}
