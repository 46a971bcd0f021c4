//! Rules of Oware by hand-made examples: grand slams, feeding, repetition and its history, agreed ends, made-up
//! positions.

use mancala_rules::{
    AnyBoard, AnyOptions, AnyPosition, EndReason, HISTORY_MAX, History, Move, OptionsError, ParsePositionError, Side,
    Variant, oware,
};

fn options(preset: &str, overrides: &str) -> AnyOptions {
    AnyOptions::parse(Variant::Oware, preset, overrides).unwrap()
}

fn import(preset: &str, overrides: &str, text: &str) -> AnyPosition {
    AnyPosition::parse(&options(preset, overrides), text).unwrap()
}

fn legal(position: &AnyPosition) -> String {
    position.legal_moves().iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
}

fn reason(position: &AnyPosition) -> Option<EndReason> {
    position.outcome().and_then(|outcome| outcome.reason)
}

#[track_caller]
fn play(position: &AnyPosition, moves: &str) -> AnyPosition {
    moves.split(' ').fold(position.clone(), |position, m| position.play(m.parse().unwrap()).unwrap().0)
}

/// Plays one move from `text` and expects the position `after`, ended for `reason`.
#[track_caller]
fn check(preset: &str, overrides: &str, text: &str, m: &str, after: &str, expected: Option<EndReason>) {
    let position = play(&import(preset, overrides, text), m);
    assert_eq!((position.to_string().as_str(), reason(&position)), (after, expected));
}

#[track_caller]
fn refuse(position: &AnyPosition, m: &str, reason: &str, sentence: &str) {
    let refused = position.play(m.parse().unwrap()).unwrap_err();
    assert_eq!((refused.reason(), refused.to_string().as_str()), (reason, sentence));
}

/// South's F would make a, b and c hold 2, 3 and 2, which is all that North has.
const SLAM: &str = "0,0,0,1,0,3/1,2,1,0,0,0 20-20 S - 30 1S";

#[test]
fn every_rule_on_grand_slams_does_what_it_says() {
    for (rule, after, reason) in [
        ("no_capture", "0,0,0,1,0,0/2,3,2,0,0,0 20-20 N - 31 1S", None),
        ("capture", "0,0,0,0,0,0/0,0,0,0,0,0 28-20 N o 31 1S", Some(EndReason::NoMove)),
        ("forfeit_rest", "0,0,0,0,0,0/0,0,0,0,0,0 27-21 S o 31 1S", Some(EndReason::GrandSlamForfeit)),
        ("leave_landing", "0,0,0,1,0,0/0,0,2,0,0,0 25-20 N - 31 1S", None),
        ("leave_first", "0,0,0,1,0,0/2,0,0,0,0,0 25-20 N - 31 1S", None),
    ] {
        // Without the rule on majorities, which comes before all of these but the forfeit.
        let overrides = format!("grand_slam={rule};majority_end=false");
        check("standard", &overrides, SLAM, "F", after, reason);
    }
    let left = "0,0,0,1,0,0/0,0,0,0,0,0 27-20 S o 31 1S";
    check("standard", "grand_slam=capture", SLAM, "F", left, Some(EndReason::Majority));
    let forfeited = "0,0,0,0,0,0/0,0,0,0,0,0 27-21 S o 31 1S";
    check("forfeit", "", SLAM, "F", forfeited, Some(EndReason::GrandSlamForfeit));
    for rule in ["illegal", "avoid"] {
        let position = import("standard", &format!("grand_slam={rule}"), SLAM);
        assert_eq!(legal(&position), "D");
        refuse(&position, "F", "grand_slam", "pit F would capture every seed of the other row");
    }
}

#[test]
fn a_slam_that_is_the_only_move_is_illegal_or_legal_by_option() {
    let text = "0,0,0,0,0,3/1,2,1,0,0,0 20-21 S - 30 1S";
    let illegal = import("wari", "", text);
    assert_eq!(illegal.to_string(), "0,0,0,0,0,0/0,0,0,0,0,0 23-25 S o 30 1S");
    assert_eq!(reason(&illegal), Some(EndReason::NoMove));
    let avoided = import("awari", "", text);
    assert_eq!(legal(&avoided), "F");
    assert_eq!(play(&avoided, "F").to_string(), "0,0,0,0,0,0/0,0,0,0,0,0 27-21 S o 31 1S");
}

#[test]
fn a_chain_that_leaves_a_seed_in_the_row_is_no_slam() {
    // d stays behind the last seed, and then a, before the chain.
    for (text, after) in [
        ("0,0,0,1,0,3/1,2,1,1,0,0 20-19 S - 30 1S", "0,0,0,1,0,0/0,0,0,1,0,0 27-19 S o 31 1S"),
        ("0,0,0,1,0,3/3,2,1,0,0,0 19-19 S - 30 1S", "0,0,0,1,0,0/4,0,0,0,0,0 24-19 N - 31 1S"),
    ] {
        for rule in oware::GrandSlam::WORDS {
            let position = play(&import("standard", &format!("grand_slam={rule}"), text), "F");
            assert_eq!(position.to_string(), after, "{rule}");
        }
    }
}

#[test]
fn a_slam_of_a_single_pit_captures_nothing_if_a_pit_is_left() {
    let text = "5,0,0,0,0,1/1,0,0,0,0,0 20-21 S - 0 1S";
    for rule in ["leave_landing", "leave_first", "no_capture"] {
        let (position, effects) =
            import("standard", &format!("grand_slam={rule}"), text).play("F".parse().unwrap()).unwrap();
        assert_eq!(position.to_string(), "5,0,0,0,0,0/2,0,0,0,0,0 20-21 N - 1 1S");
        assert_eq!(effects.len(), 2, "nothing is captured: {effects:?}");
    }
}

#[test]
fn an_empty_row_must_be_fed_if_it_can_be() {
    let text = "1,0,0,0,0,1/0,0,0,0,0,0 23-23 S - 0 1S";
    let position = import("standard", "", text);
    assert_eq!(legal(&position), "F");
    refuse(&position, "A", "must_feed", "the other row is empty, and pit A would not feed it");
    let free = import("standard", "must_feed=false", text);
    assert_eq!(legal(&free), "A F");
    let stuck = play(&free, "A");
    assert_eq!(stuck.to_string(), "0,0,0,0,0,0/0,0,0,0,0,0 25-23 N o 1 1S");
    assert_eq!(reason(&stuck), Some(EndReason::NoMove));
}

#[test]
fn feeding_is_judged_after_captures() {
    let text = "0,0,0,0,1,17/0,0,0,0,0,0 15-15 S - 0 1S";
    for (rule, expected) in [
        ("no_capture", "F"),
        ("leave_landing", "F"),
        ("leave_first", "F"),
        // F feeds nothing, because the slam takes its seeds, and E does not reach the other row.
        ("capture", ""),
        ("forfeit_rest", ""),
        ("illegal", ""),
        ("avoid", ""),
    ] {
        let position = import("standard", &format!("grand_slam={rule}"), text);
        assert_eq!(legal(&position), expected, "{rule}");
        let no_feeding_move = expected.is_empty().then_some(EndReason::NoFeedingMove);
        assert_eq!(reason(&position), no_feeding_move, "{rule}");
    }
}

#[test]
fn a_sowing_skips_its_origin_on_every_lap() {
    let text = "24,0,0,0,0,0/1,1,1,1,1,1 9-9 S - 0 1S";
    check("standard", "", text, "A", "0,3,3,2,2,2/3,3,3,3,3,3 9-9 N - 1 1S", None);
    let one = "3/1 0-0 S - 0 1S";
    let position = AnyPosition::parse_with_any_total(&options("standard", "pits=1"), one).unwrap();
    assert_eq!(play(&position, "A").to_string(), "0/4 0-0 N - 1 1S");
}

/// Two single seeds going round: 12 plies lead back to the start.
const CYCLE: &str = "1,0,0,0,0,0/1,0,0,0,0,0 23-23 S - 0 1S";
const ROUND: &str = "A a B b C c D d E e F f";

#[test]
fn the_kth_occurrence_ends_the_game_the_start_counting_as_the_first() {
    for times in 2..=5 {
        let mut position = import("standard", &format!("repetition={times}"), CYCLE);
        for round in 1..times {
            assert_eq!(position.outcome(), None);
            assert_eq!(position.history().unwrap().len(), 12 * (round - 1));
            position = play(&position, ROUND);
        }
        assert_eq!(reason(&position), Some(EndReason::Repetition));
        let plies = 12 * (times - 1);
        assert_eq!(position.to_string(), format!("0,0,0,0,0,0/0,0,0,0,0,0 24-24 S o {plies} 1S"));
        assert!(position.history().unwrap().is_empty());
    }
}

#[test]
fn the_history_of_a_position_is_restored_from_earlier_ones() {
    let start = import("standard", "", CYCLE);
    let options = start.options();
    let mut line = vec![start.clone()];
    for m in ROUND.split(' ').take(11) {
        line.push(play(line.last().unwrap(), m));
    }
    let texts: Vec<String> = line.iter().map(ToString::to_string).collect();
    let alone = AnyPosition::parse(&options, texts.last().unwrap()).unwrap();
    assert_ne!(Some(&alone), line.last());
    assert_eq!(play(&alone, "f").outcome(), None);
    let read = texts.iter().map(|text| AnyPosition::parse(&options, text).unwrap());
    let restored = read
        .reduce(|mut position, next| {
            position.follow(next);
            position
        })
        .unwrap();
    assert_eq!(Some(&restored), line.last());
    assert_eq!(reason(&play(&restored, "f")), Some(EndReason::Repetition));
    // Following it again changes nothing.
    let mut again = line[10].clone();
    again.follow(restored.clone());
    assert_eq!(again, restored);
}

#[test]
fn a_capture_begins_the_history_anew() {
    let start = import("standard", "", "1,0,0,0,0,2/1,1,4,0,0,0 20-19 S - 0 1S");
    let before = play(&start, "A c");
    assert_eq!(before.history().unwrap().len(), 2);
    let after = play(&before, "F");
    assert_eq!(after.to_string(), "1,1,0,0,0,0/0,0,0,1,1,1 24-19 N - 3 1S");
    assert!(after.history().unwrap().is_empty());
    assert_eq!(AnyPosition::parse(&after.options(), &after.to_string()), Ok(after.clone()));
    let AnyBoard::TwoRow(board) = after.board() else { panic!("{after} has two rows") };
    assert_eq!(play(&after, "d").history().unwrap().count(&board, after.turn()), 1);
}

#[test]
fn a_history_is_bounded() {
    let mut position = AnyPosition::opening(&options("standard", "pits=12;seeds=12;repetition=5"));
    for ply in 1..=HISTORY_MAX + 100 {
        position = without_capture(&position, ply);
        assert_eq!(position.history().map(History::len), Some(ply.min(HISTORY_MAX)));
    }
}

/// The position after a move that captures nothing, so that only the bound shortens the history.
fn without_capture(position: &AnyPosition, ply: usize) -> AnyPosition {
    let stores = |position: &AnyPosition| Side::ALL.map(|side| position.board().store(side));
    let moves = position.legal_moves();
    let tried = (0..moves.len()).map(|n| position.play(moves[(ply * ply + n) % moves.len()]).unwrap().0);
    tried.into_iter().find(|next| stores(next) == stores(position)).unwrap()
}

#[test]
fn a_repetition_can_be_split_and_an_odd_seed_stays() {
    // A single seed goes round: neither side gets it, and it stays in pit 0 of the side that moved last.
    let start = import("standard", "pits=1;seeds=2;repetition_award=split", "0/1 1-2 N - 0 1S");
    let after = play(&start, "a A");
    assert_eq!(reason(&after), Some(EndReason::Repetition));
    assert_eq!(after.to_string(), "1/0 1-2 N o 2 1S");
    assert!(after.history().unwrap().is_empty());
    let twice = play(&import("awari", "", CYCLE), &format!("{ROUND} {ROUND}"));
    assert_eq!(twice.to_string(), "0,0,0,0,0,0/0,0,0,0,0,0 24-24 S o 24 1S");
}

#[test]
fn players_who_agree_take_their_own_rows() {
    let text = "3,0,0,0,0,0/1,0,0,0,0,0 22-22 N - 8 1S";
    check("standard", "", text, "agree", "0,0,0,0,0,0/0,0,0,0,0,0 25-23 N o 9 1S", Some(EndReason::Agreement));
    assert_eq!(legal(&import("standard", "", text)), "a");
    let never = import("standard", "agree_end=false", text);
    refuse(&never, "agree", "no_agree", "this game cannot be ended by agreement");
    let kalah = AnyPosition::opening(&AnyOptions::parse(Variant::Kalah, "standard", "").unwrap());
    refuse(&kalah, "agree", "no_agree", "this game cannot be ended by agreement");
}

#[test]
fn other_illegal_moves_have_their_reasons() {
    let position = import("standard", "", "0,0,0,1,0,2/1,1,0,0,0,0 20-23 S - 0 1S");
    refuse(&position, "A", "empty_pit", "pit A is empty");
    refuse(&position, "a", "not_your_pit", "pit a is not on the side to move");
    refuse(&position, "G", "no_such_pit", "there is no pit G on this board");
    refuse(&position, "pass", "no_pass", "only an optional extra move can be passed");
    refuse(&position, "swap", "no_swap", "only North's first choice under the pie rule can be a swap");
    let over = import("standard", "", "0,0,0,0,0,0/0,0,0,0,0,0 24-24 S o 0 1S");
    for m in ["A", "agree", "pass"] {
        refuse(&over, m, "game_over", "the game is over");
    }
}

#[test]
fn a_made_up_position_is_ended_where_the_rules_end_it() {
    for (overrides, text, after, expected) in [
        ("", "1,0,0,0,0,0/0,0,0,0,0,1 21-25 S - 7 1S", "1,0,0,0,0,0/0,0,0,0,0,1 21-25 S o 7 1S", EndReason::Majority),
        (
            "majority_remaining=sweep",
            "1,0,0,0,0,0/0,0,0,0,0,1 21-25 S - 7 1S",
            "0,0,0,0,0,0/0,0,0,0,0,0 22-26 S o 7 1S",
            EndReason::Majority,
        ),
        ("", "0,0,0,0,0,0/4,0,0,0,0,0 22-22 S - 7 1S", "0,0,0,0,0,0/0,0,0,0,0,0 22-26 S o 7 1S", EndReason::NoMove),
        (
            "",
            "0,0,0,0,0,0/4,0,0,0,0,0 22-22 N - 7 1S",
            "0,0,0,0,0,0/0,0,0,0,0,0 22-26 N o 7 1S",
            EndReason::NoFeedingMove,
        ),
        ("", "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N - 7 1S", "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N o 7 1S", EndReason::NoMove),
    ] {
        let position = import("standard", overrides, text);
        assert_eq!((position.to_string().as_str(), reason(&position)), (after, Some(expected)));
    }
    let half = "1,0,0,0,0,0/0,0,0,0,0,1 22-24 S - 7 1S";
    assert_eq!(import("standard", "", half).to_string(), half);
    let finished = import("standard", "", "4,4,4,4,4,4/4,4,4,4,4,4 0-0 N o 0 1S");
    assert_eq!((reason(&finished), finished.outcome().is_some()), (None, true));
}

#[test]
fn an_opening_without_a_legal_move_is_over() {
    for rule in oware::GrandSlam::WORDS {
        let opening = AnyPosition::opening(&options("standard", &format!("pits=1;seeds=1;grand_slam={rule}")));
        assert_eq!(opening.outcome().is_none(), *rule != "illegal");
        assert_eq!(opening.outcome().is_some(), opening.legal_moves().is_empty());
    }
    let over = AnyPosition::opening(&options("wari", "pits=1;seeds=1"));
    assert_eq!((over.to_string().as_str(), reason(&over)), ("0/0 1-1 S o 0 1S", Some(EndReason::NoMove)));
}

#[test]
fn a_position_that_no_game_of_oware_has_is_refused() {
    let parse = |text: &str| AnyPosition::parse(&options("standard", ""), text).unwrap_err();
    for (flags, flag) in [("e", 'e'), ("p", 'p'), ("w", 'w'), ("wo", 'w')] {
        let text = format!("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S {flags} 0 1S");
        assert_eq!(parse(&text), ParsePositionError::FlagByOptions { flag });
    }
    assert_eq!(parse("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 2S"), ParsePositionError::SingleRound);
    assert_eq!(parse("4,4,4,4,4/4,4,4,4,4 4-4 S - 0 1S"), ParsePositionError::PitsPerSide { expected: 6 });
    let total = ParsePositionError::SeedTotal { expected: 48, found: 49 };
    assert_eq!(parse("4,4,4,4,4,4/4,4,4,4,4,4 0-1 S - 0 1S"), total);
}

#[test]
fn the_presets_differ_from_standard_as_documented() {
    let standard = concat!(
        "pits=6;seeds=4;grand_slam=no_capture;must_feed=true;majority_end=true;majority_remaining=leave;",
        "repetition=2;repetition_award=side_owner;agree_end=true",
    );
    for (preset, slam, repetition, award) in [
        ("standard", "no_capture", 2, "side_owner"),
        ("app", "capture", 3, "side_owner"),
        ("wari", "illegal", 3, "side_owner"),
        ("forfeit", "forfeit_rest", 2, "side_owner"),
        ("leave_landing", "leave_landing", 2, "side_owner"),
        ("leave_first", "leave_first", 2, "side_owner"),
        ("awari", "avoid", 3, "split"),
    ] {
        let values = options(preset, "").values();
        let written = values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";");
        let expected = standard
            .replace("no_capture", slam)
            .replace("repetition=2", &format!("repetition={repetition}"))
            .replace("side_owner", award);
        assert_eq!(written, expected);
    }
}

#[test]
fn the_options_have_their_bounds() {
    let refused = |preset: &str, overrides: &str| {
        let error = AnyOptions::parse(Variant::Oware, preset, overrides).unwrap_err();
        assert!(error.option().is_some());
        error
    };
    for overrides in ["repetition=1", "repetition=6", "pits=0", "pits=13", "seeds=0", "seeds=13"] {
        assert!(matches!(refused("standard", overrides), OptionsError::Value { .. }), "{overrides}");
    }
    for seeds in 1..=12 {
        let overrides = format!("seeds={seeds}");
        let allowed = AnyOptions::parse(Variant::Oware, "app", &overrides).is_ok();
        assert_eq!(allowed, (4..=6).contains(&seeds));
    }
    assert!(matches!(refused("standard", "pie=true"), OptionsError::UnknownOption { .. }));
    let sentence = "option `grand_slam` must be `no_capture`, `capture`, `illegal`, `avoid`, `forfeit_rest`, \
                    `leave_landing` or `leave_first`";
    assert_eq!(refused("standard", "grand_slam=always").to_string(), sentence);
}
