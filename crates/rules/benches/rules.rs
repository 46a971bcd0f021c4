//! The speed of the rules: move sequences and random games per second, and the time of one move with and without its
//! effects.
//!
//! Run it with `cargo bench -p mancala-rules --bench rules`; it takes a minute. Every count is asserted, and random
//! games must have the same results in both forms of the rules, so wrong rules fail. The best of many rounds is shown.

use std::{
    fmt,
    hint::black_box,
    time::{Duration, Instant},
};

use mancala_rules::{
    AnyOptions, AnyPosition, Move, Side, Variant,
    packed::{self, Congkak, Game, Kalah, Oware, Path},
    perft,
};

/// Variant, preset, depth, and the expected number of sequences, which a second program confirmed. These presets of
/// Kalah differ from depth 10 on. In Oware `wari` takes the longest, because every sowing is tried before it counts as
/// legal.
const COUNTS: [(Variant, &str, u32, u64); 12] = [
    (Variant::Kalah, "standard", 9, 2_763_490),
    (Variant::Kalah, "standard", 10, 13_519_607),
    (Variant::Kalah, "bga", 10, 13_519_612),
    (Variant::Oware, "standard", 9, 3_592_872),
    (Variant::Oware, "standard", 10, 18_137_964),
    (Variant::Oware, "wari", 9, 3_592_872),
    (Variant::Congkak, "standard", 9, 8_721_354),
    (Variant::ToguzKumalak, "standard", 6, 360_035),
    (Variant::Bestemshe, "standard", 8, 153_588),
    (Variant::Bao, "standard", 9, 70_959),
    (Variant::Omweso, "standard", 6, 141_323),
    (Variant::Omweso, "tournament", 5, 1_193_266),
];

/// How long each measurement repeats its rounds. On a shared machine, the best of many short rounds is more accurate
/// than the mean of a long one.
const MEASURING: Duration = Duration::from_secs(1);

/// The least number of rounds of a measurement.
const ROUNDS_MIN: u32 = 3;

/// How many random games are played in a round.
const PLAYOUTS: u32 = 5_000;

/// How often the fixed game is played in a round, for the cost of one move.
const GAMES: u32 = 2_000;

fn main() {
    println!("million leaves a second, every leaf played / moves of the last ply only counted:");
    for (variant, preset, depth, expected) in COUNTS {
        let opening = opening(variant, preset);
        let general = Rates {
            made: leaf_rate(expected, || count(&opening, depth)),
            counted: leaf_rate(expected, || perft(&opening, depth)),
        };
        let packed = Packed::of(&opening).map(|packed| packed.rates(depth, expected).to_string());
        let packed = packed.unwrap_or_else(|| "-".to_owned());
        println!("{variant} {preset} depth {depth}: {expected} leaves, packed {packed}, general {general}");
    }
    check_ends();
    // The games with four rows have a benchmark of their own.
    let two_rows = || Variant::ALL.into_iter().filter(|variant| variant.rows_per_side() == 1);
    two_rows().for_each(random_games);
    two_rows().for_each(cost_of_a_move);
}

/// Million leaves a second.
struct Rates {
    made: f64,
    counted: f64,
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} / {:.1}", self.made, self.counted)
    }
}

fn leaf_rate(expected: u64, count: impl FnMut() -> u64) -> f64 {
    let (leaves, time) = fastest(count);
    assert_eq!(leaves, expected);
    rate(leaves, time) / 1e6
}

/// Counts as `perft` does, but plays every leaf.
fn count(position: &AnyPosition, depth: u32) -> u64 {
    let mut leaves = 0;
    let mut next = position.clone();
    for m in position.legal_moves() {
        next.clone_from(position);
        next.play_unchecked(m);
        if depth == 1 {
            black_box(&next);
            leaves += 1;
        } else {
            leaves += count(&next, depth - 1);
        }
    }
    leaves
}

/// Counts in packed form.
fn count_packed(game: &impl Game, position: &packed::Position, path: &mut Path, depth: u32) -> u64 {
    let mut leaves = 0;
    for pit in game.legal_pits(position) {
        let next = game.play(position, pit, path);
        if depth == 1 {
            black_box(&next);
            leaves += 1;
        } else {
            path.push(position);
            leaves += count_packed(game, &next, path, depth - 1);
            path.pop();
        }
    }
    leaves
}

/// The packed form of `perft`: the moves of the last ply are counted and not played.
fn perft_packed(game: &impl Game, position: &packed::Position, path: &mut Path, depth: u32) -> u64 {
    let pits = game.legal_pits(position);
    if depth == 1 {
        return pits.len() as u64;
    }
    let mut leaves = 0;
    for pit in pits {
        let next = game.play(position, pit, path);
        path.push(position);
        leaves += perft_packed(game, &next, path, depth - 1);
        path.pop();
    }
    leaves
}

/// Some programs count 13,519,608 leaves of Kalah at depth 10: the 13,519,607 sequences of ten actions, and the one
/// game that is over after nine. No game is over earlier.
fn check_ends() {
    let mut ended = [0; 10];
    count_ends(&opening(Variant::Kalah, "standard"), &mut ended);
    assert_eq!(ended, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(COUNTS[1].3 + ended[9], 13_519_608);
}

/// Counts the games that are over after each number of plies.
fn count_ends(position: &AnyPosition, ended: &mut [u64; 10]) {
    let plies = position.plies() as usize;
    if position.outcome().is_some() {
        ended[plies] += 1;
    } else if plies + 1 < ended.len() {
        for m in position.legal_moves() {
            let mut next = position.clone();
            next.play_unchecked(m);
            count_ends(&next, ended);
        }
    }
}

/// A game in packed form, and its opening.
enum Packed {
    Kalah(Kalah, packed::Position),
    Oware(Oware, packed::Position),
    Congkak(Congkak, packed::Position),
}

impl Packed {
    /// `None` for a game without a packed form.
    fn of(opening: &AnyPosition) -> Option<Self> {
        if let Some(position) = opening.of_game() {
            return Kalah::new(position).and_then(|game| game.pack(position).map(|start| Self::Kalah(game, start)));
        }
        if let Some((position, history)) = opening.of_game().zip(opening.history()) {
            return Oware::new(position)
                .and_then(|game| game.pack(position, history).map(|(start, _)| Self::Oware(game, start)));
        }
        let position = opening.of_game()?;
        Congkak::new(position).and_then(|game| game.pack(position).map(|start| Self::Congkak(game, start)))
    }

    fn rates(&self, depth: u32, expected: u64) -> Rates {
        match self {
            Self::Kalah(game, start) => packed_rates(game, start, depth, expected),
            Self::Oware(game, start) => packed_rates(game, start, depth, expected),
            Self::Congkak(game, start) => packed_rates(game, start, depth, expected),
        }
    }

    fn play_games(&self) -> Totals {
        match self {
            Self::Kalah(game, start) => play_packed_games(game, start),
            Self::Oware(game, start) => play_packed_games(game, start),
            Self::Congkak(game, start) => play_packed_games(game, start),
        }
    }
}

fn packed_rates(game: &impl Game, start: &packed::Position, depth: u32, expected: u64) -> Rates {
    let mut path = Path::default();
    Rates {
        made: leaf_rate(expected, || count_packed(game, start, &mut path, depth)),
        counted: leaf_rate(expected, || perft_packed(game, start, &mut path, depth)),
    }
}

/// The totals of random games.
#[derive(Debug, Default, PartialEq)]
struct Totals {
    moves: u64,
    /// Computed from the length and South's seeds of each game, in order.
    checksum: u64,
}

impl Totals {
    fn note_end(&mut self, moves: u64, south: u16) {
        self.moves += moves;
        self.checksum = self.checksum.wrapping_mul(31).wrapping_add(moves << 16 | u64::from(south));
    }
}

/// Plays games of random moves from the opening to the end in both forms, which must have the same totals.
fn random_games(variant: Variant) {
    let opening = opening(variant, "standard");
    let packed = Packed::of(&opening).map(|packed| fastest(|| packed.play_games()));
    let (totals, general_time) = fastest(|| play_games(&opening));
    let mut times = vec![("general", general_time)];
    if let Some((also, time)) = packed {
        assert_eq!(also, totals, "{variant}");
        times.insert(0, ("packed", time));
    }
    for (form, time) in times {
        let (games, moves) = (rate(PLAYOUTS.into(), time), rate(totals.moves, time));
        println!("{variant} random games, {form}: {games:.0} games a second, {:.1} million moves", moves / 1e6);
    }
}

fn play_games(opening: &AnyPosition) -> Totals {
    let (mut totals, mut random) = (Totals::default(), Random(SEED));
    let mut position = opening.clone();
    for _ in 0..PLAYOUTS {
        position.clone_from(opening);
        loop {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[random.below(moves.len())]);
        }
        totals.note_end(position.plies().into(), position.board().store(Side::South));
    }
    totals
}

fn play_packed_games(game: &impl Game, start: &packed::Position) -> Totals {
    let (mut totals, mut random) = (Totals::default(), Random(SEED));
    let mut path = Path::default();
    for _ in 0..PLAYOUTS {
        let (mut position, mut moves) = (*start, 0);
        path.clear();
        loop {
            let mut pits = game.legal_pits(&position);
            if pits.is_empty() {
                break;
            }
            let pit = pits.nth(random.below(pits.len())).expect("the draw is below the number of pits");
            let next = game.play(&position, pit, &path);
            path.push(&position);
            position = next;
            moves += 1;
        }
        totals.note_end(moves, position.store(Side::South).into());
    }
    totals
}

/// The seed of the random numbers: any number but zero.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Marsaglia's xorshift: random enough for moves, and fast.
struct Random(u64);

impl Random {
    /// A number below `count`.
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % count
    }
}

/// Measures one game, played repeatedly, with and without its effects.
fn cost_of_a_move(variant: Variant) {
    let opening = opening(variant, "standard");
    let line = varied_game(&opening);
    let moves = u64::from(GAMES) * line.len() as u64;
    let ((), play) = fastest(|| {
        for _ in 0..GAMES {
            let play = |position: AnyPosition, &m: &Move| position.play(m).map(|(next, _)| next);
            let last = line.iter().try_fold(opening.clone(), play).expect("the moves of the game are legal");
            assert!(black_box(last).outcome().is_some());
        }
    });
    let ((), unchecked) = fastest(|| {
        for _ in 0..GAMES {
            let mut position = opening.clone();
            for &m in &line {
                position.play_unchecked(m);
            }
            assert!(black_box(position).outcome().is_some());
        }
    });
    println!("{variant} play:           {:.0} ns a move, over a game of {} moves", 1e9 / rate(moves, play), line.len());
    println!("{variant} play_unchecked: {:.0} ns a move", 1e9 / rate(moves, unchecked));
}

fn opening(variant: Variant, preset: &str) -> AnyPosition {
    AnyPosition::opening(&AnyOptions::parse(variant, preset, "").expect("a preset is valid"))
}

/// A game in which ply n plays the legal move n, counted cyclically. It ends, because every game does.
fn varied_game(opening: &AnyPosition) -> Vec<Move> {
    let mut position = opening.clone();
    let mut line = Vec::new();
    while position.outcome().is_none() {
        let moves = position.legal_moves();
        let m = moves[line.len() % moves.len()];
        position.play_unchecked(m);
        line.push(m);
    }
    line
}

/// The shortest time of several rounds, which must all return the same: other programs can only make a round longer.
fn fastest<T: PartialEq + fmt::Debug>(mut work: impl FnMut() -> T) -> (T, Duration) {
    let start = Instant::now();
    let (result, mut least) = timed(&mut work);
    let mut rounds = 1;
    while rounds < ROUNDS_MIN || start.elapsed() < MEASURING {
        let (again, time) = timed(&mut work);
        assert_eq!(again, result);
        least = least.min(time);
        rounds += 1;
    }
    (result, least)
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    (black_box(work()), start.elapsed())
}

#[expect(clippy::cast_precision_loss, reason = "a rate is shown in three digits")]
fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}
