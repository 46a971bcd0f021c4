//! What is printed: lines of figures as they come, and at the end what was to be reached, and whether it was.

use std::fmt;

use crate::load::Played;

/// How a line begins by which one run of the bench tells another, which started it, of a bar.
const TOLD: &str = "bar\t";

/// What was to be reached.
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

/// Which way a bar is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    AtLeast,
    AtMost,
}

/// A figure with as many decimals as can be read off a few short rounds.
pub struct Figure(pub f64);

impl Bars {
    /// Of several values all must pass; the worst is shown.
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

    /// For the person who started this run.
    pub fn tell(&self) {
        for Bar { what, wanted, reached, is_met } in &self.0 {
            println!("{TOLD}{what}\t{wanted}\t{reached}\t{is_met}");
        }
    }
}

impl Bar {
    /// Reads what [`Bars::tell`] says; `None` if a line is none of that.
    pub fn told(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.strip_prefix(TOLD)?.split('\t').collect();
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

/// The middle one.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// How long moves took, in milliseconds: of so many in a thousand none took longer.
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

    /// Of all rounds together.
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
