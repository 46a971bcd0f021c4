//! The speed of the engine, the published values of Kalah, and the strength of its levels.
//!
//! `cargo bench -p mancala-engine` takes half a minute: positions per second, and the exact values of small boards,
//! which it asserts. Other runs, after `--`:
//!
//! - `solve-6-4`: the values of Kalah with six pits of four seeds, which takes minutes and [`BIG_TABLE_MIB`] of memory;
//! - `count [positions] [variant]`: visits so many positions from the opening and does nothing else, for a program that counts
//!   instructions;
//! - `analysis [variant]`: what the analysis of a random game costs, ply by ply from the last one, as the server analyses games;
//! - `judge [variant] [games] [positions]`: the judgements of the same analysis, a line for each ply. If `positions` is
//!   given, the best move of a ply takes so many positions;
//! - `quality [variant]`: how far these judgements are from those of searches with [`REFERENCE_NODES`] positions;
//! - `ends [variant]`: how many plies of the last third of these games, played to their ends, are exact;
//! - `tournament [games] [variant] [level=N] [from=N]`: each level, or this one alone, against the one below, 200 games each by
//!   default, or those after the first so many. The score so far is printed now and then.

use std::{
    env, fmt,
    num::NonZero,
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use mancala_engine::{Endgames, Engine, Level, Limits, POINTS_PER_SEED, Progress, Review, Signal};
use mancala_rules::{AnyOptions, AnyPosition, Move, Side, Variant};

/// A signal that never stops a search.
static GO_ON: Signal = Signal::new();

/// Kalah by preset, pits a side and seeds a pit: the value for South, and those of its first moves where they are
/// known. From Irving, Donkers and Uiterwijk, "Solving Kalah" (2000), and a solver of another author.
const SOLVED: [(&str, u8, u8, i32, &[i32]); 11] = [
    ("standard", 2, 2, -2, &[]),
    ("standard", 4, 2, 6, &[]),
    ("standard", 4, 3, 6, &[-6, 6, 2, -2]),
    ("standard", 4, 4, 2, &[]),
    ("standard", 5, 3, 6, &[]),
    ("standard", 5, 4, 10, &[]),
    ("standard", 6, 2, 6, &[]),
    ("standard", 6, 3, 2, &[]),
    ("empty_capture", 6, 1, 2, &[]),
    ("empty_capture", 6, 2, 10, &[]),
    ("empty_capture", 6, 3, 2, &[]),
];

/// Solved boards that take minutes.
const SOLVED_BY_HAND: [(&str, u8, u8, i32, &[i32]); 2] =
    [("standard", 6, 4, 8, &[-14, -10, 8, -2, -8, 4]), ("empty_capture", 6, 4, 10, &[])];

/// The table for boards that take seconds.
const TABLE_MIB: usize = 256;

/// The table for boards that take minutes.
const BIG_TABLE_MIB: usize = 1024;

/// How many positions the measurement of the rate visits.
const NODES: u64 = 5_000_000;

/// The plies without a capture before the position with a long history.
const QUIET_PLIES: usize = 900;

/// How many games two levels play by default.
const GAMES: u32 = 200;

/// The score so far is printed after so many games.
const SCORES_EACH: u32 = 10;

/// The table of a level.
const LEVEL_TABLE_MIB: usize = 16;

/// How many random plies begin a game, so that the pairs of games differ.
const OPENING_PLIES: u32 = 4;

/// The longest game: a bound that no game has reached.
const PLIES_MAX: u32 = 2_000;

/// How many random games are analysed.
const ANALYSED_GAMES: u32 = 4;

/// How many positions the searches visit that judgements are compared with, for the best move of a ply.
const REFERENCE_NODES: u64 = 1_600_000;

/// How many plies of each.
const ANALYSED_PLIES: usize = 60;

/// The table, as in the server's analyses.
const ANALYSIS_TABLE_MIB: usize = 64;

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            rates();
            solve(&SOLVED, TABLE_MIB);
        }
        ["solve-6-4"] => solve(&SOLVED_BY_HAND, BIG_TABLE_MIB),
        ["count", nodes, variant] => count(nodes.parse().expect("a number"), variant.parse().expect("a variant")),
        ["analysis"] => [Variant::Kalah, Variant::Oware, Variant::Congkak].into_iter().for_each(analyse),
        ["analysis", variant] => analyse(variant.parse().expect("a variant")),
        ["judge", variant, games] => judge(variant, games, None),
        ["judge", variant, games, positions] => judge(variant, games, Some(positions.parse().expect("a number"))),
        ["ends", variant] => judge_ends(variant.parse().expect("a variant")),
        ["quality", variant] => compare(variant.parse().expect("a variant")),
        ["tournament", ref rest @ ..] => {
            let games = rest.iter().find_map(|word| word.parse().ok()).unwrap_or(GAMES);
            let wanted: Vec<Variant> = rest.iter().filter_map(|word| word.parse().ok()).collect();
            let levels: Vec<u8> = rest.iter().filter_map(|word| word.strip_prefix("level=")?.parse().ok()).collect();
            let from = rest.iter().find_map(|word| word.strip_prefix("from=")?.parse().ok()).unwrap_or(0);
            for variant in Variant::ALL {
                if wanted.is_empty() || wanted.contains(&variant) {
                    tournament(variant, from..games, &levels);
                }
            }
        }
        _ => println!(
            "after `--`: nothing, `solve-6-4`, `count [positions] [variant]`, `analysis [variant]`, `judge [variant] [games] [positions]`, \
             `quality [variant]`, `ends [variant]`, or `tournament [games] [variant] [level=N] [from=N]`"
        ),
    }
}

/// Positions per second from the opening: in packed form, and in the general form, which the pie rule and games without a
/// packed form need.
fn rates() {
    let packed = [Variant::Kalah, Variant::Oware, Variant::Congkak].map(|variant| (variant, "", NODES));
    let others = [Variant::Bao, Variant::Omweso, Variant::ToguzKumalak, Variant::Bestemshe];
    let general = [(Variant::Kalah, "pie=true")].into_iter().chain(others.map(|variant| (variant, "")));
    let general = general.map(|(variant, overrides)| (variant, overrides, NODES / 10));
    for (variant, overrides, nodes) in packed.into_iter().chain(general) {
        measure_rate(&format!("{variant} {overrides}"), &opening(variant, "standard", overrides), nodes);
    }
    let quiet = after_quiet_plies(QUIET_PLIES);
    measure_rate(&format!("bestemshe after {QUIET_PLIES} quiet plies"), &quiet, NODES / 50);
}

fn measure_rate(name: &str, position: &AnyPosition, nodes: u64) {
    let mut engine = Engine::new(TABLE_MIB);
    let limits = Limits::nodes(nodes);
    let (found, time) = timed(|| engine.search(position, limits, &GO_ON));
    let found = found.expect("the position has moves");
    let rate = rate(found.nodes, time);
    println!("{name}: depth {}, {rate:.2} million positions a second", found.depth);
}

/// Visits so many positions from the opening, with a table that takes no time to allocate.
fn count(nodes: u64, variant: Variant) {
    let found = Engine::new(1).search(&opening(variant, "standard", ""), Limits::nodes(nodes), &GO_ON);
    println!("{variant}: {} positions", found.expect("the position has moves").nodes);
}

/// A position after so many plies without a change of the stores, which all can still count for the rule against
/// repetition. Found by going back from dead ends.
fn after_quiet_plies(plies: usize) -> AnyPosition {
    let options = AnyOptions::parse(Variant::Bestemshe, "standard", "pits=12;seeds=1;repetition=5");
    let text = "1,0,0,0,1,0,0,0,1,0,0,0/1,0,0,0,1,0,0,0,1,0,0,0 9-9 S - 0 1S";
    let start = AnyPosition::parse(&options.expect("options"), text).expect("a position");
    let quiet = |position: &AnyPosition| -> Vec<AnyPosition> {
        let next = position.legal_moves().into_iter().map(|m| position.play(m).expect("it is legal").0);
        next.filter(|next| next.outcome().is_none() && next.history().is_some_and(|history| !history.is_empty()))
            .collect()
    };
    let mut line = vec![(start.clone(), quiet(&start))];
    while line.len() <= plies {
        match line.last_mut().and_then(|(_, open)| open.pop()) {
            Some(next) => line.push((next.clone(), quiet(&next))),
            None => drop(line.pop().expect("there is a line that is long enough")),
        }
    }
    line.pop().expect("the line is not empty").0
}

/// Solves boards, and compares their values.
fn solve(boards: &[(&str, u8, u8, i32, &[i32])], table_mib: usize) {
    for &(preset, pits, seeds, value, moves) in boards {
        let position = opening(Variant::Kalah, preset, &format!("pits={pits};seeds={seeds}"));
        let mut engine = Engine::new(table_mib);
        // The last progress before that of a solved move is that of the value.
        let (start, mut at_value, mut is_value_proven) = (Instant::now(), (0, Duration::ZERO), false);
        let note = |progress: Progress| {
            if progress.moves_solved == 0 {
                at_value = (progress.nodes, start.elapsed());
            } else if !is_value_proven {
                is_value_proven = true;
                let (nodes, time) = at_value;
                println!("{preset} ({pits},{seeds}): the value after {nodes} positions, {:.2} s", time.as_secs_f64());
            }
        };
        let (solution, time) = timed(|| engine.solve(&position, &GO_ON, note));
        let solution = solution.expect("nothing stops it");
        let values: Vec<_> = solution.moves.iter().map(|&(_, value)| value).collect();
        let (nodes, alone, seconds) = (solution.nodes, solution.nodes_of_value, time.as_secs_f64());
        print!("{preset} ({pits},{seeds}): {:+} {values:+?}, {nodes} positions, {seconds:.2} s; ", solution.value);
        println!("the value alone {alone} positions");
        assert_eq!(solution.value, value);
        assert!(moves.is_empty() || values == moves);
    }
}

/// Reviews the first plies of some random games, as the server does.
fn analyse(variant: Variant) {
    let (reviews, time) = timed(|| reviews(variant, ANALYSED_GAMES, None));
    let games = f64::from(ANALYSED_GAMES);
    let nodes = reviews.iter().map(|review| review.nodes).sum::<u64>() / u64::from(ANALYSED_GAMES);
    let exact = reviews.iter().filter(|review| review.is_exact).count();
    println!("{variant}: {nodes} positions and {:.2} s a game, {exact} plies exact", time.as_secs_f64() / games);
}

/// Prints the reviews of so many games.
fn judge(variant: &str, games: &str, nodes: Option<u64>) {
    for review in reviews(variant.parse().expect("a variant"), games.parse().expect("a number"), nodes) {
        let Review { before, after, loss, is_exact, line, nodes, .. } = review;
        println!("{} {} {loss} {is_exact} {} {nodes}", before.points, after.points, line[0]);
    }
}

/// Prints how far the reviews are from those by deeper searches.
#[expect(clippy::cast_precision_loss, reason = "errors are shown in two digits")]
fn compare(variant: Variant) {
    let [reviews, deeper] = [None, Some(REFERENCE_NODES)].map(|nodes| reviews(variant, ANALYSED_GAMES, nodes));
    let errors = |of: fn(&Review) -> i32| -> Vec<u32> {
        reviews.iter().zip(&deeper).map(|(review, deeper)| of(review).abs_diff(of(deeper))).collect()
    };
    let mean =
        |errors: &[u32]| f64::from(errors.iter().sum::<u32>()) / f64::from(POINTS_PER_SEED) / errors.len() as f64;
    let (losses, values) = (errors(|review| review.loss), errors(|review| review.before.points));
    let large = losses.iter().filter(|&&error| error > POINTS_PER_SEED.cast_unsigned()).count();
    println!(
        "{variant}, {} plies: losses are off by {:.2} seeds, {large} by more than one; values by {:.2}",
        losses.len(),
        mean(&losses),
        mean(&values)
    );
}

/// Prints how many of the last plies of the games are exact.
fn judge_ends(variant: Variant) {
    let endgames = Arc::new(Endgames::default());
    let reviews = (0..ANALYSED_GAMES).flat_map(|game| {
        let plies = random_game(variant, game, usize::MAX);
        review_all(&plies[plies.len() - plies.len() / 3..], &endgames, None)
    });
    let reviews: Vec<_> = reviews.collect();
    let exact = reviews.iter().filter(|review| review.is_exact).count();
    println!("{variant}: {exact} of the last {} plies exact", reviews.len());
}

/// The reviews of the first plies of so many random games.
fn reviews(variant: Variant, games: u32, nodes: Option<u64>) -> Vec<Review> {
    let endgames = Arc::new(Endgames::default());
    let review = |game| review_all(&random_game(variant, game, ANALYSED_PLIES), &endgames, nodes);
    (0..games).flat_map(review).collect()
}

/// The first plies of a random game, with the positions before them.
fn random_game(variant: Variant, game: u32, plies_max: usize) -> Vec<(AnyPosition, Move)> {
    let (mut random, mut position) = (Random(u64::from(game) + 1), opening(variant, "standard", ""));
    let mut plies = Vec::new();
    while plies.len() < plies_max && position.outcome().is_none() {
        let moves = position.legal_moves();
        let m = moves[random.draw(moves.len())];
        plies.push((position.clone(), m));
        position.play_unchecked(m);
    }
    plies
}

/// The reviews of plies of a game, from the last one. They visit as many positions for the best move as the server's, unless `nodes`
/// says how many.
fn review_all(plies: &[(AnyPosition, Move)], endgames: &Arc<Endgames>, nodes: Option<u64>) -> Vec<Review> {
    let mut engine = Engine::new(ANALYSIS_TABLE_MIB).with_endgames(Arc::clone(endgames));
    let review = |(before, m): &(AnyPosition, Move)| {
        let limits = Limits::nodes(nodes.unwrap_or_else(|| engine.review_nodes(before)));
        engine.review(before, *m, limits, &GO_ON).expect("the move is legal")
    };
    plies.iter().rev().map(review).collect()
}

/// Each level against the one below.
fn tournament(variant: Variant, games: Range<u32>, levels: &[u8]) {
    println!("{variant}, games {games:?} of each pair:");
    for (lower, higher) in Level::all().zip(Level::all().skip(1)) {
        if levels.is_empty() || levels.contains(&higher.number()) {
            let (score, time) = timed(|| play_match(variant, higher, lower, games.clone()));
            println!("  {} against {}: {score} ({:.0} s)", higher.number(), lower.number(), time.as_secs_f64());
        }
    }
}

/// The results of a level's games.
#[derive(Clone, Copy, Default)]
struct Score {
    wins: u32,
    draws: u32,
    losses: u32,
    /// The longest time for a move.
    longest: Duration,
}

impl Score {
    const fn games(self) -> u32 {
        self.wins + self.draws + self.losses
    }

    fn and(self, more: Self) -> Self {
        Self {
            wins: self.wins + more.wins,
            draws: self.draws + more.draws,
            losses: self.losses + more.losses,
            longest: self.longest.max(more.longest),
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { wins, draws, losses, longest } = self;
        let games = f64::from(self.games());
        let (won, scored) =
            (100.0 * f64::from(wins) / games, 100.0 * (f64::from(wins) + f64::from(draws) / 2.0) / games);
        write!(f, "{wins} won, {draws} drawn, {losses} lost: {won:.0} % won, {scored:.0} % scored")?;
        write!(f, ", longest move {:.2} s", longest.as_secs_f64())
    }
}

/// Plays each of some openings twice, with sides exchanged, on all processors. A game does not depend on its thread,
/// because each move begins with an empty table.
fn play_match(variant: Variant, higher: Level, lower: Level, games: Range<u32>) -> Score {
    let (next, so_far) = (AtomicU32::new(games.start), Mutex::new(Score::default()));
    let play = || {
        let mut engine = Engine::new(LEVEL_TABLE_MIB);
        loop {
            let game = next.fetch_add(1, Ordering::Relaxed);
            if game >= games.end {
                return;
            }
            let score = play_game(&mut engine, variant, higher, lower, game);
            let mut so_far = so_far.lock().expect("no panic holds it");
            *so_far = so_far.and(score);
            if so_far.games().is_multiple_of(SCORES_EACH) {
                println!("    {so_far}");
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(play);
        }
    });
    so_far.into_inner().expect("no panic holds it")
}

fn play_game(engine: &mut Engine, variant: Variant, higher: Level, lower: Level, game: u32) -> Score {
    let mut score = Score::default();
    let mut random = Random(u64::from(game / 2) + 1);
    let mut position = opening(variant, "standard", "");
    for _ in 0..OPENING_PLIES {
        let moves = position.legal_moves();
        position.play_unchecked(moves[random.draw(moves.len())]);
    }
    let side = if game.is_multiple_of(2) { Side::South } else { Side::North };
    for ply in 0..PLIES_MAX {
        let level = if position.turn() == side { higher } else { lower };
        let seed = u64::from(game) << 32 | u64::from(ply);
        let (chosen, time) = timed(|| engine.choose(&position, level, seed, &GO_ON));
        score.longest = score.longest.max(time);
        let Some(m) = chosen else { break };
        position.play_unchecked(m);
    }
    match position.outcome().and_then(|outcome| outcome.winner) {
        None => score.draws += 1,
        Some(winner) if winner == side => score.wins += 1,
        Some(_) => score.losses += 1,
    }
    score
}

/// Knuth's linear congruential generator: random enough for openings.
struct Random(u64);

impl Random {
    /// A number below `count`.
    fn draw(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}

fn opening(variant: Variant, preset: &str, overrides: &str) -> AnyPosition {
    AnyPosition::opening(&AnyOptions::parse(variant, preset, overrides).expect("the options are valid"))
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    (work(), start.elapsed())
}

/// The rate in millions per second.
#[expect(clippy::cast_precision_loss, reason = "a rate is shown in two digits")]
fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e6
}
