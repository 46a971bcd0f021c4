//! Each reader of the rules, called with any bytes. It must return, and what it reads must be read back from its own
//! text. The fuzz targets in `crates/rules/fuzz` and the module `corpus` share these checks.

use mancala_rules::{
    AnyOptions, AnyPosition, Move, Side, Variant,
    notation::{
        Record, Splitter, kgp,
        ogn::{self, Ogn},
        read_moves, write_moves,
    },
};

/// How many moves are played from a position that was read.
const MOVES: usize = 40;

/// A single move.
pub fn moves(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(m) = text.parse::<Move>() {
        assert_eq!(m.to_string(), text);
    }
    for side in Side::ALL {
        if let Ok(m) = kgp::read_move(side, text) {
            assert_eq!(kgp::write_move(m).as_deref(), Some(text.trim()));
        }
    }
}

/// `variant preset options`.
pub fn options(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let Some(options) = chosen(text) else { return };
    let again = AnyOptions::parse_recorded(options.variant(), options.preset(), &options.overrides());
    assert_eq!(again, Ok(options));
    let values: Vec<String> = options.values().iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(AnyOptions::parse(options.variant(), options.preset(), &values.join(";")), Ok(options));
}

/// `variant preset options`, and a position in the next line.
pub fn positions(data: &[u8]) {
    let Some((options, text)) = lines(data) else { return };
    if let Ok(position) = AnyPosition::parse(&options, text) {
        assert_eq!(AnyPosition::parse_with_any_total(&options, text).as_ref(), Ok(&position));
    }
    let Ok(position) = AnyPosition::parse_with_any_total(&options, text) else { return };
    let written = position.to_string();
    let again = AnyPosition::parse_with_any_total(&options, &written).expect("a position reads itself");
    assert_eq!(again.to_string(), written);
    play_on(position, data);
}

/// A game record, or moves from the opening of each game.
pub fn records(data: &[u8]) {
    if let Ok(record) = Record::from_bytes(data) {
        let text = str::from_utf8(data).expect("a record is text");
        assert_eq!(split(text), [text], "what is read as one record is not divided");
        let written = record.to_string();
        assert_eq!(split(&format!("{written}{written}")), [written.as_str(), &written]);
        assert_eq!(written.parse(), Ok(record), "{written}");
    }
    let Ok(text) = str::from_utf8(data) else { return };
    for variant in Variant::ALL {
        let options = AnyOptions::parse(variant, "standard", "").expect("every game has this preset");
        let opening = AnyPosition::opening(&options);
        if let Ok(moves) = read_moves(&opening, text) {
            let written = write_moves(&moves);
            assert_eq!(read_moves(&opening, &written), Ok(moves), "{written}");
        }
    }
}

/// A text of many records, divided as importers divide it.
pub fn split(text: &str) -> Vec<String> {
    let mut splitter = Splitter::default();
    let mut records: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        let begins = splitter.begins_record(line);
        match records.last_mut() {
            Some(last) if !begins => last.push_str(line),
            _ => records.push(line.to_owned()),
        }
    }
    records
}

/// A file of Aualé, or a position in one line.
pub fn ogn(data: &[u8]) {
    if let Ok(file) = Ogn::parse(data) {
        let written = file.to_text().expect("what is read is abapa");
        let again = Ogn::parse(written.as_bytes()).expect("a file reads itself");
        // An agreed end is written as its result.
        let agreed = file.record.moves().contains(&Move::Agree);
        assert!(agreed || again == file, "{written}");
    }
    let Ok(text) = str::from_utf8(data) else { return };
    for overrides in ["", "seeds=6;grand_slam=illegal"] {
        let options = AnyOptions::parse(Variant::Oware, "standard", overrides).expect("valid options");
        let Ok(position) = ogn::read_fen(&options, text) else { continue };
        let written = ogn::write_fen(&position).expect("six pits");
        let again = ogn::read_fen(&options, &written).expect("a board reads itself");
        assert_eq!((again.board(), again.turn()), (position.board(), position.turn()));
        assert_eq!(again.outcome().is_some(), position.outcome().is_some());
        play_on(position, data);
    }
}

/// `kalah preset options`, and a board of KGP in the next line.
pub fn kgp(data: &[u8]) {
    let Some((options, text)) = lines(data) else { return };
    let Ok(position) = kgp::read_board(&options, text) else { return };
    let written = kgp::write_board(&position).expect("a board of Kalah");
    let again = kgp::read_board(&options, &written).expect("a board reads itself");
    assert!(position.outcome().is_some() || again == position && written == text.trim());
    play_on(position, data);
}

/// Moves from openings of both games with four rows.
pub fn four_row_records(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    for (variant, preset) in [(Variant::Bao, "standard"), (Variant::Omweso, "arrange")] {
        let options = AnyOptions::parse(variant, preset, "").expect("the game has this preset");
        let opening = AnyPosition::opening(&options);
        if let Ok(moves) = read_moves(&opening, text) {
            let written = write_moves(&moves);
            assert_eq!(read_moves(&opening, &written), Ok(moves), "{written}");
        }
    }
}

fn lines(data: &[u8]) -> Option<(AnyOptions, &str)> {
    let (first, rest) = str::from_utf8(data).ok()?.split_once('\n')?;
    Some((chosen(first)?, rest))
}

fn chosen(text: &str) -> Option<AnyOptions> {
    let mut words = text.splitn(3, ' ');
    let (variant, preset) = (words.next()?.parse().ok()?, words.next()?);
    AnyOptions::parse(variant, preset, words.next().unwrap_or_default()).ok()
}

/// Plays on as the bytes choose. There is a legal move or an end, never both, and no seed is lost.
fn play_on(mut position: AnyPosition, bytes: &[u8]) {
    let seeds =
        |position: &AnyPosition| position.board().total() + position.pending().map_or(0, |pending| pending.hand);
    let total = seeds(&position);
    for &byte in bytes.iter().rev().take(MOVES) {
        let legal = position.legal_moves();
        assert_eq!(legal.is_empty(), position.outcome().is_some(), "{position}");
        if legal.is_empty() {
            return;
        }
        position = position.play(legal[usize::from(byte) % legal.len()]).expect("a listed move is legal").0;
        assert_eq!(seeds(&position), total);
    }
}
