//! What holds in every game (R34), tested with random options, random play and random text.

use mancala_rules::{AnyOptions, AnyPosition, Direction, Effect, Move, Outcome, Pit, Side, Variant, four_row::SEEDS};

use super::{board_of, effects, random::Random};

const GAMES: u64 = 150;

/// Random positions, half of them from openings, each with the source of further choices.
fn starts(variant: Variant) -> impl Iterator<Item = (AnyPosition, Random)> {
    (1..=GAMES).map(move |seed| {
        let mut random = Random::new(seed);
        let options = random.options(variant);
        let start = if random.one_in(2) { AnyPosition::opening(&options) } else { random.position(&options) };
        (start, random)
    })
}

fn choose(position: &AnyPosition, random: &mut Random) -> Option<Move> {
    let legal = position.legal_moves();
    (!legal.is_empty()).then(|| legal[random.below(legal.len())])
}

#[test]
fn a_game_with_four_rows_keeps_its_invariants_and_ends() {
    for variant in super::GAMES {
        for (start, mut random) in starts(variant) {
            let mut position = start.clone();
            let mut played = vec![];
            check_position(&position);
            while let Some(m) = choose(&position, &mut random) {
                let (next, effects) = position.play(m).unwrap();
                check_step(&position, m, &effects, &next);
                played.push(m);
                position = next;
            }
            assert!(position.outcome().is_some(), "{position}");
            let mut again = start.clone();
            for &m in &played {
                again.play_unchecked(m);
            }
            assert_eq!(again, position);
        }
    }
}

fn check_position(position: &AnyPosition) {
    let hand = position.pending().map_or(0, |pending| pending.hand);
    assert_eq!(position.board().total() + hand, SEEDS, "{position}");
    assert_eq!(position.legal_moves().is_empty(), position.outcome().is_some(), "{position}");
    let again = AnyPosition::parse(&position.options(), &position.to_string()).expect("a position reads itself");
    if position.outcome().is_none() {
        assert_eq!(again, *position);
    } else {
        assert_eq!(again.to_string(), position.to_string());
        let unknown = |outcome: Outcome| Outcome { reason: None, ..outcome };
        assert_eq!(again.outcome(), position.outcome().map(unknown));
    }
}

fn check_step(before: &AnyPosition, m: Move, effects: &[Effect], after: &AnyPosition) {
    effects::check(before, m, effects, after);
    check_position(after);
    assert_eq!(after.plies(), before.plies() + 1);
    let is_inside = after.pending().is_some() || after.arranging().is_some_and(|pit| pit.side == before.turn());
    if after.outcome().is_none() {
        assert_eq!(after.turn() == before.turn(), is_inside, "{before}, {m}");
    }
    let has_taken = effects.iter().any(|effect| matches!(effect, Effect::Take { .. }));
    for side in Side::ALL {
        let (old, new) = (board_of(before), board_of(after));
        let has_hand = before.pending().is_some_and(|pending| pending.hand > 0);
        assert!(has_taken || has_hand || old.score()[side] == new.score()[side], "{before}, {m}");
        assert!(new.reserve(side) <= old.reserve(side) || after.outcome().is_some(), "{before}, {m}");
        assert!(old.owns_house(side) || !new.owns_house(side), "{before}, {m}");
    }
    if after.variant() == Variant::Bao && effects.iter().any(|effect| matches!(effect, Effect::Sow { .. })) {
        assert!(!board_of(after).front_is_empty(before.turn()), "{before}, {m}");
    }
}

/// Exchanges the two sides in a position text.
fn exchanged(text: &str) -> String {
    let fields: Vec<&str> = text.split(' ').collect();
    let swap = |field: &str, between: char| {
        let (south, north) = field.split_once(between).unwrap();
        format!("{north}{between}{south}")
    };
    let case = |c: char| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    let flags = match fields[3] {
        "oS" => "oN".to_owned(),
        "oN" => "oS".to_owned(),
        "-" | "od" | "Ff" => fields[3].to_owned(),
        "F" => "f".to_owned(),
        "f" => "F".to_owned(),
        flags => {
            // The pit of a choice may have the letter of a mark, so the first two letters are left out.
            let head = if flags.starts_with('e') { 2 } else { 0 };
            let end = flags[head..].find(['c', 'x', 'y', 'K', 'k']).map_or(flags.len(), |at| head + at);
            let (choice, marks) = flags.split_at(end);
            let choice: String = choice.char_indices().map(|(at, c)| if at == 0 { c } else { case(c) }).collect();
            let captured =
                if marks.contains("Kk") { marks.to_owned() } else { marks.replace('K', "?").replace('k', "K") };
            format!("{choice}{}", captured.replace('?', "k"))
        }
    };
    let turn = if fields[2] == "S" { "N" } else { "S" };
    format!("{} {} {turn} {flags} {} 1S", swap(fields[0], '/'), swap(fields[1], '-'), fields[4])
}

fn exchanged_move(m: Move) -> Move {
    let other = |pit: Pit| Pit { side: !pit.side, ..pit };
    match m {
        Move::Sow(pit) => Move::Sow(other(pit)),
        Move::Decline(pit) => Move::Decline(other(pit)),
        Move::SowTo { pit, direction } => Move::SowTo { pit: other(pit), direction },
        Move::Place { pit, seeds } => Move::Place { pit: other(pit), seeds },
        Move::Pass | Move::Swap | Move::Agree => m,
    }
}

#[test]
fn exchanging_the_sides_of_four_rows_changes_nothing_else() {
    for variant in super::GAMES {
        for (mut position, mut random) in starts(variant) {
            while position.arranging().is_some() {
                position.play_unchecked(choose(&position, &mut random).unwrap());
            }
            while let Some(m) = choose(&position, &mut random) {
                let other = AnyPosition::parse(&position.options(), &exchanged(&position.to_string())).unwrap();
                let legal: Vec<Move> = position.legal_moves().into_iter().map(exchanged_move).collect();
                assert_eq!(legal[..], other.legal_moves()[..], "{position}");
                position = position.play(m).unwrap().0;
                let (other, _) = other.play(exchanged_move(m)).unwrap();
                assert_eq!(other.to_string(), exchanged(&position.to_string()));
            }
        }
    }
}

/// The pits of a side.
fn pits(side: Side) -> impl Iterator<Item = Pit> {
    (0..16).map(move |index| Pit { side, index })
}

/// Mirrors the pits of a board left to right, with a blocked pit.
fn mirrored(position: &AnyPosition) -> AnyPosition {
    let board = board_of(position);
    let row = |side: Side| {
        let pits = pits(side).map(|pit| {
            let from = mirrored_pit(pit);
            let mark = if board.blocked() == Some(from) { "t" } else { "" };
            format!("{}{mark}", board.seeds(from))
        });
        pits.collect::<Vec<_>>().join(",")
    };
    let text = position.to_string();
    let (_, rest) = text.split_once(' ').unwrap();
    AnyPosition::parse(&position.options(), &format!("{}/{} {rest}", row(Side::South), row(Side::North))).unwrap()
}

fn mirrored_pit(pit: Pit) -> Pit {
    let index = if pit.index < 8 { 7 - pit.index } else { 23 - pit.index };
    Pit { index, ..pit }
}

fn mirrored_move(m: Move) -> Move {
    match m {
        Move::Sow(pit) => Move::Sow(mirrored_pit(pit)),
        Move::SowTo { pit, direction } => {
            let direction = match direction {
                Direction::Up => Direction::Down,
                Direction::Down => Direction::Up,
            };
            Move::SowTo { pit: mirrored_pit(pit), direction }
        }
        other => other,
    }
}

#[test]
fn bao_without_a_house_is_the_same_from_the_right() {
    for (seed, overrides) in (1..=GAMES).zip(["", "takasia=block", "takasia=take;takasia_single=true"].iter().cycle()) {
        let options = AnyOptions::parse(Variant::Bao, "kujifunza", overrides).unwrap();
        let mut random = Random::new(seed);
        let mut position = random.position(&options);
        while let Some(m) = choose(&position, &mut random) {
            let mirror = mirrored(&position);
            let sorted = |mut moves: Vec<String>| {
                moves.sort();
                moves
            };
            let legal = position.legal_moves().into_iter().map(|m| mirrored_move(m).to_string()).collect();
            assert_eq!(sorted(legal), sorted(mirror.legal_moves().iter().map(Move::to_string).collect()));
            position = position.play(m).unwrap().0;
            let next = mirror.play(mirrored_move(m)).unwrap().0;
            assert_eq!(next.to_string(), mirrored(&position).to_string());
        }
    }
}

#[test]
fn a_move_of_four_rows_that_is_not_legal_loses_no_seeds() {
    for variant in super::GAMES {
        for (mut position, mut random) in starts(variant) {
            for _ in 0..30 {
                let side = Side::ALL[random.below(2)];
                // There are no pits from 16 on.
                let pit = Pit { side, index: u8::try_from(random.below(18)).unwrap() };
                let [up, down] = Direction::ALL.map(|direction| Move::SowTo { pit, direction });
                let others = [Move::Pass, Move::Swap, Move::Agree, Move::Place { pit, seeds: 99 }, Move::Decline(pit)];
                let m = if random.one_in(4) {
                    others[random.below(5)]
                } else {
                    [Move::Sow(pit), up, down][random.below(3)]
                };
                assert_eq!(position.play(m).is_ok(), position.legal_moves().contains(&m), "{m} in {position}");
                position.play_unchecked(m);
                let hand = position.pending().map_or(0, |pending| pending.hand);
                assert_eq!(position.board().total() + hand, SEEDS);
                let _ = position.to_string();
            }
        }
    }
}

#[test]
fn a_nearly_right_position_of_four_rows_is_read_or_refused() {
    let parts =
        ["", "-", "0", "1", "2", "6n", "t", "n", ",", "/", " ", "S", "N", "eEU", "eG", "s", "x", "o", "d", "K", "é"];
    let mut read = 0;
    for variant in super::GAMES {
        for (position, mut random) in starts(variant) {
            for _ in 0..20 {
                let text = position.to_string();
                let at = random.below(text.len());
                let nearly = format!("{}{}{}", &text[..at], parts[random.below(parts.len())], &text[at + 1..]);
                if let Ok(position) = AnyPosition::parse(&position.options(), &nearly) {
                    check_position(&position);
                    read += 1;
                }
            }
        }
    }
    assert!(read > 100, "{read} were read");
}
