//! What the engine knows of each game: the one table of weights, levels, endgames and packed forms. A game without an entry is
//! searched in its general form, with what [`DEFAULT`] says.

use mancala_rules::{
    AnyPosition, Variant,
    packed::{Congkak, Kalah, Oware, Path, Position},
};

use crate::{
    endgames::Endgames,
    estimate::Weights,
    form::Task,
    general::General,
    known::{Known, strength},
    packed::{DependsOn, Packed},
    table::Table,
};

/// What is known of a game.
pub(crate) const fn known(variant: Variant) -> &'static Known {
    match variant {
        Variant::Kalah => &KALAH,
        Variant::Oware => &OWARE,
        Variant::Congkak => &CONGKAK,
        Variant::ToguzKumalak => &TOGUZ_KUMALAK,
        Variant::Bestemshe => &BESTEMSHE,
        Variant::Bao => &BAO,
        Variant::Omweso => &OMWESO,
        _ => &DEFAULT,
    }
}

/// A game of which nothing is known: levels that err less and less, and search further and further.
const DEFAULT: Known = Known {
    weights: Weights { row: 10, ..Weights::PLAIN },
    strengths: [
        strength(1, 8_000),
        strength(1, 2_500),
        strength(50, 1_200),
        strength(150, 800),
        strength(500, 600),
        strength(1_500, 400),
        strength(5_000, 200),
        strength(NODES_MAX_IN_GENERAL_FORM, 0),
    ],
    extends: false,
    nodes_with_endgames: None,
};

const KALAH: Known = Known {
    weights: Weights { row: 25, tempo: 100, ..Weights::PLAIN },
    strengths: [
        strength(1, 8_000),
        strength(1, 1_200),
        strength(30, 550),
        strength(100, 450),
        strength(500, 200),
        strength(2_500, 0),
        strength(25_000, 0),
        strength(NODES_MAX, 0),
    ],
    extends: true,
    // Half as many judge as well, measured against searches of 1.6 million positions.
    nodes_with_endgames: Some(100_000),
};

const OWARE: Known = Known {
    weights: Weights { row: 5, ..Weights::PLAIN },
    strengths: [
        strength(1, 8_000),
        strength(1, 1_200),
        strength(1, 500),
        strength(30, 400),
        strength(200, 250),
        strength(2_000, 100),
        strength(30_000, 0),
        strength(NODES_MAX, 0),
    ],
    // Later moves are searched less deep.
    nodes_with_endgames: Some(70_000),
    ..DEFAULT
};

/// Congkak is often decided early, however well both sides play on. For its levels to differ, all but the last must err by many
/// of its 98 seeds. Its turns are too long to be extended.
const CONGKAK: Known = Known {
    weights: Weights { row: 25, tempo: 100, ..Weights::PLAIN },
    strengths: [
        strength(1, 15_000),
        strength(1, 2_000),
        strength(100, 3_600),
        strength(100, 2_100),
        strength(100, 1_080),
        strength(300, 1_050),
        strength(1_000, 700),
        strength(NODES_MAX, 0),
    ],
    ..DEFAULT
};

const TOGUZ_KUMALAK: Known = Known {
    weights: Weights { row: 10, tuzdyk: 1_500, ..Weights::PLAIN },
    strengths: [
        strength(1, 15_000),
        strength(1, 4_500),
        strength(30, 2_300),
        strength(150, 1_400),
        strength(550, 750),
        strength(900, 620),
        strength(2_500, 350),
        strength(NODES_MAX_IN_GENERAL_FORM, 0),
    ],
    ..DEFAULT
};

const BESTEMSHE: Known = Known {
    weights: Weights { row: 10, ..Weights::PLAIN },
    strengths: [
        strength(1, 8_000),
        strength(1, 790),
        strength(80, 410),
        strength(160, 310),
        strength(260, 275),
        strength(480, 205),
        strength(1_300, 110),
        strength(NODES_MAX_IN_GENERAL_FORM, 0),
    ],
    ..DEFAULT
};

const BAO: Known = Known {
    weights: Weights { front: 30, house: 300, ..Weights::PLAIN },
    strengths: [
        strength(1, 8_000),
        strength(1, 2_500),
        strength(150, 1_200),
        strength(400, 800),
        strength(1_500, 600),
        strength(6_000, 300),
        strength(60_000, 0),
        strength(NODES_MAX_OF_FOUR_ROWS, 0),
    ],
    ..DEFAULT
};

const OMWESO: Known = Known {
    weights: Weights { mobility: 60, ..Weights::PLAIN },
    strengths: [
        strength(1, 8_000),
        strength(1, 2_500),
        strength(150, 1_100),
        strength(500, 850),
        strength(1_200, 600),
        strength(3_000, 400),
        strength(10_000, 250),
        strength(NODES_MAX_OF_FOUR_ROWS, 0),
    ],
    ..DEFAULT
};

/// Positions that the engine visits in about a second, in packed form and a release build.
const NODES_MAX: u64 = 3_000_000;

/// Positions a second of games with two rows that have no packed form. `nodes_within` divides it by how much slower the general
/// form is.
const NODES_MAX_IN_GENERAL_FORM: u64 = 1_500_000;

/// Positions a second of games with four rows, whose moves sow many laps.
const NODES_MAX_OF_FOUR_ROWS: u64 = 900_000;

/// Runs a task on a position that is not over, in its packed form if it has one. The task gets exact values of
/// positions with few seeds, if there are `endgames` and the game has such values.
pub(crate) fn run<K: Task>(any: &AnyPosition, task: K, table: &mut Table, endgames: Option<&Endgames>) -> K::Output {
    let known = known(any.variant());
    if let Some((game, start)) = packed_kalah(any) {
        let depends_on = if game.has_majority_end() { DependsOn::Stores } else { DependsOn::Pits };
        let endgames = endgames.filter(|_| depends_on == DependsOn::Pits);
        let endgame = endgames.and_then(|endgames| endgames.of_kalah(&game, any, task.signal()));
        let tree = Packed::new(game, any, depends_on, Path::default(), known);
        return match endgame {
            Some(endgame) => task.run(tree.with_endgame(endgame), start, table),
            None => task.run(tree, start, table),
        };
    }
    if let Some((game, (start, path))) = packed_oware(any) {
        let endgame = endgames.and_then(|endgames| endgames.of_oware(&game, any, task.signal()));
        let tree = Packed::new(game, any, DependsOn::History, path, known);
        return match endgame {
            Some(endgame) => task.run(tree.with_endgame(endgame), start, table),
            None => task.run(tree, start, table),
        };
    }
    if let Some((game, start)) = packed_congkak(any) {
        return task.run(Packed::new(game, any, DependsOn::Pits, Path::default(), known), start, table);
    }
    task.run(General::new(any, known.weights), General::start(any), table)
}

/// How many times longer a position takes in the general form.
const SLOWNESS: u64 = 6;

/// Converts a number of positions of the packed form into the number that the general form visits in the same time.
pub(crate) fn nodes_within(position: &AnyPosition, nodes: u64) -> u64 {
    let is_packed =
        packed_kalah(position).is_some() || packed_oware(position).is_some() || packed_congkak(position).is_some();
    if is_packed { nodes } else { nodes.div_ceil(SLOWNESS) }
}

/// Whether [`Endgames`] has exact values of this game, or bounds. In Kalah only the seeds in pits may matter before its end.
pub(crate) fn has_endgames(position: &AnyPosition) -> bool {
    packed_kalah(position).is_some_and(|(game, _)| !game.has_majority_end()) || packed_oware(position).is_some()
}

fn packed_kalah(position: &AnyPosition) -> Option<(Kalah, Position)> {
    let position = position.of_game()?;
    let game = Kalah::new(position)?;
    let packed = game.pack(position)?;
    Some((game, packed))
}

fn packed_oware(position: &AnyPosition) -> Option<(Oware, (Position, Path))> {
    let (position, history) = (position.of_game()?, position.history()?);
    let game = Oware::new(position)?;
    let packed = game.pack(position, history)?;
    Some((game, packed))
}

fn packed_congkak(position: &AnyPosition) -> Option<(Congkak, Position)> {
    let position = position.of_game()?;
    let game = Congkak::new(position)?;
    let packed = game.pack(position)?;
    Some((game, packed))
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::{
        explore::Explore,
        limits::{DEPTH_MAX, Limits},
        root::{Breadth, Root},
        search::Search,
        signal::Signal,
        tree::Tree,
        value::Bounds,
    };
    use mancala_rules::{AnyOptions, Move};

    /// Boards that have a packed form, and are small enough to be solved in the general one.
    const BOARDS: [(Variant, &str, &str); 9] = [
        (Variant::Kalah, "standard", "pits=3;seeds=2"),
        (Variant::Kalah, "empty_capture", "pits=3;seeds=2"),
        (Variant::Kalah, "bga", "pits=2"),
        (Variant::Kalah, "both_stores", "pits=2"),
        (Variant::Kalah, "standard", "pits=3;seeds=2;remaining=discard"),
        (Variant::Oware, "standard", "pits=2;seeds=1"),
        (Variant::Oware, "forfeit", "pits=3;seeds=1"),
        (Variant::Congkak, "standard", "pits=3;seeds=2"),
        (Variant::Congkak, "skeat", "pits=2;seeds=3"),
    ];

    #[test]
    fn both_forms_prove_the_same_values() {
        for (variant, preset, overrides) in BOARDS {
            let options = AnyOptions::parse(variant, preset, overrides).unwrap();
            let position = AnyPosition::opening(&options);
            assert_eq!(nodes_within(&position, SLOWNESS), SLOWNESS);
            let mut table = Table::new(1 << 20);
            let packed = run(&position, Values, &mut table, None);
            table.clear();
            let general =
                Values.run(General::new(&position, known(variant).weights), General::start(&position), &mut table);
            assert_eq!(packed.len(), general.len());
            for (m, bounds) in packed {
                assert!(bounds.is_exact(), "{m} in {position}");
                // Where a history matters, the general form stores fewer of its proofs.
                let stores_all = variant != Variant::Oware;
                let also =
                    general.iter().filter(|(_, bounds)| bounds.is_exact() || stores_all).find(|also| also.0 == m);
                assert!(also.is_none_or(|&(_, also)| also == bounds), "{m} in {position}: {bounds:?}, {also:?}");
            }
        }
    }

    /// The task of proving the value of each move.
    struct Values;

    impl Task for Values {
        type Output = Vec<(Move, Bounds)>;

        fn signal(&self) -> &Signal {
            static GO_ON: Signal = Signal::new();
            &GO_ON
        }

        fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Self::Output {
            let stop = Signal::new();
            let mut root = Root::new(Search::new(tree, table, &stop, u64::MAX), start);
            root.deepen(DEPTH_MAX, Breadth::Every);
            root.proven().collect()
        }
    }

    #[test]
    fn both_forms_estimate_the_same() {
        let options = AnyOptions::parse(Variant::Congkak, "standard", "").unwrap();
        let position = AnyPosition::opening(&options);
        let stop = Signal::new();
        let explore = || Explore { limits: Limits { nodes: u64::MAX, depth: 4 }, breadth: Breadth::Best, stop: &stop };
        let (packed, _) = run(&position, explore(), &mut Table::new(1 << 20), None);
        let (general, _) = explore().run(
            General::new(&position, known(position.variant()).weights),
            General::start(&position),
            &mut Table::new(1 << 20),
        );
        assert_eq!((packed.value, packed.depth), (general.value, general.depth));
    }
}
