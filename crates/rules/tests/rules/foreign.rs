//! The forms of other programs: files and boards of Aualé, boards of the Kalah Game Protocol.

use mancala_rules::{
    AnyOptions, AnyPosition, EndReason, Move, Pit, ROW_MAX, Side, Variant,
    notation::{
        DetailError, Problem, Record, RecordResult, Termination, VALUE_MAX, kgp,
        ogn::{self, Detail, Ogn},
        read_moves,
    },
};
use proptest::prelude::*;

use crate::{
    properties::{choices, config, made_up_position},
    record_properties::{hostile_name, with_all_seeds},
};

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn a_board_of_kgp_reads_what_it_writes(position in made_up_position(), has_all_seeds in any::<bool>()) {
        let position = if has_all_seeds { with_all_seeds(&position) } else { position };
        let options = position.options();
        let Some(text) = kgp::write_board(&position) else {
            let is_plain = position.outcome().is_none() && position.to_string().contains(" - ");
            prop_assert!(options.variant() != Variant::Kalah || !has_all_seeds || !is_plain, "{}", position);
            return Ok(());
        };
        prop_assert_eq!(options.variant(), Variant::Kalah);
        let read = kgp::read_board(&options, &text).expect("it reads itself");
        prop_assert_eq!(kgp::write_board(&read), Some(text));
        prop_assert_eq!(read.outcome().is_some(), position.outcome().is_some());
        let (seen, mover) = (read.turn(), position.turn());
        prop_assert!(seen == Side::South || read.outcome().is_some());
        for (side, same) in [(seen, mover), (!seen, !mover)] {
            prop_assert_eq!(read.board().pits(side).to_vec(), position.board().pits(same).to_vec());
            prop_assert_eq!(read.board().store(side), position.board().store(same));
        }
    }

    #[test]
    fn a_fen_of_any_position_reads_what_it_writes(position in made_up_position(), has_all_seeds in any::<bool>()) {
        let position = if has_all_seeds { with_all_seeds(&position) } else { position };
        let options = position.options();
        let is_oware = options.variant() == Variant::Oware && position.board().pits_per_side() == 6;
        let Some(text) = ogn::write_fen(&position) else {
            prop_assert!(!is_oware || !has_all_seeds || position.outcome().is_some(), "{}", position);
            return Ok(());
        };
        prop_assert!(is_oware);
        let read = ogn::read_fen(&options, &text).expect("it reads itself");
        prop_assert_eq!((read.board(), read.turn()), (position.board(), position.turn()));
        prop_assert_eq!(read.outcome().is_some(), position.outcome().is_some());
    }

    #[test]
    fn a_fen_reads_what_it_writes(choices in choices(), plies in 0..150_usize) {
        let position = played(&choices[..plies]);
        let text = ogn::write_fen(&position).expect("six pits");
        let read = ogn::read_fen(&position.options(), &text).expect("it reads itself");
        prop_assert_eq!(read.board(), position.board());
        prop_assert_eq!(read.turn(), position.turn());
        prop_assert_eq!(read.outcome().is_some(), position.outcome().is_some());
    }

    #[test]
    fn a_file_of_auale_reads_what_it_writes(
        choices in choices(),
        from in 0..40_usize,
        plies in 0..150_usize,
        site in "[^\\x00-\\x1f\\x7f-\\x9f]{0,20}",
        names in (hostile_name(), hostile_name()),
    ) {
        let start = played(&choices[..from]);
        let fen = ogn::write_fen(&start).expect("six pits");
        let start = ogn::read_fen(&start.options(), &fen).expect("it reads itself");
        let (mut moves, mut position) = (Vec::new(), start.clone());
        for choice in choices.iter().take(plies) {
            let legal = position.legal_moves();
            if legal.is_empty() { break }
            moves.push(legal[choice % legal.len()]);
            position.play_unchecked(moves[moves.len() - 1]);
        }
        let record = Record::new(&start, moves).expect("legal moves").with_names(&names.0, &names.1).expect("short names");
        let file = Ogn::new(record).with_detail(Detail::Site, &site).expect("a short text");
        let text = file.to_text().expect("abapa");
        prop_assert_eq!(Ogn::parse(text.as_bytes()), Ok(file), "{}", text);
    }

    #[test]
    fn any_text_is_read_as_a_board_or_a_file_or_refused(text in "[-0-9<>,SN \\[\\]\"A-Fa-f(){}.+*\\PC]{0,60}") {
        let _ = ogn::read_fen(&standard(), &text);
        let _ = kgp::read_board(&AnyOptions::parse(Variant::Kalah, "standard", "").unwrap(), &text);
        let _ = kgp::read_move(Side::South, &text);
        let _ = Ogn::parse(text.as_bytes());
    }
}

fn standard() -> AnyOptions {
    AnyOptions::parse(Variant::Oware, "standard", "").unwrap()
}

/// A position that play from the opening leads to.
fn played(choices: &[usize]) -> AnyPosition {
    let mut position = AnyPosition::opening(&standard());
    for choice in choices {
        let legal = position.legal_moves();
        if let Some(&m) = legal.get(choice % legal.len().max(1)) {
            position.play_unchecked(m);
        }
    }
    position
}

#[test]
fn a_file_as_auale_writes_it_is_read() {
    let text = "[Variant \"Oware Abapa\"]\n[Event \"?\"]\n[Site \"?\"]\n[Date \"2014.05.11\"]\n[Round \"?\"]\n\
        [South \"Human\"]\n[North \"Aalina \\\"1.0\\\"\"]\n[Result \"*\"]\n[Description \"a test\"]\n\n\
        1. F c 2. A f 3. B+2 { a good move (or not) } (3. C d) d\n4. C\n";
    let file = match Ogn::parse(text.as_bytes()) {
        Ok(file) => file,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(file.record.name(Side::North), Some("Aalina \"1.0\""));
    assert_eq!(file.record.moves().len(), 7);
    assert_eq!((file.detail(Detail::Event), file.detail(Detail::Date)), (None, Some("2014.05.11")));
    assert_eq!(file.record.result(), RecordResult::Unfinished);
}

#[test]
fn the_result_of_a_file_is_a_score() {
    let fen = "[FEN \"0-0-0-0-0-2-1-1-0-1-0-0-21-22-S\"]";
    let read = |text: &str| Ogn::parse(text.as_bytes()).map(|file| file.record);
    for right in ["[Result \"25-22\"]F", "F 25-22", "F", "F 1-0", "[Result \"25-22\"] F 25-22"] {
        let record = read(&format!("{fen}{right}")).unwrap();
        assert_eq!(record.termination(), Some(Termination::Rule(EndReason::Majority)), "{right}");
    }
    for (wrong, column) in [("F 21-25", 3), ("F 25-23", 3), ("F 0-1", 3), ("[Result \"0-0\"]F", 10)] {
        assert_eq!(read(&format!("{fen}{wrong}")).unwrap_err().location.column, fen.len() + column, "{wrong}");
    }
    for wrong in ["F 25-", "F 25-22-0", "F 99999-0", "F 25--21", "F 25-22 a", "F 25-22 *"] {
        assert!(read(&format!("{fen}{wrong}")).is_err(), "{wrong}");
    }
    for seeds in ["65535-65535", "99-0", "25-24", "0-65536", "99999999999999999999-0"] {
        for text in [format!("1. A b {seeds}"), format!("[Result \"{seeds}\"] A b")] {
            assert_eq!(read(&text).unwrap_err().problem, Problem::TooManySeeds { total: 48 }, "{text}");
        }
    }
    for wrong in ["25-", "25--21", "25-22-0", "25/22", "0-1/2"] {
        for text in [format!("1. A b {wrong}"), format!("[Result \"{wrong}\"] A b")] {
            assert_eq!(read(&text).unwrap_err().problem, Problem::ResultOrScore, "{text}");
        }
    }
    assert_eq!(
        read("A 25-").unwrap_err().to_string(),
        "line 1, column 3: this is no result; expected a score such as `28-20`, or `1-0`, `0-1`, `1/2-1/2` or `*`"
    );
    let twice = read("[Result \"25-23\"] 1. A b 5-3").unwrap_err();
    assert_eq!(twice.to_string(), "line 1, column 25: the tag says that the score is 25-23");
    for other in ["3-5", "0-1", "*", "24-24", "1/2-1/2"] {
        assert!(read(&format!("[Result \"25-23\"] A b {other}")).is_err(), "{other}");
    }
    for same in ["25-23", "1-0", ""] {
        assert_eq!(read(&format!("[Result \"25-23\"] A b {same}")).unwrap().result(), RecordResult::South, "{same}");
    }
    assert_eq!(read("A 5-3").unwrap().result(), RecordResult::South);
    assert_eq!(read("A 3-3").unwrap().result(), RecordResult::Draw);
    assert_eq!(read("[White \"ana\"] [Black \"bo\"]").unwrap().name(Side::South), Some("ana"));
}

#[test]
fn marks_on_moves_are_skipped_in_files() {
    let marked = "1. F! c?? 2. A !? f$6 $139 3. B+2!! { good } d $0 4. C?";
    let record = Ogn::parse(marked.as_bytes()).unwrap().record;
    assert_eq!(record, Ogn::parse(b"FcAfBdC").unwrap().record);
    assert_eq!(record.moves().len(), 7);
    for (wrong, column, problem) in [
        ("! A", 1, Problem::Unexpected('!')),
        ("$1 A", 1, Problem::Unexpected('$')),
        ("A $", 4, Problem::Mark),
        ("A $ 1", 4, Problem::Mark),
        ("A $-1", 4, Problem::Mark),
        ("A #", 3, Problem::Unexpected('#')),
        ("A 1-0 !", 7, Problem::AfterResult),
    ] {
        let error = Ogn::parse(wrong.as_bytes()).unwrap_err();
        assert_eq!((error.location.column, error.problem), (column, problem), "{wrong}");
    }
    let own = format!("[Variant \"oware\"]{marked}").parse::<Record>().unwrap_err();
    assert_eq!(own.problem, Problem::Unexpected('!'));
}

#[test]
fn a_file_of_another_game_is_refused() {
    let refused = |text: &str| Ogn::parse(text.as_bytes()).unwrap_err().to_string();
    assert!(refused("[Variant \"kalah\"]").starts_with("line 1, column 11: the file is not of Oware"));
    assert_eq!(
        refused("1. a"),
        "line 1, column 4: move 1 cannot be a: pit a is not on the side to move; legal are A, B, C, D, E, F"
    );
    assert_eq!(refused("1. A (b"), "line 1, column 6: what is opened here is never closed; expected `)`");
    assert_eq!(
        refused("\n[FEN \"4-4-4-4-4-4-4-4-4-4-4-4-0-0-W\"]"),
        "line 2, column 35: expected the side to move, `S` or `N`"
    );
    assert_eq!(
        refused("[FEN \"5-4-4-4-4-4-4-4-4-4-4-4-0-0-S\"]"),
        "line 1, column 7: the seeds must be 48 in all, not 49"
    );
    assert_eq!(Ogn::parse(b"A \xff").unwrap_err().problem, Problem::NotUtf8);
    for (preset, overrides, written) in [
        ("standard", "", true),
        ("standard", "agree_end=false", true),
        ("app", "grand_slam=no_capture;repetition=2", true),
        ("app", "", false),
        ("standard", "seeds=5", false),
        ("standard", "pits=5", false),
    ] {
        let opening = AnyPosition::opening(&AnyOptions::parse(Variant::Oware, preset, overrides).unwrap());
        let record = Record::new(&opening, vec![]).unwrap();
        let text = Ogn::new(record).to_text();
        assert_eq!(text.is_some(), written, "{preset} {overrides}");
    }
}

#[test]
fn a_detail_of_a_file_must_fit_into_a_tag() {
    let file = Ogn::new(Record::new(&AnyPosition::opening(&standard()), vec![]).unwrap());
    for detail in Detail::ALL {
        for wrong in ["a\nb", "a\rb", "\t", "\0", "\u{85}"] {
            assert_eq!(file.clone().with_detail(detail, wrong), Err(DetailError::ControlCharacter), "{wrong:?}");
        }
        assert_eq!(file.clone().with_detail(detail, &"é".repeat(VALUE_MAX + 1)), Err(DetailError::TooLong));
        for unknown in ["", "?"] {
            let detailed = file.clone().with_detail(detail, "x").unwrap();
            assert_eq!(detailed.with_detail(detail, unknown), Ok(file.clone()));
        }
        for right in ["é".repeat(VALUE_MAX), "??".to_owned(), "a \"b\\\" [1] {".to_owned(), " ".to_owned()] {
            let detailed = file.clone().with_detail(detail, &right).unwrap();
            assert_eq!(detailed.detail(detail), Some(right.as_str()));
            assert_eq!(Ogn::parse(detailed.to_text().unwrap().as_bytes()), Ok(detailed));
        }
    }
}

#[test]
fn a_board_that_would_be_read_as_another_is_not_written() {
    let position = |options: &AnyOptions, text: &str| AnyPosition::parse_with_any_total(options, text).unwrap();
    let split = AnyOptions::parse(Variant::Oware, "standard", "repetition_award=split").unwrap();
    for (options, text, written) in [
        (standard(), "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 5 1S", true),
        (standard(), "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S o 5 1S", false),
        (standard(), "4,4,4,4,4,4/4,4,4,4,4,4 0-1 S - 5 1S", false),
        (standard(), "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N o 5 1S", true),
        (standard(), "1,0,0,0,0,0/0,0,0,0,0,0 25-22 N o 5 1S", true),
        (split, "0,0,0,0,0,1/0,0,0,0,0,0 24-23 S o 5 1S", false),
    ] {
        let start = position(&options, text);
        assert_eq!(ogn::write_fen(&start).is_some(), written, "{text}");
        if let Ok(record) = Record::new(&start, vec![])
            && options == standard()
        {
            assert_eq!(Ogn::new(record).to_text().is_some(), written, "{text}");
        }
    }
    let kalah = AnyOptions::parse(Variant::Kalah, "standard", "pits=3;seeds=3;extra_turn=optional;pie=true").unwrap();
    for (text, written) in [
        ("3,3,3/3,3,3 0-0 S - 5 1S", true),
        ("3,3,3/3,3,3 0-0 N p 5 1S", true),
        ("3,3,3/3,3,3 0-0 S o 5 1S", false),
        ("3,3,3/3,3,3 1-0 S - 5 1S", false),
        ("0,0,0/0,0,0 8-10 S o 5 1S", true),
    ] {
        assert_eq!(kgp::write_board(&position(&kalah, text)).is_some(), written, "{text}");
    }
}

#[test]
fn an_agreed_end_is_written_as_a_result() {
    let opening = AnyPosition::opening(&standard());
    let record = Record::new(&opening, read_moves(&opening, "A b C d =").unwrap()).unwrap();
    let text = Ogn::new(record.clone()).to_text().unwrap();
    assert!(text.ends_with("\n\n1. A b 2. C d 25-23\n"), "{text}");
    let read = Ogn::parse(text.as_bytes()).unwrap().record;
    assert_eq!((read.result(), read.moves()), (record.result(), &record.moves()[..4]));
}

#[test]
fn a_wrong_fen_is_refused_at_its_column() {
    let good = "4-4-0-5-5-5-5-4-4-4-4-4-0-0-N";
    assert!(ogn::read_fen(&standard(), &format!(" {good}\n")).is_ok());
    for (part, other, column) in [
        ("N", "", 29),
        ("N", "n", 29),
        ("N", "NS", 30),
        ("-0-0-N", "-0-N", 27),
        ("4-4-0", "4-4--1", 5),
        ("4-4-0", "4-4-00", 5),
        ("4-4-0", "4-4-1000000000", 5),
        ("4-4-0", "4-4-99999999999999999999999", 5),
        ("4-4-0", "4-4-289", 5),
        ("4-4-0", "4,4,0", 2),
        ("4-4-0", "4-4-x", 5),
        ("4-4-0", "4-4-٤", 5),
        ("4-4-0", "4-4-0-0", 29),
        ("4-4-0", "", 1),
        ("4-4-0", "4-4-1", 1),
    ] {
        let error = ogn::read_fen(&standard(), &good.replacen(part, other, 1)).unwrap_err();
        assert_eq!(error.column, column, "{part} {other}: {error}");
    }
    let five = AnyOptions::parse(Variant::Oware, "standard", "pits=5").unwrap();
    assert_eq!(
        ogn::read_fen(&five, good).unwrap_err().to_string(),
        "column 1: boards of this form are of Oware with six pits a side only"
    );
    assert_eq!(ogn::write_fen(&AnyPosition::opening(&five)), None);
    let more = AnyOptions::parse(Variant::Oware, "app", "seeds=5").unwrap();
    assert!(ogn::read_fen(&more, "5-5-5-5-5-5-5-5-5-5-5-5-0-0-S").is_ok());
}

#[test]
fn a_wrong_board_of_kgp_is_refused_at_its_column() {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "pits=3;seeds=3").unwrap();
    let good = "<3,0,0,3,3,3,3,3,3>";
    assert!(kgp::read_board(&options, &format!("\t{good} ")).is_ok());
    for (part, other, column) in [
        ("<", "", 1),
        ("<3", "<4", 2),
        ("<3", "<03", 2),
        ("<3", "<", 2),
        ("<3", "<1000000000", 2),
        ("3>", ">", 18),
        (",3>", ">", 17),
        (",3>", ",3,3>", 19),
        (">", "", 19),
        (">", ">>", 20),
        (",0,", ",-1,", 4),
        (",0,", ",1000000000,", 4),
        (",0,", ", 0,", 4),
        (",0,", ",1,", 1),
    ] {
        let error = kgp::read_board(&options, &good.replacen(part, other, 1)).unwrap_err();
        assert_eq!(error.column, column, "{part} {other}: {error}");
    }
    let oware = kgp::read_board(&standard(), good).unwrap_err();
    assert_eq!(oware.to_string(), "column 1: boards of this form are of Kalah only");
}

#[test]
fn moves_of_kgp_are_numbers() {
    for side in Side::ALL {
        for (index, number) in (0..).zip(1..=ROW_MAX) {
            let m = Move::Sow(Pit { side, index });
            assert_eq!(kgp::read_move(side, &number.to_string()), Ok(m));
            assert_eq!(kgp::write_move(m), Some(number.to_string()));
        }
    }
    for wrong in ["", "0", "13", "-1", "01", "A", "1 2", "99999999999999999999"] {
        assert!(kgp::read_move(Side::South, wrong).is_err(), "{wrong}");
    }
    let declined = Move::Decline(Pit { side: Side::South, index: 0 });
    assert!([Move::Pass, Move::Swap, Move::Agree, declined].into_iter().all(|m| kgp::write_move(m).is_none()));
}
