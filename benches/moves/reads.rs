//! What clients read most, beside a handler that does nothing.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use mancala_server::rules::{AnyOptions, Move, Variant};
use memchr::memmem;
use rand::{SeedableRng, rngs::StdRng};
use tokio::{task::JoinHandle, time::timeout};

use crate::{
    bench::Bench,
    connection::{Connection, request},
    cost::{Costs, Payers},
    floor::Bare,
    load::{PATIENCE, count_as_f64, guest, nanoseconds, new_game, random_game},
    report::{Bars, Bound, Figure, Latency, heading, median},
    server::Server,
};

/// Who reads at once.
const READERS: usize = 64;

/// Plies of the game whose history is read, and of the one that goes on.
const PLIES: usize = 60;
const PLIES_ACTIVE: usize = 20;

/// More games than a page has, so that there is a next one.
const GAMES: usize = 30;

/// What is read, as it is shown and as the bars name it.
const BARE: &str = "bare handler";
const GAME: &str = "game";
const UNCHANGED: &str = "game, unchanged (304)";
const HISTORY: &str = "history of 60 moves";
const POSITION: &str = "position after a ply";
const PAGE: &str = "page of 20 games";
const BOARD: &str = "picture of a board";
const GRAPH: &str = "graph of 60 moves";
const EXPLORER: &str = "explorer";

/// One request, again and again, with the answer that must come each time.
struct Read {
    name: &'static str,
    address: String,
    request: Arc<Vec<u8>>,
    status: u16,
    body: Arc<Vec<u8>>,
    rates: Vec<f64>,
    /// To the bare handler's in the same round.
    ratios: Vec<f64>,
    took: Vec<u32>,
    each: Vec<Costs>,
}

pub async fn measure(bench: &mut Bench) -> io::Result<()> {
    heading(&format!("reads: requests a second of {READERS} readers, and what one takes and costs"));
    let (server, bare) = (bench.server()?, Bare::start()?);
    let mut reads = prepare(&server, &bare, bench.settings.seed).await?;
    let payers = bench.payers(&[server.pid(), bare.pid()])?;
    // There are more of them than there are variants, and they vary less.
    let time = bench.settings.round() / 3;
    for _ in 0..bench.settings.rounds {
        let mut bare_rate = None;
        for read in &mut reads {
            let rate = read.measure(bench, &payers, time).await?;
            // It is the first of each round.
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

/// The games that are read, and the requests with their answers.
async fn prepare(server: &Server, bare: &Bare, seed: u64) -> io::Result<Vec<Read>> {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").map_err(io::Error::other)?;
    let mut connection = Connection::open(&server.address).await?;
    let tokens = [guest(&mut connection).await?, guest(&mut connection).await?];
    let mut lot = StdRng::seed_from_u64(seed);
    let moves = loop {
        let moves = random_game(&options, &mut lot);
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
    let known = format!("if-none-match: {tag}\r\n");
    let get = |path: &str| request("GET", path, token, "", "");
    Ok(vec![
        Read::new(BARE, &bare.address, request("GET", "/", "", "", ""), 200).await?,
        game,
        Read::new(UNCHANGED, address, request("GET", &of_game, token, &known, ""), 304).await?,
        Read::new(HISTORY, address, get(&format!("/v1/games/{finished}/moves?limit=100")), 200).await?,
        Read::new(POSITION, address, get(&format!("/v1/games/{finished}/positions/30")), 200).await?,
        Read::new(PAGE, address, get("/v1/games"), 200).await?,
        Read::new(BOARD, address, get(&format!("{of_game}/board.svg")), 200).await?,
        Read::new(GRAPH, address, get(&format!("/v1/games/{finished}/graph.svg")), 200).await?,
        // Of a position that no game has come to that counts.
        Read::new(EXPLORER, address, get("/v1/explorer?variant=oware"), 200).await?,
    ])
}

/// A game with these moves played.
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
            body: Arc::new(unsealed(answer.body).to_vec()),
            request: Arc::new(request),
            status,
            rates: vec![],
            ratios: vec![],
            took: vec![],
            each: vec![],
        })
    }

    /// Reads for so long; how often a second.
    async fn measure(&mut self, bench: &mut Bench, payers: &Payers, time: Duration) -> io::Result<f64> {
        let mut connections = vec![];
        for _ in 0..READERS {
            connections.push(Connection::open(&self.address).await?);
        }
        let before = Costs::until_now(payers, &mut bench.database).await?;
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
            let took = timeout(time + PATIENCE, reader).await?.map_err(io::Error::other)??;
            count += took.len();
            self.took.extend(took);
        }
        self.each.push(Costs::until_now(payers, &mut bench.database).await?.since(before).each(count));
        let rate = count_as_f64(count) / time.as_secs_f64();
        self.rates.push(rate);
        Ok(rate)
    }

    fn print(&self) {
        let Latency { p50, p99, p999 } = Latency::of(self.took.clone());
        let each = |of: fn(&Costs) -> f64| Figure(median(&self.each.iter().map(of).collect::<Vec<_>>()));
        println!(
            "{:<22} {:>10.0} {:>7} {:>9} {:>9} {:>9} {:>10} {:>13} {:>8}",
            self.name,
            median(&self.rates),
            Figure(median(&self.ratios)),
            Figure(p50),
            Figure(p99),
            Figure(p999),
            each(|each| each.server),
            each(|each| each.postgres),
            each(|each| each.load)
        );
    }

    fn add_bar(&self, bars: &mut Bars) {
        let (wanted, unit, reached) = match self.name {
            GAME => (35_000.0, "/s", &self.rates),
            HISTORY => (60_000.0, "/s", &self.rates),
            UNCHANGED => (0.5, " × bare", &self.ratios),
            _ => return,
        };
        bars.add(format!("read: {}", self.name), Bound::AtLeast, wanted, unit, &[median(reached)]);
    }
}

/// How long each answer took that came in time, in nanoseconds.
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
        if answer.status != status || unsealed(answer.body) != body {
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

/// A body without its end, if that says where the next page is: cursors are sealed anew each time.
fn unsealed(body: &[u8]) -> &[u8] {
    memmem::rfind(body, br#","next_cursor":"#).map_or(body, |end| &body[..end])
}
