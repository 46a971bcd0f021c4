//! Webhooks: what they cost the moves, and how many messages a server sends.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use mancala_server::rules::Variant;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::sleep,
};

use crate::{
    bench::Bench,
    connection::Connection,
    load::{Load, count_as_f64},
    report::{Figure, heading, median},
};

/// Games at once whose players have webhooks, and as many whose players have none.
const GAMES_AT_ONCE: usize = 32;

/// How long the queued messages may take to be sent after a round.
const DRAIN_MAX: Duration = Duration::from_mins(5);

/// The endpoint of all players, which counts the messages.
struct Endpoint {
    address: String,
    received: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl Endpoint {
    async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (address, received) = (listener.local_addr()?.to_string(), Arc::<AtomicUsize>::default());
        let counted = received.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, counted.clone()));
            }
        });
        Ok(Self { address, received, serving })
    }

    fn received(&self) -> usize {
        self.received.load(Ordering::Relaxed)
    }
}

async fn answer(stream: TcpStream, received: Arc<AtomicUsize>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while stream.read_line(&mut line).await? > 2 {
        if let Some(digits) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = digits.trim_end().parse().map_err(io::Error::other)?;
        }
        line.clear();
    }
    stream.read_exact(&mut vec![0; length]).await?;
    received.fetch_add(1, Ordering::Relaxed);
    stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await
}

/// Plays as fast as possible, in turns without webhooks and with a webhook of both players for each turn.
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
    let (mut without, mut with, mut ratios, mut sent) = (vec![], vec![], vec![], vec![]);
    for _ in 0..bench.settings.rounds {
        without.push(bench.round(&mut plain, &pids, time).await?);
        let (before, begun) = (endpoint.received(), Instant::now());
        with.push(bench.round(&mut notified, &pids, time).await?);
        drain(bench).await?;
        sent.push(count_as_f64(endpoint.received() - before) / begun.elapsed().as_secs_f64());
        ratios.push(with[with.len() - 1].played.rate() / without[without.len() - 1].played.rate());
    }
    for (name, rounds) in [("without", &without), ("with", &with)] {
        let middle = |value: fn(&crate::bench::Round) -> f64| median(&rounds.iter().map(value).collect::<Vec<_>>());
        println!(
            "{name}: {:.0} moves/s; a move takes {:.1} µs of the server, {:.1} of PostgreSQL",
            middle(|round| round.played.rate()),
            middle(|round| round.per_move.server),
            middle(|round| round.per_move.postgres),
        );
    }
    println!(
        "ratio of the moves {}; messages sent meanwhile and after: {:.0}/s",
        Figure(median(&ratios)),
        median(&sent)
    );
    endpoint.serving.abort();
    bench.check(plain.records()).await?;
    bench.check(notified.records()).await
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
