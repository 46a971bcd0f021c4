//! The rate at which `mancala-server reindex` builds the explorer, in games a second, by the service's own functions.
//!
//! `cargo bench --bench reindex` makes a PostgreSQL of its own, whose commits are durable. It imports random games of all
//! variants, adds them as `reindex --continue` does, and builds the explorer anew twice. Games: `GAMES` (20,000), of `VARIANTS`
//! (such as `kalah,oware`). `QUEUE=no` leaves the first out. On Linux it says how much processor time that takes, of this process and
//! of PostgreSQL.

use std::{
    env,
    error::Error,
    fs, io,
    ops::Range,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, TryStreamExt, stream};
use mancala_server::{
    db::{self, migrations, records::import, study::rebuild::state::begin},
    domain::{BySeat, Import, ImportedPly, PlyAction, Visibility},
    embedded::{self, Durability, Embedded, Settings},
    jobs::{
        explorer::explore_all,
        lasting::{Pace, Patience},
        rebuild::rebuild,
    },
    rules::{AnyOptions, AnyPosition, Variant},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use sqlx::PgPool;
use time::{OffsetDateTime, macros::datetime};
use tokio::task::spawn_blocking;

const BEGUN: OffsetDateTime = datetime!(2026-11-01 00:00 UTC);

/// Games of one import.
const BATCH: usize = 500;

/// The games of one import are played while those of another are stored.
const IMPORTS_AT_ONCE: usize = 3;

fn main() -> io::Result<()> {
    // `cargo test --benches` passes flags of its own; there is nothing to test here.
    if env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let games = env::var("GAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench_reindex");
    let _ = fs::remove_dir_all(&folder);
    let settings = Settings { folder: folder.join("postgres"), durability: Durability::Durable };
    let embedded = Embedded::start(&settings).map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(measure(&embedded, games));
    embedded.stop();
    fs::remove_dir_all(folder)?;
    outcome.map_err(io::Error::other)
}

async fn measure(embedded: &Embedded, games: usize) -> Result<(), Box<dyn Error + Send + Sync>> {
    let options = embedded::connect_options(embedded);
    migrations::run(options.clone()).await?;
    let pool = db::pool(options, 3);
    let variants = env::var("VARIANTS").unwrap_or_else(|_| Variant::WORDS.join(","));
    let variants = variants.split(',').map(str::parse).collect::<Result<Arc<[Variant]>, _>>()?;
    // The first batch creates the players.
    import_games(&pool, 0..BATCH.min(games), variants.clone()).await?;
    stream::iter((BATCH..games).step_by(BATCH))
        .map(|begun| import_games(&pool, begun..games.min(begun + BATCH), variants.clone()))
        .buffer_unordered(IMPORTS_AT_ONCE)
        .try_collect::<()>()
        .await?;
    println!(
        "| by | games | positions a game | s | processor s: own | PostgreSQL | games a second | bytes a game |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    let names = ["queue", "reindex", "reindex"].into_iter();
    for name in names.skip(usize::from(env::var("QUEUE").is_ok_and(|queue| queue == "no"))) {
        let (begun, before) = (Instant::now(), processor_seconds(embedded));
        // The wait of the command by default.
        let patience = Patience::new(Duration::from_mins(10), |report| eprintln!("{report:?}"));
        let mut explored = 0;
        if name == "reindex" {
            let building = begin(&pool).await?;
            explored += rebuild(&pool, &patience, Pace::new(None), &building, |_| {}).await?;
        }
        explore_all(&pool, &patience, Pace::new(None), |batch| explored += u64::from(batch.games)).await?;
        let (seconds, after) = (begun.elapsed().as_secs_f64(), processor_seconds(embedded));
        let (own, postgres) = (after[0] - before[0], after[1] - before[1]);
        #[expect(clippy::cast_precision_loss, reason = "no count is so large")]
        let rate = explored as f64 / seconds;
        let (visits, bytes) = index_size(&pool).await?;
        let per_game = |sum: i64| sum / explored.max(1).cast_signed();
        println!(
            "| {name} | {explored} | {} | {seconds:.1} | {own:.1} | {postgres:.1} | {rate:.0} | {} |",
            per_game(visits),
            per_game(bytes)
        );
    }
    Ok(())
}

/// Imports random games of these variants in turn.
async fn import_games(
    pool: &PgPool,
    numbers: Range<usize>,
    variants: Arc<[Variant]>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let games = spawn_blocking(move || {
        let mut rng = StdRng::seed_from_u64(numbers.start as u64);
        numbers.map(|n| random_game(variants[n % variants.len()], &mut rng)).collect::<Vec<_>>()
    });
    let played = import::play(pool, games.await?, None, Visibility::Public, BEGUN).await?;
    import::store(pool, &played.into_iter().collect::<Result<Vec<_>, _>>()?, None, None, BEGUN).await?;
    Ok(())
}

/// The processor time of this process, and of PostgreSQL with all its processes. Zeros where there is no `/proc`.
fn processor_seconds(embedded: &Embedded) -> [f64; 2] {
    let postmaster = embedded.pid().unwrap_or_default().to_string();
    let mut seconds = [0.0; 2];
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(stat) = fs::read_to_string(process.path().join("stat")) else { continue };
        let pid = process.file_name();
        // Behind the name: state, parent, ten more, then hundredths of a second: user, system, and both of children that ended.
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let sum = |range: Range<usize>| -> f64 {
            fields.get(range).into_iter().flatten().filter_map(|field| field.parse::<f64>().ok()).sum()
        };
        if pid.to_str() == Some(&std::process::id().to_string()) {
            seconds[0] += sum(11..13) / 100.0;
        } else if pid.to_str() == Some(&postmaster) {
            seconds[1] += sum(11..15) / 100.0;
        } else if fields.get(1) == Some(&&*postmaster) {
            seconds[1] += sum(11..13) / 100.0;
        }
    }
    seconds
}

/// A game of random moves, to its end.
fn random_game(variant: Variant, rng: &mut StdRng) -> Import {
    let options = AnyOptions::parse(variant, "standard", "").expect("a preset that every variant has");
    let (mut position, mut plies) = (AnyPosition::opening(&options), vec![]);
    while position.outcome().is_none() {
        let legal = position.legal_moves();
        let mv = legal[rng.random_range(..legal.len())];
        position.play_unchecked(mv);
        plies.push(ImportedPly::of(PlyAction::Move(mv), BEGUN));
    }
    Import {
        options,
        start: None,
        names: BySeat { first: "Ana".to_owned(), second: "Bo".to_owned() },
        begun_at: BEGUN,
        plies,
        ended_at: None,
        ending: None,
        score: None,
        is_practice: false,
    }
}

/// The number of positions of all games, and the bytes of the explorer on disk.
async fn index_size(pool: &PgPool) -> Result<(i64, i64), sqlx::Error> {
    let sizes =
        "select sum(ply + 1)::bigint, pg_total_relation_size('explored_game') + pg_total_relation_size('explored_move')
        + pg_total_relation_size('explored_chunk') + pg_total_relation_size('explored_number') from game";
    let mut transaction = pool.begin().await?;
    // The statement reads the whole table.
    sqlx::raw_sql("set local statement_timeout = 0; set local enable_seqscan = on").execute(&mut *transaction).await?;
    sqlx::query_as(sizes).fetch_one(&mut *transaction).await
}
