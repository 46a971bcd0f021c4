//! `solve`: prints the exact value of a position and of each of its moves.

use std::fmt::Write as _;

use indicatif::{ProgressBar, ProgressStyle};
use mancala_server::{
    config::Solve,
    engine::{Engine, Progress, Signal},
    rules::{AnyOptions, AnyPosition, Variant},
};

use super::{failure::Failure, output::print};

pub fn solve(solve: &Solve) -> Result<(), Failure> {
    let variant: Variant = solve.variant.parse().map_err(Failure::misuse)?;
    let options = AnyOptions::parse(variant, &solve.preset, &solve.options).map_err(Failure::misuse)?;
    let position = match &solve.position {
        None => AnyPosition::opening(&options),
        Some(text) => AnyPosition::parse(&options, text).map_err(Failure::misuse)?,
    };
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}").map_err(Failure::new)?;
    let bar = ProgressBar::new_spinner().with_style(style);
    let on_progress = |progress: Progress| {
        let Progress { moves_solved, moves, nodes } = progress;
        bar.set_message(format!("{moves_solved} of {moves} moves, {nodes} positions"));
        bar.tick();
    };
    // A signal kills the process: there is nothing to clean up.
    let solved = Engine::new(solve.table_mib.into()).solve(&position, &Signal::new(), on_progress);
    bar.finish_and_clear();
    let solution = solved.ok_or_else(|| Failure::misuse("the game is over in this position"))?;
    let mut text = format!("{position}\nvalue {:+} seeds, South's less North's\n", solution.value);
    for (m, value) in &solution.moves {
        writeln!(text, "{m} {value:+}").expect("writing to a string does not fail");
    }
    print(&format_args!("{text}{} positions were searched\n", solution.nodes))
}
