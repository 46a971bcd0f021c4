//! The calls that are measured, and the games that they are about.

use std::time::Duration;

use futures_util::future::try_join_all;
use mancala_server::{
    db::{
        self, DbError, Lookups, Writers,
        games::{self, Appended, SeatedGame},
        lists::{self, Filter, Of, PageKey as After, Whose},
    },
    domain::{Action, Command, Context, Event, Game, GameId},
    embedded,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use sqlx::{PgPool, postgres::PgConnectOptions};
use uuid::Uuid;

use crate::{
    Failure, Place,
    cost::{Each, Meter, median},
    filled::{BEGIN, PUBLIC, YEARS_S, move_events, player_id},
};

/// What each call cost in each place, by its name.
pub struct Figures {
    pub places: Vec<String>,
    pub calls: Vec<(String, Vec<Each>)>,
}

impl Figures {
    pub fn of(places: impl Iterator<Item = String>) -> Self {
        Self { places: places.collect(), calls: vec![] }
    }

    /// Takes what a call cost in the next of the places.
    fn note(&mut self, call: String, each: Each) {
        match self.calls.iter_mut().find(|(name, _)| *name == call) {
            Some((_, noted)) => noted.push(each),
            None => self.calls.push((call, vec![each])),
        }
    }
}

/// Games that are played on, in groups of so many.
const PLAYED: i64 = 640;
const GROUP: usize = 32;

/// Games that are read, and how often a page is.
const READ: i64 = 2000;
const PAGES: u32 = 300;

/// How often what is measured more than once is.
const ROUNDS: usize = 3;

/// The newest games whose histories are read: what people look at most.
const NEWEST: i64 = 300;

/// Plies of a game whose history is read.
const PLIES: u32 = 60;

const PAGE: u32 = 20;

/// The service's own connections: one for each purpose, so that nothing is planned twice.
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
            lookups: Lookups::start(options.clone()),
            players: u32::try_from(players).expect("not so many"),
        })
    }
}

/// Measures every call: first what is read, of games that nothing has been asked about before, and again; then what is written.
/// Every call is made in all places before the next one.
pub async fn measure(places: &[Place], figures: &mut Figures) -> Result<(), Failure> {
    let mut readers = vec![];
    for place in places {
        readers.push(Reader::start(&embedded::connect_options(&place.embedded), &place.watcher).await?);
    }
    for call in Call::ALL {
        for round in ["", ", again"] {
            for reader in &readers {
                figures.note(format!("{}{round}", call.name()), reader.measure(call).await?);
            }
        }
    }
    for at_once in [1, GROUP] {
        let mut players = vec![];
        for reader in &readers {
            players.push(Player::start(reader, at_once).await?);
        }
        for round in 0..=ROUNDS {
            for player in &mut players {
                player.play(round).await?;
            }
        }
        for player in players {
            player.end(figures).await?;
        }
    }
    Ok(())
}

/// What is read.
#[derive(Clone, Copy)]
enum Call {
    Game,
    Whole,
    Signs,
    SignsAtOnce,
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
        Call::Signs,
        Call::SignsAtOnce,
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
            Call::Signs => "whether a game is the same".to_owned(),
            Call::SignsAtOnce => format!("whether it is the same, {GROUP} at once"),
            Call::Position => "a position".to_owned(),
            Call::History => format!("a history of {PLIES} plies"),
            Call::NewestHistory => format!("a history of {PLIES} plies, of the newest {NEWEST}"),
            Call::FirstPage => "the first page of public games".to_owned(),
            Call::LaterPage => "a page of public games, anywhere".to_owned(),
            Call::PlayersPage => "the first page of a player's games".to_owned(),
        }
    }
}

/// A reader in a place, and the games that it reads: other games for each purpose, so that no purpose warms the memory for another.
struct Reader<'a> {
    service: Service,
    meter: Meter<'a>,
    games: Vec<GameId>,
    active: Vec<GameId>,
    asked: Vec<GameId>,
    asked_at_once: Vec<GameId>,
    shown: Vec<Game>,
    long: Vec<Game>,
    newest: Vec<Game>,
}

impl<'a> Reader<'a> {
    async fn start(options: &PgConnectOptions, watcher: &'a PgPool) -> Result<Self, Failure> {
        let service = Service::start(options, watcher).await?;
        // What is planned at the first call is not to be counted.
        let warm = ids(watcher, "status = 'finished'", "warm", 20).await?;
        read(&service, &warm).await?;
        let long = format!("status = 'finished' and ply >= {PLIES}");
        // The greatest ids are those of the newest games.
        let newest = format!("id in (select id from game where {long} order by id desc limit {NEWEST})");
        Ok(Self {
            games: ids(watcher, "true", "game", READ).await?,
            active: ids(watcher, "status = 'active'", "whole", READ).await?,
            asked: ids(watcher, "true", "asked", READ).await?,
            asked_at_once: ids(watcher, "true", "asked at once", READ).await?,
            shown: find_all(&service.pool, &ids(watcher, &long, "shown", READ / 2).await?).await?,
            long: find_all(&service.pool, &ids(watcher, &long, "long", READ / 2).await?).await?,
            newest: find_all(&service.pool, &ids(watcher, &newest, "", NEWEST).await?).await?,
            meter: Meter { watcher },
            service,
        })
    }

    async fn measure(&self, call: Call) -> Result<Each, DbError> {
        let Service { pool, lookups, .. } = &self.service;
        let made = async || match call {
            Call::Game => each_of(&self.games, async |id| games::find(pool, id).await.map(drop)).await,
            Call::Whole => each_of(&self.active, async |id| games::find_whole(pool, id).await.map(drop)).await,
            Call::Signs => each_of(&self.asked, async |id| lookups.fingerprint(id).await.map(drop)).await,
            Call::SignsAtOnce => {
                for group in self.asked_at_once.chunks(GROUP) {
                    try_join_all(group.iter().map(|id| lookups.fingerprint(*id))).await?;
                }
                Ok(self.asked_at_once.len())
            }
            Call::Position => {
                for game in &self.shown {
                    games::plies(pool, game, PLIES / 2 - 1, 1).await?;
                }
                Ok(self.shown.len())
            }
            Call::History => histories(pool, &self.long).await,
            Call::NewestHistory => histories(pool, &self.newest).await,
            Call::FirstPage | Call::LaterPage | Call::PlayersPage => {
                for n in 0..PAGES {
                    let (filter, place) = self.page(call, n);
                    lists::list(pool, &filter, place, PAGE).await?;
                }
                Ok(PAGES as usize)
            }
        };
        self.meter.each(made).await
    }

    /// The page of this number: the same first one, one anywhere in the newer half of all, or a player's first.
    fn page(&self, call: Call, n: u32) -> (Filter, Option<After>) {
        match call {
            Call::LaterPage => {
                let at = BEGIN + Duration::from_secs_f64(YEARS_S / 2.0 * (1.0 + f64::from(n) / f64::from(PAGES)));
                let ms = u128::try_from(at.unix_timestamp_nanos() / 1_000_000).expect("after 1970");
                (PUBLIC, Some(After { at, id: GameId(Uuid::from_u128(ms << 80)) }))
            }
            Call::PlayersPage => {
                let player = player_id(10 + n * 7 % (self.service.players / 2));
                let of = Of { player, opponent: None, visibility: None, to_move: false };
                (Filter { whose: Whose::Players(of), viewer: Some(player), ..PUBLIC }, None)
            }
            _ => (PUBLIC, None),
        }
    }
}

/// The first plies of each of these games.
async fn histories(pool: &PgPool, of: &[Game]) -> Result<usize, DbError> {
    for game in of {
        let plies = games::plies(pool, game, 0, PLIES).await?;
        assert_eq!(plies.len(), PLIES as usize, "a history has all its plies");
    }
    Ok(of.len())
}

/// A player in a place, who continues games that have been at rest.
struct Player<'a> {
    reader: &'a Reader<'a>,
    playing: Vec<Game>,
    at_once: usize,
    lot: StdRng,
    rounds: Vec<Each>,
}

impl<'a> Player<'a> {
    async fn start(reader: &'a Reader<'a>, at_once: usize) -> Result<Self, Failure> {
        let watcher = reader.meter.watcher;
        let playing = ids(watcher, "status = 'active'", &format!("played {at_once}"), PLAYED).await?;
        let playing = find_all(&reader.service.pool, &playing).await?;
        sqlx::query("checkpoint").execute(watcher).await?;
        Ok(Self { reader, playing, at_once, lot: StdRng::seed_from_u64(2), rounds: vec![] })
    }

    /// A move in each game. In the first round it is the first one since a checkpoint.
    async fn play(&mut self, round: usize) -> Result<(), DbError> {
        let next = next_moves(&mut self.playing, &mut self.lot);
        let each = self.append(&next).await?;
        self.rounds.insert(round, each);
        Ok(())
    }

    /// Ends all games, and tells what all that cost.
    async fn end(self, figures: &mut Figures) -> Result<(), DbError> {
        let so_many = if self.at_once == 1 { "alone".to_owned() } else { format!("{} at once", self.at_once) };
        let [first, further @ ..] = &self.rounds[..] else { return Ok(()) };
        figures.note(format!("a move, {so_many}, the game's first since a checkpoint"), *first);
        let middle = |of: fn(&Each) -> f64| median(further.iter().map(of));
        let middle = Each { cpu: middle(|it| it.cpu), wall: middle(|it| it.wall), wal: middle(|it| it.wal) };
        figures.note(format!("a move, {so_many}"), middle);
        sqlx::query("checkpoint").execute(self.reader.meter.watcher).await?;
        let ends: Vec<Next> = self.playing.iter().map(resigned).collect();
        figures.note(format!("the end of a game, {so_many}"), self.append(&ends).await?);
        Ok(())
    }

    async fn append(&self, next: &[Next]) -> Result<Each, DbError> {
        let Reader { meter, service, .. } = self.reader;
        meter.each(async || append(service, next, self.at_once).await).await
    }
}

/// What is appended to a game, and the game after it.
type Next = (Game, Vec<Event>);

/// A move in each game. Games that would end by it are left out from now on: an end costs more than a move.
fn next_moves(playing: &mut Vec<Game>, lot: &mut StdRng) -> Vec<Next> {
    let mut next = vec![];
    playing.retain_mut(|game| {
        let legal = game.position().legal_moves();
        let events = move_events(game, legal[lot.random_range(..legal.len())]);
        let goes_on = events.len() == 1;
        if goes_on {
            apply(&events, game);
            next.push((game.clone(), events));
        }
        goes_on
    });
    next
}

/// A game that its first player gives up.
fn resigned(game: &Game) -> Next {
    let player = game.players().first.expect("both seats are taken");
    let command = Command { player, if_version: None, action: Action::Resign };
    let context = Context::new(game.updated_at(), || GameId(Uuid::now_v7()));
    let events = game.decide(&command, &context).expect("an active game can be resigned").events;
    let mut game = game.clone();
    apply(&events, &mut game);
    (game, events)
}

fn apply(events: &[Event], game: &mut Game) {
    for event in events {
        game.apply(event).expect("it was decided");
    }
}

/// Stores all of these, so many at once; how many there were.
async fn append(service: &Service, next: &[Next], at_once: usize) -> Result<usize, DbError> {
    for group in next.chunks(at_once) {
        // All are queued before the writer looks.
        let appends = group.iter().map(|(game, events)| games::append(&service.writers, game, events));
        let appended = try_join_all(appends).await?;
        assert!(appended.iter().all(|it| *it == Appended::Stored), "no other client plays here");
    }
    Ok(next.len())
}

/// Shows the plan of each call, of the second time that its connection is asked.
pub async fn show_plans(options: PgConnectOptions, watcher: &PgPool) -> Result<(), Failure> {
    let service = Service::start(&options, watcher).await?;
    let long = ids(watcher, &format!("status = 'finished' and ply >= {PLIES}"), "plan", 2).await?;
    for game in &find_all(&service.pool, &long).await? {
        println!("\n-- a history");
        games::plies(&service.pool, game, 0, PLIES).await?;
        println!("\n-- a position");
        games::plies(&service.pool, game, PLIES / 2 - 1, 1).await?;
        println!("\n-- a page of public games");
        lists::list(&service.pool, &PUBLIC, None, PAGE).await?;
    }
    let active = ids(watcher, "status = 'active'", "plan", 2).await?;
    let mut lot = StdRng::seed_from_u64(3);
    for game in find_all(&service.pool, &active).await? {
        println!("\n-- a move");
        append(&service, &next_moves(&mut vec![game], &mut lot), 1).await?;
    }
    Ok(())
}

/// Reads each of these in every way, so that all is planned.
async fn read(service: &Service, ids: &[GameId]) -> Result<(), DbError> {
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

async fn each_of(ids: &[GameId], call: impl AsyncFn(GameId) -> Result<(), DbError>) -> Result<usize, DbError> {
    for id in ids {
        call(*id).await?;
    }
    Ok(ids.len())
}

/// Up to so many games of which this is true, of all ages: others for each word.
async fn ids(watcher: &PgPool, which: &str, word: &str, limit: i64) -> Result<Vec<GameId>, sqlx::Error> {
    let sql = format!("select id from game where {which} order by md5(id::text || '{word}') limit {limit}");
    let ids: Vec<Uuid> = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(watcher).await?;
    Ok(ids.into_iter().map(GameId).collect())
}
