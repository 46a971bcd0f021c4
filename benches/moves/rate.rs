//! Moves at a fixed rate, far below the maximum. In turns with them, exchanges with a handler that does nothing, and pgbench's
//! statements of one move, as many a second.

use std::{io, sync::Arc, time::Duration};

use futures_util::future::try_join_all;
use mancala_rules::Variant;
use tokio::time::timeout;

use crate::{
    baseline::{Bare, Pgbench},
    bench::{Bench, Round},
    connection::{Connection, request},
    cost::{Costs, median_of},
    load::{ANSWER_TIMEOUT, Load, nanoseconds},
    programs,
    report::{Bound, Figure, Latency, heading, median},
    schedule::Schedules,
};

/// Games at once, and connections of the others.
const GAMES: usize = 128;

/// What was timed at the rate, in all rounds.
struct Timed {
    name: &'static str,
    took: Vec<u32>,
    costs: Vec<Costs>,
}

/// Moves, exchanges and statements at the rate, in turns.
pub async fn measure(bench: &mut Bench) -> io::Result<()> {
    let rate = bench.settings.rate;
    heading(&format!("rate: {rate} a second over {GAMES} games or connections, counted from when each was due"));
    let (server, bare) = (bench.server()?, Bare::start()?);
    let pgbench = Pgbench::new(&programs::folder()?, &bench.folder, &mut bench.database).await?;
    let (pids, pids_of_bare) = (bench.pids(&[server.pid()])?, bench.pids(&[bare.pid()])?);
    let (seconds, time, seed) = (bench.settings.seconds, bench.settings.round(), bench.settings.seed);
    let mut load = Load::new(std::slice::from_ref(&server.address), Variant::Kalah, GAMES, seed).await?;
    load.prepare(time).await?;
    let [mut moves, mut exchanges, mut statements] = ["a move", "bare handler", "pgbench"].map(Timed::new);
    let (mut rounds, mut late) = (vec![], vec![]);
    for _ in 0..bench.settings.rounds {
        load.stock_up(f64::from(rate) * time.as_secs_f64()).await?;
        let before = Costs::until_now(&pids, &mut bench.database).await?;
        let mut played = load.play_at(rate, time).await?;
        let per_move = Costs::until_now(&pids, &mut bench.database).await?.since(before).per_operation(played.moves);
        late.append(&mut played.late);
        moves.add(played.took.clone(), per_move);
        rounds.push(Round { played, per_move });

        let connections = connect(&bare.address).await?;
        let before = Costs::until_now(&pids_of_bare, &mut bench.database).await?;
        let took = exchange_at(connections, rate, time).await?;
        let spent = Costs::until_now(&pids_of_bare, &mut bench.database).await?.since(before);
        exchanges.add_all(took, spent);

        let before = Costs::until_now(&pids, &mut bench.database).await?;
        let run = pgbench.run(&bench.embedded, &mut bench.database, GAMES, seconds, Some(rate)).await?;
        let spent = Costs::until_now(&pids, &mut bench.database).await?.since(before);
        statements.add(run.took, spent.per_operation(run.count));
    }
    println!(
        "{:<14} {:>9} {:>9} {:>9} {:>10} {:>14} {:>8} {:>8}",
        "", "p50 ms", "p99 ms", "p99.9 ms", "server µs", "PostgreSQL µs", "load µs", "WAL B"
    );
    for timed in [&moves, &exchanges, &statements] {
        timed.print();
    }
    println!("of a move, from due to sent: {}", Latency::of(late));
    let answered: Vec<_> = rounds.iter().map(|round| round.played.rate()).collect();
    println!("answered in time: {:.0} moves/s", median(&answered));
    let (latency, exchange) = (moves.latency(), exchanges.latency());
    println!(
        "a move to an exchange: p50 {} ×, p99 {} ×",
        Figure(latency.p50 / exchange.p50),
        Figure(latency.p99 / exchange.p99)
    );
    let what = |figure: &str| format!("{rate} moves/s over {GAMES} games: {figure}");
    bench.bars.add(what("p50"), Bound::AtMost, 0.6, " ms", &[latency.p50]);
    bench.bars.add(what("p99"), Bound::AtMost, 3.0, " ms", &[latency.p99]);
    drop((server, bare));
    bench.check(load.records()).await
}

async fn connect(address: &str) -> io::Result<Vec<Connection>> {
    let mut connections = vec![];
    for _ in 0..GAMES {
        connections.push(Connection::open(address).await?);
    }
    Ok(connections)
}

/// Exchanges with the bare handler at a fixed rate; returns the latency of each in nanoseconds, from when it was due.
async fn exchange_at(connections: Vec<Connection>, rate: u32, time: Duration) -> io::Result<Vec<u32>> {
    let request = Arc::new(request("GET", "/", "", "", ""));
    let (schedules, timer) = Schedules::start(connections.len(), rate, time);
    let clients = connections.into_iter().zip(schedules.of_clients).map(|(mut connection, schedule)| {
        let request = request.clone();
        async move {
            let mut took = vec![];
            for n in 0..schedule.count {
                let due = schedule.due(n).await;
                let answer = connection.exchange(&request).await?;
                if answer.status != 200 {
                    return Err(answer.unexpected("the bare handler"));
                }
                took.push(nanoseconds(due.elapsed()));
            }
            Ok(took)
        }
    });
    let outcome = timeout(time + ANSWER_TIMEOUT, try_join_all(clients)).await;
    let timer_ended = timer.end();
    let took = outcome??;
    timer_ended?;
    Ok(took.concat())
}

impl Timed {
    fn new(name: &'static str) -> Self {
        Self { name, took: vec![], costs: vec![] }
    }

    fn add(&mut self, mut took: Vec<u32>, each: Costs) {
        self.took.append(&mut took);
        self.costs.push(each);
    }

    /// Adds a round with the costs of all of it.
    fn add_all(&mut self, took: Vec<u32>, spent: Costs) {
        let each = spent.per_operation(took.len());
        self.add(took, each);
    }

    fn latency(&self) -> Latency {
        Latency::of(self.took.clone())
    }

    fn print(&self) {
        let Latency { p50, p99, p999 } = self.latency();
        let cost = |of| Figure(median_of(&self.costs, of));
        println!(
            "{:<14} {:>9} {:>9} {:>9} {:>10} {:>14} {:>8} {:>8.0}",
            self.name,
            Figure(p50),
            Figure(p99),
            Figure(p999),
            cost(|cost| cost.server),
            cost(|cost| cost.postgres),
            cost(|cost| cost.load),
            median_of(&self.costs, |cost| cost.wal)
        );
    }
}
