//! Game records: their canonical form, and the place of the problem in texts that are none.

use mancala_rules::{
    AnyOptions, AnyPosition, EndReason, Move, Side, Variant,
    notation::{
        EndingError, Location, NAME_MAX, NameError, Problem, RECORD_MOVES_MAX, ReadError, Record, RecordError,
        RecordResult, TEXT_MAX, Termination, UnknownTermination, VALUE_MAX, ogn::Ogn, read_moves, write_moves,
    },
};

use crate::readers::split;

fn kalah(moves: &str) -> String {
    format!("[Variant \"kalah\"]\n{moves}")
}

#[track_caller]
fn refused(text: &str, line: usize, column: usize) -> Problem {
    let error = text.parse::<Record>().expect_err("the text is wrong");
    assert_eq!(error.location, Location { line, column }, "{error}");
    error.problem
}

#[test]
fn the_canonical_form_is_as_documented() {
    let options = AnyOptions::parse(Variant::Kalah, "manual", "pie=true").unwrap();
    let opening = AnyPosition::opening(&options);
    let moves = read_moves(&opening, "C-><aFd+99999999999E").unwrap();
    let record = Record::new(&opening, moves).unwrap().with_names("ana \"the \\ quick\"", "?").unwrap();
    let record = record.ended(RecordResult::South, Some(Termination::Resignation)).unwrap();
    let text = "[Variant \"kalah\"]\n[Preset \"manual\"]\n[Options \"pie=true\"]\n[South \"ana \\\"the \\\\ quick\\\"\"]\n\
        [Result \"1-0\"]\n[Termination \"resignation\"]\n\n1. C- >< a 2. F d 3. E 1-0\n";
    assert_eq!(record.to_string(), text);
    assert_eq!(record.name(Side::South), Some("ana \"the \\ quick\""));
    assert_eq!(record.name(Side::North), None);
}

#[test]
fn numbers_count_the_turns_of_the_side_that_begins() {
    let options = AnyOptions::parse(Variant::Oware, "standard", "").unwrap();
    let start = AnyPosition::parse(&options, "4,4,4,4,4,4/4,4,4,4,4,4 0-0 N - 0 1S").unwrap();
    let record = Record::new(&start, read_moves(&start, "aAbBc").unwrap()).unwrap();
    assert!(record.to_string().ends_with("\n\n1. a A 2. b B 3. c *\n"), "{record}");
    let empty = Record::new(&start, Vec::new()).unwrap();
    assert!(empty.to_string().ends_with("[Result \"*\"]\n\n*\n"), "{empty}");
}

#[test]
fn letters_of_both_cases_are_moves_of_both_sides() {
    let record: Record = kalah("Ab").parse().unwrap();
    assert_eq!(write_moves(record.moves()), "A b");
    assert!(matches!(refused(&kalah("CFa aB"), 2, 5), Problem::Illegal(illegal) if illegal.ply == 4));
    let Problem::Illegal(illegal) = refused(&kalah("aB"), 2, 1) else { panic!("an illegal move") };
    assert_eq!((illegal.ply, illegal.reason.reason(), illegal.legal.len()), (1, "not_your_pit", 6));
}

#[test]
fn an_illegal_move_is_named_with_its_place() {
    for (text, line, column, sentence) in [
        ("1. C {é} C", 2, 10, "move 2 cannot be C: pit C is empty; legal are A, B, D, E, F"),
        ("1. CF\r\n\r\n  b c\n C", 5, 2, "move 5 cannot be C: pit C is empty; legal are A, B, D, E"),
        ("1.\rG", 3, 1, "move 1 cannot be G: there is no pit G on this board; legal are A, B, C, D, E, F"),
        ("-", 2, 1, "move 1 cannot be pass: only an optional extra move can be passed; legal are A, B, C, D, E, F"),
        (
            "A ><",
            2,
            3,
            "move 2 cannot be swap: only North's first choice under the pie rule can be a swap; legal are a, b, c, d, e, f",
        ),
        ("A =", 2, 3, "move 2 cannot be agree: this game cannot be ended by agreement; legal are a, b, c, d, e, f"),
    ] {
        let error = kalah(text).parse::<Record>().unwrap_err();
        assert_eq!(error.to_string(), format!("line {line}, column {column}: {sentence}"));
    }
}

#[test]
fn repetition_is_seen_while_reading() {
    let text = "[Variant \"oware\"][Start \"1,0,0,0,0,0/1,0,0,0,0,0 23-23 S - 0 1S\"]\n";
    let line = "A a B b C c D d E e F f";
    let record: Record = format!("{text}{line}").parse().unwrap();
    assert_eq!(record.termination(), Some(Termination::Rule(EndReason::Repetition)));
    assert_eq!(record.result(), RecordResult::Draw);
    let Problem::Illegal(illegal) = refused(&format!("{text}{line} A"), 2, line.len() + 2) else {
        panic!("an illegal move")
    };
    assert_eq!((illegal.ply, illegal.reason.reason(), illegal.legal.len()), (13, "game_over", 0));
}

#[test]
fn a_result_must_be_that_of_the_rules() {
    let over = "[Variant \"oware\"][Start \"0,0,0,0,0,2/1,1,0,1,0,0 21-22 S - 0 1S\"]";
    let record: Record = format!("{over}F").parse().unwrap();
    assert_eq!(record.result(), RecordResult::South);
    assert_eq!(record.termination(), Some(Termination::Rule(EndReason::Majority)));
    let expected = EndingError::Result { expected: RecordResult::South };
    for (wrong, column) in [("F 0-1", 3), ("F 1/2-1/2", 3), ("F *", 3), ("[Result \"*\"] F", 10)] {
        assert_eq!(refused(&format!("{over}{wrong}"), 1, over.len() + column), Problem::Ending(expected), "{wrong}");
    }
    let reason = Problem::Ending(EndingError::Reason { expected: EndReason::Majority });
    for wrong in ["repetition", "agreement", "resignation", "timeout"] {
        assert_eq!(refused(&format!("{over}\n[Termination \"{wrong}\"] F"), 2, 15), reason);
    }
    for wrong in ["Majority", "abandoned", "Normal", "Ana ran out of patience", "", "?"] {
        // Other programs have words of their own. The reason is that of the rules.
        let text = format!("{over}\n[Termination \"{wrong}\"] F");
        let (record, unknown) = Record::read(text.as_bytes()).unwrap();
        assert_eq!(record.termination(), Some(Termination::Rule(EndReason::Majority)));
        let place = Location { line: 2, column: 15 };
        let expected = (wrong.len() > 1).then(|| UnknownTermination { location: place, text: wrong.to_owned() });
        assert_eq!(unknown, expected);
    }
    assert_eq!(Termination::WORDS[..EndReason::WORDS.len()], *EndReason::WORDS);
    for word in Termination::WORDS {
        assert_eq!(word.parse::<Termination>().unwrap().to_string(), *word);
    }
    for right in ["F 1-0", "[Result \"1-0\"]F", "[Result \"1-0\"][Termination \"majority\"]F{!}1-0"] {
        assert_eq!(format!("{over}{right}").parse(), Ok(record.clone()), "{right}");
    }
}

#[test]
fn players_may_end_a_game_that_the_rules_have_not_ended() {
    for (tags, result, termination) in [
        ("", RecordResult::Unfinished, None),
        ("[Result \"?\"]", RecordResult::Unfinished, None),
        ("[Result \"0-1\"]", RecordResult::North, None),
        ("[Result \"0-1\"][Termination \"timeout\"]", RecordResult::North, Some(Termination::Timeout)),
        ("[Result \"1-0\"][Termination \"resignation\"]", RecordResult::South, Some(Termination::Resignation)),
        (
            "[Result \"1/2-1/2\"][Termination \"agreement\"]",
            RecordResult::Draw,
            Some(Termination::Rule(EndReason::Agreement)),
        ),
    ] {
        let record: Record = kalah(&format!("{tags}CF")).parse().unwrap();
        assert_eq!((record.result(), record.termination()), (result, termination), "{tags}");
    }
    for (tags, error) in [
        ("[Termination \"timeout\"]", EndingError::Undecided { termination: Termination::Timeout }),
        (
            "[Termination \"agreement\"]",
            EndingError::Undecided { termination: Termination::Rule(EndReason::Agreement) },
        ),
        ("[Termination \"side_empty\"][Result \"1-0\"]", EndingError::NotOver { reason: EndReason::SideEmpty }),
        (
            "[Termination \"resignation\"][Result \"1/2-1/2\"]",
            EndingError::NoWinner { termination: Termination::Resignation },
        ),
    ] {
        assert_eq!(refused(&kalah(&format!("{tags}CF")), 2, 15), Problem::Ending(error));
    }
    let both = refused(&kalah("[Result \"1-0\"] CF 0-1"), 2, 19);
    assert_eq!(both, Problem::Contradiction { tag: RecordResult::South });
}

#[test]
fn a_game_may_begin_where_it_is_over() {
    let start = "[Variant \"kalah\"][Start \"0,0,0,0,0,0/0,2,0,0,3,0 21-22 S - 7 1S\"]";
    let record: Record = start.parse().unwrap();
    assert_eq!(record.start().to_string(), "0,0,0,0,0,0/0,0,0,0,0,0 21-27 S o 7 1S");
    assert_eq!((record.result(), record.termination()), (RecordResult::North, None));
    assert_eq!(record.to_string().parse(), Ok(record));
    let record: Record = format!("{start}[Termination \"side_empty\"]").parse().unwrap();
    assert_eq!(record.termination(), Some(Termination::Rule(EndReason::SideEmpty)));
    assert_eq!(record.to_string().parse(), Ok(record));
    let resigned = refused(&format!("{start}\n[Termination \"resignation\"]"), 2, 15);
    assert_eq!(resigned, Problem::Ending(EndingError::OverFromTheStart { termination: Termination::Resignation }));
}

#[test]
fn a_text_that_is_no_record_is_refused_at_its_place() {
    use Problem::{
        AfterResult, Captured, ControlCharacter, MisplacedTag, NoVariant, Number, RepeatedTag, Result, Tag,
        UnclosedRemark, UnclosedText, Unexpected,
    };
    assert_eq!(refused("", 1, 1), NoVariant);
    assert_eq!(refused("\n 1. A", 2, 2), NoVariant);
    assert_eq!(refused("[", 1, 2), Tag);
    assert_eq!(refused("[Variant", 1, 9), Tag);
    assert_eq!(refused("[Variant kalah]", 1, 10), Tag);
    assert_eq!(refused("[\"kalah\"]", 1, 2), Tag);
    assert_eq!(refused("[Variant \"kalah\"", 1, 17), Tag);
    assert_eq!(refused("[Variant \"kalah]\n1. A", 1, 10), UnclosedText);
    assert_eq!(refused("[Variant \"kalah\\\"]", 1, 10), UnclosedText);
    assert_eq!(refused("[Variant \"ka\0lah\"]", 1, 13), ControlCharacter);
    assert_eq!(refused("[Variant \"kalah\"]\n[variant \"kalah\"]", 2, 1), RepeatedTag { name: "variant".to_owned() });
    assert_eq!(refused(&kalah("A {never"), 2, 3), UnclosedRemark { close: '}' });
    assert_eq!(refused(&kalah("A {{a} }"), 2, 8), Unexpected('}'));
    assert_eq!(refused(&kalah("A (b)"), 2, 3), Unexpected('('));
    assert_eq!(refused(&kalah("A\0b"), 2, 2), Unexpected('\0'));
    assert_eq!(refused(&kalah("A M"), 2, 3), Unexpected('M'));
    assert_eq!(refused(&kalah("A > <"), 2, 3), Unexpected('>'));
    assert_eq!(refused(&kalah("\u{feff}A"), 2, 1), Unexpected('\u{feff}'));
    assert_eq!(refused(&kalah("A [South \"ana\"]"), 2, 3), MisplacedTag);
    assert_eq!(refused(&kalah("A 0-1 b"), 2, 7), AfterResult);
    assert_eq!(refused(&kalah("A 0-1 0-1"), 2, 7), AfterResult);
    assert_eq!(refused(&kalah("A + b"), 2, 4), Captured);
    assert_eq!(refused(&kalah("A +-1 b"), 2, 4), Captured);
    assert_eq!(refused(&kalah("12 A"), 2, 3), Number);
    assert_eq!(refused(&kalah("99999999999"), 2, 12), Number);
    // A number, a result and a count contain no blanks.
    for (text, column) in
        [("1 . A", 2), ("1\n. A", 2), ("A 1 -0", 4), ("A 1- 0", 3), ("A 1/2 -1/2", 3), ("1. .A", 4), ("A+31.b", 5)]
    {
        let error = kalah(text).parse::<Record>().unwrap_err();
        assert_eq!((error.location.line, error.location.column), (2, column), "{text:?}: {error}");
    }
    for wrong in ["1-1", "2-0", "28-20", "1-", "1/2", "1/2-1/2-1/2", "**", "1-00", "01-0", "99999999999-0"] {
        assert!(matches!(refused(&kalah(&format!("A {wrong}")), 2, 3), Result(_)), "{wrong}");
        assert!(matches!(refused(&kalah(&format!("[Result \"{wrong}\"]A")), 2, 10), Result(_)), "{wrong}");
    }
}

#[test]
fn wrong_tags_are_refused_at_their_value() {
    let words = Variant::WORDS.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>();
    let (last, others) = words.split_last().unwrap();
    let unknown = format!("the variant is not known; expected {} or {last}", others.join(", "));
    for (tags, column, sentence) in [
        ("[Variant \"chess\"]", 11, unknown.as_str()),
        ("[Variant \"\"]", 11, unknown.as_str()),
        ("[Variant \"oware\"][Preset \"abapa\"]", 27, "oware has no preset \"abapa\""),
        ("[Variant \"oware\"][Options \"seeds=13\"]", 28, "option `seeds` must be an integer from 1 to 12"),
        ("[Variant \"oware\"][Options \"pie=true\"]", 28, "oware has no option \"pie\""),
        (
            "[Variant \"oware\"][Start \"start\"]",
            26,
            "a position has six fields separated by single blanks: pits, stores or reserves, side to move, flags, plies, round",
        ),
        (
            "[Variant \"oware\"][Start \"4,4,4,4,4,4/4,4,4,4,4,4 1-0 S - 0 1S\"]",
            26,
            "the seeds must be 48 in all, not 49",
        ),
    ] {
        let error = tags.parse::<Record>().unwrap_err();
        assert_eq!(error.to_string(), format!("line 1, column {column}: {sentence}"));
    }
    let preset = |length| format!("[Variant \"kalah\"][Preset \"{}\"]", "x".repeat(length));
    assert!(matches!(refused(&preset(VALUE_MAX), 1, 27), Problem::Options(_)));
    assert_eq!(refused(&preset(VALUE_MAX + 1), 1, 27), Problem::ValueTooLong);
    assert!(preset(VALUE_MAX + 1).replace("Preset \"", "Description \"").parse::<Record>().is_ok());
    let name = |length| format!("[Variant \"kalah\"][South \"{}\"]", "é".repeat(length));
    assert_eq!(refused(&name(NAME_MAX + 1), 1, 26), Problem::Name(NameError::TooLong));
    assert!(name(NAME_MAX).parse::<Record>().is_ok());
}

#[test]
fn unknown_tags_are_skipped_whatever_their_value() {
    for tag in ["[Source-URL \"x\"]", "[Annotator \"a\tb\0\"]", "[-\"\"]", "[_9 \"\u{85}\"]", "[a\"1\"][A\"2\"]"] {
        for text in [format!("[Variant \"kalah\"]{tag} A"), format!("{tag}[Variant \"kalah\"] A")] {
            assert_eq!(text.parse::<Record>().map(|record| record.moves().len()), Ok(1), "{text}");
        }
        assert!(Ogn::parse(format!("{tag} A").as_bytes()).is_ok(), "{tag}");
    }
    assert_eq!(refused(&kalah("[South \"a\tb\tc\"]"), 2, 10), Problem::ControlCharacter);
    assert_eq!(refused(&kalah("[Annotator \"a\nb\"]"), 2, 12), Problem::UnclosedText);
    assert_eq!(refused(&kalah("[Source.URL \"x\"]"), 2, 8), Problem::Tag);
    assert_eq!(refused(&kalah("[\u{e9} \"x\"]"), 2, 2), Problem::Tag);
    let of_auale = |length: usize| Ogn::parse(format!("[Event \"{}\"] A", "\u{e9}".repeat(length)).as_bytes());
    assert!(of_auale(VALUE_MAX).is_ok());
    assert_eq!(of_auale(VALUE_MAX + 1).unwrap_err().problem, Problem::ValueTooLong);
}

#[test]
fn bytes_that_are_not_utf8_are_refused_at_their_place() {
    let refused = |bytes: &[u8]| Record::from_bytes(bytes).unwrap_err();
    let not_utf8 = |line, column| ReadError { location: Location { line, column }, problem: Problem::NotUtf8 };
    assert_eq!(refused(b"\xff"), not_utf8(1, 1));
    assert_eq!(refused(b"\xef\xbb\xbf[Variant \"kalah\"]\r\n1. A \xc3"), not_utf8(2, 6));
    assert_eq!(refused("[South \"é".as_bytes().split_last().unwrap().1), not_utf8(1, 9));
    assert_eq!(refused(b"a\n\xed\xa0\x80"), not_utf8(2, 1));
}

#[test]
fn long_texts_are_read_or_refused() {
    let blanks = |length: usize| kalah(&" ".repeat(length - kalah("A").len())) + "A";
    assert_eq!(blanks(TEXT_MAX).parse::<Record>().unwrap().moves().len(), 1);
    assert_eq!(refused(&blanks(TEXT_MAX + 1), 2, TEXT_MAX - kalah("").len() + 1), Problem::TextTooLong);
    let cut = kalah("") + &"é".repeat(TEXT_MAX);
    assert_eq!(cut.parse::<Record>().unwrap_err().problem, Problem::TextTooLong);
    let mut split = vec![b'{'; TEXT_MAX - 1];
    split.extend("é".bytes());
    assert_eq!(Record::from_bytes(&split).unwrap_err().problem, Problem::TextTooLong);
    assert_eq!(refused(&("{".to_owned() + &"(".repeat(TEXT_MAX - 1)), 1, 1), Problem::UnclosedRemark { close: '}' });
    for part in ["[", "[a\"b\"]", "\\", "1.", "+1", "\r", "\u{a0}", "{}"] {
        let _ = kalah(&part.repeat((TEXT_MAX - 100) / part.len())).parse::<Record>();
    }
}

#[test]
fn long_games_are_read_or_refused() {
    // Seeds go round without a capture as long as they can, and the history holds every position.
    let options = AnyOptions::parse(Variant::Oware, "standard", "pits=12;seeds=12;repetition=5").unwrap();
    let mut position = AnyPosition::opening(&options);
    let mut moves = Vec::new();
    while moves.len() <= RECORD_MOVES_MAX {
        let legal = position.legal_moves();
        let calm = legal.iter().find(|&&m| {
            let next = position.play(m).expect("a listed move is legal").0;
            next.outcome().is_none() && next.history().is_some_and(|history| !history.is_empty())
        });
        let Some(&m) = calm.or(legal.first()) else { break };
        position.play_unchecked(m);
        moves.push(m);
    }
    assert!(moves.len() > 4000, "{} moves", moves.len());
    let opening = AnyPosition::opening(&options);
    assert_eq!(read_moves(&opening, &write_moves(&moves)).as_ref(), Ok(&moves));
    let record = Record::new(&opening, moves).unwrap();
    assert_eq!(record.to_string().parse(), Ok(record));
    let endless = vec![Move::Pass; RECORD_MOVES_MAX + 1];
    assert_eq!(Record::new(&opening, endless), Err(RecordError::TooManyMoves));
}

#[test]
fn a_position_with_other_seeds_makes_no_record() {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").unwrap();
    let few = AnyPosition::parse_with_any_total(&options, "0,0,1,0,0,0/0,0,0,0,0,1 2-2 S - 0 1S").unwrap();
    assert_eq!(read_moves(&few, "C f").unwrap().len(), 2);
    let error = Record::new(&few, Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "the game cannot start there: the seeds must be 48 in all, not 6");
}

#[test]
fn a_name_does_not_hide_the_records_after_its_own() {
    let hostile = kalah("1. C").parse::<Record>().unwrap().with_names("x\"] {", "\\").unwrap().to_string();
    let next = kalah("1. A\n");
    assert_eq!(split(&format!("{hostile}{next}")), [hostile, next]);
}

#[test]
fn a_broken_tag_spoils_no_other_record() {
    let next = kalah("1. A\n");
    for broken in ["[South \"Ana\n1. C *\n", "[South\n1. C *\n", "[South \"Ana\" 1. C *\n"] {
        let broken = kalah(broken);
        assert_eq!(split(&format!("{broken}{next}")), [broken.as_str(), &next]);
    }
}

#[test]
fn a_name_is_bounded_and_has_no_control_characters() {
    let record =
        Record::new(&AnyPosition::opening(&AnyOptions::parse(Variant::Kalah, "bga", "").unwrap()), vec![]).unwrap();
    assert_eq!(record.clone().with_names("a\nb", ""), Err(NameError::ControlCharacter));
    assert_eq!(record.clone().with_names("", &"a".repeat(NAME_MAX + 1)), Err(NameError::TooLong));
    assert_eq!(record.clone().with_names("", "?"), Ok(record));
}

#[test]
fn the_documented_records_are_as_they_would_be_written() {
    let page = include_str!("../../../../docs/rules.md");
    let blocks: Vec<&str> = page.split("```\n").filter(|block| block.starts_with("[Variant ")).collect();
    let [record, ogn] = blocks[..] else { panic!("two blocks") };
    assert_eq!(record.parse::<Record>().unwrap().to_string(), record);
    assert_eq!(Ogn::parse(ogn.as_bytes()).unwrap().to_text().as_deref(), Some(ogn));
}
