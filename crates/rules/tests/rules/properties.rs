//! What holds for every game (R13), tested with random options, random play and random text.

use std::{collections::HashMap, ops::Range};

use mancala_rules::{
    AnyBoard, AnyOptions, AnyPosition, BySide, Direction, Effect, EndReason, History, Move, OptionKind, OptionSpec,
    OptionValue, OwnEffect, Pit, Place, PresetSpec, Round, Side, Variant,
};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::effects;

/// More plies than nearly every random game has on a board of ordinary size.
const PLIES: usize = 150;

pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_game_keeps_its_invariants(options in any_options(), choices in choices()) {
        let opening = AnyPosition::opening(&options);
        check_game(&opening, &choices)?;
    }

    #[test]
    fn a_game_from_a_made_up_position_keeps_its_invariants(position in made_up_position(), choices in choices()) {
        check_game(&position, &choices)?;
    }

    #[test]
    fn exchanging_the_sides_changes_nothing_else(position in made_up_position(), choices in choices()) {
        let mut position = without_sides(&position);
        let mut mirrored = mirror(&position);
        for choice in choices {
            let moves = position.legal_moves();
            prop_assert_eq!(&moves.iter().map(|&m| mirror_move(m)).collect::<Vec<_>>()[..], &mirrored.legal_moves()[..]);
            if moves.is_empty() {
                break;
            }
            let m = moves[choice % moves.len()];
            let (next, effects) = position.play(m).unwrap();
            let (mirrored_next, mirrored_effects) = mirrored.play(mirror_move(m)).unwrap();
            prop_assert_eq!(mirror(&next).to_string(), mirrored_next.to_string());
            prop_assert_eq!(sorted(effects.into_iter().map(mirror_effect)), sorted(mirrored_effects));
            let winner = |position: &AnyPosition| position.outcome().map(|outcome| (outcome.winner, outcome.reason));
            let exchanged = winner(&next).map(|(side, reason)| (side.map(Side::other), reason));
            prop_assert_eq!(exchanged, winner(&mirrored_next));
            (position, mirrored) = (next, mirrored_next);
        }
    }

    #[test]
    fn an_unchecked_illegal_move_does_not_panic_or_lose_seeds(position in made_up_position(), moves in vec(any_move(), 1..40)) {
        let total = position.board().total();
        let mut position = position;
        for m in moves {
            position.play_unchecked(m);
            prop_assert_eq!(position.board().total(), total);
            let _ = (position.to_string(), position.legal_moves(), position.outcome());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(options in any_options(), text in "\\PC*") {
        let _ = text.parse::<Move>();
        let _ = text.parse::<Side>();
        let _ = AnyPosition::parse(&options, &text);
        let _ = AnyOptions::parse(options.variant(), "standard", &text);
        let _ = AnyOptions::parse(options.variant(), &text, "");
    }

    #[test]
    fn a_nearly_right_position_is_read_or_refused(
        position in made_up_position(),
        at in any::<prop::sample::Index>(),
        with in "[-0-9,/ SNepwotxlAB]{0,3}",
    ) {
        let mut text = position.to_string();
        let at = at.index(text.len());
        text.replace_range(at..=at, &with);
        if let Ok(position) = AnyPosition::parse_with_any_total(&position.options(), &text) {
            check_position(&position)?;
        }
    }

    #[test]
    fn nearly_right_options_are_read_or_refused(
        options in any_options(),
        at in any::<prop::sample::Index>(),
        with in "[a-z0-9_;=]{0,3}",
    ) {
        let mut text = format!("{};", options.overrides());
        let at = at.index(text.len());
        text.replace_range(at..=at, &with);
        if let Ok(options) = AnyOptions::parse(options.variant(), options.preset(), &text) {
            let again = AnyOptions::parse_recorded(options.variant(), options.preset(), &options.overrides());
            prop_assert_eq!(again, Ok(options));
        }
    }
}

/// Plays to the end of the game or of the choices, and checks every step.
fn check_game(start: &AnyPosition, choices: &[usize]) -> Result<(), TestCaseError> {
    let mut position = start.clone();
    let mut played = Vec::new();
    let mut seen = HashMap::from([((start.board(), start.turn(), start.round()), 1)]);
    for choice in choices {
        check_position(&position)?;
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let m = moves[choice % moves.len()];
        let next = check_play(&position, m)?;
        check_repetition(&position, m, &next, &mut seen)?;
        played.push(m);
        position = next;
    }
    check_position(&position)?;
    let replayed = played.iter().try_fold(start.clone(), |position, &m| position.play(m).map(|(next, _)| next));
    prop_assert_eq!(replayed, Ok(position));
    Ok(())
}

/// Counts how often each board with its side to move and round has come since the start of the game. A game with a rule
/// against repetition must end exactly at the limit of that rule; in other games no position comes twice.
fn check_repetition(
    before: &AnyPosition,
    m: Move,
    next: &AnyPosition,
    seen: &mut HashMap<(AnyBoard, Side, Option<Round>), i64>,
) -> Result<(), TestCaseError> {
    if m == Move::Swap {
        return Ok(());
    }
    let values = next.options().values();
    let limit = values.iter().find_map(|(name, value)| match value {
        OptionValue::Integer(limit) if *name == "repetition" => Some(*limit),
        _ => None,
    });
    prop_assert_eq!(limit.is_some(), next.history().is_some());
    // The same move in the position without its history, where nothing is a repetition.
    let alone =
        AnyPosition::parse_with_any_total(&before.options(), &before.to_string()).expect("a position reads itself");
    let (alone, _) = alone.play(m).expect("what is legal does not depend on the history");
    let reason = |position: &AnyPosition| position.outcome().and_then(|outcome| outcome.reason);
    if reason(&alone).is_some() {
        prop_assert_eq!(reason(next), reason(&alone));
        return Ok(());
    }
    let times = seen.entry((alone.board(), alone.turn(), alone.round())).or_default();
    *times += 1;
    let repeated = *times >= limit.unwrap_or(2);
    prop_assert_eq!(reason(next) == Some(EndReason::Repetition), repeated, "{} after {} times", next, times);
    prop_assert!(!repeated || limit.is_some(), "{} comes twice", next);
    if !repeated {
        let stores = |position: &AnyPosition| Side::ALL.map(|side| position.board().store(side));
        let captured = stores(&alone) != stores(before);
        let length = before.history().map(|history| if captured { 0 } else { history.len() + 1 });
        prop_assert_eq!(next.history().map(History::len), length);
        let mut followed = before.clone();
        followed.follow(alone);
        prop_assert_eq!(&followed, next);
    }
    Ok(())
}

fn check_position(position: &AnyPosition) -> Result<(), TestCaseError> {
    let text = position.to_string();
    let moves = position.legal_moves();
    let outcome = position.outcome();
    let board = position.board();
    prop_assert!(outcome.is_some() == moves.is_empty(), "{} is over or has a move, never both", text);

    for m in all_moves() {
        let refused = position.play(m).err();
        let listed = moves.contains(&m);
        if m == Move::Agree {
            let accepted = outcome.is_none() && position.options().values().contains(&("agree_end", true.into()));
            prop_assert!(!listed && refused.is_none() == accepted, "{} in {}: {:?}", m, &text, refused);
        } else {
            prop_assert_eq!(refused.is_none(), listed, "{} in {}: {:?}", m, &text, refused);
        }
        prop_assert_eq!(m.to_string().parse(), Ok(m));
    }
    let sowing = |m: &Move| matches!(m, Move::Sow(pit) | Move::Decline(pit) if pit.side == position.turn() && board.seeds(*pit) > 0);
    let sown = moves.iter().filter(|m| sowing(m)).count();
    let others = moves.len() - sown;
    prop_assert!(others == 0 || others == 1 && !sowing(&moves[sown]), "{:?}", moves);

    let read = AnyPosition::parse_with_any_total(&position.options(), &text).expect("a position reads itself");
    prop_assert_eq!(read.to_string(), &text[..]);
    prop_assert_eq!(read.legal_moves(), moves);
    prop_assert_eq!(read.outcome().map(|outcome| outcome.score), outcome.map(|outcome| outcome.score));
    let has_history = position.history().is_some_and(|history| !history.is_empty());
    prop_assert!(outcome.is_some() || has_history || read == *position);

    if let Some(outcome) = outcome {
        let stores = BySide { south: board.store(Side::South), north: board.store(Side::North) };
        prop_assert_eq!(outcome.score, stores);
        let decisive = position.round().and_then(|round| round.points).unwrap_or(stores);
        let lead = decisive.south.cmp(&decisive.north);
        let winner = [Some(Side::North), None, Some(Side::South)][usize::try_from(lead as i8 + 1).unwrap()];
        prop_assert_eq!(outcome.winner, winner);
    }
    Ok(())
}

/// Plays a legal move with and without effects, and checks what must hold between the positions before and after.
fn check_play(position: &AnyPosition, m: Move) -> Result<AnyPosition, TestCaseError> {
    let (next, effects) = position.play(m).expect("a listed move is legal");
    let mut unchecked = position.clone();
    unchecked.play_unchecked(m);
    prop_assert_eq!(&unchecked, &next);

    let (before, after) = (position.board(), next.board());
    effects::check(position, m, &effects, &next);
    prop_assert_eq!(after.total(), before.total());
    prop_assert_eq!(next.plies(), position.plies() + 1);
    prop_assert_eq!(next.swapped(), position.swapped() || m == Move::Swap);
    let refilled = effects.iter().any(|effect| matches!(effect, Effect::Refill { .. }));
    for side in Side::ALL {
        prop_assert!(refilled || after.store(side) >= before.store(side));
    }
    let opened = |position: &AnyPosition| position.round().map(|round| (round.number, round.opener));
    prop_assert_eq!(opened(&next) == opened(position), !refilled);
    let ended = effects.iter().any(|effect| matches!(effect, Effect::RoundOver { .. }));
    prop_assert!(ended || next.round() == position.round(), "points come at the end of a round");
    prop_assert_eq!(
        next.round().map(|round| round.number),
        position.round().map(|round| round.number + u32::from(refilled))
    );
    let extra = effects.contains(&Effect::ExtraTurn);
    match next.outcome() {
        None if refilled => {
            prop_assert_eq!(next.round().map(|round| round.opener), Some(next.turn()));
            prop_assert!(!extra);
        }
        None if position.lockstep().is_some() => prop_assert!(!extra && next.lockstep() != position.lockstep()),
        None => {
            prop_assert_eq!(next.turn() == position.turn(), extra || m == Move::Swap);
            let flagged = next.to_string().split(' ').nth(3).is_some_and(|flags| flags.contains('e'));
            prop_assert_eq!(flagged, extra);
        }
        Some(outcome) => {
            let reason = outcome.reason.expect("a game that was played has a reason to end");
            prop_assert_eq!(effects.last(), Some(&Effect::GameOver { reason }));
            let values = next.options().overrides();
            let stays =
                values.contains("remaining=discard") || reason.word() == "majority" && !values.contains("sweep");
            let leaves_odd =
                |effect: &_| matches!(effect, Effect::Split { odd: Some(_), .. } | Effect::Level { odd: Some(_), .. });
            let odd = effects.iter().any(leaves_odd);
            let empty = Side::ALL.into_iter().all(|side| after.row_is_empty(side));
            prop_assert!(stays || odd || empty, "{} is swept", next);
        }
    }
    Ok(next)
}

pub fn choices() -> impl Strategy<Value = Vec<usize>> {
    vec(0..usize::MAX, PLIES)
}

/// Any preset of a game with two rows, with any overrides that it allows. `four_row` has its own properties.
pub fn any_options() -> impl Strategy<Value = AnyOptions> {
    let two_rows: Vec<_> = Variant::ALL.into_iter().filter(|variant| variant.rows_per_side() == 1).collect();
    select(two_rows).prop_flat_map(options_of)
}

fn options_of(variant: Variant) -> impl Strategy<Value = AnyOptions> {
    let specs = variant.options();
    let overrides = vec(prop::option::weighted(0.3, 0..1000_u16), specs.len());
    (select(variant.presets()), overrides).prop_map(move |(preset, picks)| {
        let mut text = String::new();
        let mut options = AnyOptions::parse(variant, preset.name, "").expect("a preset is valid");
        for (spec, pick) in specs.iter().zip(picks) {
            let Some(pick) = pick else { continue };
            // An option that contradicts an earlier one is left out.
            let joint = if text.is_empty() { "" } else { ";" };
            let longer = format!("{text}{joint}{}", value(&preset, spec, pick));
            if let Ok(allowed) = AnyOptions::parse(variant, preset.name, &longer) {
                (text, options) = (longer, allowed);
            }
        }
        options
    })
}

/// Writes an override of an option, in the bounds of the preset.
fn value(preset: &PresetSpec, spec: &OptionSpec, pick: u16) -> String {
    let name = spec.name;
    let value = match spec.kind {
        OptionKind::Integer { min, max } => {
            let bounds = preset.bounds.iter().find(|bounds| bounds.option == name);
            let (min, max) = bounds.map_or((min, max), |bounds| (bounds.min, bounds.max));
            (min + pick % (max - min + 1)).to_string()
        }
        OptionKind::Boolean => pick.is_multiple_of(2).to_string(),
        OptionKind::Choice(words) => words[usize::from(pick) % words.len()].to_owned(),
    };
    format!("{name}={value}")
}

/// A position with any seeds and any flags that are allowed together. In a match it has burnt pits too, in any round,
/// and in Toguz Kumalak tuzdyks.
pub fn made_up_position() -> impl Strategy<Value = AnyPosition> {
    let seeds = prop_oneof![3 => Just(0), 2 => 1..4_u16, 1 => 0..10_u16];
    let heap = (0..24_usize, 0..34_u16);
    let side = select(&["S", "N"]);
    let flags = select(&["-", "e", "p", "ep", "w", "ew", "l", "lA", "lB"]);
    let match_only = (vec(prop::bool::weighted(0.2), 24), select(&["1S", "1N", "2S", "3N"]), 0..3_u16);
    let tuzdyks = [0..24_usize, 0..24_usize];
    let parts = (vec(seeds, 24), heap, (0..20_u16, 0..20_u16), side, flags, match_only, tuzdyks);
    (any_options(), parts).prop_map(
        |(options, (mut seeds, heap, (south, north), side, flags, (burnt, round, points), tuzdyks))| {
            let pits = usize::from(AnyPosition::opening(&options).board().pits_per_side());
            seeds[heap.0 % (2 * pits)] += heap.1;
            let opening = AnyPosition::opening(&options);
            let has_points = opening.round().is_some_and(|round| round.points.is_some());
            let text = |flags, round: &str, tuzdyks: &[usize]| {
                let points = if has_points && round == "3N" { points } else { 0 };
                let points = if has_points { format!("{points}-0") } else { String::new() };
                let pit = |at: usize| match at {
                    _ if tuzdyks.contains(&at) => "t".to_owned(),
                    _ if burnt[at] && round != "1S" && opening.can_burn() => "x".to_owned(),
                    _ => seeds[at].to_string(),
                };
                let row = |pits: Range<usize>| pits.map(pit).collect::<Vec<_>>().join(",");
                format!("{}/{} {south}-{north} {side} {flags} 9 {round}{points}", row(0..pits), row(pits..2 * pits))
            };
            let read =
                |flags, round, tuzdyks| AnyPosition::parse_with_any_total(&options, &text(flags, round, tuzdyks)).ok();
            let [whole, without_round, without_flags] = [(flags, round), (flags, "1S"), ("-", round)];
            [&tuzdyks[..], &tuzdyks[..1], &[]]
                .into_iter()
                .flat_map(|tuzdyks| {
                    [whole, without_round, without_flags, ("-", "1S")].map(|(flags, round)| (flags, round, tuzdyks))
                })
                .find_map(|(flags, round, tuzdyks)| read(flags, round, tuzdyks))
                .expect("such seeds are within bounds")
        },
    )
}

fn any_move() -> impl Strategy<Value = Move> {
    let pit = (select(&Side::ALL[..]), prop_oneof![9 => 0..13_u8, 1 => any::<u8>()]);
    prop_oneof![
        8 => pit.clone().prop_map(|(side, index)| Move::Sow(Pit { side, index })),
        1 => pit.clone().prop_map(|(side, index)| Move::Decline(Pit { side, index })),
        1 => (pit, any::<u8>()).prop_map(|((side, index), seeds)| Move::Place { pit: Pit { side, index }, seeds }),
        1 => Just(Move::Pass),
        1 => Just(Move::Swap),
        1 => Just(Move::Agree),
    ]
}

fn all_moves() -> impl Iterator<Item = Move> {
    let pits = Side::ALL.into_iter().flat_map(|side| (0..12).map(move |index| Pit { side, index }));
    let words = pits.flat_map(|pit| {
        let ways = Direction::ALL.map(|direction| Move::SowTo { pit, direction });
        [Move::Sow(pit), Move::Decline(pit), ways[0], ways[1], Move::Place { pit, seeds: 1 }]
    });
    words.chain([Move::Pass, Move::Swap, Move::Agree])
}

/// Only the pie rule and the lockstep opening differ between the sides, so they are switched off.
fn without_sides(position: &AnyPosition) -> AnyPosition {
    let options = position.options();
    let values = options.values();
    let overrides: Vec<_> = values
        .into_iter()
        .filter(|(name, _)| !["pie", "opening"].contains(name))
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let options =
        AnyOptions::new(options.variant(), options.preset(), &overrides).expect("options without these two are valid");
    let mut fields: Vec<String> = position.to_string().split(' ').map(str::to_owned).collect();
    fields[3].retain(|flag| !"pwlABCDEFGHIJKL".contains(flag));
    if fields[3].is_empty() {
        fields[3].push('-');
    }
    AnyPosition::parse_with_any_total(&options, &fields.join(" ")).expect("a position without their flags is valid")
}

fn mirror(position: &AnyPosition) -> AnyPosition {
    let text = position.to_string();
    let fields: Vec<&str> = text.split(' ').collect();
    let (south, north) = fields[0].split_once('/').unwrap();
    let (south_store, north_store) = fields[1].split_once('-').unwrap();
    let exchanged = |letter| if letter == "S" { "N" } else { "S" };
    let (number, rest) = fields[5].split_at(fields[5].find(['S', 'N']).unwrap());
    let (opener, points) = rest.split_at(1);
    // South opens a game of one round, even in the mirror.
    let opener = if position.round().is_some() { exchanged(opener) } else { opener };
    let points = points.split_once('-').map_or(String::new(), |(south, north)| format!("{north}-{south}"));
    let (side, flags, plies) = (exchanged(fields[2]), fields[3], fields[4]);
    let text = format!("{north}/{south} {north_store}-{south_store} {side} {flags} {plies} {number}{opener}{points}");
    AnyPosition::parse_with_any_total(&position.options(), &text).expect("a mirrored position is valid")
}

fn mirror_pit(pit: Pit) -> Pit {
    Pit { side: !pit.side, ..pit }
}

fn mirror_move(m: Move) -> Move {
    match m {
        Move::Sow(pit) => Move::Sow(mirror_pit(pit)),
        Move::Decline(pit) => Move::Decline(mirror_pit(pit)),
        Move::SowTo { pit, direction } => Move::SowTo { pit: mirror_pit(pit), direction },
        Move::Place { pit, seeds } => Move::Place { pit: mirror_pit(pit), seeds },
        Move::Pass | Move::Swap | Move::Agree => m,
    }
}

fn mirror_effect(effect: Effect) -> Effect {
    match effect {
        Effect::Lift { pit, seeds } => Effect::Lift { pit: mirror_pit(pit), seeds },
        Effect::Sow { to: Place::Pit(pit) } => Effect::Sow { to: Place::Pit(mirror_pit(pit)) },
        Effect::Sow { to: Place::Store(side) } => Effect::Sow { to: Place::Store(!side) },
        Effect::Capture { from, seeds, to } => {
            Effect::Capture { from: from.into_iter().map(mirror_pit).collect(), seeds, to: !to }
        }
        Effect::Relay { pit, seeds } => Effect::Relay { pit: mirror_pit(pit), seeds },
        Effect::Sweep { side, seeds, to } => Effect::Sweep { side: !side, seeds, to: !to },
        Effect::Split { seeds, odd } => Effect::Split { seeds, odd: odd.map(mirror_pit) },
        Effect::Tuzdyk { pit, side } => Effect::Tuzdyk { pit: mirror_pit(pit), side: !side },
        Effect::Level { south, north, odd } => Effect::Level { south: north, north: south, odd: odd.map(mirror_pit) },
        Effect::RoundOver { round, score, points } => {
            let exchanged = |pair: BySide<u16>| BySide { south: pair.north, north: pair.south };
            Effect::RoundOver { round, score: exchanged(score), points: points.map(exchanged) }
        }
        Effect::Refill { side, pits, seeds } => {
            Effect::Refill { side: !side, pits: pits.into_iter().map(mirror_pit).collect(), seeds }
        }
        Effect::ExtraTurn | Effect::Swap | Effect::Pass | Effect::GameOver { .. } => effect,
        Effect::Own(own) => {
            let (pit, side) = (own.pit.map(mirror_pit), own.side.map(|side| !side));
            Effect::Own(OwnEffect { pit, side, ..own })
        }
        other => panic!("{other:?} is of a game with four rows"),
    }
}

/// South is always swept and refilled before North, so the order of these effects differs in the mirror.
fn sorted(effects: impl IntoIterator<Item = Effect>) -> Vec<Effect> {
    let mut effects: Vec<Effect> = effects.into_iter().collect();
    effects.sort_by_key(|effect| match effect {
        Effect::Sweep { side, .. } => 1 + *side as u8,
        Effect::RoundOver { .. } => 3,
        Effect::Refill { side, .. } => 4 + *side as u8,
        Effect::GameOver { .. } => 6,
        _ => 0,
    });
    effects
}
