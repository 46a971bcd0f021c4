//! Streams of events: how soon a move is told, what a stream takes of memory, and what those of all players take from the moves.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use mancala_server::rules::{AnyOptions, Variant};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    task::JoinHandle,
    time::sleep,
};
use uuid::Uuid;

use crate::{
    bench::Bench,
    connection::{Connection, request},
    load::{Load, PATIENCE, count_as_f64, guest, nanoseconds, new_game},
    report::{Figure, Latency, heading, median},
    server::Server,
};

/// Pairs of players whose games are followed, and how many games each pair plays by turns.
const PAIRS: usize = 100;
const GAMES_OF_A_PAIR: usize = 10;

/// Moves a second over all of them.
const RATE: u32 = 1000;

/// Games at once while their players are told of all that happens.
const GAMES_AT_ONCE: usize = 32;

/// Of each game: it was created and joined before a stream is opened.
const BEFORE: u32 = 2;

/// One that is open, and when what came.
struct Stream {
    heard: Arc<Mutex<Vec<(u32, Instant)>>>,
    reading: JoinHandle<io::Result<()>>,
}

impl Stream {
    async fn open(address: &str, path: &str, token: &str) -> io::Result<Self> {
        let mut connection = TcpStream::connect(address).await?;
        connection.write_all(&request("GET", path, token, "accept: text/event-stream\r\n", "")).await?;
        let mut lines = BufReader::new(connection);
        let mut line = String::new();
        lines.read_line(&mut line).await?;
        if !line.starts_with("HTTP/1.1 200 ") {
            return Err(io::Error::other(format!("a stream is answered {line}")));
        }
        // It begins with this: from then on everything is told.
        while !line.starts_with("retry: ") {
            line.clear();
            if lines.read_line(&mut line).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let heard = Arc::<Mutex<Vec<_>>>::default();
        let reading = tokio::spawn(listen(lines, heard.clone()));
        Ok(Self { heard, reading })
    }

    fn heard(&self) -> MutexGuard<'_, Vec<(u32, Instant)>> {
        self.heard.lock().expect("nothing panics while it holds what was heard")
    }

    /// Ends it, and says how many moves it told.
    async fn close(self) -> io::Result<usize> {
        if self.reading.is_finished() {
            self.reading.await.map_err(io::Error::other)??;
            return Err(io::Error::other("a stream ended by itself"));
        }
        self.reading.abort();
        let heard = self.heard();
        Ok(heard.len())
    }
}

/// Notes the number of each event that is a move, and when it came.
async fn listen(mut lines: BufReader<TcpStream>, heard: Arc<Mutex<Vec<(u32, Instant)>>>) -> io::Result<()> {
    let (mut line, mut is_move) = (String::new(), false);
    while lines.read_line(&mut line).await? > 0 {
        if let Some(kind) = line.strip_prefix("event: ") {
            is_move = kind.trim_end() == "moved";
        } else if let Some(data) = line.strip_prefix("data: ").filter(|_| is_move) {
            let seq = data.split_once(r#""seq":"#).and_then(|(_, rest)| rest.split_once(',')?.0.parse().ok());
            let seq = seq.ok_or_else(|| io::Error::other("an event without a number"))?;
            heard.lock().expect("nothing panics while it holds what was heard").push((seq, Instant::now()));
        }
        line.clear();
    }
    Ok(())
}

pub async fn measure(bench: &mut Bench) -> io::Result<()> {
    let (one, other) = (bench.server()?, bench.server()?);
    measure_delay(bench, &one, &other).await?;
    measure_cost(bench, &one, &other).await
}

/// Moves through one server at a rate, each game followed by a stream at the other.
async fn measure_delay(bench: &mut Bench, one: &Server, other: &Server) -> io::Result<()> {
    let games = PAIRS * GAMES_OF_A_PAIR;
    heading(&format!("streams: {RATE} moves a second over {games} games, each followed through another server"));
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").map_err(io::Error::other)?;
    let mut connection = Connection::open(&one.address).await?;
    let mut hands = vec![];
    for _ in 0..PAIRS {
        let tokens = [guest(&mut connection).await?, guest(&mut connection).await?];
        let mut games = vec![];
        for _ in 0..GAMES_OF_A_PAIR {
            games.push(new_game(&mut connection, &tokens, &options).await?);
        }
        hands.push((tokens, games));
    }
    let followed: Vec<Uuid> = hands.iter().flat_map(|(_, games)| games.clone()).collect();
    let before = other.resident()?;
    let mut streams = vec![];
    for game in &followed {
        let path = format!("/v1/games/{game}/events?after={BEFORE}");
        streams.push(Stream::open(&other.address, &path, "").await?);
    }
    let kibibytes = (other.resident()? - before) * 1024.0 / count_as_f64(games);
    println!("an idle stream: {kibibytes:.1} KiB of the server's memory");

    let mut load = Load::resume(&one.address, Variant::Kalah, hands).await?;
    load.note_answers();
    let time = bench.settings.round() * u32::try_from(bench.settings.rounds).expect("a handful");
    let played = load.play_at(RATE, time).await?;
    let answered: HashMap<_, _> = load.answered().into_iter().map(|(game, ply, at)| ((game, ply), at)).collect();
    let of_followed = answered.keys().filter(|(game, _)| followed.contains(game)).count();
    until_heard(&streams, of_followed).await?;
    let mut took = vec![];
    for (game, stream) in followed.iter().zip(streams) {
        for (seq, heard) in stream.heard().iter() {
            let answered = answered.get(&(*game, seq - BEFORE));
            let answered = answered.ok_or_else(|| io::Error::other("a stream sent a move that no client played"))?;
            // The stream may send the move before its player has the answer.
            took.push(nanoseconds(heard.saturating_duration_since(*answered)));
        }
        stream.close().await?;
    }
    println!("answered in time: {:.0} moves/s; told: {} moves of {}", played.rate(), took.len(), of_followed);
    println!("from answered to told, through the other server: {}", Latency::of(took));
    bench.check(load.records()).await
}

/// As many moves as can be, in turns without streams and with one for each player, at the other server, of all of the player's
/// games.
async fn measure_cost(bench: &mut Bench, one: &Server, other: &Server) -> io::Result<()> {
    heading(&format!("streams: {GAMES_AT_ONCE} games without, and told to both players through another server"));
    let payers = bench.payers(&[one.pid(), other.pid()])?;
    let (time, seed) = (bench.settings.round(), bench.settings.seed);
    let mut load =
        Load::new(std::slice::from_ref(&one.address), Variant::Kalah, GAMES_AT_ONCE, seed.wrapping_add(7)).await?;
    let (mut without, mut with, mut ratios) = (vec![], vec![], vec![]);
    for _ in 0..bench.settings.rounds {
        without.push(bench.round(&mut load, &payers, time).await?.played.rate());
        // Before they are followed, so that their creation is not told.
        load.prepare(time).await?;
        let mut streams = vec![];
        for token in load.tokens() {
            streams.push(Stream::open(&other.address, "/v1/me/events", &token).await?);
        }
        let played = load.play(time).await?;
        with.push(played.rate());
        until_heard(&streams, played.moves * 2).await?;
        for stream in streams {
            stream.close().await?;
        }
        ratios.push(with[with.len() - 1] / without[without.len() - 1]);
    }
    println!("moves/s without: {:.0}, with: {:.0}, ratio {}", median(&without), median(&with), Figure(median(&ratios)));
    bench.check(load.records()).await
}

/// Waits until so many moves have been told, and no more.
async fn until_heard(streams: &[Stream], moves: usize) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        let heard: usize = streams.iter().map(|stream| stream.heard().len()).sum();
        if heard == moves {
            return Ok(());
        }
        if heard > moves || begun.elapsed() > PATIENCE {
            return Err(io::Error::other(format!("{heard} moves were told, and {moves} were played")));
        }
        sleep(Duration::from_millis(10)).await;
    }
}
