//! The form in which a position is searched. Knows which games have a packed form, and nothing of searching.

use mancala_rules::{
    AnyPosition, OptionValue,
    packed::{Congkak, Kalah, Oware, Path},
};

use crate::{
    endgames::Endgames,
    general::General,
    packed::{DependsOn, Packed},
    signal::Signal,
    table::Table,
    tree::Tree,
};

/// A task on a position, independent of its form.
pub(crate) trait Task {
    /// The task's result.
    type Output;

    /// The signal that stops it.
    fn signal(&self) -> &Signal;

    /// Runs the task from a position that is not over.
    fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Self::Output;
}

/// Runs a task on a position that is not over, in its packed form if it has one. The task gets exact values of
/// positions with few seeds, if there are `endgames` and the game has such values.
pub(crate) fn run<K: Task>(any: &AnyPosition, task: K, table: &mut Table, endgames: Option<&Endgames>) -> K::Output {
    match any {
        AnyPosition::Kalah(position) => {
            if let Some(game) = Kalah::new(position)
                && let Some(start) = game.pack(position)
            {
                let depends_on = if has_majority_end(any) { DependsOn::Stores } else { DependsOn::Pits };
                let endgames = endgames.filter(|_| depends_on == DependsOn::Pits);
                let endgame = endgames.and_then(|endgames| endgames.of_kalah(&game, any, task.signal()));
                let tree = Packed::new(game, any, depends_on, Path::default());
                return match endgame {
                    Some(endgame) => task.run(tree.with_endgame(endgame), start, table),
                    None => task.run(tree, start, table),
                };
            }
        }
        AnyPosition::Oware(position, history) => {
            if let Some(game) = Oware::new(position)
                && let Some((start, path)) = game.pack(position, history)
            {
                let endgame = endgames.and_then(|endgames| endgames.of_oware(&game, any, task.signal()));
                let tree = Packed::new(game, any, DependsOn::History, path);
                return match endgame {
                    Some(endgame) => task.run(tree.with_endgame(endgame), start, table),
                    None => task.run(tree, start, table),
                };
            }
        }
        AnyPosition::Congkak(position) => {
            if let Some(game) = Congkak::new(position)
                && let Some(start) = game.pack(position)
            {
                return task.run(Packed::new(game, any, DependsOn::Pits, Path::default()), start, table);
            }
        }
        AnyPosition::Kumalak(..) | AnyPosition::FourRow(_) => {}
    }
    task.run(General::new(any), General::start(any), table)
}

/// Whether a store can end the game.
fn has_majority_end(position: &AnyPosition) -> bool {
    position.options().values().contains(&("majority_end", OptionValue::Boolean(true)))
}

/// Whether [`Endgames`] has values of this game of Kalah, in which only the seeds in pits matter before its end.
pub(crate) fn has_kalah_endgames(position: &AnyPosition) -> bool {
    matches!(position, AnyPosition::Kalah(_)) && has_packed_form(position) && !has_majority_end(position)
}

/// Whether [`Endgames`] has bounds of this game of Oware.
pub(crate) fn has_oware_endgames(position: &AnyPosition) -> bool {
    matches!(position, AnyPosition::Oware(..)) && has_packed_form(position)
}

/// How many times longer a position takes in the general form.
const SLOWNESS: u64 = 6;

/// Converts a number of positions of the packed form into the number that the general form visits in the same time.
pub(crate) fn nodes_within(position: &AnyPosition, nodes: u64) -> u64 {
    if has_packed_form(position) { nodes } else { nodes.div_ceil(SLOWNESS) }
}

/// Whether a position is searched in its packed form, the fast one.
fn has_packed_form(position: &AnyPosition) -> bool {
    match position {
        AnyPosition::Kalah(position) => Kalah::new(position).is_some_and(|game| game.pack(position).is_some()),
        AnyPosition::Oware(position, history) => {
            Oware::new(position).is_some_and(|game| game.pack(position, history).is_some())
        }
        AnyPosition::Congkak(position) => Congkak::new(position).is_some_and(|game| game.pack(position).is_some()),
        AnyPosition::Kumalak(..) | AnyPosition::FourRow(_) => false,
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::{
        explore::Explore,
        limits::{DEPTH_MAX, Limits},
        root::{Breadth, Root},
        search::Search,
        value::Bounds,
    };
    use mancala_rules::{AnyOptions, Move, Variant};

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
            assert!(has_packed_form(&position));
            let mut table = Table::new(1 << 20);
            let packed = run(&position, Values, &mut table, None);
            table.clear();
            let general = Values.run(General::new(&position), General::start(&position), &mut table);
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
        let (general, _) = explore().run(General::new(&position), General::start(&position), &mut Table::new(1 << 20));
        assert_eq!((packed.value, packed.depth), (general.value, general.depth));
    }
}
