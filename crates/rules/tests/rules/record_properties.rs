//! Properties of game records: any record is read as it was written, in any layout, and any text is read or refused.

use std::fmt::Write;

use mancala_rules::{
    AnyPosition, EndReason, Move, Side,
    notation::{Record, RecordResult, Termination, read_moves, write_moves},
};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::{
    properties::{any_options, choices, config, made_up_position},
    readers::split,
};

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn a_record_reads_what_it_writes(record in any_record()) {
        let text = record.to_string();
        prop_assert_eq!(text.parse::<Record>(), Ok(record.clone()), "{}", text);
        prop_assert_eq!(Record::from_bytes(text.as_bytes()).map(|record| record.to_string()), Ok(text.clone()));
        prop_assert!(text.is_ascii() || record.name(Side::South).is_some() || record.name(Side::North).is_some());
        let moves = write_moves(record.moves());
        prop_assert_eq!(read_moves(record.start(), &moves), Ok(record.moves().to_vec()));
        for line in text.lines().filter(|line| line.contains(' ') && !line.starts_with('[')) {
            prop_assert!(line.len() < 80, "{}", line);
        }
    }

    #[test]
    fn decoration_and_order_do_not_matter(record in any_record(), picks in vec(any::<u8>(), 200)) {
        let text = decorate(&record, &picks);
        prop_assert_eq!(text.parse::<Record>(), Ok(record), "{}", text);
    }

    #[test]
    fn many_records_are_divided_as_they_are_read(records in vec((any_record(), vec(any::<u8>(), 200)), 1..4)) {
        let whole: String = records.iter().map(|(record, picks)| decorate(record, picks)).collect();
        let (read, broken): (Vec<_>, Vec<_>) = split(&whole).iter().map(|text| text.parse::<Record>()).partition(Result::is_ok);
        prop_assert_eq!(broken, [], "{}", whole);
        let expected = records.into_iter().map(|(record, _)| Ok(record));
        prop_assert_eq!(read, expected.collect::<Vec<_>>(), "{}", whole);
    }

    #[test]
    fn a_nearly_right_record_is_read_or_refused(
        record in any_record(),
        at in any::<prop::sample::Index>(),
        with in "[-A-La-l0-9 \\[\\]{}\"\\\\+*=<>./\n\u{e9}]{0,4}",
    ) {
        let mut text = record.to_string();
        let at = text.floor_char_boundary(at.index(text.len()));
        text.replace_range(at..text.ceil_char_boundary(at + 1), &with);
        match text.parse::<Record>() {
            Ok(read) => prop_assert_eq!(read.to_string().parse(), Ok(read)),
            Err(error) => {
                let lines: Vec<&str> = text.split('\n').collect();
                prop_assert!(error.location.line <= lines.len(), "{}", error);
                prop_assert!(error.location.column <= lines[error.location.line - 1].chars().count() + 1, "{}", error);
            }
        }
    }

    #[test]
    fn any_text_is_read_as_a_record_or_refused(text in "\\PC*", bytes in vec(any::<u8>(), 0..200)) {
        let _ = text.parse::<Record>();
        let _ = format!("[Variant \"oware\"]{text}").parse::<Record>();
        let _ = Record::from_bytes(&bytes);
    }
}

/// A game of any variant with any options, from the opening or another position, finished or not. It may have names and
/// an end by the players.
fn any_record() -> impl Strategy<Value = Record> {
    let opening = any_options().prop_map(|options| AnyPosition::opening(&options));
    let later = (any_options(), choices(), 0..40_usize)
        .prop_map(|(options, choices, plies)| play(&AnyPosition::opening(&options), &choices[..plies]).1);
    let start =
        prop_oneof![2 => opening, 1 => later, 2 => made_up_position().prop_map(|position| with_all_seeds(&position))];
    let name = prop_oneof![3 => Just(String::new()), 2 => "[^\\x00-\\x1f\\x7f-\\x9f]{1,20}", 1 => Just("\\\"ana\\\\\"".to_owned())];
    let end = (select(&RecordResult::ALL[..]), 0..4_usize);
    (start, choices(), 0..150_usize, any::<bool>(), (name.clone(), name), end).prop_map(
        |(start, choices, plies, agreed, (south, north), (result, termination))| {
            let (mut moves, last) = play(&start, &choices[..plies]);
            if agreed && last.play(Move::Agree).is_ok() {
                moves.push(Move::Agree);
            }
            let record = Record::new(&start, moves).expect("the moves are legal");
            let record = record.with_names(&south, &north).expect("short names");
            let by_players = [Termination::Resignation, Termination::Timeout, Termination::Rule(EndReason::Agreement)];
            record.clone().ended(result, by_players.get(termination).copied()).unwrap_or(record)
        },
    )
}

/// A name of any characters, most of which mean something in some form of records.
pub fn hostile_name() -> impl Strategy<Value = String> {
    prop_oneof!["[\"\\\\\\[\\]{}();%<>&'*.1 -]{1,20}", "[^\\x00-\\x1f\\x7f-\\x9f]{1,20}", Just("x\"] {".to_owned())]
}

/// Plays the choices, as far as the game goes.
fn play(start: &AnyPosition, choices: &[usize]) -> (Vec<Move>, AnyPosition) {
    let (mut moves, mut position) = (Vec::new(), start.clone());
    for choice in choices {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        let m = legal[choice % legal.len()];
        position.play_unchecked(m);
        moves.push(m);
    }
    (moves, position)
}

/// The same position with the seeds that it lacks added to South's store; the opening if it has too many.
pub fn with_all_seeds(position: &AnyPosition) -> AnyPosition {
    let opening = AnyPosition::opening(&position.options());
    let lacking = opening.board().total().checked_sub(position.board().total());
    let Some(lacking) = lacking else { return opening };
    let (text, store) = (position.to_string(), position.board().store(Side::South));
    let text = text.replacen(&format!(" {store}-"), &format!(" {}-", store + lacking), 1);
    AnyPosition::parse(&position.options(), &text).expect("only seeds in the store were added")
}

/// The record with another order and spacing, and with numbers, comments and counts, as `picks` chooses.
fn decorate(record: &Record, picks: &[u8]) -> String {
    let mut picks = picks.iter().copied().cycle();
    let mut pick = |n: usize| usize::from(picks.next().expect("a cycle has no end")) % n;
    let canonical = record.to_string();
    let (tags, _) = canonical.split_once("\n\n").expect("tags end with an empty line");
    let mut tags: Vec<String> = tags.lines().map(str::to_owned).collect();
    tags.push("[Event \"a \\\"friendly\\\" game\"]".to_owned());
    let mut text = ["", "\u{feff}", " \t", "{no move [yet] A}"][pick(4)].to_owned();
    while !tags.is_empty() {
        let tag = tags.swap_remove(pick(tags.len()));
        let tag = if pick(2) == 0 { tag } else { tag.replacen(" \"", "\r\n\t\"", 1).replacen('[', "[ ", 1) };
        text += &tag;
        text += ["", " ", "\n", "\r\n\r\n", "\r", "{x}", "\u{a0}\u{3000}"][pick(7)];
    }
    for &m in record.moves() {
        text += ["", " ", "\n", "7.", "99999999999. ", "3...", "{+}", "\u{2003}\r\n"][pick(8)];
        text += &match m {
            Move::Sow(_) | Move::Decline(_) | Move::SowTo { .. } | Move::Place { .. } => m.to_string(),
            Move::Pass => "-".to_owned(),
            Move::Swap => "><".to_owned(),
            Move::Agree => "=".to_owned(),
        };
        text += ["", "+3 ", " +99999999999\n", "{\"}"][pick(4)];
    }
    writeln!(text, " {} {{end}}", record.result()).expect("writing to a string cannot fail");
    text
}
