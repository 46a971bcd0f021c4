//! Streams of events: the delay of a move's event, the memory of a stream, and what streams of all players cost the moves.

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use mancala_rules::{AnyOptions, Variant};
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
    load::{ANSWER_TIMEOUT, Load, count_as_f64, guest, nanoseconds, new_game},
    report::{Figure, Latency, heading, median},
    server::Server,
    statements::Statements,
};

/// What the streams of a part follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Followed {
    /// Each stream follows a game.
    Games,
    /// Each stream follows all games of a player.
    Players,
}

impl Followed {
    /// Pairs of players, and how many games each pair plays by turns: for a thousand streams.
    const fn pairs_and_games(self) -> (usize, usize) {
        match self {
            Self::Games => (100, 10),
            Self::Players => (500, 2),
        }
    }

    /// How many streams receive a move.
    const fn streams_of_a_move(self) -> usize {
        match self {
            Self::Games => 1,
            Self::Players => 2,
        }
    }
}

/// Games at once while each player has a stream of all their games.
const GAMES_AT_ONCE: usize = 32;

/// Events of each game before its stream is opened: its creation and the join.
const EVENTS_BEFORE: u32 = 2;

/// A move that a stream received: its game, its number, and when.
type Received = (Uuid, u32, Instant);

/// An open stream, with the moves that it received.
struct Stream {
    received: Arc<Mutex<Vec<Received>>>,
    reader: JoinHandle<io::Result<()>>,
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
        // A stream sends this line first, and every event after it.
        while !line.starts_with("retry: ") {
            line.clear();
            if lines.read_line(&mut line).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let received = Arc::<Mutex<Vec<_>>>::default();
        let reader = tokio::spawn(read_moves(lines, received.clone()));
        Ok(Self { received, reader })
    }

    fn received(&self) -> MutexGuard<'_, Vec<Received>> {
        self.received.lock().expect("nothing panics while it holds the moves")
    }

    /// Closes the stream, and returns how many moves it received.
    async fn close(self) -> io::Result<usize> {
        if self.reader.is_finished() {
            self.reader.await.map_err(io::Error::other)??;
            return Err(io::Error::other("a stream ended by itself"));
        }
        self.reader.abort();
        let received = self.received();
        Ok(received.len())
    }
}

/// Records each event that is a move.
async fn read_moves(mut lines: BufReader<TcpStream>, received: Arc<Mutex<Vec<Received>>>) -> io::Result<()> {
    let (mut line, mut is_move) = (String::new(), false);
    while lines.read_line(&mut line).await? > 0 {
        if let Some(kind) = line.strip_prefix("event: ") {
            is_move = kind.trim_end() == "moved";
        } else if let Some(data) = line.strip_prefix("data: ").filter(|_| is_move) {
            let game = data.split_once(r#""game_id":""#).and_then(|(_, rest)| rest.split_once('"')?.0.parse().ok());
            let seq = data.split_once(r#""seq":"#).and_then(|(_, rest)| rest.split_once(',')?.0.parse().ok());
            let (game, seq) = game.zip(seq).ok_or_else(|| io::Error::other("an event without a game or a number"))?;
            received.lock().expect("nothing panics while it holds the moves").push((game, seq, Instant::now()));
        }
        line.clear();
    }
    Ok(())
}

pub async fn measure(bench: &mut Bench) -> io::Result<()> {
    let (one, other) = (bench.server()?, bench.server()?);
    measure_delay(bench, &one, &other, Followed::Games).await?;
    measure_delay(bench, &one, &other, Followed::Players).await?;
    measure_cost(bench, &one, &other).await
}

/// Plays through one server at a fixed rate, with a stream of each game or player at the other one.
async fn measure_delay(bench: &mut Bench, one: &Server, other: &Server, by: Followed) -> io::Result<()> {
    let (pair_count, games_of_a_pair) = by.pairs_and_games();
    let games = pair_count * games_of_a_pair;
    let each = if by == Followed::Games { "game" } else { "player" };
    let rate = bench.settings.stream_rate;
    heading(&format!("streams: {rate} moves a second over {games} games, each {each} followed through another server"));
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").map_err(io::Error::other)?;
    let mut connection = Connection::open(&one.address).await?;
    let mut pairs = vec![];
    for _ in 0..pair_count {
        let tokens = [guest(&mut connection).await?, guest(&mut connection).await?];
        let mut games = vec![];
        for _ in 0..games_of_a_pair {
            games.push(new_game(&mut connection, &tokens, &options).await?);
        }
        pairs.push((tokens, games));
    }
    let followed: HashSet<Uuid> = pairs.iter().flat_map(|(_, games)| games.clone()).collect();
    let before = other.resident()?;
    let streams = open_streams(other, by, &pairs).await?;
    let kibibytes = (other.resident()? - before) * 1024.0 / count_as_f64(streams.len());
    println!("an idle stream: {kibibytes:.1} KiB of the server's memory");

    let mut load = Load::resume(&one.address, Variant::Kalah, pairs).await?;
    load.track_answers();
    let mut statements = Statements::counted(bench).await?;
    if let Some(statements) = &mut statements {
        statements.reset().await?;
    }
    let time = bench.settings.round() * u32::try_from(bench.settings.rounds).expect("a handful");
    let played = load.play_at(rate, time).await?;
    let answered: HashMap<_, _> = load.take_answered().into_iter().map(|(game, ply, at)| ((game, ply), at)).collect();
    let is_followed = |game: &Uuid| match by {
        Followed::Games => followed.contains(game),
        // Also the games that replace those that ended meanwhile.
        Followed::Players => true,
    };
    let of_followed = answered.keys().filter(|(game, _)| is_followed(game)).count() * by.streams_of_a_move();
    wait_for_moves(&streams, of_followed).await?;
    if let Some(statements) = &mut statements {
        statements.print().await?;
    }
    let mut took = vec![];
    for stream in streams {
        for (game, seq, received) in stream.received().iter() {
            let answered = answered.get(&(*game, seq - EVENTS_BEFORE));
            let answered = answered.ok_or_else(|| io::Error::other("a stream sent a move that no client played"))?;
            // The stream may send the move before its player has the answer.
            took.push(nanoseconds(received.saturating_duration_since(*answered)));
        }
        stream.close().await?;
    }
    println!("answered in time: {:.0} moves/s; received: {} moves of {}", played.rate(), took.len(), of_followed);
    println!("from answered to received, through the other server: {}", Latency::of(took));
    bench.check(load.records()).await
}

/// A stream of each game, or of each player.
async fn open_streams(server: &Server, by: Followed, pairs: &[([String; 2], Vec<Uuid>)]) -> io::Result<Vec<Stream>> {
    let mut streams = vec![];
    for (tokens, games) in pairs {
        match by {
            Followed::Games => {
                for game in games {
                    let path = format!("/v1/games/{game}/events?after={EVENTS_BEFORE}");
                    streams.push(Stream::open(&server.address, &path, "").await?);
                }
            }
            Followed::Players => {
                for token in tokens {
                    streams.push(Stream::open(&server.address, "/v1/me/events", token).await?);
                }
            }
        }
    }
    Ok(streams)
}

/// Plays as fast as possible, in turns without streams and with one for each player at the other server, of all the player's
/// games.
async fn measure_cost(bench: &mut Bench, one: &Server, other: &Server) -> io::Result<()> {
    heading(&format!("streams: {GAMES_AT_ONCE} games without, and with a stream for each player at another server"));
    let pids = bench.pids(&[one.pid(), other.pid()])?;
    let (time, seed) = (bench.settings.round(), bench.settings.seed);
    let mut load =
        Load::new(std::slice::from_ref(&one.address), Variant::Kalah, GAMES_AT_ONCE, seed.wrapping_add(7)).await?;
    let mut statements = Statements::counted(bench).await?;
    let (mut without, mut with, mut ratios) = (vec![], vec![], vec![]);
    for _ in 0..bench.settings.rounds {
        without.push(bench.round(&mut load, &pids, time).await?.played.rate());
        // The games are created before the streams are opened, which then send only moves.
        load.prepare(time).await?;
        let mut streams = vec![];
        for token in load.tokens() {
            streams.push(Stream::open(&other.address, "/v1/me/events", &token).await?);
        }
        if let Some(statements) = &mut statements {
            statements.reset().await?;
        }
        let played = load.play(time).await?;
        with.push(played.rate());
        wait_for_moves(&streams, played.moves * 2).await?;
        if let Some(statements) = &mut statements {
            statements.print().await?;
        }
        for stream in streams {
            stream.close().await?;
        }
        ratios.push(with[with.len() - 1] / without[without.len() - 1]);
    }
    println!("moves/s without: {:.0}, with: {:.0}, ratio {}", median(&without), median(&with), Figure(median(&ratios)));
    bench.check(load.records()).await
}

/// Waits until the streams have received this number of moves, and no more.
async fn wait_for_moves(streams: &[Stream], moves: usize) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        let received: usize = streams.iter().map(|stream| stream.received().len()).sum();
        if received == moves {
            return Ok(());
        }
        if received > moves || begun.elapsed() > ANSWER_TIMEOUT {
            return Err(io::Error::other(format!("{received} moves were received, and {moves} were played")));
        }
        sleep(Duration::from_millis(10)).await;
    }
}
