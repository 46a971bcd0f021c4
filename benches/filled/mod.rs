//! A database of games from two years. The moves are legal ones, and the log is in the order of time.

pub mod lists;

use mancala_server::{
    db::lists::{Filter, GameScope, Order, Statuses},
    domain::{
        Action, BySeat, Clock, Command, Event, Fact, Game, GameId, Opponent, PlayerId, Seat, Status, Terms, Visibility,
    },
    rules::{AnyOptions, Move, Variant},
};
use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, QueryBuilder};
use time::{Duration, OffsetDateTime, macros::datetime};
use uuid::Uuid;

/// When the first game is created; the others follow within two years.
pub const BEGIN: OffsetDateTime = datetime!(2024-11-01 00:00 UTC);
pub const YEARS_S: f64 = 2.0 * 365.0 * 86_400.0;

/// All public games, newest first.
pub const PUBLIC: Filter = Filter {
    reason: None,
    plies: (0, i32::MAX),
    imported: None,
    analysed: None,
    whose: GameScope::Public,
    status: Statuses::Any,
    variant: None,
    preset: None,
    clock: None,
    open_to: None,
    ended: None,
    since: None,
    until: None,
    order: Order::Created,
    viewer: None,
    practice: None,
};

/// The statements that make the games, and those that make their logs.
const GAMES: &str = include_str!("games.sql");
const EVENTS: &str = include_str!("events.sql");

/// The indexes of games beside the key. They are made again when all games are there: that takes a tenth of the time.
const INDEXES: &str = "select indexrelid::regclass::text, pg_get_indexdef(indexrelid) from pg_index
    where indrelid = 'game'::regclass and not indisprimary";

/// The table of the recorded games, from which the others are copied.
const RECORDED: &str =
    "create unlogged table recorded_ply (recorded int, variant text, ply int, seat smallint, move text,
    position text, history_from_seq int, turn_seat smallint, seat_0_moved bool, seat_1_moved bool,
    primary key (recorded, ply))";

/// A played game: its state after each ply, from the opening on, and the event that led there.
pub struct Recorded {
    pub variant: Variant,
    pub states: Vec<(Option<Event>, Game)>,
}

impl Recorded {
    /// Plays a game of a variant's standard preset up to `plies_max` plies, or to the ply before its end.
    pub fn play(variant: Variant, plies_max: usize, mut pick: impl FnMut(&[Move]) -> Move) -> Self {
        let players = BySeat { first: player_id(0), second: player_id(1) };
        let options = AnyOptions::parse(variant, "standard", "").expect("the standard preset is valid");
        let terms = Terms {
            options,
            rules_version: 1,
            opponent: Opponent::Open,
            clock: Clock::Unlimited,
            visibility: Visibility::Public,
            creator: Seat::First,
            start: None,
            is_practice: false,
        };
        let (mut game, _) = Game::create(GameId(Uuid::nil()), terms, players.first, Duration::DAY, BEGIN);
        let joined = Fact::Joined { seat: Seat::Second, player: players.second };
        game.apply(&Event { seq: 2, at: BEGIN, fact: joined }).expect("it follows the creation");
        let mut states = vec![(None, game.clone())];
        while states.len() <= plies_max {
            let mv = pick(&game.position().legal_moves());
            let events = move_events(&game, mv);
            for event in &events {
                game.apply(event).expect("it was decided");
            }
            if game.status() != Status::Active {
                break;
            }
            states.push((events.into_iter().next(), game.clone()));
        }
        Self { variant, states }
    }
}

/// The events of a move of the side to move.
pub fn move_events(game: &Game, mv: Move) -> Vec<Event> {
    let seat = game.seat_at(game.turn().expect("the game is active"));
    let player = game.players()[seat].expect("both seats are taken");
    let action = Action::Play { ply: game.ply() + 1, word: &mv.to_string(), recorded: &[] };
    let command = Command { player, if_version: None, action };
    game.decide(&command, game.updated_at()).expect("the move is legal").events
}

/// The busy player and the recluse have one game each of so many.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    pub busy_every: u32,
    pub recluse_every: u32,
}

impl Shares {
    /// Shares of which both have more games, the more there are.
    pub const GROWING: Self = Self { busy_every: 20, recluse_every: 50 };
}

/// Fills the database with games of a number of players, each game a copy of a recorded one. `is_logged` says in SQL of which
/// games the logs are made, by the columns of `game_plan`; [`done`] drops that table.
pub async fn fill(
    pool: &PgPool,
    games: u32,
    players: u32,
    shares: Shares,
    recorded: &[Recorded],
    is_logged: &str,
) -> Result<(), sqlx::Error> {
    // All inserts share a session, which has the functions of `games.sql`.
    let mut session = pool.acquire().await?;
    sqlx::raw_sql(RECORDED).execute(&mut *session).await?;
    for (n, game) in (0_i32..).zip(recorded) {
        insert_recorded(&mut session, n, game).await?;
    }
    let values = [
        ("{begin}", "2024-11-01T00:00:00Z".to_owned()),
        ("{years_s}", YEARS_S.to_string()),
        ("{step}", (YEARS_S / f64::from(games)).to_string()),
        ("{games}", games.to_string()),
        ("{players}", players.to_string()),
        ("{busy_step}", (games / 1000).max(20).to_string()),
        ("{busy_every}", shares.busy_every.to_string()),
        ("{recluse_every}", shares.recluse_every.to_string()),
        ("{recorded}", recorded.len().to_string()),
        ("{is_logged}", is_logged.to_owned()),
    ];
    let with_values = |sql: &str| values.iter().fold(sql.to_owned(), |text, (name, value)| text.replace(name, value));
    let indexes: Vec<(String, String)> = sqlx::query_as(INDEXES).fetch_all(&mut *session).await?;
    for (name, _) in &indexes {
        sqlx::raw_sql(AssertSqlSafe(format!("drop index {name}"))).execute(&mut *session).await?;
    }
    sqlx::raw_sql(AssertSqlSafe(with_values(GAMES))).execute(&mut *session).await?;
    for (_, definition) in indexes {
        sqlx::raw_sql(AssertSqlSafe(definition)).execute(&mut *session).await?;
    }
    sqlx::raw_sql(AssertSqlSafe(with_values(EVENTS))).execute(&mut *session).await?;
    Ok(())
}

/// Drops what only filling needs.
pub async fn done(pool: &PgPool) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("drop table game_plan, recorded_ply; analyze").execute(pool).await?;
    Ok(())
}

async fn insert_recorded(session: &mut PgConnection, n: i32, recorded: &Recorded) -> Result<(), sqlx::Error> {
    let number = |seat: Seat| i16::from(seat == Seat::Second);
    let mut insert = QueryBuilder::<Postgres>::new("insert into recorded_ply ");
    insert.push_values((0_i32..).zip(&recorded.states), |mut row, (ply, (event, game))| {
        let moved = event.as_ref().and_then(|event| match &event.fact {
            Fact::Moved(moved) => Some(moved),
            _ => None,
        });
        row.push_bind(n)
            .push_bind(recorded.variant.to_string())
            .push_bind(ply)
            .push_bind(moved.map(|moved| number(moved.seat)))
            .push_bind(moved.map(|moved| moved.mv.to_string()))
            .push_bind(game.position().to_string())
            .push_bind(game.history_from_seq().and_then(|seq| i32::try_from(seq).ok()))
            .push_bind(game.turn().map(|side| number(game.seat_at(side))))
            .push_bind(game.moved().first)
            .push_bind(game.moved().second);
    });
    insert.build().execute(session).await?;
    Ok(())
}

/// The id of the player with a number.
pub fn player_id(n: u32) -> PlayerId {
    PlayerId(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + u128::from(n)))
}
