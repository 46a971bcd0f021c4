//! Webhooks: what they cost the moves, and how many messages a server sends.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::try_join_all;
use mancala_rules::Variant;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::sleep,
};

use crate::{
    bench::{Bench, Round},
    connection::Connection,
    cost::Costs,
    load::{Load, count_as_f64},
    report::{Figure, heading, median},
    statements::Statements,
};

/// Games at once whose players have webhooks, and as many whose players have none.
const GAMES_AT_ONCE: usize = 32;

/// How long the queued messages may take to be sent after a round.
const DRAIN_MAX: Duration = Duration::from_mins(5);

/// Connections of the bare client, as many as one host gets from a server.
const BARE_CONNECTIONS: usize = 32;

/// The bytes of the bare client's messages: those of a turn have some 900.
const BARE_BYTES: usize = 900;

/// The endpoint of all players, which counts the messages and the connections.
struct Endpoint {
    address: String,
    received: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl Endpoint {
    async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let (received, connections) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (counted, opened) = (received.clone(), connections.clone());
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                opened.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(answer(stream, counted.clone()));
            }
        });
        Ok(Self { address, received, connections, serving })
    }

    fn received(&self) -> usize {
        self.received.load(Ordering::Relaxed)
    }

    /// Messages a second of a bare client, which sends over kept connections and does nothing else: the floor.
    async fn bare_rate(&self, time: Duration) -> io::Result<f64> {
        let request = format!(
            "POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {BARE_BYTES}\r\n\r\n{}",
            "a".repeat(BARE_BYTES),
        );
        let (before, begun) = (self.received(), Instant::now());
        let clients = (0..BARE_CONNECTIONS).map(|_| async {
            let mut connection = Connection::open(&self.address).await?;
            while begun.elapsed() < time {
                connection.exchange(request.as_bytes()).await?;
            }
            Ok::<_, io::Error>(())
        });
        try_join_all(clients).await?;
        Ok(count_as_f64(self.received() - before) / begun.elapsed().as_secs_f64())
    }
}

/// Answers the requests of one connection.
async fn answer(stream: TcpStream, received: Arc<AtomicUsize>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut line, mut body) = (String::new(), vec![]);
    loop {
        let mut length = 0;
        while stream.read_line(&mut line).await? > 2 {
            if let Some(digits) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = digits.trim_end().parse().map_err(io::Error::other)?;
            }
            line.clear();
        }
        // The end of the connection, and not of a head.
        if line.is_empty() {
            return Ok(());
        }
        line.clear();
        body.resize(length, 0);
        stream.read_exact(&mut body).await?;
        received.fetch_add(1, Ordering::Relaxed);
        stream.write_all(b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n").await?;
    }
}

/// The figures of the rounds with webhooks.
#[derive(Default)]
struct Sent {
    /// Moves, as a share of those without webhooks.
    moves: Vec<f64>,
    /// Messages a second, from the first move to the last message; after the last move; and of the bare client.
    all: Vec<f64>,
    after: Vec<f64>,
    bare: Vec<f64>,
    /// Microseconds of the server and PostgreSQL for a move until its messages have arrived, as a multiple of a move without.
    cost: Vec<f64>,
}

/// Plays rounds without webhooks, and as many with webhooks of both players for each turn.
pub async fn measure(bench: &mut Bench) -> io::Result<()> {
    heading(&format!("webhooks: {GAMES_AT_ONCE} games without, and with webhooks of both players for each turn"));
    let server = bench.server()?;
    let pids = bench.pids(&[server.pid()])?;
    let (time, seed) = (bench.settings.round(), bench.settings.seed);
    let endpoint = Endpoint::start().await?;
    let addresses = std::slice::from_ref(&server.address);
    let mut plain = Load::new(addresses, Variant::Kalah, GAMES_AT_ONCE, seed.wrapping_add(8)).await?;
    let mut notified = Load::new(addresses, Variant::Kalah, GAMES_AT_ONCE, seed.wrapping_add(9)).await?;
    let mut connection = Connection::open(&server.address).await?;
    let webhook = format!(r#"{{"url":"http://{}/","events":["game.your_turn"]}}"#, endpoint.address);
    for token in notified.tokens() {
        connection.post("/v1/webhooks", &token, &webhook, 201).await?;
    }
    // As if the endpoint had repeated its challenges.
    let verified = "delete from webhook_delivery; update webhook set verified_at = now(), challenge = null";
    sqlx::raw_sql(verified).execute(&mut bench.database).await.map_err(io::Error::other)?;
    let (mut without, mut with, mut sent) = (vec![], vec![], Sent::default());
    let mut statements = Statements::counted(bench).await?;
    for _ in 0..bench.settings.rounds {
        without.push(bench.round(&mut plain, &pids, time).await?);
        // Games are created before the costs are read.
        notified.prepare(time).await?;
        drain(bench).await?;
        if let Some(statements) = &mut statements {
            statements.reset().await?;
        }
        let (before, begun) = (endpoint.received(), Instant::now());
        let spent = Costs::until_now(&pids, &mut bench.database).await?;
        with.push(bench.round(&mut notified, &pids, time).await?);
        let (played, ended) = (endpoint.received(), Instant::now());
        drain(bench).await?;
        let spent = Costs::until_now(&pids, &mut bench.database).await?.since(spent);
        let (plain, round) = (&without[without.len() - 1], &with[with.len() - 1]);
        let per_move = spent.per_operation(round.played.moves);
        sent.all.push(count_as_f64(endpoint.received() - before) / begun.elapsed().as_secs_f64());
        sent.after.push(count_as_f64(endpoint.received() - played) / ended.elapsed().as_secs_f64());
        sent.moves.push(round.played.rate() / plain.played.rate());
        sent.cost.push((per_move.server + per_move.postgres) / (plain.per_move.server + plain.per_move.postgres));
        sent.bare.push(endpoint.bare_rate(time).await?);
    }
    print(&without, &with, &sent);
    if let Some(mut statements) = statements {
        statements.print().await?;
    }
    println!("{} messages over {} connections", endpoint.received(), endpoint.connections.load(Ordering::Relaxed));
    endpoint.serving.abort();
    bench.check(plain.records()).await?;
    bench.check(notified.records()).await
}

fn print(without: &[Round], with: &[Round], sent: &Sent) {
    for (name, rounds) in [("without", without), ("with", with)] {
        let middle = |value: fn(&Round) -> f64| median(&rounds.iter().map(value).collect::<Vec<_>>());
        println!(
            "{name}: {:.0} moves/s; a move takes {:.1} µs of the server, {:.1} of PostgreSQL",
            middle(|round| round.played.rate()),
            middle(|round| round.per_move.server),
            middle(|round| round.per_move.postgres),
        );
    }
    let (moves, cost) = (median(&sent.moves), median(&sent.cost));
    println!("ratio of the moves {}; a move costs {} of one without, with its messages", Figure(moves), Figure(cost));
    println!(
        "messages: {:.0}/s beside and after moves, {:.0}/s after them; a bare client sends {:.0}/s",
        median(&sent.all),
        median(&sent.after),
        median(&sent.bare),
    );
}

/// Polls the queue of messages until it is empty.
async fn drain(bench: &mut Bench) -> io::Result<()> {
    let begun = Instant::now();
    let left = "select (select count(*) from webhook_event) \
        + (select count(*) from webhook_delivery where ended_at is null) + (select count(*) from webhook where disabled_at is not null)";
    while sqlx::query_scalar::<_, i64>(left).fetch_one(&mut bench.database).await.map_err(io::Error::other)? > 0 {
        if begun.elapsed() > DRAIN_MAX {
            return Err(io::Error::other("there is always something to send"));
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
