//! Moves, pits and words as text; which illegal move is refused for which reason.

use mancala_rules::{
    AnyOptions, AnyPosition, BySide, EndReason, Move, PITS_MAX, ParseMoveError, Pit, Place, Side, Variant,
};

#[test]
fn a_single_move_is_a_letter_or_a_word() {
    for (side, letters) in [(Side::South, "ABCDEFGHIJKLMNOP"), (Side::North, "abcdefghijklmnop")] {
        assert_eq!(letters.len(), PITS_MAX);
        for (index, letter) in (0..).zip(letters.chars()) {
            let pit = Pit { side, index };
            assert_eq!(letter.to_string().parse(), Ok(Move::Sow(pit)));
            assert_eq!(Move::Sow(pit).to_string(), letter.to_string());
            assert_eq!(Place::Pit(pit).to_string(), letter.to_string());
        }
    }
    assert_eq!("pass".parse(), Ok(Move::Pass));
    assert_eq!("swap".parse(), Ok(Move::Swap));
    assert_eq!(Move::Pass.to_string(), "pass");
    assert_eq!(Move::Swap.to_string(), "swap");
    assert_eq!("agree".parse(), Ok(Move::Agree));
    assert_eq!(Move::Agree.to_string(), "agree");
}

#[test]
fn any_other_text_is_refused_as_a_move() {
    for text in
        ["", "Q", "q", "Z", "AA", " A", "A ", "1", "-", "><", "=", "agreed", "Pass", "SWAP", "Ａ", "É", "🙂", "\0"]
    {
        assert_eq!(text.parse::<Move>(), Err(ParseMoveError::Any), "{text:?}");
    }
}

#[test]
fn a_text_that_is_no_move_of_a_game_is_told_which_words_the_game_has() {
    for variant in Variant::ALL {
        let opening = AnyPosition::opening(&AnyOptions::parse(variant, "standard", "").unwrap());
        let has_four_rows = variant.rows_per_side() == 2;
        let no_moves = if has_four_rows { ["Q", "C~", "Cu"] } else { ["M", "CU", "C7"] };
        for text in no_moves {
            let said = opening.read_move(text).unwrap_err().to_string();
            let words = ["A to P", "U or V", "A to L", "~", "`swap`"].map(|words| said.contains(words));
            assert_eq!(words, [has_four_rows, has_four_rows, !has_four_rows, !has_four_rows, !has_four_rows], "{said}");
        }
    }
}

#[test]
fn a_pit_that_no_board_has_is_shown_and_refused() {
    let nowhere = Pit { side: Side::North, index: u8::MAX };
    assert_eq!(nowhere.to_string(), "?");
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").unwrap();
    let opening = AnyPosition::opening(&options);
    assert_eq!(opening.board().seeds(nowhere), 0);
    assert_eq!(opening.play(Move::Sow(nowhere)).unwrap_err().reason(), "no_such_pit");
}

#[test]
fn places_and_sides_have_their_words() {
    assert_eq!(Side::ALL.map(|side| Place::Store(side).to_string()), ["south_store", "north_store"]);
    assert_eq!(Side::ALL.map(|side| side.to_string()), ["south", "north"]);
    assert_eq!(Side::ALL.map(Side::letter), ['S', 'N']);
    assert_eq!(Side::ALL.map(|side| !side), [Side::North, Side::South]);
    assert_eq!("north".parse(), Ok(Side::North));
    assert_eq!("North".parse::<Side>().unwrap_err().to_string(), "expected `south` or `north`");
    let reasons = "side_empty no_move no_feeding_move majority repetition agreement grand_slam_forfeit \
                   front_empty two_heads akakyala endless_move ply_limit";
    assert_eq!(EndReason::WORDS.join(" "), reasons);
    for reason in EndReason::ALL {
        assert_eq!(reason.to_string().parse(), Ok(reason));
    }
    let mut pair = BySide { south: 1, north: 2 }.map(|value| value * 10);
    pair[Side::North] += 1;
    assert_eq!((pair[Side::South], pair[Side::North]), (10, 21));
}

#[test]
fn an_illegal_move_is_refused_with_its_reason() {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "pie=true").unwrap();
    let opening = AnyPosition::opening(&options);
    let (position, _) = opening.play("C".parse().unwrap()).unwrap();
    for (m, reason, sentence) in [
        ("C", "empty_pit", "pit C is empty"),
        ("c", "not_your_pit", "pit c is not on the side to move"),
        ("G", "no_such_pit", "there is no pit G on this board"),
        ("l", "no_such_pit", "there is no pit l on this board"),
        ("pass", "no_pass", "only an optional extra move can be passed"),
        ("swap", "no_swap", "only North's first choice under the pie rule can be a swap"),
    ] {
        let refused = position.play(m.parse().unwrap()).unwrap_err();
        assert_eq!(refused.reason(), reason);
        assert_eq!(refused.to_string(), sentence);
    }
}

/// Plays a line of letters, `-` for pass and `x` for swap, from the opening.
fn play(preset: &str, overrides: &str, line: &str) -> AnyPosition {
    let options = AnyOptions::parse(Variant::Kalah, preset, overrides).unwrap();
    let mut position = AnyPosition::opening(&options);
    for letter in line.chars() {
        let m = match letter {
            '-' => Move::Pass,
            'x' => Move::Swap,
            letter => letter.to_string().parse().unwrap(),
        };
        position = position.play(m).unwrap().0;
    }
    position
}

#[test]
fn a_pass_is_legal_on_an_optional_extra_move_only() {
    let list = |position: AnyPosition| position.legal_moves().iter().map(Move::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!(list(play("manual", "", "")), "A B C D E F");
    assert_eq!(list(play("manual", "", "C")), "A B D E F pass");
    assert_eq!(list(play("manual", "", "C-")), "a b c d e f");
    assert_eq!(play("manual", "", "C-").to_string(), "4,4,0,5,5,5/4,4,4,4,4,4 1-0 N - 2 1S");
    assert_eq!(list(play("standard", "", "C")), "A B D E F");
    assert_eq!(list(play("standard", "extra_turn=none", "C")), "a b c d e f");
}

#[test]
fn a_swap_is_legal_only_at_norths_first_choice() {
    let swap = |position: &AnyPosition| position.legal_moves().contains(&Move::Swap);
    assert!(!swap(&play("bga", "pie=true", "")));
    assert!(!swap(&play("bga", "pie=true", "C")));
    assert!(swap(&play("bga", "pie=true", "CA")));
    assert!(!swap(&play("bga", "", "CA")));
    let swapped = play("bga", "pie=true", "CAx");
    assert!(!swap(&swapped) && swapped.swapped());
    assert_eq!(swapped.to_string(), "0,5,1,6,6,5/4,4,4,4,4,4 1-0 N w 3 1S");
    let declined = play("bga", "pie=true", "CAc");
    assert_eq!(declined.to_string(), "0,5,1,6,6,5/4,4,0,5,5,5 1-1 N e 3 1S");
    assert!(!swap(&declined) && !declined.swapped());
    let passed = play("standard", "pie=true;extra_turn=optional", "C-");
    assert_eq!(passed.to_string(), "4,4,0,5,5,5/4,4,4,4,4,4 1-0 N p 2 1S");
    assert!(swap(&passed));
}

#[test]
fn a_pass_can_end_the_game_of_a_side_without_seeds() {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "extra_turn=optional;end=no_move").unwrap();
    let position = AnyPosition::parse(&options, "1,0,0,0,0,0/0,0,0,0,0,0 24-23 S e 9 1S").unwrap();
    let (after, effects) = position.play(Move::Pass).unwrap();
    assert_eq!(after.to_string(), "0,0,0,0,0,0/0,0,0,0,0,0 25-23 N o 10 1S");
    assert_eq!(after.outcome().unwrap().reason, Some(EndReason::NoMove));
    assert_eq!(effects.len(), 3, "{effects:?}");
}
