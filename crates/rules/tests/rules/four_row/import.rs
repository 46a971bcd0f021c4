//! Position texts that no game has, words of another form, and options that exclude each other.

use mancala_rules::{
    AnyOptions, AnyPosition, EndReason, Move, ParseMoveError, ParsePositionError, SEEDS_WRITTEN_MAX, Variant,
    four_row::required,
};

const BAO: &str = "0,0,0,0,6n,2,2,0,0,0,0,0,0,0,0,0/0,0,0,0,6n,2,2,0,0,0,0,0,0,0,0,0 22-22 S - 0 1S";
const OMWESO: &str = "0,0,0,0,0,0,0,0,4,4,4,4,4,4,4,4/0,0,0,0,0,0,0,0,4,4,4,4,4,4,4,4 0-0 S - 0 1S";
const ARRANGING: &str = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 32-32 S sA 0 1S";

fn options(variant: Variant, preset: &str, overrides: &str) -> AnyOptions {
    AnyOptions::parse(variant, preset, overrides).unwrap()
}

/// The reader's answer to a text in which one part is replaced by another.
#[track_caller]
fn refusal(options: &AnyOptions, text: &str, part: &str, with: &str) -> ParsePositionError {
    assert!(text.contains(part), "{text} has {part}");
    AnyPosition::parse(options, text).expect("the text is right");
    AnyPosition::parse(options, &text.replacen(part, with, 1)).expect_err(with)
}

#[test]
fn a_text_of_another_form_is_no_position_of_four_rows() {
    let bao = options(Variant::Bao, "standard", "");
    let cases = [
        (" 1S", "", ParsePositionError::Fields),
        (" 1S", " 1S ", ParsePositionError::Fields),
        (" 0 1S", "  0 1S", ParsePositionError::Fields),
        ("/", ",", ParsePositionError::Rule(required::PITS)),
        ("0,0,0,0,6n", "0,0,0,6n", ParsePositionError::Rule(required::HOUSE)),
        ("2,2,0,0", "2,2,0", ParsePositionError::Rule(required::PITS)),
        ("2,2,0,0", "2,2,0,0,0", ParsePositionError::Rule(required::PITS)),
        ("2,2", "02,2", ParsePositionError::Rule(required::PITS)),
        ("2,2", "+2,2", ParsePositionError::Rule(required::PITS)),
        ("2,2", "2,", ParsePositionError::Rule(required::PITS)),
        ("2,2", "65,2", ParsePositionError::Rule(required::PITS)),
        ("2,2", "99999999999999999999,2", ParsePositionError::Rule(required::PITS)),
        ("6n", "6tn", ParsePositionError::Rule(required::PITS)),
        ("6n", "6nn", ParsePositionError::Rule(required::PITS)),
        ("22-22", "22", ParsePositionError::Rule(required::RESERVES)),
        ("22-22", "22-22-0", ParsePositionError::Rule(required::RESERVES)),
        ("22-22", "-22-22", ParsePositionError::Rule(required::RESERVES)),
        (" S ", " s ", ParsePositionError::Turn),
        (" - ", "  ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " -o ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " o ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " oD ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " oSK ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " kK ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " eeU ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " eEv ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " eE07 ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " sQ ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " sa ", ParsePositionError::Rule(required::FLAGS)),
        (" - ", " p ", ParsePositionError::Rule(required::FLAGS)),
        (" 0 1S", " 00 1S", ParsePositionError::Plies),
        (" 0 1S", " 2147483648 1S", ParsePositionError::Plies),
        ("1S", "1N", ParsePositionError::SingleRound),
        ("1S", "2S", ParsePositionError::SingleRound),
    ];
    for (part, with, expected) in cases {
        assert_eq!(refusal(&bao, BAO, part, with), expected, "{with}");
    }
    assert!(AnyPosition::parse(&bao, "").is_err());
}

#[test]
fn seeds_that_no_game_of_four_rows_has_are_refused() {
    let bao = options(Variant::Bao, "standard", "");
    assert_eq!(refusal(&bao, BAO, "2,2", "3,2"), ParsePositionError::SeedTotal { expected: 64, found: 65 });
    assert_eq!(refusal(&bao, BAO, "2,2", "1,2"), ParsePositionError::SeedTotal { expected: 64, found: 63 });
    let more = BAO.replacen("22-22", "23-22", 1).replacen("2,2", "1,2", 1);
    assert_eq!(AnyPosition::parse(&bao, &more), Err(ParsePositionError::Reserve { max: 22 }));
    assert!(
        AnyPosition::parse(&bao, &more.replace(" - ", " oS ")).is_ok(),
        "a finished game may have a bigger reserve"
    );
    let eight = options(Variant::Bao, "malawi", "");
    assert_eq!(AnyPosition::parse(&eight, BAO), Err(ParsePositionError::Reserve { max: 20 }));
    let omweso = options(Variant::Omweso, "standard", "");
    let reserve = OMWESO.replacen("4,", "3,", 1).replace(" 0-0 ", " 1-0 ");
    assert_eq!(AnyPosition::parse(&omweso, &reserve), Err(ParsePositionError::Reserve { max: 0 }));
    assert_eq!(
        refusal(&omweso, OMWESO, " - ", " eI5 "),
        ParsePositionError::SeedTotal { expected: 64, found: 69 },
        "the hand counts"
    );
}

#[test]
fn a_house_is_only_at_its_place_and_in_its_game() {
    let bao = options(Variant::Bao, "standard", "");
    assert_eq!(refusal(&bao, BAO, "2,2", "2n,2"), ParsePositionError::Rule(required::HOUSE));
    assert_eq!(refusal(&bao, BAO, "0,0,0,0,6n", "0n,0,0,0,6"), ParsePositionError::Rule(required::HOUSE));
    let full = "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2/2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2 0-0 S - 0 1S";
    let kujifunza = options(Variant::Bao, "kujifunza", "");
    assert_eq!(refusal(&kujifunza, full, "2,2,2,2,2", "2,2,2,2,2n"), ParsePositionError::Rule(required::HOUSE));
    let omweso = options(Variant::Omweso, "standard", "");
    assert_eq!(refusal(&omweso, OMWESO, "0,0,0,0,0", "0,0,0,0,0n"), ParsePositionError::Rule(required::HOUSE));
    assert_eq!(refusal(&omweso, OMWESO, "4,4", "4t,4"), ParsePositionError::Rule(required::BLOCKED));
}

#[test]
fn a_blocked_pit_is_only_where_takasia_can_block() {
    let text = "0,2,0,1,1,0,0,0,0,0,0,20,0,0,0,0/2,0,0,0,5nt,0,0,0,0,0,0,33,0,0,0,0 0-0 N - 1 1S";
    let block = options(Variant::Bao, "standard", "");
    let unmarked = text.replace("5nt", "5n");
    let cases = [
        text.replacen("2,0,0,0,5nt", "2t,0,0,0,5nt", 1),    // two marks
        unmarked.replacen("0,2,0,1", "0,2t,0,1", 1),        // on the row of the side that does not move
        unmarked.replacen("33,", "33t,", 1),                // in a back row
        unmarked.replacen("2,0,0,0,5n", "2,0t,0,0,5n", 1),  // in an empty pit
        text.replace(" N ", " S "),                         // on the row of the side that does not move
        text.replace("33,", "32,").replace(" 0-0", " 1-0"), // in the first stage
        text.replace(" - ", " oS "),                        // finished
        text.replace("5nt", "6nt").replace("33,", "32,").replace("1,1,", "2,0,").replace(" - ", " eev "), // at a choice
    ];
    assert!(AnyPosition::parse(&block, text).is_ok());
    for text in cases {
        assert_eq!(AnyPosition::parse(&block, &text), Err(ParsePositionError::Rule(required::BLOCKED)), "{text}");
    }
    let of_other_row = text.replace(" N ", " S ");
    assert!(AnyPosition::parse(&options(Variant::Bao, "standard", "takasia=take"), &of_other_row).is_ok());
    let off = options(Variant::Bao, "standard", "takasia=off");
    assert_eq!(AnyPosition::parse(&off, text), Err(ParsePositionError::Rule(required::BLOCKED)));
}

#[test]
fn a_choice_at_a_house_that_cannot_be_is_refused() {
    let bao = options(Variant::Bao, "standard", "");
    let text = "2,1,1,1,7n,0,0,0,0,0,0,15,0,0,0,0/1,0,0,0,0,0,0,0,0,0,0,16,0,0,0,1 10-9 S eEU 0 1S";
    let cases = [
        ("eEU", "eE"),
        ("eEU", "eDU"),
        ("eEU", "eE7"),
        ("eEU", "eE7U"),
        ("7n", "7"),
        ("2,1,1,1,7n", "4,1,1,1,5n"),
        ("1,0,0,0,0", "0,0,0,1,0"),
    ];
    for (part, with) in cases {
        assert_eq!(refusal(&bao, text, part, with), ParsePositionError::Rule(required::CHOICE), "{with}");
    }
    for (with, flag) in [("sA", 's'), ("eEUc", 'c'), ("eEUx", 'x'), ("eEUy", 'y'), ("K", 'K'), ("eEUk", 'k')] {
        assert_eq!(refusal(&bao, text, "eEU", with), ParsePositionError::FlagByOptions { flag }, "{with}");
    }
    let legal = |text: &str| {
        AnyPosition::parse(&bao, text).unwrap().legal_moves().iter().map(Move::to_string).collect::<Vec<_>>()
    };
    assert_eq!(legal(text), ["EU", "pass"]);
    assert_eq!(legal(&text.replace("eEU", "eEV")), ["EV", "pass"]);
}

#[test]
fn a_choice_in_the_hand_that_cannot_be_is_refused() {
    let full = options(Variant::Omweso, "standard", "");
    // Two seeds from G downward end at E, which faces d with m behind it.
    let text = "0,0,0,0,1,0,0,0,0,0,0,0,20,0,0,0/2,0,0,1,0,0,0,0,0,0,33,0,1,4,0,0 0-0 S eG2 0 1S";
    let cases = [
        ("eG2", "eG1", ParsePositionError::SeedTotal { expected: 64, found: 63 }),
        ("eG2", "eF2", ParsePositionError::Rule(required::CHOICE)),
        ("eG2", "eH2", ParsePositionError::Rule(required::CHOICE)),
        ("eG2", "eG2V", ParsePositionError::Rule(required::CHOICE)),
        ("eG2", "eg2", ParsePositionError::Rule(required::FLAGS)),
        ("eG2", "eG2xy", ParsePositionError::Rule(required::CHOICE)),
        ("eG2", "eG2c", ParsePositionError::FlagByOptions { flag: 'c' }),
        ("eG2", "eG2K", ParsePositionError::FlagByOptions { flag: 'K' }),
        ("eG2", "sAeG2", ParsePositionError::Rule(required::ARRANGING)),
        ("eG2", "x", ParsePositionError::SeedTotal { expected: 64, found: 62 }),
    ];
    for (part, with, expected) in cases {
        assert_eq!(refusal(&full, text, part, with), expected, "{with}");
    }
    for reverse in ["none", "start"] {
        let other = options(Variant::Omweso, "standard", &format!("reverse={reverse}"));
        assert_eq!(AnyPosition::parse(&other, text), Err(ParsePositionError::Rule(required::CHOICE)));
    }
    let simple = options(Variant::Omweso, "standard", "two_heads=false");
    assert_eq!(refusal(&simple, text, "eG2", "eG2x"), ParsePositionError::FlagByOptions { flag: 'x' });
    let akakyala = options(Variant::Omweso, "standard", "akakyala=true");
    for with in ["eG2", "eG2K", "eG2c", "eG2ck", "eG2xK"] {
        let text = text.replace("eG2", with);
        assert_eq!(AnyPosition::parse(&akakyala, &text), Err(ParsePositionError::Rule(required::CHOICE)), "{with}");
    }
    assert!(AnyPosition::parse(&akakyala, &text.replace("eG2", "eG2cxK")).is_ok());
    assert_eq!(refusal(&full, OMWESO, " - ", " x "), ParsePositionError::Rule(required::CHOICE));
}

#[test]
fn a_choice_in_a_pit_that_cannot_be_is_refused() {
    let full = options(Variant::Omweso, "standard", "");
    // Two seeds from H downward end at F, which faces c with n behind it.
    let text = "0,0,0,0,0,1,0,2,0,0,0,0,20,0,0,0/2,0,1,0,0,0,0,0,0,0,33,0,1,4,0,0 0-0 S eH 0 1S";
    let cases = [
        ("1,4,0,0 ", "5,0,0,0 "), // n is empty: nothing is captured downward
        ("eH", "eI"),             // I is empty
        ("eH", "eF"),             // F is no reverse pit
        ("1,0,2", "2,0,1"),       // a single seed is no relay
        ("4,0,0 ", "3,0,1 "),     // a and p hold seeds: a capture at H comes before a relay
        ("eH", "eHxy"),
        ("eH", "eHV"),
    ];
    for (part, with) in cases {
        assert_eq!(refusal(&full, text, part, with), ParsePositionError::Rule(required::CHOICE), "{with}");
    }
}

#[test]
fn an_arrangement_that_cannot_be_is_refused() {
    let arrange = options(Variant::Omweso, "arrange", "");
    let refused = |text: &str| AnyPosition::parse(&arrange, text) == Err(ParsePositionError::Rule(required::ARRANGING));
    assert!(AnyPosition::parse(&arrange, ARRANGING).is_ok());
    for with in ["sP", "sAx", "sAeG"] {
        assert!(refused(&ARRANGING.replace("sA", with)), "{with}");
    }
    let some = ARRANGING.replacen("0,0", "0,5", 1).replace("32-32", "27-32");
    assert!(refused(&some.replace("sA", "sB")), "the next pit holds seeds");
    assert!(AnyPosition::parse(&arrange, &some.replace("sA", "sC")).is_ok());
    assert!(refused(&ARRANGING.replacen("0,0", "32,0", 1).replace("32-32 S sA", "0-32 S sB")), "nothing is left");
    assert!(refused(&ARRANGING.replacen("/0", "/1", 1).replace("32-32", "32-31")), "North does not arrange yet");
    assert!(refused(&ARRANGING.replace("S sA", "N sa")), "South has not arranged yet");
    let standard = options(Variant::Omweso, "standard", "");
    assert_eq!(AnyPosition::parse(&standard, ARRANGING), Err(ParsePositionError::Reserve { max: 0 }));
}

#[test]
fn flags_of_first_turns_stand_alone_and_the_mover_has_its_own() {
    let even = "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2/2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2 0-0 S Ff 0 1S";
    let quiet = options(Variant::Omweso, "tournament", "setup=even;first_turn_captures=false");
    assert_eq!(AnyPosition::opening(&quiet).to_string(), even);
    for with in ["S F", "N Ff", "N f"] {
        assert!(AnyPosition::parse(&quiet, &even.replace("S Ff", with)).is_ok(), "{with}");
    }
    for with in ["S f", "N F", "S KFf", "S kF", "S xFf"] {
        let read = AnyPosition::parse(&quiet, &even.replace("S Ff", with));
        assert!(
            matches!(
                read,
                Err(ParsePositionError::Rule(required::FIRST_TURN) | ParsePositionError::FlagByOptions { .. })
            ),
            "{with}"
        );
    }
    assert_eq!(AnyPosition::parse(&quiet, &even.replace("Ff", "fF")), Err(ParsePositionError::Rule(required::FLAGS)));
    for (variant, flag) in [(Variant::Omweso, 'F'), (Variant::Bao, 'F')] {
        let text = if variant == Variant::Bao { BAO.replace(" - ", " Ff ") } else { even.to_owned() };
        let refused = AnyPosition::parse(&options(variant, "standard", ""), &text);
        assert_eq!(refused, Err(ParsePositionError::FlagByOptions { flag }));
    }
}

#[test]
fn a_position_of_four_rows_that_is_over_comes_back_ended() {
    let read = |options: &AnyOptions, text: &str| {
        let position = AnyPosition::parse(options, text).unwrap();
        let flags = position.to_string().split(' ').nth(3).unwrap().to_owned();
        (flags, position.outcome().and_then(|outcome| outcome.reason))
    };
    let bao = options(Variant::Bao, "standard", "");
    let empty = "0,0,0,0,0,0,0,0,4,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,60,0,0,0,0,0,0,0 0-0 N - 7 1S";
    let front_empty = Some(EndReason::FrontEmpty);
    assert_eq!(read(&bao, empty), ("oS".to_owned(), front_empty), "the side to move is looked at first");
    assert_eq!(read(&bao, &empty.replacen("/0", "/1", 1).replacen("60", "59", 1)), ("oN".to_owned(), front_empty));
    assert_eq!(read(&bao, &empty.replacen("0,", "1,", 1).replacen("60", "59", 1)), ("oS".to_owned(), front_empty));
    let stuck = "1,1,0,0,0,0,0,0,1,0,0,0,0,0,0,0/1,0,0,0,0,0,0,0,60,0,0,0,0,0,0,0 0-0 S - 7 1S";
    assert_eq!(read(&bao, stuck), ("oN".to_owned(), Some(EndReason::NoMove)));
    assert_eq!(read(&bao, &BAO.replace(" 0 1S", " 1000 1S")), ("od".to_owned(), Some(EndReason::PlyLimit)));
    assert_eq!(read(&bao, &BAO.replace(" - ", " od ")), ("od".to_owned(), None));
    let omweso = options(Variant::Omweso, "standard", "");
    assert_eq!(read(&omweso, stuck), ("oN".to_owned(), Some(EndReason::NoMove)));
    let choice = "0,0,0,0,1,0,0,0,0,0,0,0,20,0,0,0/2,0,0,1,0,0,0,0,0,0,33,0,1,4,0,0 0-0 S eG2 1000 1S";
    let ended = AnyPosition::parse(&omweso, choice).unwrap();
    assert!(ended.to_string().ends_with(" 2-0 S od 1000 1S"), "{ended}");
}

#[test]
fn words_of_another_form_are_no_moves_of_four_rows() {
    let words = [
        "", "Q", "q", "U", "CW", "c0U", "Cu", "cU", "CUU", "C-", "C+1", "C01", "C100", "C 1", " C", "C ", "PASS", "é",
        "Cé", "7C", "CC",
    ];
    let bao = AnyPosition::opening(&options(Variant::Bao, "standard", ""));
    for word in words {
        assert_eq!(bao.read_move(word), Err(ParseMoveError::TwoRows), "{word:?}");
    }
    let last = format!("p{SEEDS_WRITTEN_MAX}");
    for word in ["A", "p", "PV", "pv", "C0", &last, "pass", "swap", "agree"] {
        assert_eq!(word.parse::<Move>().unwrap().to_string(), word);
    }
}

#[test]
fn words_of_the_other_game_are_refused() {
    let refused = |options: &AnyOptions, text: &str, word: &str| {
        let position = AnyPosition::parse(options, text).unwrap();
        position.play(word.parse().unwrap()).map_err(|illegal| illegal.reason()).map(|_| ())
    };
    let bao = options(Variant::Bao, "standard", "");
    for word in ["F", "F2", "E", "A0"] {
        assert_eq!(refused(&bao, BAO, word), Err("wrong_form"), "{word}");
    }
    let omweso = options(Variant::Omweso, "standard", "");
    for word in ["IU", "I2", "A0"] {
        assert_eq!(refused(&omweso, OMWESO, word), Err("wrong_form"), "a number or U while playing: {word}");
    }
    let arrange = options(Variant::Omweso, "arrange", "");
    let cases = [
        ("A", "wrong_form"),
        ("AV", "wrong_form"),
        ("AU", "wrong_form"),
        ("B1", "out_of_order"),
        ("B99", "out_of_order"),
        ("A33", "too_many"),
        ("a1", "not_your_pit"),
        ("pass", "no_pass"),
        ("swap", "no_swap"),
        ("agree", "no_agree"),
    ];
    for (word, reason) in cases {
        assert_eq!(refused(&arrange, ARRANGING, word), Err(reason), "{word}");
    }
    assert_eq!(refused(&arrange, ARRANGING, "A32"), Ok(()));
}
