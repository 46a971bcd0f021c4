//! Compares the packed games with the general ones: they have the same moves, positions and ends, wherever there is a
//! packed form.

use std::{collections::HashSet, rc::Rc};

use mancala_rules::{
    AnyOptions, AnyPosition, EndReason, Move, OptionKind, Pit, Side, Variant,
    packed::{self, Congkak, Game, Kalah, Oware, Path},
};
use proptest::{collection::vec, prelude::*};

use crate::properties::{any_options, choices, config, made_up_position};

/// A game in packed form, and how its positions are packed.
struct Packed {
    game: Rc<dyn Game>,
    pack: Box<Pack>,
}

/// Gives a position its packed form, and the path of the earlier positions.
type Pack = dyn Fn(&AnyPosition) -> Option<(packed::Position, Path)>;

/// A position without earlier ones that matter.
fn alone(packed: packed::Position) -> (packed::Position, Path) {
    (packed, Path::default())
}

impl Packed {
    /// The game that a position belongs to, if it has a packed form.
    fn of(position: &AnyPosition) -> Option<Self> {
        if let Some(kalah) = position.of_game() {
            return Some(Self::new(Kalah::new(kalah)?, |game, position| game.pack(position.of_game()?).map(alone)));
        }
        if let Some(oware) = position.of_game() {
            return Some(Self::new(Oware::new(oware)?, |game, position| {
                game.pack(position.of_game()?, position.history()?)
            }));
        }
        let congkak = position.of_game()?;
        Some(Self::new(Congkak::new(congkak)?, |game, position| game.pack(position.of_game()?).map(alone)))
    }

    fn new<G: Game + 'static>(game: G, pack: fn(&G, &AnyPosition) -> Option<(packed::Position, Path)>) -> Self {
        let game = Rc::new(game);
        let shared = Rc::clone(&game);
        Self { game, pack: Box::new(move |position| pack(&shared, position)) }
    }

    /// Compares all public parts of a position and of the positions after its moves. Returns the latter.
    fn compare(
        &self,
        position: &AnyPosition,
        packed: &packed::Position,
        path: &Path,
    ) -> Vec<(AnyPosition, packed::Position)> {
        assert_same(position, packed);
        let (moves, pits) = (position.legal_moves(), self.game.legal_pits(packed));
        let side = position.turn();
        assert_eq!((pits.len(), pits.is_empty()), (moves.len(), moves.is_empty()), "{position}");
        assert!(pits.clone().map(|index| Move::Sow(Pit { side, index })).eq(moves.iter().copied()), "{position}");
        let after = |(pit, m): (u8, Move)| {
            let mut next = position.clone();
            next.play_unchecked(m);
            let packed_next = self.game.play(packed, pit, path);
            let (expected, _) = (self.pack)(&next).expect("what follows has a packed form too");
            assert_eq!(packed_next, expected, "{m} in {position} leads to {next}");
            (next, packed_next)
        };
        let extra_pit = self.game.extra_pit(packed);
        let following: Vec<_> = pits.clone().zip(moves).map(after).collect();
        for (pit, (next, _)) in pits.zip(&following).filter(|(pit, _)| Some(*pit) == extra_pit) {
            let is_extra = next.turn() == side || next.outcome().is_some();
            assert!(is_extra, "pit {pit} in {position} leads to {next}");
        }
        following
    }

    /// Compares every position within `depth` plies, along every line, and calls `note` with each.
    fn compare_lines(
        &self,
        position: &AnyPosition,
        packed: &packed::Position,
        path: &mut Path,
        depth: u32,
        note: &mut dyn FnMut(&packed::Position),
    ) {
        note(packed);
        if depth == 0 {
            return assert_same(position, packed);
        }
        let following = self.compare(position, packed, path);
        path.push(packed);
        for (next, packed) in following {
            self.compare_lines(&next, &packed, path, depth - 1, note);
        }
        path.pop();
    }

    /// Compares every reachable position, once and without its history. Returns how many there are.
    fn compare_all(&self, start: AnyPosition) -> usize {
        let mut seen = HashSet::new();
        let mut open = vec![start];
        while let Some(position) = open.pop().map(|position| position.afresh()) {
            let (packed, path) = (self.pack)(&position).expect("what follows has a packed form too");
            if seen.insert(packed) {
                open.extend(self.compare(&position, &packed, &path).into_iter().map(|(next, _)| next));
            }
        }
        seen.len()
    }
}

#[track_caller]
fn assert_same(position: &AnyPosition, packed: &packed::Position) {
    let board = position.board();
    assert_eq!(packed.turn(), position.turn(), "{position}");
    assert_eq!(packed.outcome(), position.outcome(), "{position}");
    assert_eq!(packed.is_over(), position.outcome().is_some(), "{position}");
    for side in Side::ALL {
        assert_eq!(u16::from(packed.store(side)), board.store(side), "{position}");
        assert_eq!(u16::from(packed.row_total(side)), board.pits(side).iter().sum::<u16>(), "{position}");
        for pit in (0..=8).map(|index| Pit { side, index }) {
            assert_eq!(u16::from(packed.seeds(pit)), board.seeds(pit), "{pit} of {position}");
        }
    }
}

fn opening(variant: Variant, preset: &str, overrides: &str) -> AnyPosition {
    AnyPosition::opening(&AnyOptions::parse(variant, preset, overrides).unwrap())
}

/// Whether a position has a packed form, by the documentation of the module.
fn is_covered(position: &AnyPosition) -> bool {
    let excluded = [("extra_turn", "optional".into()), ("capture", "optional".into()), ("rounds", "multi".into())];
    let values = position.options().values();
    [Variant::Kalah, Variant::Oware, Variant::Congkak].contains(&position.variant())
        && position.board().pits_per_side() <= 7
        && position.board().total() <= 255
        && !values.iter().any(|value| excluded.contains(value))
}

/// Openings with every combination of the options that are not numbers, as far as they have a packed form.
fn combinations(variant: Variant, board: &str) -> Vec<AnyPosition> {
    let mut texts = vec![board.to_owned()];
    // None of these changes a sowing that is packed.
    for spec in variant.options().iter().filter(|spec| !["agree_end", "pie", "opening"].contains(&spec.name)) {
        let words: &[&str] = match spec.kind {
            OptionKind::Integer { .. } => continue,
            OptionKind::Boolean => &["false", "true"],
            OptionKind::Choice(words) => words,
        };
        texts = texts.iter().flat_map(|text| choose(variant, text, spec.name, words)).collect();
    }
    let openings = texts.iter().map(|text| opening(variant, "standard", text));
    openings.filter(is_covered).collect()
}

/// A text of options with one more option, once for each of its words. If every word is refused, the option does not
/// apply to this game, and the text stays as it is.
fn choose(variant: Variant, text: &str, name: &str, words: &[&str]) -> Vec<String> {
    let longer = words.iter().map(|word| format!("{text};{name}={word}"));
    let allowed: Vec<_> = longer.filter(|text| AnyOptions::parse(variant, "standard", text).is_ok()).collect();
    if allowed.is_empty() { vec![text.to_owned()] } else { allowed }
}

/// Compares all positions after an opening. Returns how many there are.
fn compare(opening: AnyPosition) -> usize {
    Packed::of(&opening).expect("it is covered").compare_all(opening)
}

#[test]
fn every_position_of_small_boards_is_the_same_with_any_options() {
    for (variant, board, expected) in [
        (Variant::Kalah, "pits=2;seeds=2", 34_586),
        (Variant::Oware, "pits=2;seeds=2", 10_488),
        (Variant::Congkak, "pits=3;seeds=2", 2_747),
    ] {
        let compared: usize = combinations(variant, board).into_iter().map(compare).sum();
        assert_eq!(compared, expected, "{variant} {board}");
    }
}

#[test]
fn every_position_of_larger_boards_is_the_same_in_every_preset() {
    for (variant, presets, board, expected) in [
        (Variant::Kalah, &["standard", "bga"][..], "pits=3;seeds=3", 73_106),
        (Variant::Oware, &["standard", "wari"], "pits=3;seeds=2", 66_486),
        (Variant::Congkak, &["standard", "skeat"], "pits=4;seeds=2", 17_069),
    ] {
        let openings = presets.iter().map(|preset| opening(variant, preset, board));
        let compared: usize = openings.map(compare).sum();
        assert_eq!(compared, expected, "{variant} {board}");
    }
}

#[test]
fn every_line_from_the_opening_is_the_same_in_every_preset() {
    for variant in Variant::ALL {
        for preset in variant.presets() {
            let start = opening(variant, preset.name, "");
            let Some(game) = Packed::of(&start) else {
                assert!(!is_covered(&start), "{variant} {}", preset.name);
                continue;
            };
            let (packed, mut path) = (game.pack)(&start).expect("there is no swap");
            let depth = if preset.name == "standard" { 6 } else { 4 };
            game.compare_lines(&start, &packed, &mut path, depth, &mut |_| ());
        }
    }
}

/// The boards are so small that positions repeat within these depths.
#[test]
fn the_extra_pit_is_the_one_nearest_to_the_store() {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").expect("a preset");
    let extra_pit = |text: &str| {
        let position = AnyPosition::parse(&options, text).expect("a position");
        let Packed { game, pack } = Packed::of(&position).expect("it has a packed form");
        let (packed, _) = pack(&position).expect("it has a packed form");
        game.extra_pit(&packed)
    };
    assert_eq!(extra_pit("6,0,4,0,2,0/6,6,6,6,6,6 0-0 S - 0 1S"), Some(4));
    assert_eq!(extra_pit("6,0,5,0,0,2/6,6,6,6,6,5 0-0 S - 0 1S"), Some(0));
    assert_eq!(extra_pit("5,6,5,4,3,2/6,5,5,4,2,1 0-0 S - 0 1S"), None);
    assert_eq!(extra_pit("5,6,5,4,3,2/6,5,5,4,2,1 0-0 N - 0 1S"), Some(5));
}

#[test]
fn every_line_of_oware_to_a_repetition_is_the_same() {
    for (overrides, depth, expected) in [
        ("pits=2;seeds=2", 16, 96),
        ("pits=2;seeds=1;repetition=3", 24, 49),
        ("pits=3;seeds=1;repetition_award=split", 14, 103),
    ] {
        let start = opening(Variant::Oware, "standard", overrides);
        let game = Packed::of(&start).expect("it is covered");
        let (packed, mut path) = (game.pack)(&start).expect("it is covered");
        let mut repetitions = 0;
        game.compare_lines(&start, &packed, &mut path, depth, &mut |packed| {
            let reason = packed.outcome().and_then(|outcome| outcome.reason);
            repetitions += usize::from(reason == Some(EndReason::Repetition));
        });
        assert_eq!(repetitions, expected, "{overrides}");
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn a_packed_game_is_the_same(options in any_options(), choices in choices()) {
        compare_game(&AnyPosition::opening(&options), &choices);
    }

    #[test]
    fn a_packed_game_from_a_made_up_position_is_the_same(position in made_up_position(), choices in choices()) {
        compare_game(&position, &choices);
    }

    #[test]
    fn sowing_an_illegal_pit_does_not_panic_or_lose_seeds(position in made_up_position(), pits in vec(0..=u8::MAX, 1..40)) {
        let Some(game) = Packed::of(&position) else { return Ok(()) };
        let Some((mut packed, path)) = (game.pack)(&position) else { return Ok(()) };
        for pit in pits {
            packed = game.game.play(&packed, pit, &path);
            let total = Side::ALL.map(|side| u16::from(packed.store(side)) + u16::from(packed.row_total(side)));
            prop_assert_eq!(total.iter().sum::<u16>(), position.board().total());
            let _ = (game.game.legal_pits(&packed), packed.outcome());
        }
    }
}

/// Compares the positions of one game.
fn compare_game(start: &AnyPosition, choices: &[usize]) {
    let game = Packed::of(start);
    assert_eq!(game.is_some(), is_covered(start), "{start}");
    let Some(game) = game else { return };
    let mut position = start.clone();
    for choice in choices {
        match (game.pack)(&position) {
            Some((packed, path)) => drop(game.compare(&position, &packed, &path)),
            None => {
                assert!(
                    position.to_string().split(' ').nth(3).is_some_and(|flags| flags.contains(['p', 'l'])),
                    "{position}"
                );
            }
        }
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        position.play_unchecked(moves[choice % moves.len()]);
    }
}
