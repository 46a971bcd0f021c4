//! Imported games, stored with their logs.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use mancala_domain::{BySeat, Event, Exploration, Game, GameId, Import, ImportRejection, PlayerId, Visibility};
use serde::Serialize;
use sqlx::{PgConnection, PgPool, types::Json};
use time::{OffsetDateTime, serde::rfc3339};
use tokio::task::spawn_blocking;
use tracing::Instrument;
use uuid::{NoContext, Timestamp, Uuid};

use super::{
    event_copy::EventRows,
    usage::{self, ImportTotal, Importer},
};
use crate::{
    connection::{DbError, statement},
    games::{
        fold::{EndText, Fold},
        term_rows::TermsText,
    },
    idempotency::{self, Keyed},
};

/// How many games are stored by one statement: some ten milliseconds' work.
const GAMES_AT_ONCE: usize = 100;

/// How long the import of a player waits for another one of the same player.
const LOCK_TIMEOUT: &str = "set local lock_timeout = '3s'";

/// How long a part of the operator's import waits for another part that creates players with the same names.
const OPERATOR_TIMEOUT: &str = "set local lock_timeout = '1min'; set local statement_timeout = '1min'";

/// A game with its whole log, and the names of its players.
#[derive(Debug)]
pub struct Whole {
    /// The game.
    pub game: Game,
    /// Its log.
    pub events: Vec<Event>,
    names: BySeat<String>,
}

/// The result for each game of an import.
pub type Replayed = Vec<Result<Whole, ImportRejection>>;

/// Replays games, move by move, with the players that their names identify. Stores nothing.
pub async fn play(
    pool: &PgPool,
    imports: impl Into<Arc<[Import]>>,
    importer: Option<PlayerId>,
    visibility: Visibility,
    now: OffsetDateTime,
) -> Result<Replayed, DbError> {
    let imports: Arc<[Import]> = imports.into();
    let names = names(&imports);
    let players = Players::of(&names, &find_players(pool, importer, &names).await?);
    let play = move || {
        let play = |import: &Import| {
            let seated = BySeat { first: players.id(&import.names.first), second: players.id(&import.names.second) };
            let played = import.replay(new_id(import.begun_at, importer), seated, importer, visibility, now);
            let (game, events) = played.map_err(|error| import.rejection(error))?;
            Ok(Whole { game, events, names: import.names.clone() })
        };
        imports.iter().map(play).collect()
    };
    // An import has some ten thousand moves: on this thread they would block other requests.
    Ok(spawn_blocking(play).await.expect("playing games does not panic"))
}

/// The names of the players, each once.
fn names(imports: &[Import]) -> Vec<String> {
    let names = imports.iter().flat_map(|import| [&import.names.first, &import.names.second]);
    names.collect::<BTreeSet<_>>().into_iter().cloned().collect()
}

/// The players that the names in games identify.
#[derive(Debug)]
struct Players(HashMap<String, PlayerId>);

impl Players {
    /// The existing players, and new ones that are not stored yet.
    fn of(names: &[String], stored: &HashMap<String, PlayerId>) -> Self {
        let id = |name| stored.get(name).copied().unwrap_or_else(|| PlayerId(Uuid::now_v7()));
        Self(names.iter().map(|name| (name.clone(), id(name))).collect())
    }

    fn id(&self, name: &str) -> PlayerId {
        self.0[name]
    }
}

/// An id as if the game had been created at that time, because lists are in the order of ids. It is in the slot of the
/// importer.
fn new_id(at: OffsetDateTime, importer: Option<PlayerId>) -> GameId {
    let seconds = u64::try_from(at.unix_timestamp()).unwrap_or(0);
    let id = GameId(Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, at.nanosecond())));
    importer.map_or(id, |importer| id.in_slot(importer.slot()))
}

/// The existing ones of the players. The `limit` keeps the plan: each name is looked up in the index, also by a plan that was
/// made while there were no players. Without it each name is compared with every player.
async fn find_players(
    pool: &PgPool,
    importer: Option<PlayerId>,
    names: &[String],
) -> Result<HashMap<String, PlayerId>, DbError> {
    let rows = sqlx::query!(
        r#"
        select found.id, found.name from unnest($1::text[]) as given (name)
        join lateral (
            select id, name from player
            where kind = 'imported' and player.name = given.name
              and coalesce(importer_id, '00000000-0000-0000-0000-000000000000')
                = coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid)
            limit 1
        ) found on true
        "#,
        names,
        importer.map(|player| player.0),
    )
    .fetch_all(pool)
    .instrument(statement("select imported players"))
    .await?;
    Ok(rows.into_iter().map(|row| (row.name, PlayerId(row.id))).collect())
}

/// Whether games were stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// All games were stored, durably.
    Whole,
    /// No game was stored, because the importer is deleted.
    NoPlayer,
    /// None: another request used the same idempotency key.
    KeyUsed,
    /// None: they exceed the quota, of which so much is used.
    OverQuota(ImportTotal),
    /// None: another import has created players with the same names meanwhile. The games can be played again with them.
    PlayersChanged,
}

/// Stores games with their whole logs and their new players, and the answer to keep under an idempotency key: all of
/// it, durably, or nothing. Without an importer there is no quota.
pub async fn store(
    pool: &PgPool,
    games: &[Whole],
    importer: Option<Importer>,
    keyed: Option<&Keyed>,
    now: OffsetDateTime,
) -> Result<Stored, DbError> {
    if games.is_empty() {
        return Ok(Stored::Whole);
    }
    let mut transaction = pool.begin().await?;
    sqlx::raw_sql(LOCK_TIMEOUT).execute(&mut *transaction).instrument(statement("set lock_timeout")).await?;
    if let Some(Importer { player, .. }) = importer {
        // The lock keeps an erasure of the importer away until the games are stored.
        let locked = sqlx::query!("select id from player where id = $1 and kind <> 'deleted' for share", player.0);
        if locked.fetch_optional(&mut *transaction).instrument(statement("lock player")).await?.is_none() {
            return Ok(Stored::NoPlayer);
        }
    }
    if let Some(keyed) = keyed
        && !idempotency::claim(&mut *transaction, keyed, now).await?
    {
        return Ok(Stored::KeyUsed);
    }
    if let Some(importer) = importer
        && !usage::add(&mut transaction, importer, total(games)).await?
    {
        return Ok(Stored::OverQuota(usage::find(&mut *transaction, importer.player).await?));
    }
    if !insert_all(&mut transaction, importer.map(|importer| importer.player), games, now).await? {
        return Ok(Stored::PlayersChanged);
    }
    transaction.commit().await?;
    Ok(Stored::Whole)
}

/// Stores games of the operator, each under its key: all of them, durably, or nothing. A game whose key is stored was imported before, and
/// is left out. `false`, and nothing is stored, if names now identify other players.
pub async fn store_once(pool: &PgPool, games: Vec<(Uuid, Whole)>, now: OffsetDateTime) -> Result<bool, DbError> {
    if games.is_empty() {
        return Ok(true);
    }
    let mut transaction = pool.begin().await?;
    sqlx::raw_sql(OPERATOR_TIMEOUT).execute(&mut *transaction).instrument(statement("set lock_timeout")).await?;
    let keys: Vec<_> = games.iter().map(|(key, _)| *key).collect();
    let new = insert_keys(&mut transaction, &keys).await?;
    let games: Vec<_> = games.into_iter().filter(|(key, _)| new.contains(key)).map(|(_, game)| game).collect();
    if !insert_all(&mut transaction, None, &games, now).await? {
        return Ok(false);
    }
    transaction.commit().await?;
    Ok(true)
}

/// Stores keys, and returns those that are new. In their order, so that two imports of the same games do not deadlock.
async fn insert_keys(connection: &mut PgConnection, keys: &[Uuid]) -> Result<HashSet<Uuid>, DbError> {
    let new = sqlx::query_scalar!(
        r#"insert into import_key (key) select key from unnest($1::uuid[]) as key order by key on conflict do nothing returning key"#,
        keys,
    );
    let new = new.fetch_all(connection).instrument(statement("insert import_key")).await?;
    Ok(new.into_iter().collect())
}

/// Returns the keys under which a game was stored before.
pub async fn find_keys(pool: &PgPool, keys: &[Uuid]) -> Result<HashSet<Uuid>, DbError> {
    let known = sqlx::query_scalar!("select key from import_key where key = any($1)", keys);
    Ok(known.fetch_all(pool).instrument(statement("select import_key")).await?.into_iter().collect())
}

/// `false` if a name identifies another player since it was resolved.
async fn insert_all(
    connection: &mut PgConnection,
    importer: Option<PlayerId>,
    games: &[Whole],
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    if !insert_players(connection, importer, games, now).await? {
        return Ok(false);
    }
    // Rows are stored in the order of their ids, so that they lie side by side in an index.
    let mut games: Vec<_> = games.iter().collect();
    games.sort_unstable_by_key(|whole| whole.game.id().0);
    for some in games.chunks(GAMES_AT_ONCE) {
        insert_games(connection, some).await?;
        event_rows(some).store(connection).await?;
        insert_unexplored(connection, some).await?;
    }
    Ok(true)
}

fn total(games: &[Whole]) -> ImportTotal {
    let plies = games.iter().map(|whole| whole.game.ply());
    ImportTotal { games: u32::try_from(games.len()).unwrap_or(u32::MAX), plies: plies.fold(0, u32::saturating_add) }
}

/// Stores the missing players. `false` if a name identifies another player since it was resolved. The imports and deletions of one importer
/// exclude each other, so no player is deleted before the games are stored.
async fn insert_players(
    connection: &mut PgConnection,
    importer: Option<PlayerId>,
    games: &[Whole],
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let seats = games.iter().flat_map(|Whole { game, names, .. }| {
        let players = game.players();
        [(&names.first, players.first), (&names.second, players.second)]
    });
    let players: BTreeMap<_, _> = seats.filter_map(|(name, player)| Some((name, player?.0))).collect();
    let (names, ids): (Vec<String>, Vec<Uuid>) = players.into_iter().map(|(name, id)| (name.clone(), id)).unzip();
    sqlx::query!(
        r#"
        insert into player (id, kind, name, created_at, importer_id)
        select given.id, 'imported', given.name, $3::timestamptz, $4::uuid
        from unnest($1::uuid[], $2::text[]) as given (id, name)
        order by given.name
        on conflict (coalesce(importer_id, '00000000-0000-0000-0000-000000000000'), name) where kind = 'imported'
        do nothing
        "#,
        &ids,
        &names,
        now,
        importer.map(|player| player.0),
    )
    .execute(&mut *connection)
    .instrument(statement("insert imported players"))
    .await?;
    let stored = sqlx::query_scalar!(r#"select count(*) as "count!" from player where id = any($1)"#, &ids)
        .fetch_one(connection)
        .instrument(statement("count players"))
        .await?;
    Ok(usize::try_from(stored) == Ok(ids.len()))
}

async fn insert_games(connection: &mut PgConnection, games: &[&Whole]) -> Result<(), DbError> {
    let rows: Vec<_> = games.iter().map(|whole| NewGame::of(&whole.game)).collect();
    sqlx::query!(
        "insert into game select * from jsonb_populate_recordset(null::game, $1)",
        Json(&rows) as Json<&Vec<NewGame>>,
    )
    .execute(connection)
    .instrument(statement("insert imported games"))
    .await?;
    Ok(())
}

/// The logs of games.
fn event_rows(games: &[&Whole]) -> EventRows {
    let mut rows = EventRows::new();
    for Whole { game, events, .. } in games {
        for event in events {
            rows.add(game, event);
        }
    }
    rows
}

/// Queues the games that the explorer counts.
async fn insert_unexplored(connection: &mut PgConnection, games: &[&Whole]) -> Result<(), DbError> {
    let ids: Vec<_> = games
        .iter()
        .map(|whole| &whole.game)
        .filter(|game| Exploration::counts_game(game))
        .map(|game| game.id().0)
        .collect();
    sqlx::query!(
        "insert into unexplored_game (game_id, is_imported) select id, true from unnest($1::uuid[]) as id",
        &ids
    )
    .execute(connection)
    .instrument(statement("insert unexplored_game"))
    .await?;
    Ok(())
}

/// A row of `game` by the names of its columns. Missing ones are null.
#[derive(Debug, Serialize)]
struct NewGame {
    id: Uuid,
    #[serde(with = "rfc3339")]
    created_at: OffsetDateTime,
    #[serde(flatten)]
    terms: TermsText,
    seat_0_player_id: Option<Uuid>,
    seat_1_player_id: Option<Uuid>,
    #[serde(with = "rfc3339::option")]
    started_at: Option<OffsetDateTime>,
    #[serde(flatten)]
    end: EndText,
    status: &'static str,
    seat_0_moved: bool,
    seat_1_moved: bool,
    #[serde(with = "rfc3339")]
    updated_at: OffsetDateTime,
    version: i32,
    ply: i32,
    history_from_seq: Option<i32>,
    position: String,
    has_webhooks: bool,
}

impl NewGame {
    fn of(game: &Game) -> Self {
        let fold = Fold::of(game);
        Self {
            id: game.id().0,
            created_at: game.created_at(),
            terms: TermsText::of(game.terms()),
            seat_0_player_id: fold.seat_0_player_id,
            seat_1_player_id: fold.seat_1_player_id,
            started_at: game.started_at(),
            end: EndText::of(game, &fold),
            status: game.status().as_str(),
            seat_0_moved: game.moved().first,
            seat_1_moved: game.moved().second,
            updated_at: game.updated_at(),
            version: fold.version,
            ply: fold.ply,
            history_from_seq: fold.history_from_seq,
            position: fold.position,
            has_webhooks: false,
        }
    }
}
