//! Whole games, worked out by hand or by an independent program: a file for each game with two rows, one game on each
//! line. Options that came later have files of their own, such as `kalah_optional_capture.jsonl`.

use mancala_rules::{
    AnyOptions, AnyPosition, Effect, Move, OptionValue, ParsePositionError, Side, Variant,
    notation::{Record, read_moves, write_moves},
};
use serde::Deserialize;

use crate::effects;

#[derive(Deserialize)]
struct Vector {
    id: String,
    variant: String,
    preset: String,
    options: serde_json::Map<String, serde_json::Value>,
    given_start: Option<String>,
    start: String,
    legal: Vec<String>,
    moves: Vec<String>,
    steps: Vec<Step>,
    #[serde(rename = "final")]
    last: Final,
    illegal: Vec<String>,
    text: String,
}

#[derive(Deserialize)]
struct Step {
    #[serde(rename = "move")]
    m: String,
    events: Vec<String>,
    legal_after: Vec<String>,
    position: String,
}

#[derive(Deserialize)]
struct Final {
    over: bool,
    reason: String,
    result: String,
    stores: [u16; 2],
    winner_side: Option<String>,
    winner_seat: Option<u8>,
    round_results: Vec<[u16; 2]>,
}

#[test]
fn every_vector_is_reproduced_exactly() {
    for (lines, count) in [
        (include_str!("kalah.jsonl"), 133),
        (include_str!("kalah_optional_capture.jsonl"), 19),
        (include_str!("oware.jsonl"), 95),
        (include_str!("congkak.jsonl"), 61),
        (include_str!("congkak_match_and_lockstep.jsonl"), 17),
        (include_str!("toguz_kumalak.jsonl"), 63),
        (include_str!("bestemshe.jsonl"), 35),
    ] {
        let read = |line| serde_json::from_str(line).expect("a line is a vector");
        let vectors: Vec<Vector> = lines.lines().map(read).collect();
        assert_eq!(vectors.len(), count);
        for vector in &vectors {
            println!("{}", vector.id);
            reproduce(vector);
        }
    }
}

fn reproduce(vector: &Vector) {
    let options = options(vector);
    let mut position = match &vector.given_start {
        None => AnyPosition::opening(&options),
        Some(text) => import(&options, text),
    };
    assert_eq!(position.to_string(), vector.start);
    assert_eq!(legal(&position), vector.legal);
    assert_eq!(vector.moves.len(), vector.steps.len());
    let mut rounds = Vec::new();
    for (m, step) in vector.moves.iter().zip(&vector.steps) {
        assert_eq!(*m, step.m);
        let m: Move = m.parse().expect("a vector has only moves");
        let (next, effects) = position.play(m).expect("a vector has only legal moves");
        assert_eq!(next.to_string(), step.position);
        assert_eq!(legal(&next), step.legal_after);
        effects::check(&position, m, &effects, &next);
        compare_hints(vector, step, &effects);
        rounds.extend(effects.iter().filter_map(|effect| match effect {
            Effect::RoundOver { score, .. } => Some([score.south, score.north]),
            _ => None,
        }));
        position = next;
    }
    compare_final(&position, &vector.last);
    compare_text(vector, &options);
    if position.round().is_some() {
        assert_eq!(rounds, vector.last.round_results);
    } else {
        assert!(rounds.is_empty(), "only a match has rounds");
    }
    for m in &vector.illegal {
        let refused = m.parse::<Move>().is_ok_and(|m| position.play(m).is_err());
        assert!(refused, "{m} is illegal in {position}");
    }
}

fn options(vector: &Vector) -> AnyOptions {
    let variant: Variant = vector.variant.parse().expect("a known variant");
    let overrides: Vec<(String, OptionValue)> = vector
        .options
        .iter()
        .map(|(name, value)| match value {
            serde_json::Value::Bool(value) => (name.clone(), OptionValue::Boolean(*value)),
            serde_json::Value::String(word) => (name.clone(), OptionValue::Word(word.clone().into())),
            number => (name.clone(), OptionValue::Integer(number.as_i64().expect("an integer"))),
        })
        .collect();
    AnyOptions::new(variant, &vector.preset, &overrides).expect("options of a vector are valid")
}

/// Two of the hand-made positions hold more or fewer seeds than the game, so they need the reader that allows any
/// total.
fn import(options: &AnyOptions, text: &str) -> AnyPosition {
    match AnyPosition::parse(options, text) {
        Err(ParsePositionError::SeedTotal { expected: 48, found: 49 | 43 }) => {
            AnyPosition::parse_with_any_total(options, text).expect("only the total differs")
        }
        result => {
            assert_eq!(AnyPosition::parse_with_any_total(options, text), result);
            result.expect("a vector starts from a valid position")
        }
    }
}

/// The text of a vector is read as its moves, and its moves are written as its text. They make a record with its
/// result.
fn compare_text(vector: &Vector, options: &AnyOptions) {
    let start = vector.given_start.as_ref().map_or_else(|| AnyPosition::opening(options), |text| import(options, text));
    let moves = read_moves(&start, &vector.text).expect("a vector's text has only legal moves");
    assert_eq!(moves.iter().map(Move::to_string).collect::<Vec<_>>(), vector.moves);
    assert_eq!(write_moves(&moves), vector.text);
    match Record::new(&start, moves) {
        Err(error) => assert_ne!(AnyPosition::parse(options, &start.to_string()), Ok(start), "{error}"),
        Ok(record) => {
            assert_eq!(record.result().to_string(), vector.last.result);
            let reason = record.termination().map_or(String::new(), |termination| termination.to_string());
            // A start that is over has no reason, because its text has none.
            assert!(reason == vector.last.reason || vector.moves.is_empty() && reason.is_empty());
            assert_eq!(record.to_string().parse(), Ok(record));
        }
    }
}

fn legal(position: &AnyPosition) -> Vec<String> {
    position.legal_moves().iter().map(Move::to_string).collect()
}

/// The vectors named `extra/` carry no events.
fn compare_hints(vector: &Vector, step: &Step, effects: &[Effect]) {
    if vector.id.starts_with("extra/") {
        return assert!(step.events.is_empty());
    }
    let is_compared = |event: &&String| {
        ["extra", "capture:", "tuzdyk:", "pass", "swap", "over:", "relay:"].iter().any(|word| event.starts_with(word))
    };
    let events: Vec<String> = step.events.iter().filter(is_compared).cloned().collect();
    let mut hints = hints(effects);
    let in_step = effects.iter().any(|effect| matches!(effect, Effect::Hand { .. }));
    let relays = effects.iter().filter(|effect| matches!(effect, Effect::Relay { .. })).count();
    // In a lockstep opening both sides relay, and the vectors count neither.
    if relays > 0 && !in_step {
        let ends = usize::from(hints.last().is_some_and(|hint| hint.starts_with("over:")));
        let ends = ends + usize::from(hints.contains(&"extra".to_owned()));
        hints.insert(hints.len() - ends, format!("relay:{}", relays + 1));
    }
    assert_eq!(hints, events);
}

/// The effects in the words of the vectors' events; effects without such a word are left out.
fn hints(effects: &[Effect]) -> Vec<String> {
    let hint = |effect: &Effect| match effect {
        Effect::ExtraTurn => Some("extra".to_owned()),
        Effect::Capture { seeds, .. } => Some(format!("capture:{seeds}")),
        Effect::Tuzdyk { pit, .. } => Some(format!("tuzdyk:{pit}")),
        Effect::Pass => Some("pass".to_owned()),
        Effect::Swap => Some("swap".to_owned()),
        Effect::GameOver { reason } => Some(format!("over:{reason}")),
        Effect::Lift { .. }
        | Effect::Sow { .. }
        | Effect::Relay { .. }
        | Effect::Sweep { .. }
        | Effect::Split { .. }
        | Effect::Choose { .. }
        | Effect::Hand { .. }
        | Effect::Level { .. }
        | Effect::RoundOver { .. }
        | Effect::Refill { .. } => None,
        other => panic!("{other:?} is of a game with four rows"),
    };
    effects.iter().filter_map(hint).collect()
}

fn compare_final(position: &AnyPosition, expected: &Final) {
    let board = position.board();
    assert_eq!(Side::ALL.map(|side| board.store(side)), expected.stores);
    let Some(outcome) = position.outcome() else {
        assert!(!expected.over, "{position} goes on");
        return assert_eq!(expected.result, "*");
    };
    assert!(expected.over, "{position} is over");
    assert_eq!([outcome.score.south, outcome.score.north], expected.stores);
    assert_eq!(outcome.reason.map_or(String::new(), |reason| reason.to_string()), expected.reason);
    assert_eq!(outcome.winner.map(|side| side.letter().to_string()), expected.winner_side);
    let (result, seat_before_swap) = match outcome.winner {
        Some(Side::South) => ("1-0", Some(0)),
        Some(Side::North) => ("0-1", Some(1)),
        None => ("1/2-1/2", None),
    };
    assert_eq!(result, expected.result);
    let seat = seat_before_swap.map(|seat| if position.swapped() { 1 - seat } else { seat });
    assert_eq!(seat, expected.winner_seat);
}
