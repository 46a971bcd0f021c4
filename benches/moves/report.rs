//! What is printed: lines of figures as they come, and at the end the bars, and whether each is met.

use std::fmt;

use crate::load::Played;

/// The start of a line with a bar, from the measuring process to its parent.
const BAR_PREFIX: &str = "bar\t";

/// A target, and the figure that was reached.
#[derive(Clone, Debug)]
pub struct Bar {
    what: String,
    wanted: String,
    reached: String,
    is_met: bool,
}

/// All bars so far.
#[derive(Debug, Default)]
pub struct Bars(Vec<Bar>);

/// Whether a bar is a lower or an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    AtLeast,
    AtMost,
}

/// A figure with as many decimals as a few short rounds support.
pub struct Figure(pub f64);

impl Bars {
    /// Adds a bar that all of several values must meet; the worst is shown.
    pub fn add(&mut self, what: impl Into<String>, bound: Bound, wanted: f64, unit: &str, reached: &[f64]) {
        let (sign, worst): (_, fn(f64, f64) -> f64) = match bound {
            Bound::AtLeast => ("≥", f64::min),
            Bound::AtMost => ("≤", f64::max),
        };
        let Some(worst) = reached.iter().copied().reduce(worst) else { return };
        let is_met = if bound == Bound::AtLeast { worst >= wanted } else { worst <= wanted };
        let shown = |value| format!("{}{unit}", Figure(value));
        self.0.push(Bar {
            what: what.into(),
            wanted: format!("{sign} {}", shown(wanted)),
            reached: shown(worst),
            is_met,
        });
    }

    pub fn extend(&mut self, more: Vec<Bar>) {
        self.0.extend(more);
    }

    /// Prints a line for each bar, which the parent process parses.
    pub fn print_for_parent(&self) {
        for Bar { what, wanted, reached, is_met } in &self.0 {
            println!("{BAR_PREFIX}{what}\t{wanted}\t{reached}\t{is_met}");
        }
    }
}

impl Bar {
    /// Parses a line of [`Bars::print_for_parent`]; `None` for any other line.
    pub fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.strip_prefix(BAR_PREFIX)?.split('\t').collect();
        let [what, wanted, reached, is_met] = fields[..] else { return None };
        let (what, wanted, reached) = (what.to_owned(), wanted.to_owned(), reached.to_owned());
        Some(Self { what, wanted, reached, is_met: is_met == "true" })
    }
}

impl fmt::Display for Bars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Bar { what, wanted, reached, is_met } in &self.0 {
            let verdict = if *is_met { "met" } else { "not met" };
            writeln!(f, "{what:<64} {wanted:>14} {reached:>14}   {verdict}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = *self;
        let decimals = match value.abs() {
            large if large >= 100.0 => 0,
            middling if middling >= 10.0 => 1,
            _ => 2,
        };
        f.pad(&format!("{value:.decimals$}"))
    }
}

/// The heading of a part.
pub fn heading(title: &str) {
    println!("\n== {title}");
}

/// The median; NaN without values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Percentiles of latency, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    pub p50: f64,
    pub p99: f64,
    pub p999: f64,
}

impl Latency {
    pub fn of(mut nanoseconds: Vec<u32>) -> Self {
        nanoseconds.sort_unstable();
        let at = |per_mille: usize| {
            let index = (nanoseconds.len() * per_mille / 1000).min(nanoseconds.len().saturating_sub(1));
            nanoseconds.get(index).map_or(f64::NAN, |nanoseconds| f64::from(*nanoseconds) / 1e6)
        };
        Self { p50: at(500), p99: at(990), p999: at(999) }
    }

    /// The latency of all rounds together.
    pub fn of_all<'a>(rounds: impl IntoIterator<Item = &'a Played>) -> Self {
        Self::of(rounds.into_iter().flat_map(|played| played.took.iter().copied()).collect())
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { p50, p99, p999 } = *self;
        write!(f, "p50 {} ms, p99 {} ms, p99.9 {} ms", Figure(p50), Figure(p99), Figure(p999))
    }
}
