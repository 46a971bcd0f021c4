//! The most frequent reads, beside a handler that does nothing.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use mancala_rules::{AnyOptions, Move, Variant};
use memchr::memmem;
use rand::{SeedableRng, rngs::StdRng};
use tokio::{task::JoinHandle, time::timeout};

use crate::{
    baseline::Bare,
    bench::Bench,
    connection::{Connection, request},
    cost::{Costs, Pids},
    load::{ANSWER_TIMEOUT, count_as_f64, guest, nanoseconds, new_game, random_game},
    report::{Bars, Bound, Figure, Latency, heading, median},
    server::Server,
};

/// Plies of the finished game whose history is read, and of the active game.
const PLIES: usize = 60;
const PLIES_ACTIVE: usize = 20;

/// More games than a page has, so that there is a next page.
const GAMES: usize = 30;

/// The names of the reads, as the table and the bars show them.
const BARE: &str = "bare handler";
const GAME: &str = "game";
const UNCHANGED: &str = "game, unchanged (304)";
const HISTORY: &str = "history of 60 moves";
const POSITION: &str = "position after a ply";
const PAGE: &str = "page of 20 games";
const BOARD: &str = "picture of a board";
const GRAPH: &str = "graph of 60 moves";
const EXPLORER: &str = "explorer";

/// A request that is repeated, and the answer that it must get each time.
struct Read {
    name: &'static str,
    address: String,
    request: Arc<Vec<u8>>,
    status: u16,
    body: Arc<Vec<u8>>,
    rates: Vec<f64>,
    /// The ratio of the rate to the bare handler's, by round.
    ratios: Vec<f64>,
    took: Vec<u32>,
    per_request: Vec<Costs>,
}

pub async fn measure(bench: &mut Bench) -> io::Result<()> {
    heading(&format!("reads: requests a second of {} readers, and what one takes and costs", bench.settings.readers));
    let (server, bare) = (bench.server()?, Bare::start()?);
    let mut reads = prepare(&server, &bare, bench.settings.seed).await?;
    let wanted = &bench.settings.reads;
    reads.retain(|read| {
        wanted.is_empty() || read.name == BARE || wanted.iter().any(|begin| read.name.starts_with(begin))
    });
    let pids = bench.pids(&[server.pid(), bare.pid()])?;
    // Shorter than a round of moves: there are more reads than variants, and their rates vary less.
    let time = bench.settings.round() / 3;
    for _ in 0..bench.settings.rounds {
        let mut bare_rate = None;
        for read in &mut reads {
            let rate = read.measure(bench, &pids, time).await?;
            // The bare handler is the first of each round.
            read.ratios.push(rate / *bare_rate.get_or_insert(rate));
        }
    }
    println!(
        "{:<22} {:>10} {:>7} {:>9} {:>9} {:>9} {:>10} {:>13} {:>8}",
        "", "requests/s", "× bare", "p50 ms", "p99 ms", "p99.9 ms", "server µs", "PostgreSQL µs", "load µs"
    );
    for read in &reads {
        read.print();
        read.add_bar(&mut bench.bars);
    }
    Ok(())
}

/// Plays the games that are read, and makes the requests with their answers.
async fn prepare(server: &Server, bare: &Bare, seed: u64) -> io::Result<Vec<Read>> {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").map_err(io::Error::other)?;
    let mut connection = Connection::open(&server.address).await?;
    let tokens = [guest(&mut connection).await?, guest(&mut connection).await?];
    let mut rng = StdRng::seed_from_u64(seed);
    let moves = loop {
        let moves = random_game(&options, &mut rng);
        if moves.len() == PLIES {
            break moves;
        }
    };
    for _ in 0..GAMES {
        new_game(&mut connection, &tokens, &options).await?;
    }
    let active = play(&mut connection, &tokens, &options, &moves[..PLIES_ACTIVE]).await?;
    let finished = play(&mut connection, &tokens, &options, &moves).await?;
    let of_game = format!("/v1/games/{active}");
    let (address, token) = (&server.address, tokens[0].as_str());
    let game = Read::new(GAME, address, request("GET", &of_game, token, "", ""), 200).await?;
    let tag = connection.exchange(&game.request).await?.header("etag").unwrap_or_default().to_owned();
    let condition = format!("if-none-match: {tag}\r\n");
    let get = |path: &str| request("GET", path, token, "", "");
    Ok(vec![
        Read::new(BARE, &bare.address, request("GET", "/", "", "", ""), 200).await?,
        game,
        Read::new(UNCHANGED, address, request("GET", &of_game, token, &condition, ""), 304).await?,
        Read::new(HISTORY, address, get(&format!("/v1/games/{finished}/moves?limit=100")), 200).await?,
        Read::new(POSITION, address, get(&format!("/v1/games/{finished}/positions/30")), 200).await?,
        Read::new(PAGE, address, get("/v1/games"), 200).await?,
        Read::new(BOARD, address, get(&format!("{of_game}/board.svg")), 200).await?,
        Read::new(GRAPH, address, get(&format!("/v1/games/{finished}/graph.svg")), 200).await?,
        // A position that no counted game has reached.
        Read::new(EXPLORER, address, get("/v1/explorer?variant=oware"), 200).await?,
    ])
}

/// Creates a game, plays moves in it, and returns its id.
async fn play(
    connection: &mut Connection,
    tokens: &[String; 2],
    options: &AnyOptions,
    moves: &[Move],
) -> io::Result<String> {
    let game = new_game(connection, tokens, options).await?;
    for (mv, ply) in moves.iter().zip(1..) {
        // South's letters are capitals.
        let word = mv.to_string();
        let seat = usize::from(word.chars().all(char::is_lowercase));
        let body = format!(r#"{{"ply":{ply},"move":"{word}"}}"#);
        connection.post(&format!("/v1/games/{game}/moves"), &tokens[seat], &body, 201).await?;
    }
    Ok(game.to_string())
}

impl Read {
    async fn new(name: &'static str, address: &str, request: Vec<u8>, status: u16) -> io::Result<Self> {
        let mut connection = Connection::open(address).await?;
        let answer = connection.exchange(&request).await?;
        if answer.status != status {
            return Err(answer.unexpected(name));
        }
        Ok(Self {
            name,
            address: address.to_owned(),
            body: Arc::new(without_cursor(answer.body).to_vec()),
            request: Arc::new(request),
            status,
            rates: vec![],
            ratios: vec![],
            took: vec![],
            per_request: vec![],
        })
    }

    /// Repeats the request for a time, and returns the rate in requests a second.
    async fn measure(&mut self, bench: &mut Bench, pids: &Pids, time: Duration) -> io::Result<f64> {
        let mut connections = vec![];
        for _ in 0..bench.settings.readers {
            connections.push(Connection::open(&self.address).await?);
        }
        let before = Costs::until_now(pids, &mut bench.database).await?;
        let until = Instant::now() + time;
        let readers: Vec<JoinHandle<io::Result<Vec<u32>>>> = connections
            .into_iter()
            .map(|connection| {
                let (request, status, body) = (self.request.clone(), self.status, self.body.clone());
                tokio::spawn(async move { read_until(connection, &request, status, &body, until).await })
            })
            .collect();
        let mut count = 0;
        for reader in readers {
            let took = timeout(time + ANSWER_TIMEOUT, reader).await?.map_err(io::Error::other)??;
            count += took.len();
            self.took.extend(took);
        }
        self.per_request.push(Costs::until_now(pids, &mut bench.database).await?.since(before).per_operation(count));
        let rate = count_as_f64(count) / time.as_secs_f64();
        self.rates.push(rate);
        Ok(rate)
    }

    fn print(&self) {
        let Latency { p50, p99, p999 } = Latency::of(self.took.clone());
        let cost = |of: fn(&Costs) -> f64| Figure(median(&self.per_request.iter().map(of).collect::<Vec<_>>()));
        println!(
            "{:<22} {:>10.0} {:>7} {:>9} {:>9} {:>9} {:>10} {:>13} {:>8}",
            self.name,
            median(&self.rates),
            Figure(median(&self.ratios)),
            Figure(p50),
            Figure(p99),
            Figure(p999),
            cost(|cost| cost.server),
            cost(|cost| cost.postgres),
            cost(|cost| cost.load)
        );
    }

    fn add_bar(&self, bars: &mut Bars) {
        let (wanted, unit, reached) = match self.name {
            GAME => (35_000.0, "/s", &self.rates),
            HISTORY => (60_000.0, "/s", &self.rates),
            POSITION => (40_000.0, "/s", &self.rates),
            PAGE => (8_000.0, "/s", &self.rates),
            EXPLORER => (25_000.0, "/s", &self.rates),
            UNCHANGED => (0.5, " × bare", &self.ratios),
            _ => return,
        };
        bars.add(format!("read: {}", self.name), Bound::AtLeast, wanted, unit, &[median(reached)]);
    }
}

/// Repeats a request until a moment, and returns the latency of each answer before it, in nanoseconds.
async fn read_until(
    mut connection: Connection,
    request: &[u8],
    status: u16,
    body: &[u8],
    until: Instant,
) -> io::Result<Vec<u32>> {
    let mut took = vec![];
    let mut begun = Instant::now();
    loop {
        let answer = connection.exchange(request).await?;
        if answer.status != status || without_cursor(answer.body) != body {
            return Err(answer.unexpected("the same request again"));
        }
        let now = Instant::now();
        if now > until {
            return Ok(took);
        }
        took.push(nanoseconds(now - begun));
        begun = now;
    }
}

/// A body without its cursor of the next page, which differs each time.
fn without_cursor(body: &[u8]) -> &[u8] {
    memmem::rfind(body, br#","next_cursor":"#).map_or(body, |end| &body[..end])
}
