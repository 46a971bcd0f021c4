//! Playing well: what a position is worth, which move is best, how good a move was, and moves for a computer of any
//! strength.
//!
//! Pure as the rules are: no clock, no lot, no I/O. How long something may take is told in positions to look at, and
//! whoever has a clock gives a signal that stops it, or has it rest. The same question to a fresh engine has the same answer.
//!
//! **Values** are margins at the end of the game in seeds: South's less North's. Told is what the person has in the end
//! who sits at South's side *in the position that is asked about*. The two differ under the pie rule only, where people may
//! change sides; a swap is then worth what the other side was worth. A match of several rounds counts by its last round,
//! as its result does. A value is exact if it is proven: by alpha-beta to the end of every line that matters, never by
//! an estimate. Oware's rule against repetition is part of that, with all that was played before. What is remembered of a
//! position is found by its seeds themselves where they are few, and by 64 bits of hash otherwise.
//!
//! ```
//! use mancala_engine::{Engine, Limits, Signal};
//! use mancala_rules::{AnyOptions, AnyPosition, Variant};
//!
//! let options = AnyOptions::parse(Variant::Kalah, "standard", "pits=4;seeds=2")?;
//! let opening = AnyPosition::opening(&options);
//! let mut engine = Engine::new(1);
//! let found = engine.search(&opening, Limits::nodes(100_000), &Signal::new()).expect("there are moves");
//! assert!(found.value.is_exact);
//! assert_eq!(found.value.seeds(), 6.0);
//! assert_eq!(found.best().to_string(), "D");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What this module does not know: people, time, storage, HTTP. It searches games in their packed form where there is one
//! (`packed.rs`), and in their general form otherwise (`general.rs`), which takes six times as long.

mod estimate;
mod form;
mod general;
mod level;
mod packed;
mod review;
mod root;
mod search;
mod signal;
mod solve;
mod table;
mod tree;

use form::Task;
pub use level::{Level, LevelError};
use mancala_rules::{AnyOptions, AnyPosition, Move, Side};
pub use review::{Review, ReviewError};
use root::{Breadth, Ranked, Root};
use search::{Search, Value};
pub use signal::Signal;
pub use solve::{Progress, Solution};
use table::Table;
pub use tree::POINTS_PER_SEED;
use tree::{DEPTH_MAX, Tree};

/// The most memory that an engine may be given, in MiB: enough for the boards that can be solved at all.
pub const TABLE_MIB_MAX: usize = 8192;

/// What searches games, with a memory of positions that serves from one question to the next.
#[derive(Clone, Debug)]
pub struct Engine {
    table: Table,
    /// The game that the table is about: its options and all its seeds.
    game: Option<(AnyOptions, u16)>,
}

/// How far to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most positions to look at. A few more than the moves there are may be, so that there is an answer.
    pub nodes: u64,
    /// The most plies to look ahead.
    pub depth: u8,
}

impl Limits {
    /// So many positions, to whatever depth.
    #[must_use]
    pub const fn nodes(nodes: u64) -> Self {
        Self { nodes, depth: DEPTH_MAX }
    }
}

/// The margin at the end of the game, as the module says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// South's seeds less North's, in hundredths of a seed ([`POINTS_PER_SEED`]).
    pub points: i32,
    /// Whether it is proven, and not an estimate. Then it is a whole number of seeds.
    pub is_exact: bool,
}

impl Evaluation {
    /// The same in seeds.
    #[must_use]
    pub fn seeds(self) -> f64 {
        f64::from(self.points) / f64::from(POINTS_PER_SEED)
    }

    /// As somebody sees it who sits at this side, in hundredths of a seed.
    #[must_use]
    pub const fn points_for(self, side: Side) -> i32 {
        match side {
            Side::South => self.points,
            Side::North => -self.points,
        }
    }

    /// What the search has found, as the side to move sees it.
    fn of(value: Value, turn: Side) -> Self {
        let seen = Self { points: value.points, is_exact: value.bounds.is_exact() };
        Self { points: seen.points_for(turn), ..seen }
    }
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The value of the position.
    pub value: Evaluation,
    /// The best move, and what follows by best play as far as it is remembered. Never empty.
    pub line: Vec<Move>,
    /// How many plies were looked ahead on every line; 0 if there was time for the moves alone.
    pub depth: u8,
    /// How many positions were looked at.
    pub nodes: u64,
    /// Whether it ended because the flag was raised. The rest is true nevertheless: of the last depth that was finished.
    pub is_stopped: bool,
}

impl Found {
    /// The best move.
    #[must_use]
    pub fn best(&self) -> Move {
        self.line[0]
    }
}

/// A legal move, and what it is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The value of the position if this move is played.
    pub value: Evaluation,
    /// The move, and what follows by best play as far as it is remembered. Never empty.
    pub line: Vec<Move>,
}

impl Engine {
    /// An engine that remembers positions in so many MiB, from 1 to [`TABLE_MIB_MAX`].
    #[must_use]
    pub fn new(table_mib: usize) -> Self {
        Self { table: Table::new(table_mib.clamp(1, TABLE_MIB_MAX) << 20), game: None }
    }

    /// Forgets all positions, so that the next answer is that of a fresh engine. Takes no time.
    pub fn forget(&mut self) {
        self.table.clear();
    }

    /// The value of a position and its best move. `None` if the game is over.
    ///
    /// Looks deeper and deeper until the value is exact, a limit is reached, or somebody raises `stop`; there is an
    /// answer in any case.
    pub fn search(&mut self, position: &AnyPosition, limits: Limits, stop: &Signal) -> Option<Found> {
        self.explore(position, limits, Breadth::Best, stop).map(|(found, _)| found)
    }

    /// The value of every legal move, best first; none if the game is over. Limits are for all moves together.
    pub fn candidates(&mut self, position: &AnyPosition, limits: Limits, stop: &Signal) -> Vec<Candidate> {
        self.explore(position, limits, Breadth::Every, stop).map(|(_, candidates)| candidates).unwrap_or_default()
    }

    fn explore(
        &mut self,
        position: &AnyPosition,
        limits: Limits,
        breadth: Breadth,
        stop: &Signal,
    ) -> Option<(Found, Vec<Candidate>)> {
        self.run(position, Explore { limits, breadth, stop })
    }
}

/// To look at moves as deep as limits allow.
struct Explore<'a> {
    limits: Limits,
    breadth: Breadth,
    stop: &'a Signal,
}

impl Task for Explore<'_> {
    type Output = (Found, Vec<Candidate>);

    fn run<T: Tree>(self, tree: T, start: T::Position, table: &mut Table) -> Self::Output {
        let turn = tree.turn(&start);
        let mut root = Root::new(Search::new(tree, table, self.stop, self.limits.nodes), start);
        root.deepen(self.limits.depth, self.breadth);
        let value = Evaluation::of(root.value(), turn);
        let candidates: Vec<_> = root.ranking().into_iter().map(|ranked| Candidate::of(ranked, turn)).collect();
        let found = Found {
            value,
            line: candidates.first().map(|best| best.line.clone()).unwrap_or_default(),
            depth: root.depth,
            nodes: root.search.nodes,
            is_stopped: root.search.is_told_to_stop(),
        };
        (found, candidates)
    }
}

impl Candidate {
    /// The move.
    #[must_use]
    pub fn m(&self) -> Move {
        self.line[0]
    }

    fn of(ranked: Ranked, turn: Side) -> Self {
        Self { value: Evaluation::of(ranked.value, turn), line: ranked.line }
    }
}
