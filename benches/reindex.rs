//! The rate at which `mancala-server reindex` fills the explorer, in games a second, by the service's own functions.
//!
//! `cargo bench --bench reindex` makes a PostgreSQL of its own, whose commits are durable. It imports random games of all
//! variants, and fills the explorer twice. Games: `GAMES` (20,000).

use std::{
    env,
    error::Error,
    fs, io,
    path::PathBuf,
    time::{Duration, Instant},
};

use mancala_server::{
    db::{self, migrations, records::import, study::explorer_index},
    domain::{BySeat, Import, ImportedPly, PlyAction, Visibility},
    embedded::{self, Durability, Embedded, Settings},
    jobs::{
        explorer,
        lasting::{Pace, Patience},
    },
    rules::{AnyOptions, AnyPosition, Variant},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use sqlx::PgPool;
use time::{OffsetDateTime, macros::datetime};

const BEGUN: OffsetDateTime = datetime!(2026-11-01 00:00 UTC);

/// Games of one import.
const BATCH: usize = 500;

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
    let pool = db::pool(options, 2);
    let mut rng = StdRng::seed_from_u64(1);
    for begun in (0..games).step_by(BATCH) {
        let batch =
            (begun..games.min(begun + BATCH)).map(|n| random_game(Variant::ALL[n % Variant::ALL.len()], &mut rng));
        let played = import::play(&pool, batch.collect::<Vec<_>>(), None, Visibility::Public, BEGUN).await?;
        import::store(&pool, &played.into_iter().collect::<Result<Vec<_>, _>>()?, None, None, BEGUN).await?;
    }
    println!(
        "| explored | games | positions a game | s | games a second | bytes a game |\n| --- | --- | --- | --- | --- | --- |"
    );
    for name in ["first", "again"] {
        explorer_index::begin_anew(&pool).await?;
        let (begun, mut explored) = (Instant::now(), 0);
        let patience = Patience::new(Duration::ZERO, |_| {});
        explorer::explore_all(&pool, &patience, Pace::new(None), |batch| explored += batch.games).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let rate = f64::from(explored) / seconds;
        let (visits, bytes) = index_size(&pool).await?;
        let per_game = |sum: i64| sum / i64::from(explored.max(1));
        println!("| {name} | {explored} | {} | {seconds:.1} | {rate:.0} | {} |", per_game(visits), per_game(bytes));
    }
    Ok(())
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

/// The number of stored visits, and their bytes on disk.
async fn index_size(pool: &PgPool) -> Result<(i64, i64), sqlx::Error> {
    let sizes = "select count(*), pg_total_relation_size('explored_game') + pg_total_relation_size('explored_move')
        from explored_game";
    sqlx::query_as(sizes).fetch_one(pool).await
}
