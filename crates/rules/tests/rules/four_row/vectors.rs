//! Whole games and single moves, worked out by hand or by independent programs: `bao.jsonl` and `omweso.jsonl`, one case
//! on each line.

use std::collections::BTreeMap;

use mancala_rules::{
    AnyOptions, AnyPosition, Move, OptionValue, Side, Variant,
    notation::{Record, read_moves, write_moves},
};
use serde::Deserialize;

use super::effects;

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
    refused: BTreeMap<String, String>,
    text: String,
}

#[derive(Deserialize)]
struct Step {
    #[serde(rename = "move")]
    m: String,
    effects: String,
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
    for (lines, count) in [(include_str!("bao.jsonl"), 51), (include_str!("omweso.jsonl"), 36)] {
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
    let start = match &vector.given_start {
        None => AnyPosition::opening(&options),
        Some(text) => AnyPosition::parse(&options, text).expect("a vector starts from a valid position"),
    };
    assert_eq!(start.to_string(), vector.start);
    assert_eq!(legal(&start), vector.legal);
    assert_eq!(vector.moves.len(), vector.steps.len());
    let mut position = start.clone();
    for (m, step) in vector.moves.iter().zip(&vector.steps) {
        assert_eq!(*m, step.m);
        let m: Move = m.parse().expect("a vector has only moves");
        let (next, effects) = position.play(m).expect("a vector has only legal moves");
        assert_eq!(next.to_string(), step.position);
        assert_eq!(effects::line(&effects), step.effects);
        assert_eq!(legal(&next), step.legal_after);
        position_after(&position, m, &next);
        effects::check(&position, m, &effects, &next);
        assert_eq!(
            AnyPosition::parse(&options, &step.position).expect("a position reads itself").to_string(),
            step.position
        );
        position = next;
    }
    compare_final(&position, &vector.last);
    reproduce_text(vector, &start);
    assert_eq!(vector.illegal.len(), vector.refused.len());
    for word in &vector.illegal {
        let refused = position.play(word.parse().expect("a refused word is a move")).unwrap_err();
        assert_eq!(refused.reason(), vector.refused[word], "{word} in {position}");
    }
}

/// The position is the same without effects, and its essence has the same moves.
fn position_after(before: &AnyPosition, m: Move, next: &AnyPosition) {
    let mut position = before.clone();
    position.play_unchecked(m);
    assert_eq!(position, *next);
    let essence = AnyPosition::parse(&next.options(), &next.essence()).expect("an essence is a position");
    assert_eq!((essence.legal_moves(), essence.plies()), (next.legal_moves(), 0));
}

/// The moves as a line of text, and the game as a record.
fn reproduce_text(vector: &Vector, start: &AnyPosition) {
    let moves = read_moves(start, &vector.text).expect("a vector's text has only legal moves");
    assert_eq!(moves.iter().map(ToString::to_string).collect::<Vec<_>>(), vector.moves);
    assert_eq!(write_moves(&moves), vector.text);
    let record = Record::new(start, moves).expect("a vector is a game");
    assert_eq!(record.result().to_string(), vector.last.result);
    assert_eq!(record.to_string().parse(), Ok(record));
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

fn legal(position: &AnyPosition) -> Vec<String> {
    position.legal_moves().iter().map(Move::to_string).collect()
}

fn compare_final(position: &AnyPosition, expected: &Final) {
    let score = position.board().score();
    // A catch in the hand belongs to no side.
    let score = [score.south, score.north];
    assert_eq!(score, expected.stores);
    let Some(outcome) = position.outcome() else {
        assert!(!expected.over, "{position} goes on");
        assert!(expected.round_results.is_empty());
        return assert_eq!(expected.result, "*");
    };
    assert!(expected.over, "{position} is over");
    assert_eq!([outcome.score.south, outcome.score.north], expected.stores);
    assert_eq!(expected.round_results, [score]);
    assert_eq!(outcome.reason.map_or(String::new(), |reason| reason.to_string()), expected.reason);
    assert_eq!(outcome.winner.map(|side| side.letter().to_string()), expected.winner_side);
    let (result, seat) = match outcome.winner {
        Some(Side::South) => ("1-0", Some(0)),
        Some(Side::North) => ("0-1", Some(1)),
        None => ("1/2-1/2", None),
    };
    assert_eq!((result, seat), (expected.result.as_str(), expected.winner_seat));
}
