//! The load: whole games of random moves, each move sent when the one before it is answered, and each answer checked against
//! the rules. All of it is one thread.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    io::{self, Write as _},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use mancala_server::rules::{AnyOptions, AnyPosition, Move, Side, Variant};
use memchr::memmem;
use nix::sys::prctl::set_timerslack;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{sync::Notify, task::JoinHandle, time::timeout};
use uuid::Uuid;

use crate::connection::{Answer, Connection};

/// How many games one pair of players has in stock at most: below the thousand that a player may have.
const STOCK_MAX: usize = 900;

/// More than is expected to be needed, because the rate is not known beforehand.
const STOCK_MARGIN: f64 = 1.3;

/// Games of each slot beyond that, because games differ in length.
const STOCK_SPARE: usize = 2;

/// How long answers may be outstanding after a round: longer than any wait of the server.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How long it plays before it is measured.
const WARM_UP: Duration = Duration::from_millis(500);

/// Games that are played to learn how long one is.
const SAMPLE: u32 = 100;

/// Some games of one variant that are played at once, each on a connection of its own.
pub struct Load {
    slots: Vec<Slot>,
    /// Moves of a game, on the average.
    game_moves: f64,
    /// Moves a second, of the last round.
    rate: Option<f64>,
}

/// What was played in a round.
pub struct Played {
    /// Moves that were answered in the time.
    pub in_time: usize,
    /// All moves, also those answered after it.
    pub moves: usize,
    pub time: Duration,
    /// How long each move took, in nanoseconds; from when it was due, if it was.
    pub took: Vec<u32>,
    /// How late each move was sent that was due at a time, in nanoseconds.
    pub late: Vec<u32>,
    /// Games that had to be created meanwhile, because none was left.
    pub created: usize,
}

/// What a game must be in the database.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub game: Uuid,
    /// Moves that were acknowledged.
    pub ply: u32,
}

/// One game that goes on, or will.
struct Match {
    id: Uuid,
    position: AnyPosition,
    ply: u32,
}

/// Two players, their connection, and their games one after the other.
struct Slot {
    address: String,
    connection: Connection,
    tokens: [String; 2],
    options: AnyOptions,
    lot: StdRng,
    /// What is played: one game, or several in turn.
    hand: VecDeque<Match>,
    /// How many.
    hand_size: usize,
    stock: Vec<Match>,
    records: Vec<Record>,
    outbox: Vec<u8>,
    expected: Expected,
    took: Vec<u32>,
    late: Vec<u32>,
    in_time: usize,
    created: usize,
    /// When which move was answered, if that is noted.
    answered: Option<Vec<(Uuid, u32, Instant)>>,
}

/// What an answer must hold, in this order.
#[derive(Default)]
struct Expected {
    ply: String,
    position: String,
    version: String,
}

/// When the moves of one slot are due.
struct Pace {
    first: Instant,
    every: Duration,
    moves: u32,
    due: Arc<Notify>,
}

impl Load {
    /// `count` games at once, spread over the servers at the addresses.
    pub async fn new(addresses: &[String], variant: Variant, count: usize, seed: u64) -> io::Result<Self> {
        let options = AnyOptions::parse(variant, "standard", "").map_err(io::Error::other)?;
        let mut slots = vec![];
        for (n, address) in addresses.iter().cycle().take(count).enumerate() {
            slots.push(Slot::new(address, options, seed.wrapping_mul(0x9e37_79b9).wrapping_add(n as u64)).await?);
        }
        Ok(Self { slots, game_moves: mean_moves(&options, seed), rate: None })
    }

    /// Games that are there already, each slot playing on in several by turns. The tokens are those of the first seat and the
    /// second one; no move must have been played.
    pub async fn resume(address: &str, variant: Variant, hands: Vec<([String; 2], Vec<Uuid>)>) -> io::Result<Self> {
        let options = AnyOptions::parse(variant, "standard", "").map_err(io::Error::other)?;
        let mut slots = vec![];
        for (n, (tokens, games)) in hands.into_iter().enumerate() {
            let mut slot = Slot::seated(address, options, n as u64, tokens).await?;
            slot.hand_size = games.len();
            slot.hand = games.into_iter().map(|id| Match::new(id, &options)).collect();
            slots.push(slot);
        }
        Ok(Self { slots, game_moves: mean_moves(&options, 1), rate: None })
    }

    /// Sees to it that there are games enough for a round; before the first one it plays for a moment, to learn how fast it is.
    pub async fn prepare(&mut self, time: Duration) -> io::Result<()> {
        if self.rate.is_none() {
            self.stock_up(0.0).await?;
            self.play(WARM_UP).await?;
        }
        self.stock_up(self.rate.unwrap_or_default() * time.as_secs_f64()).await
    }

    /// Creates games until there are enough for so many moves, and connects anew.
    pub async fn stock_up(&mut self, moves: f64) -> io::Result<()> {
        let per_slot = moves / self.game_moves / count_as_f64(self.slots.len()) * STOCK_MARGIN;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number, rounded and bounded"
        )]
        let wanted = (per_slot.ceil() as usize + STOCK_SPARE).min(STOCK_MAX);
        self.each(|mut slot| {
            tokio::spawn(async move {
                slot.reconnect().await?;
                while slot.stock.len() < wanted {
                    let game = slot.create().await?;
                    slot.stock.push(game);
                }
                Ok(slot)
            })
        })
        .await
    }

    /// Plays as fast as it can.
    pub async fn play(&mut self, time: Duration) -> io::Result<Played> {
        let begun = Instant::now();
        let until = begun + time;
        let play = |slot: Slot| tokio::spawn(slot.play(until));
        timeout(time + PATIENCE, self.each(play)).await??;
        let played = self.played(time);
        self.rate = Some(played.rate());
        Ok(played)
    }

    /// Plays so many moves a second, due at even distances, whatever became of those before: who is late does not wait for it
    /// to be forgotten.
    pub async fn play_at(&mut self, rate: u32, time: Duration) -> io::Result<Played> {
        let count = u32::try_from(self.slots.len()).expect("a few hundred slots");
        let distance = Duration::from_secs(1) / rate;
        let moves = u32::try_from(time.as_nanos() / distance.as_nanos()).unwrap_or(u32::MAX);
        let begun = Instant::now() + Duration::from_millis(50);
        let dues: Vec<Arc<Notify>> = self.slots.iter().map(|_| Arc::default()).collect();
        let mut paces = dues.iter().zip(0..).map(|(due, n)| Pace {
            first: begun + distance * n,
            every: distance * count,
            moves: moves / count + u32::from(n < moves % count),
            due: due.clone(),
        });
        let ringing = {
            let dues = dues.clone();
            thread::spawn(move || ring(&dues, begun, distance, moves))
        };
        let play = |slot: Slot| tokio::spawn(slot.play_at(paces.next().expect("a pace for each slot"), begun + time));
        let outcome = timeout(time + PATIENCE, self.each(play)).await;
        let rung = ringing.join();
        outcome??;
        rung.map_err(|_| io::Error::other("the thread that keeps the time panicked"))?;
        Ok(self.played(time))
    }

    /// From now on it is noted when moves are answered.
    pub fn note_answers(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.answered = Some(vec![]));
    }

    /// When the moves that were noted were answered.
    pub fn answered(&mut self) -> Vec<(Uuid, u32, Instant)> {
        self.slots.iter_mut().filter_map(|slot| slot.answered.take()).flatten().collect()
    }

    /// The tokens of all players.
    pub fn tokens(&self) -> Vec<String> {
        self.slots.iter().flat_map(|slot| slot.tokens.clone()).collect()
    }

    /// What the games must be in the database.
    pub fn records(&self) -> Vec<Record> {
        let open = |slot: &Slot| -> Vec<Record> { slot.hand.iter().chain(&slot.stock).map(Match::record).collect() };
        self.slots.iter().flat_map(|slot| [slot.records.clone(), open(slot)].concat()).collect()
    }

    /// Lets every slot do something at the same time.
    async fn each(&mut self, begin: impl FnMut(Slot) -> JoinHandle<io::Result<Slot>>) -> io::Result<()> {
        let tasks: Vec<_> = self.slots.drain(..).map(begin).collect();
        for task in tasks {
            self.slots.push(task.await.map_err(io::Error::other)??);
        }
        Ok(())
    }

    fn played(&mut self, time: Duration) -> Played {
        let mut played = Played { in_time: 0, moves: 0, time, took: vec![], late: vec![], created: 0 };
        for slot in &mut self.slots {
            played.moves += slot.took.len();
            played.took.append(&mut slot.took);
            played.late.append(&mut slot.late);
            played.in_time += std::mem::take(&mut slot.in_time);
            played.created += std::mem::take(&mut slot.created);
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

    /// The seat whose turn it is. After a pie swap the people have changed sides.
    fn seat(&self) -> usize {
        usize::from((self.position.turn() == Side::South) == self.position.swapped())
    }

    fn is_over(&self) -> bool {
        self.position.outcome().is_some()
    }
}

impl Expected {
    /// After the last move of a game. It was created and joined, and an end is an event of its own.
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

    /// Whether this is the right answer: the move with its number and the position after it, then the game with its version and
    /// the same.
    fn is_held_by(&self, body: &[u8]) -> bool {
        let mut rest = body;
        [&self.ply, &self.position, &self.version, &self.ply, &self.position].into_iter().all(|text| {
            let found = memmem::find(rest, text.as_bytes());
            rest = found.map_or(rest, |at| &rest[at + text.len()..]);
            found.is_some()
        })
    }
}

impl Slot {
    async fn new(address: &str, options: AnyOptions, seed: u64) -> io::Result<Self> {
        let mut connection = Connection::open(address).await?;
        let mut tokens = [String::new(), String::new()];
        for token in &mut tokens {
            *token = guest(&mut connection).await?;
        }
        Self::seated(address, options, seed, tokens).await
    }

    async fn seated(address: &str, options: AnyOptions, seed: u64, tokens: [String; 2]) -> io::Result<Self> {
        Ok(Self {
            address: address.to_owned(),
            connection: Connection::open(address).await?,
            tokens,
            options,
            lot: StdRng::seed_from_u64(seed),
            hand: VecDeque::new(),
            hand_size: 1,
            stock: vec![],
            records: vec![],
            outbox: vec![],
            expected: Expected::default(),
            took: vec![],
            late: vec![],
            in_time: 0,
            created: 0,
            answered: None,
        })
    }

    /// Anew before each round: a server closes what was idle for long.
    async fn reconnect(&mut self) -> io::Result<()> {
        self.connection = Connection::open(&self.address).await?;
        Ok(())
    }

    async fn create(&mut self) -> io::Result<Match> {
        let id = new_game(&mut self.connection, &self.tokens, &self.options).await?;
        Ok(Match::new(id, &self.options))
    }

    async fn play(mut self, until: Instant) -> io::Result<Self> {
        let mut now = Instant::now();
        while now < until {
            self.deal().await?;
            let begun = Instant::now();
            self.play_one().await?;
            now = Instant::now();
            self.took.push(nanoseconds(now - begun));
            self.in_time += usize::from(now <= until);
        }
        Ok(self)
    }

    async fn play_at(mut self, pace: Pace, until: Instant) -> io::Result<Self> {
        for n in 0..pace.moves {
            let due = pace.first + pace.every * n;
            self.deal().await?;
            while Instant::now() < due {
                pace.due.notified().await;
            }
            self.late.push(nanoseconds(due.elapsed()));
            self.play_one().await?;
            self.took.push(nanoseconds(due.elapsed()));
            self.in_time += usize::from(Instant::now() <= until);
        }
        Ok(self)
    }

    /// Takes games in hand where there are none: from the stock, else new ones.
    async fn deal(&mut self) -> io::Result<()> {
        while self.hand.len() < self.hand_size {
            let game = if let Some(game) = self.stock.pop() {
                game
            } else {
                self.created += 1;
                self.create().await?
            };
            self.hand.push_back(game);
        }
        Ok(())
    }

    /// One random move of the game in front, which then goes to the back.
    async fn play_one(&mut self) -> io::Result<()> {
        let game = self.hand.front_mut().ok_or_else(|| io::Error::other("no game in hand"))?;
        let legal = game.position.legal_moves();
        let mv = legal[self.lot.random_range(..legal.len())];
        write_move(&mut self.outbox, game, mv, &self.tokens[game.seat()])?;
        game.position.play_unchecked(mv);
        game.ply += 1;
        self.expected.write(game);
        let answer = self.connection.exchange(&self.outbox).await?;
        if answer.status != 201 || !self.expected.is_held_by(answer.body) {
            return Err(wrong(&answer, &self.outbox, &self.expected));
        }
        if let Some(answered) = &mut self.answered {
            answered.push((game.id, game.ply, Instant::now()));
        }
        if game.is_over() {
            self.records.extend(self.hand.pop_front().as_ref().map(Match::record));
        } else if self.hand_size > 1 {
            self.hand.rotate_left(1);
        }
        Ok(())
    }
}

/// A new guest's token.
pub async fn guest(connection: &mut Connection) -> io::Result<String> {
    let player = connection.post("/v1/players", "", "{}", 201).await?;
    player["access_token"].as_str().map(str::to_owned).ok_or_else(|| io::Error::other("no token"))
}

/// A game that both have joined; the first one plays South.
pub async fn new_game(connection: &mut Connection, tokens: &[String; 2], options: &AnyOptions) -> io::Result<Uuid> {
    let body = format!(r#"{{"variant":"{}","side":"south"}}"#, options.variant());
    let game = connection.post("/v1/games", &tokens[0], &body, 201).await?;
    let id = game["id"].as_str().and_then(|id| id.parse().ok()).ok_or_else(|| io::Error::other("no id"))?;
    connection.post(&format!("/v1/games/{id}/join"), &tokens[1], "{}", 200).await?;
    Ok(id)
}

/// The request that plays a game's next move.
fn write_move(outbox: &mut Vec<u8>, game: &Match, mv: Move, token: &str) -> io::Result<()> {
    const HEAD: &[u8] = b"\r\ncontent-type: application/json\r\ncontent-length: ";
    let ply = game.ply + 1;
    let word_length = if matches!(mv, Move::Sow(_)) { 1 } else { 4 };
    let length = r#"{"ply":,"move":""}"#.len() + digits(ply) + word_length;
    outbox.clear();
    write!(outbox, "POST /v1/games/{}/moves HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ", game.id)?;
    outbox.extend_from_slice(token.as_bytes());
    outbox.extend_from_slice(HEAD);
    write!(outbox, "{length}\r\n\r\n{{\"ply\":{ply},\"move\":\"{mv}\"}}")
}

fn digits(number: u32) -> usize {
    number.checked_ilog10().map_or(1, |tens| tens as usize + 1)
}

fn wrong(answer: &Answer<'_>, request: &[u8], expected: &Expected) -> io::Error {
    let request = String::from_utf8_lossy(request);
    let sent = request.split("\r\n").next().unwrap_or_default();
    let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
    answer.unexpected(&format!("{sent} {body}; it must hold {}{}{}", expected.ply, expected.version, expected.position))
}

/// Wakes the slots when their moves are due. On a thread of its own, because tokio's timers are only as fine as milliseconds.
fn ring(dues: &[Arc<Notify>], begun: Instant, distance: Duration, moves: u32) {
    // Otherwise the kernel may wake a thread 50 microseconds late, to save power.
    let _ = set_timerslack(1);
    for (n, due) in (0..moves).zip(dues.iter().cycle()) {
        thread::sleep((begun + distance * n).saturating_duration_since(Instant::now()));
        due.notify_one();
    }
}

/// How many moves a game of random moves has, on the average.
fn mean_moves(options: &AnyOptions, seed: u64) -> f64 {
    let mut lot = StdRng::seed_from_u64(seed);
    let moves: usize = (0..SAMPLE).map(|_| random_game(options, &mut lot).len()).sum();
    count_as_f64(moves) / f64::from(SAMPLE)
}

/// The moves of a random game, to its end.
pub fn random_game(options: &AnyOptions, lot: &mut StdRng) -> Vec<Move> {
    let mut position = AnyPosition::opening(options);
    let mut moves = vec![];
    while position.outcome().is_none() {
        let legal = position.legal_moves();
        let mv = legal[lot.random_range(..legal.len())];
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
