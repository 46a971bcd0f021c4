//! The calls that are measured, and the games that they read or continue.

use std::time::Duration;

use futures_util::future::try_join_all;
use mancala_server::{
    db::{
        self, DbError, Lookups, Writers,
        games::{self, Appended, SeatedGame},
        lists::{self as game_lists, Filter, GameScope, PageKey, PlayerGames},
    },
    domain::{Action, Command, Event, Game, GameId},
    embedded,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use sqlx::{PgPool, postgres::PgConnectOptions};
use uuid::Uuid;

use crate::{
    Database, Failure,
    cost::{Cost, Meter, median},
    filled::{BEGIN, PUBLIC, YEARS_S, lists::lists, move_events, player_id},
};

/// The cost of each call in each database, by the call's name.
pub struct Figures {
    pub databases: Vec<String>,
    pub calls: Vec<(String, Vec<Cost>)>,
}

impl Figures {
    pub fn new(databases: impl Iterator<Item = String>) -> Self {
        Self { databases: databases.collect(), calls: vec![] }
    }

    /// Adds what a call cost on the next database.
    pub fn add(&mut self, call: String, cost: Cost) {
        match self.calls.iter_mut().find(|(name, _)| *name == call) {
            Some((_, costs)) => costs.push(cost),
            None => self.calls.push((call, vec![cost])),
        }
    }
}

/// Games that are continued, and the size of a group that is stored together.
const PLAYED: i64 = 640;
const GROUP: usize = 32;

/// Games that are read for each purpose, and pages that are read.
const READ: i64 = 2000;
const PAGES: u32 = 300;

/// Measured rounds of moves, after the first one since a checkpoint.
const ROUNDS: usize = 3;

/// The newest games whose histories are read: the most frequent requests.
const NEWEST: i64 = 300;

/// Plies of a game whose history is read.
const PLIES: u32 = 60;

const PAGE: u32 = 20;

/// How often each list is read.
const LIST_RUNS: usize = 50;

/// The service's own connections: one for each purpose, so that each statement is planned once.
struct Service {
    pool: PgPool,
    writers: Writers,
    lookups: Lookups,
    players: u32,
}

impl Service {
    async fn start(options: &PgConnectOptions, watcher: &PgPool) -> Result<Self, DbError> {
        let (writers, _) = Writers::start(options, 1, Writers::QUEUE_MAX);
        let players: i64 = sqlx::query_scalar("select count(*) from player").fetch_one(watcher).await?;
        Ok(Self {
            pool: db::pool(options.clone(), 1),
            writers,
            lookups: Lookups::start(options.into()),
            players: u32::try_from(players).expect("not so many"),
        })
    }
}

/// Measures every call: first the reads, each on games that were not read before, and again; then the writes. Every call
/// runs in all databases before the next one.
pub async fn measure(databases: &[Database], figures: &mut Figures) -> Result<(), Failure> {
    let mut readers = vec![];
    for database in databases {
        readers.push(Reader::start(&embedded::connect_options(&database.embedded), &database.watcher).await?);
    }
    for call in Call::ALL {
        for round in ["", ", again"] {
            for reader in &readers {
                figures.add(format!("{}{round}", call.name()), reader.measure(call).await?);
            }
        }
    }
    measure_lists(&readers, figures).await?;
    for at_once in [1, GROUP] {
        let mut appenders = vec![];
        for reader in &readers {
            appenders.push(Appender::start(reader, at_once).await?);
        }
        for round in 0..=ROUNDS {
            for appender in &mut appenders {
                appender.append_moves(round).await?;
            }
        }
        for appender in appenders {
            appender.end_games(figures).await?;
        }
    }
    Ok(())
}

/// Measures every list of the service, for the same players: each is read once before, so that its pages are in memory.
async fn measure_lists(readers: &[Reader<'_>], figures: &mut Figures) -> Result<(), DbError> {
    for reader in readers {
        let Service { pool, players, .. } = &reader.service;
        for (name, list) in lists(*players) {
            list.run(pool).await?;
            let work = async || {
                for _ in 0..LIST_RUNS {
                    list.run(pool).await?;
                }
                Ok(LIST_RUNS)
            };
            figures.add(format!("list {name}"), reader.meter.measure(work).await?);
        }
    }
    Ok(())
}

/// A call that reads.
#[derive(Clone, Copy)]
enum Call {
    Game,
    Whole,
    Fingerprint,
    FingerprintsAtOnce,
    History,
    NewestHistory,
    Position,
    FirstPage,
    LaterPage,
    PlayersPage,
}

impl Call {
    const ALL: [Call; 10] = [
        Call::Game,
        Call::Whole,
        Call::Fingerprint,
        Call::FingerprintsAtOnce,
        Call::Position,
        Call::History,
        Call::NewestHistory,
        Call::FirstPage,
        Call::LaterPage,
        Call::PlayersPage,
    ];

    fn name(self) -> String {
        match self {
            Call::Game => "a game, as it is shown".to_owned(),
            Call::Whole => "a game, to play on".to_owned(),
            Call::Fingerprint => "whether a game is the same".to_owned(),
            Call::FingerprintsAtOnce => format!("whether it is the same, {GROUP} at once"),
            Call::Position => "a position".to_owned(),
            Call::History => format!("a history of {PLIES} plies"),
            Call::NewestHistory => format!("a history of {PLIES} plies, of the newest {NEWEST}"),
            Call::FirstPage => "the first page of public games".to_owned(),
            Call::LaterPage => "a page of public games, anywhere".to_owned(),
            Call::PlayersPage => "the first page of a player's games".to_owned(),
        }
    }
}

/// The reads from one database, and their games: other games for each purpose, so that none warms the cache for another.
struct Reader<'a> {
    service: Service,
    meter: Meter<'a>,
    games: Vec<GameId>,
    active: Vec<GameId>,
    fingerprints: Vec<GameId>,
    fingerprints_at_once: Vec<GameId>,
    positions: Vec<Game>,
    histories: Vec<Game>,
    newest_histories: Vec<Game>,
}

impl<'a> Reader<'a> {
    async fn start(options: &PgConnectOptions, watcher: &'a PgPool) -> Result<Self, Failure> {
        let service = Service::start(options, watcher).await?;
        // The first call plans its statement, which is not counted.
        let warm = ids(watcher, "status = 'finished'", "warm", 20).await?;
        warm_up(&service, &warm).await?;
        let long = format!("status = 'finished' and ply >= {PLIES}");
        // The greatest ids are those of the newest games.
        let newest = format!("id in (select id from game where {long} order by id desc limit {NEWEST})");
        Ok(Self {
            games: ids(watcher, "true", "game", READ).await?,
            active: ids(watcher, "status = 'active'", "whole", READ).await?,
            fingerprints: ids(watcher, "true", "asked", READ).await?,
            fingerprints_at_once: ids(watcher, "true", "asked at once", READ).await?,
            positions: find_all(&service.pool, &ids(watcher, &long, "shown", READ / 2).await?).await?,
            histories: find_all(&service.pool, &ids(watcher, &long, "long", READ / 2).await?).await?,
            newest_histories: find_all(&service.pool, &ids(watcher, &newest, "", NEWEST).await?).await?,
            meter: Meter { watcher },
            service,
        })
    }

    async fn measure(&self, call: Call) -> Result<Cost, DbError> {
        let Service { pool, lookups, .. } = &self.service;
        let made = async || match call {
            Call::Game => for_each(&self.games, async |id| games::find(pool, id).await.map(drop)).await,
            Call::Whole => for_each(&self.active, async |id| games::find_whole(pool, id).await.map(drop)).await,
            Call::Fingerprint => for_each(&self.fingerprints, async |id| lookups.fingerprint(id).await.map(drop)).await,
            Call::FingerprintsAtOnce => {
                for group in self.fingerprints_at_once.chunks(GROUP) {
                    try_join_all(group.iter().map(|id| lookups.fingerprint(*id))).await?;
                }
                Ok(self.fingerprints_at_once.len())
            }
            Call::Position => {
                for game in &self.positions {
                    games::plies(pool, game, PLIES / 2 - 1, 1).await?;
                }
                Ok(self.positions.len())
            }
            Call::History => read_histories(pool, &self.histories).await,
            Call::NewestHistory => read_histories(pool, &self.newest_histories).await,
            Call::FirstPage | Call::LaterPage | Call::PlayersPage => {
                for n in 0..PAGES {
                    let (filter, after) = self.page(call, n);
                    game_lists::list(pool, &filter, after, PAGE).await?;
                }
                Ok(PAGES as usize)
            }
        };
        self.meter.measure(made).await
    }

    /// The filter and the cursor of a page: the same first one, one anywhere in the newer half of all, or a player's first.
    fn page(&self, call: Call, n: u32) -> (Filter, Option<PageKey>) {
        match call {
            Call::LaterPage => {
                let at = BEGIN + Duration::from_secs_f64(YEARS_S / 2.0 * (1.0 + f64::from(n) / f64::from(PAGES)));
                let ms = u128::try_from(at.unix_timestamp_nanos() / 1_000_000).expect("after 1970");
                (PUBLIC, Some(PageKey { at, id: GameId(Uuid::from_u128(ms << 80)) }))
            }
            Call::PlayersPage => {
                let player = player_id(10 + n * 7 % (self.service.players / 2));
                let of = PlayerGames { player, opponent: None, visibility: None, to_move: false };
                (Filter { whose: GameScope::Players(of), viewer: Some(player), ..PUBLIC }, None)
            }
            _ => (PUBLIC, None),
        }
    }
}

/// Reads the first plies of each game.
async fn read_histories(pool: &PgPool, all: &[Game]) -> Result<usize, DbError> {
    for game in all {
        let plies = games::plies(pool, game, 0, PLIES).await?;
        assert_eq!(plies.len(), PLIES as usize, "a history has all its plies");
    }
    Ok(all.len())
}

/// Appends moves to games of one database that have been idle.
struct Appender<'a> {
    reader: &'a Reader<'a>,
    playing: Vec<Game>,
    at_once: usize,
    rng: StdRng,
    rounds: Vec<Cost>,
}

impl<'a> Appender<'a> {
    async fn start(reader: &'a Reader<'a>, at_once: usize) -> Result<Self, Failure> {
        let watcher = reader.meter.watcher;
        let playing = ids(watcher, "status = 'active'", &format!("played {at_once}"), PLAYED).await?;
        let playing = find_all(&reader.service.pool, &playing).await?;
        sqlx::query("checkpoint").execute(watcher).await?;
        Ok(Self { reader, playing, at_once, rng: StdRng::seed_from_u64(2), rounds: vec![] })
    }

    /// Appends a move to each game. In the first round it is the game's first one since a checkpoint.
    async fn append_moves(&mut self, round: usize) -> Result<(), DbError> {
        let appends = next_moves(&mut self.playing, &mut self.rng);
        let cost = self.append(&appends).await?;
        self.rounds.insert(round, cost);
        Ok(())
    }

    /// Ends all games, and adds all costs to the figures.
    async fn end_games(self, figures: &mut Figures) -> Result<(), DbError> {
        let group = if self.at_once == 1 { "alone".to_owned() } else { format!("{} at once", self.at_once) };
        let [first, further @ ..] = &self.rounds[..] else { return Ok(()) };
        figures.add(format!("a move, {group}, the game's first since a checkpoint"), *first);
        let median_of = |of: fn(&Cost) -> f64| median(further.iter().map(of));
        let cost = Cost { cpu: median_of(|it| it.cpu), wall: median_of(|it| it.wall), wal: median_of(|it| it.wal) };
        figures.add(format!("a move, {group}"), cost);
        sqlx::query("checkpoint").execute(self.reader.meter.watcher).await?;
        let ends: Vec<Append> = self.playing.iter().map(resigned).collect();
        figures.add(format!("the end of a game, {group}"), self.append(&ends).await?);
        Ok(())
    }

    async fn append(&self, appends: &[Append]) -> Result<Cost, DbError> {
        let Reader { meter, service, .. } = self.reader;
        meter.measure(async || append(service, appends, self.at_once).await).await
    }
}

/// A game, and the events that led to it from the stored one.
type Append = (Game, Vec<Event>);

/// Plays a move in each game. Removes the games that would end by it: an end costs more than a move.
fn next_moves(playing: &mut Vec<Game>, rng: &mut StdRng) -> Vec<Append> {
    let mut appends = vec![];
    playing.retain_mut(|game| {
        let legal = game.position().legal_moves();
        let events = move_events(game, legal[rng.random_range(..legal.len())]);
        let goes_on = events.len() == 1;
        if goes_on {
            apply(&events, game);
            appends.push((game.clone(), events));
        }
        goes_on
    });
    appends
}

/// A game that its first player resigns.
fn resigned(game: &Game) -> Append {
    let player = game.players().first.expect("both seats are taken");
    let command = Command { player, if_version: None, action: Action::Resign };
    let events = game.decide(&command, game.updated_at()).expect("an active game can be resigned").events;
    let mut game = game.clone();
    apply(&events, &mut game);
    (game, events)
}

fn apply(events: &[Event], game: &mut Game) {
    for event in events {
        game.apply(event).expect("it was decided");
    }
}

/// Stores appends in groups of `at_once`, and returns how many there were.
async fn append(service: &Service, all: &[Append], at_once: usize) -> Result<usize, DbError> {
    for group in all.chunks(at_once) {
        // All are queued before the writer polls its queue.
        let appends = group.iter().map(|(game, events)| games::append(&service.writers, game, events));
        let appended = try_join_all(appends).await?;
        assert!(appended.iter().all(|it| *it == Appended::Stored), "no other client plays here");
    }
    Ok(all.len())
}

/// Prints the plan of each call, as of the second call on its connection.
pub async fn show_plans(options: PgConnectOptions, watcher: &PgPool) -> Result<(), Failure> {
    let service = Service::start(&options, watcher).await?;
    let long = ids(watcher, &format!("status = 'finished' and ply >= {PLIES}"), "plan", 2).await?;
    for game in &find_all(&service.pool, &long).await? {
        println!("\n-- a history");
        games::plies(&service.pool, game, 0, PLIES).await?;
        println!("\n-- a position");
        games::plies(&service.pool, game, PLIES / 2 - 1, 1).await?;
        println!("\n-- a page of public games");
        game_lists::list(&service.pool, &PUBLIC, None, PAGE).await?;
    }
    let active = ids(watcher, "status = 'active'", "plan", 2).await?;
    let mut rng = StdRng::seed_from_u64(3);
    for game in find_all(&service.pool, &active).await? {
        println!("\n-- a move");
        append(&service, &next_moves(&mut vec![game], &mut rng), 1).await?;
    }
    Ok(())
}

/// Makes every call that reads on each game, so that all statements are planned.
async fn warm_up(service: &Service, ids: &[GameId]) -> Result<(), DbError> {
    for id in ids {
        service.lookups.fingerprint(*id).await?;
        games::find(&service.pool, *id).await?;
        if let Some(SeatedGame { game, .. }) = games::find_whole(&service.pool, *id).await? {
            games::plies(&service.pool, &game, 0, 100).await?;
            let log = games::log(&service.pool, *id).await?;
            let replayed = Game::replay(*id, &log).expect("the log of a game");
            assert_eq!(replayed, game, "the log gives the row");
        }
    }
    Ok(())
}

async fn find_all(pool: &PgPool, ids: &[GameId]) -> Result<Vec<Game>, DbError> {
    let mut found = vec![];
    for id in ids {
        found.extend(games::find_whole(pool, *id).await?.map(|it| it.game));
    }
    Ok(found)
}

async fn for_each(ids: &[GameId], call: impl AsyncFn(GameId) -> Result<(), DbError>) -> Result<usize, DbError> {
    for id in ids {
        call(*id).await?;
    }
    Ok(ids.len())
}

/// The ids of up to `limit` games that meet a condition, of all ages: other games for each salt.
async fn ids(watcher: &PgPool, condition: &str, salt: &str, limit: i64) -> Result<Vec<GameId>, sqlx::Error> {
    let sql = format!("select id from game where {condition} order by md5(id::text || '{salt}') limit {limit}");
    let ids: Vec<Uuid> = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(watcher).await?;
    Ok(ids.into_iter().map(GameId).collect())
}
