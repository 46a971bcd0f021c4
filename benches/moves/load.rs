//! The load: clients that play whole games of random moves, all on one thread. A client sends a move when the one before is
//! answered, and checks each answer against the rules.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    io::{self, Write as _},
    net::Ipv4Addr,
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

use mancala_rules::{AnyOptions, AnyPosition, Move, Side, Variant};
use memchr::memmem;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{task::JoinHandle, time::timeout};
use uuid::Uuid;

use crate::{
    connection::{Answer, Connection},
    schedule::{Schedule, Schedules},
    settings::has_rate_limits,
};

/// The most games that a client creates beforehand: fewer than the 1,000 that a player may have.
const STOCK_MAX: usize = 900;

/// The games that are created for each that is expected to be needed, because the rate may rise.
const STOCK_MARGIN: f64 = 1.3;

/// Further games of each client, because games differ in length.
const STOCK_SPARE: usize = 2;

/// How long answers may be outstanding after a round: longer than any timeout of the server.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the clients play before the first round.
const WARM_UP: Duration = Duration::from_millis(500);

/// Games that are played for the mean length of a game.
const SAMPLE: u32 = 100;

/// Clients that play games of one variant at once, each on a connection of its own.
pub struct Load {
    clients: Vec<Client>,
    /// The mean number of moves of a game.
    game_moves: f64,
    /// Moves a second in the last round.
    rate: Option<f64>,
}

/// What was played in a round.
pub struct Played {
    /// Moves that were answered before the round's end.
    pub in_time: usize,
    /// All moves, with those answered later.
    pub moves: usize,
    pub time: Duration,
    /// The latency of each move in nanoseconds; at a fixed rate, from when it was due.
    pub took: Vec<u32>,
    /// At a fixed rate, how late each move was sent, in nanoseconds.
    pub late: Vec<u32>,
    /// Games that were created during the round, because none was in stock.
    pub created: usize,
}

/// The state that a game must have in the database.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub game: Uuid,
    /// Moves that were acknowledged.
    pub ply: u32,
}

/// A game in progress, or one in stock.
struct Match {
    id: Uuid,
    position: AnyPosition,
    ply: u32,
}

/// Two players, their connection, and their games one after the other.
struct Client {
    address: String,
    /// Its own address, if the server limits addresses.
    local: Ipv4Addr,
    connection: Connection,
    tokens: [String; 2],
    options: AnyOptions,
    rng: StdRng,
    /// The games that are played: one, or several in turns.
    active: VecDeque<Match>,
    active_count: usize,
    stock: Vec<Match>,
    records: Vec<Record>,
    request: Vec<u8>,
    expected: Expected,
    took: Vec<u32>,
    late: Vec<u32>,
    in_time: usize,
    created: usize,
    /// When each move was answered, if that is tracked.
    answered: Option<Vec<(Uuid, u32, Instant)>>,
}

/// The texts that an answer must contain, in this order.
#[derive(Default)]
struct Expected {
    ply: String,
    position: String,
    version: String,
}

impl Load {
    /// Connects `count` clients, spread over the servers at the addresses.
    pub async fn new(addresses: &[String], variant: Variant, count: usize, seed: u64) -> io::Result<Self> {
        let options = AnyOptions::parse(variant, "standard", "").map_err(io::Error::other)?;
        let mut clients = vec![];
        for (n, address) in addresses.iter().cycle().take(count).enumerate() {
            clients.push(Client::new(address, options, seed.wrapping_mul(0x9e37_79b9).wrapping_add(n as u64)).await?);
        }
        Ok(Self { clients, game_moves: mean_moves(&options, seed), rate: None })
    }

    /// Connects a client for each pair of players, which plays the pair's existing games in turns. The tokens are those of
    /// the first seat and the second one. The games must have no moves.
    pub async fn resume(address: &str, variant: Variant, pairs: Vec<([String; 2], Vec<Uuid>)>) -> io::Result<Self> {
        let options = AnyOptions::parse(variant, "standard", "").map_err(io::Error::other)?;
        let mut clients = vec![];
        for (n, (tokens, games)) in pairs.into_iter().enumerate() {
            let mut client = Client::seated(address, options, n as u64, tokens).await?;
            client.active_count = games.len();
            client.active = games.into_iter().map(|id| Match::new(id, &options)).collect();
            clients.push(client);
        }
        Ok(Self { clients, game_moves: mean_moves(&options, 1), rate: None })
    }

    /// Creates enough games for a round. Before the first one it plays a warm-up, which measures the rate.
    pub async fn prepare(&mut self, time: Duration) -> io::Result<()> {
        if self.rate.is_none() {
            self.stock_up(0.0).await?;
            self.play(WARM_UP).await?;
        }
        self.stock_up(self.rate.unwrap_or_default() * time.as_secs_f64()).await
    }

    /// Creates games until there are enough for a number of moves, and reconnects.
    pub async fn stock_up(&mut self, moves: f64) -> io::Result<()> {
        let per_client = moves / self.game_moves / count_as_f64(self.clients.len()) * STOCK_MARGIN;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number, rounded and bounded"
        )]
        let wanted = (per_client.ceil() as usize + STOCK_SPARE).min(STOCK_MAX);
        self.run_all(|mut client| {
            tokio::spawn(async move {
                client.reconnect().await?;
                while client.stock.len() < wanted {
                    let game = client.create().await?;
                    client.stock.push(game);
                }
                Ok(client)
            })
        })
        .await
    }

    /// Plays as fast as possible.
    pub async fn play(&mut self, time: Duration) -> io::Result<Played> {
        let begun = Instant::now();
        let until = begun + time;
        let play = |client: Client| tokio::spawn(client.play(until));
        timeout(time + ANSWER_TIMEOUT, self.run_all(play)).await??;
        let played = self.played(time);
        self.rate = Some(played.rate());
        Ok(played)
    }

    /// Plays at a fixed rate: moves are due at even intervals, even if earlier ones were answered late. The latency of a
    /// late move includes its delay.
    pub async fn play_at(&mut self, rate: u32, time: Duration) -> io::Result<Played> {
        let (schedules, timer) = Schedules::start(self.clients.len(), rate, time);
        let (until, mut schedules) = (schedules.begun + time, schedules.of_clients.into_iter());
        let play = |it: Client| tokio::spawn(it.play_at(schedules.next().expect("one for each client"), until));
        let outcome = timeout(time + ANSWER_TIMEOUT, self.run_all(play)).await;
        let timer_ended = timer.end();
        outcome??;
        timer_ended?;
        Ok(self.played(time))
    }

    /// Tracks from now on when moves are answered.
    pub fn track_answers(&mut self) {
        self.clients.iter_mut().for_each(|client| client.answered = Some(vec![]));
    }

    /// Takes the tracked answers: game, ply and time.
    pub fn take_answered(&mut self) -> Vec<(Uuid, u32, Instant)> {
        self.clients.iter_mut().filter_map(|client| client.answered.take()).flatten().collect()
    }

    /// The tokens of all players.
    pub fn tokens(&self) -> Vec<String> {
        self.clients.iter().flat_map(|client| client.tokens.clone()).collect()
    }

    /// The states that the games must have in the database.
    pub fn records(&self) -> Vec<Record> {
        let open = |it: &Client| -> Vec<Record> { it.active.iter().chain(&it.stock).map(Match::record).collect() };
        self.clients.iter().flat_map(|client| [client.records.clone(), open(client)].concat()).collect()
    }

    /// Runs a task for every client at the same time.
    async fn run_all(&mut self, begin: impl FnMut(Client) -> JoinHandle<io::Result<Client>>) -> io::Result<()> {
        let tasks: Vec<_> = self.clients.drain(..).map(begin).collect();
        for task in tasks {
            self.clients.push(task.await.map_err(io::Error::other)??);
        }
        Ok(())
    }

    fn played(&mut self, time: Duration) -> Played {
        let mut played = Played { in_time: 0, moves: 0, time, took: vec![], late: vec![], created: 0 };
        for client in &mut self.clients {
            played.moves += client.took.len();
            played.took.append(&mut client.took);
            played.late.append(&mut client.late);
            played.in_time += std::mem::take(&mut client.in_time);
            played.created += std::mem::take(&mut client.created);
        }
        played
    }
}

impl Played {
    /// Moves a second.
    pub fn rate(&self) -> f64 {
        count_as_f64(self.in_time) / self.time.as_secs_f64()
    }
}

impl Match {
    fn new(id: Uuid, options: &AnyOptions) -> Self {
        Self { id, position: AnyPosition::opening(options), ply: 0 }
    }

    fn record(&self) -> Record {
        Record { game: self.id, ply: self.ply }
    }

    /// The seat whose turn it is. After a pie swap the players have changed sides.
    fn seat(&self) -> usize {
        usize::from((self.position.turn() == Side::South) == self.position.swapped())
    }

    fn is_over(&self) -> bool {
        self.position.outcome().is_some()
    }
}

impl Expected {
    /// Sets the texts for the answer to a game's last move. Creation, join and end are events besides the moves.
    fn write(&mut self, game: &Match) {
        let Self { ply, position, version } = self;
        for text in [&mut *ply, position, version] {
            text.clear();
        }
        let events = 2 + game.ply + u32::from(game.is_over());
        write!(ply, r#""ply":{},"#, game.ply).expect("a string takes all");
        write!(position, r#""position":"{}""#, game.position).expect("a string takes all");
        write!(version, r#""version":{events},"#).expect("a string takes all");
    }

    /// Whether a body is the right answer: first the move with its ply and the position after it, then the game. The game
    /// has its version and the same ply and position.
    fn matches(&self, body: &[u8]) -> bool {
        let mut rest = body;
        [&self.ply, &self.position, &self.version, &self.ply, &self.position].into_iter().all(|text| {
            let found = memmem::find(rest, text.as_bytes());
            rest = found.map_or(rest, |at| &rest[at + text.len()..]);
            found.is_some()
        })
    }
}

/// The local address of a new client: one of its own if the server limits addresses.
fn next_local() -> Ipv4Addr {
    static COUNT: AtomicU16 = AtomicU16::new(1);
    if !has_rate_limits() {
        return Ipv4Addr::UNSPECIFIED;
    }
    let [high, low] = COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    Ipv4Addr::new(127, 2, high, low)
}

impl Client {
    async fn new(address: &str, options: AnyOptions, seed: u64) -> io::Result<Self> {
        let local = next_local();
        let mut connection = Connection::open_from(local, address).await?;
        let mut tokens = [String::new(), String::new()];
        for token in &mut tokens {
            *token = guest(&mut connection).await?;
        }
        Ok(Self { local, connection, ..Self::seated(address, options, seed, tokens).await? })
    }

    async fn seated(address: &str, options: AnyOptions, seed: u64, tokens: [String; 2]) -> io::Result<Self> {
        Ok(Self {
            address: address.to_owned(),
            local: Ipv4Addr::UNSPECIFIED,
            connection: Connection::open(address).await?,
            tokens,
            options,
            rng: StdRng::seed_from_u64(seed),
            active: VecDeque::new(),
            active_count: 1,
            stock: vec![],
            records: vec![],
            request: vec![],
            expected: Expected::default(),
            took: vec![],
            late: vec![],
            in_time: 0,
            created: 0,
            answered: None,
        })
    }

    /// Reconnects before each round, because a server closes idle connections.
    async fn reconnect(&mut self) -> io::Result<()> {
        self.connection = Connection::open_from(self.local, &self.address).await?;
        Ok(())
    }

    async fn create(&mut self) -> io::Result<Match> {
        let id = new_game(&mut self.connection, &self.tokens, &self.options).await?;
        Ok(Match::new(id, &self.options))
    }

    async fn play(mut self, until: Instant) -> io::Result<Self> {
        let mut now = Instant::now();
        while now < until {
            self.fill_active().await?;
            let begun = Instant::now();
            self.play_move().await?;
            now = Instant::now();
            self.took.push(nanoseconds(now - begun));
            self.in_time += usize::from(now <= until);
        }
        Ok(self)
    }

    async fn play_at(mut self, schedule: Schedule, until: Instant) -> io::Result<Self> {
        for n in 0..schedule.count {
            self.fill_active().await?;
            let due = schedule.due(n).await;
            self.late.push(nanoseconds(due.elapsed()));
            self.play_move().await?;
            self.took.push(nanoseconds(due.elapsed()));
            self.in_time += usize::from(Instant::now() <= until);
        }
        Ok(self)
    }

    /// Replaces the games that have ended: from the stock, else by new ones.
    async fn fill_active(&mut self) -> io::Result<()> {
        while self.active.len() < self.active_count {
            let game = if let Some(game) = self.stock.pop() {
                game
            } else {
                self.created += 1;
                self.create().await?
            };
            self.active.push_back(game);
        }
        Ok(())
    }

    /// Plays a random move in the first game, which then becomes the last.
    async fn play_move(&mut self) -> io::Result<()> {
        let game = self.active.front_mut().ok_or_else(|| io::Error::other("no active game"))?;
        let legal = game.position.legal_moves();
        let mv = legal[self.rng.random_range(..legal.len())];
        write_move(&mut self.request, game, mv, &self.tokens[game.seat()])?;
        game.position.play_unchecked(mv);
        game.ply += 1;
        self.expected.write(game);
        let answer = self.connection.exchange(&self.request).await?;
        if answer.status != 201 || !self.expected.matches(answer.body) {
            return Err(wrong_answer(&answer, &self.request, &self.expected));
        }
        if let Some(answered) = &mut self.answered {
            answered.push((game.id, game.ply, Instant::now()));
        }
        if game.is_over() {
            self.records.extend(self.active.pop_front().as_ref().map(Match::record));
        } else if self.active_count > 1 {
            self.active.rotate_left(1);
        }
        Ok(())
    }
}

/// Creates a guest, and returns its token.
pub async fn guest(connection: &mut Connection) -> io::Result<String> {
    let player = connection.post("/v1/players", "", "{}", 201).await?;
    player["access_token"].as_str().map(str::to_owned).ok_or_else(|| io::Error::other("no token"))
}

/// Creates a game that both players join; the first one plays South.
pub async fn new_game(connection: &mut Connection, tokens: &[String; 2], options: &AnyOptions) -> io::Result<Uuid> {
    let body = format!(r#"{{"variant":"{}","side":"south"}}"#, options.variant());
    let game = connection.post("/v1/games", &tokens[0], &body, 201).await?;
    let id = game["id"].as_str().and_then(|id| id.parse().ok()).ok_or_else(|| io::Error::other("no id"))?;
    connection.post(&format!("/v1/games/{id}/join"), &tokens[1], "{}", 200).await?;
    Ok(id)
}

/// Writes the request of a game's next move.
fn write_move(request: &mut Vec<u8>, game: &Match, mv: Move, token: &str) -> io::Result<()> {
    const HEAD: &[u8] = b"\r\ncontent-type: application/json\r\ncontent-length: ";
    let ply = game.ply + 1;
    let word_length = match mv {
        Move::Sow(_) => 1,
        Move::Pass | Move::Swap => 4,
        other => other.to_string().len(),
    };
    let length = r#"{"ply":,"move":""}"#.len() + digits(ply) + word_length;
    request.clear();
    write!(request, "POST /v1/games/{}/moves HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ", game.id)?;
    request.extend_from_slice(token.as_bytes());
    request.extend_from_slice(HEAD);
    write!(request, "{length}\r\n\r\n{{\"ply\":{ply},\"move\":\"{mv}\"}}")
}

fn digits(number: u32) -> usize {
    number.checked_ilog10().map_or(1, |tens| tens as usize + 1)
}

fn wrong_answer(answer: &Answer<'_>, request: &[u8], expected: &Expected) -> io::Error {
    let request = String::from_utf8_lossy(request);
    let sent = request.split("\r\n").next().unwrap_or_default();
    let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
    answer.unexpected(&format!("{sent} {body}; expected {}{}{}", expected.ply, expected.version, expected.position))
}

/// The mean number of moves in a game of random moves.
fn mean_moves(options: &AnyOptions, seed: u64) -> f64 {
    let mut rng = StdRng::seed_from_u64(seed);
    let moves: usize = (0..SAMPLE).map(|_| random_game(options, &mut rng).len()).sum();
    count_as_f64(moves) / f64::from(SAMPLE)
}

/// The moves of a random game, to its end.
pub fn random_game(options: &AnyOptions, rng: &mut StdRng) -> Vec<Move> {
    let mut position = AnyPosition::opening(options);
    let mut moves = vec![];
    while position.outcome().is_none() {
        let legal = position.legal_moves();
        let mv = legal[rng.random_range(..legal.len())];
        position.play_unchecked(mv);
        moves.push(mv);
    }
    moves
}

pub fn nanoseconds(time: Duration) -> u32 {
    u32::try_from(time.as_nanos()).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "no count is so large")]
pub fn count_as_f64(count: usize) -> f64 {
    count as f64
}
