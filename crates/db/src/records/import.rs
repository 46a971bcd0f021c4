//! Imported games, stored with their logs.

use std::{collections::HashMap, sync::Arc};

use mancala_domain::{
    BySeat, Event, Exploration, Fact, Game, GameId, Import, ImportRejection, Opponent, PlayerId, Visibility,
};
use serde::Serialize;
use sqlx::{PgConnection, PgPool, types::Json};
use time::{OffsetDateTime, serde::rfc3339};
use tokio::task::spawn_blocking;
use tracing::Instrument;
use uuid::{NoContext, Timestamp, Uuid};

use crate::{
    connection::{DbError, columns, statement},
    games::{
        Inserted,
        columns::column,
        event_rows::{Detail, MOVED, NewEvent},
        fold::{EndText, Fold},
        term_rows::TermsText,
    },
    idempotency::{self, Keyed},
};

/// How many games are stored by one statement: some ten milliseconds' work.
const GAMES_AT_ONCE: usize = 100;

/// A game with its whole log.
pub type Whole = (Game, Vec<Event>);

/// The result for each game of an import.
pub type Replayed = Vec<Result<Whole, ImportRejection>>;

/// Replays games, move by move, with the players that their names stand for. It stores players, and none of the games. For an
/// erased importer it stores nothing.
pub async fn play(
    pool: &PgPool,
    imports: Vec<Import>,
    importer: Option<PlayerId>,
    visibility: Visibility,
    now: OffsetDateTime,
) -> Result<Replayed, DbError> {
    let imports = Arc::new(imports);
    let all = names(imports.iter());
    let mut players = Players::of(&all, &find_players(pool, importer, &all).await?);
    loop {
        let (again, among) = (imports.clone(), players.clone());
        let play = move || {
            let play = |import: &Import| {
                let seated = BySeat { first: among.id(&import.names.first), second: among.id(&import.names.second) };
                let played = import.replay(new_id(import.begun_at), seated, importer, visibility, now);
                played.map_err(|error| import.rejection(error))
            };
            again.iter().map(play).collect::<Replayed>()
        };
        // Some ten thousand moves: on this thread they would block other requests.
        let played = spawn_blocking(play).await.expect("playing games does not panic");
        let sound = imports.iter().zip(&played).filter(|(_, played)| played.is_ok());
        let sound = names(sound.map(|(import, _)| import));
        if !make_players(pool, importer, &sound, &players, now).await? {
            return Ok(played);
        }
        let stored = Players::of(&sound, &find_players(pool, importer, &sound).await?);
        if sound.iter().all(|name| stored.id(name) == players.id(name)) {
            return Ok(played);
        }
        // Another import has created players with the same names meanwhile.
        players.0.extend(stored.0);
    }
}

/// The names of the players, each once.
fn names<'a>(imports: impl Iterator<Item = &'a Import>) -> Vec<String> {
    let mut names: Vec<_> = imports.flat_map(|import| [&import.names.first, &import.names.second]).cloned().collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The players that the names in games stand for.
#[derive(Clone, Debug)]
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

/// An id as if the game had been created at that time, because lists are in the order of ids.
fn new_id(at: OffsetDateTime) -> GameId {
    let seconds = u64::try_from(at.unix_timestamp()).unwrap_or(0);
    GameId(Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, at.nanosecond())))
}

/// Stores the missing players that the names in imported games stand for. `importer` is the player who imports them;
/// `None` for the operator. Returns `false`, and stores none, if the importer is deleted.
async fn make_players(
    pool: &PgPool,
    importer: Option<PlayerId>,
    names: &[String],
    players: &Players,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let ids: Vec<_> = names.iter().map(|name| players.id(name).0).collect();
    // The lock keeps an erasure of the importer away until the players are stored.
    let row = sqlx::query!(
        r#"
        with importer as (
            select id from player where id = $4 and kind <> 'deleted' for share
        ), made as (
            insert into player (id, kind, name, created_at, importer_id)
            select distinct on (name) given.id, 'imported', given.name, $3::timestamptz, $4::uuid
            from unnest($1::uuid[], $2::text[]) as given (id, name)
            where $4::uuid is null or exists (select from importer)
            order by given.name
            on conflict (coalesce(importer_id, '00000000-0000-0000-0000-000000000000'), name) where kind = 'imported'
            do nothing
        )
        select $4::uuid is null or exists (select from importer) as "may_import!"
        "#,
        &ids,
        names,
        now,
        importer.map(|player| player.0),
    )
    .fetch_one(pool)
    .instrument(statement("insert imported players"))
    .await?;
    Ok(row.may_import)
}

/// The existing ones of the players.
async fn find_players(
    pool: &PgPool,
    importer: Option<PlayerId>,
    names: &[String],
) -> Result<HashMap<String, PlayerId>, DbError> {
    let rows = sqlx::query!(
        r#"
        select id, name from player
        where kind = 'imported' and name = any($1)
          and coalesce(importer_id, '00000000-0000-0000-0000-000000000000')
            = coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid)
        "#,
        names,
        importer.map(|player| player.0),
    )
    .fetch_all(pool)
    .instrument(statement("select imported players"))
    .await?;
    Ok(rows.into_iter().map(|row| (row.name, PlayerId(row.id))).collect())
}

/// Stores games of one importer with their whole logs, and the answer to keep under an idempotency key: all of it, durably, or
/// nothing.
pub async fn store(
    pool: &PgPool,
    games: &[Whole],
    keyed: Option<&Keyed>,
    now: OffsetDateTime,
) -> Result<Inserted, DbError> {
    let mut transaction = pool.begin().await?;
    if let Some(importer) = games.first().and_then(|(game, _)| importer(game)) {
        // The lock keeps an erasure of the importer away until the games are stored.
        let locked = sqlx::query!("select id from player where id = $1 and kind <> 'deleted' for share", importer.0);
        if locked.fetch_optional(&mut *transaction).instrument(statement("lock player")).await?.is_none() {
            return Ok(Inserted::NoPlayer);
        }
    }
    if let Some(keyed) = keyed
        && !idempotency::claim(&mut *transaction, keyed, now).await?
    {
        return Ok(Inserted::KeyUsed);
    }
    for some in games.chunks(GAMES_AT_ONCE) {
        insert_games(&mut transaction, some).await?;
        insert_events(&mut transaction, some).await?;
        insert_unexplored(&mut transaction, some).await?;
    }
    transaction.commit().await?;
    Ok(Inserted::Stored)
}

/// The player who imports a game; `None` for the operator.
fn importer(game: &Game) -> Option<PlayerId> {
    match game.terms().opponent {
        Opponent::Imported { by } => by,
        _ => None,
    }
}

async fn insert_games(connection: &mut PgConnection, games: &[Whole]) -> Result<(), DbError> {
    let rows: Vec<_> = games.iter().map(|(game, _)| NewGame::of(game)).collect();
    sqlx::query!(
        "insert into game select * from jsonb_populate_recordset(null::game, $1)",
        Json(&rows) as Json<&Vec<NewGame>>,
    )
    .execute(connection)
    .instrument(statement("insert imported games"))
    .await?;
    Ok(())
}

async fn insert_events(connection: &mut PgConnection, games: &[Whole]) -> Result<(), DbError> {
    let rows = games.iter().flat_map(|(game, events)| events.iter().map(|event| ImportedEventRow::of(game, event)));
    let columns = ImportedEventColumns::of(rows);
    sqlx::query!(
        r#"
        insert into event (game_id, at, seq, ply, seat, kind, move, position, detail)
        select
            unnest($1::uuid[]) as game_id,
            unnest($2::timestamptz[]) as at,
            unnest($3::integer[]) as seq,
            unnest($4::integer[]) as ply,
            unnest($5::smallint[]) as seat,
            unnest($6::text[]) as kind,
            unnest($7::text[]) as mv,
            unnest($8::text[]) as position,
            unnest($9::jsonb[]) as detail
        "#,
        &columns.game_id,
        &columns.at,
        &columns.seq,
        &columns.ply as &[Option<i32>],
        &columns.seat as &[Option<i16>],
        &columns.kind as &[&str],
        &columns.mv as &[Option<String>],
        &columns.position as &[Option<String>],
        &columns.detail as &[Option<Json<Detail>>],
    )
    .execute(connection)
    .instrument(statement("insert imported events"))
    .await?;
    Ok(())
}

columns! {
    /// A row of `event`.
    struct ImportedEventRow => ImportedEventColumns {
        game_id: Uuid,
        at: OffsetDateTime,
        seq: i32,
        ply: Option<i32>,
        seat: Option<i16>,
        kind: &'static str,
        mv: Option<String>,
        position: Option<String>,
        detail: Option<Json<Detail>>,
    }
}

impl ImportedEventRow {
    fn of(game: &Game, event: &Event) -> Self {
        let row = NewEvent::of(event);
        let (ply, position) = match &event.fact {
            Fact::Moved(moved) => (Some(column(moved.ply)), Some(moved.position.to_string())),
            _ => (None, None),
        };
        debug_assert_eq!(row.kind == MOVED, ply.is_some());
        Self {
            game_id: game.id().0,
            at: event.at,
            seq: row.seq,
            ply,
            seat: row.seat,
            kind: row.kind,
            mv: row.mv,
            position,
            detail: row.detail,
        }
    }
}

/// Queues the games that the explorer counts.
async fn insert_unexplored(connection: &mut PgConnection, games: &[Whole]) -> Result<(), DbError> {
    let ids: Vec<_> = games
        .iter()
        .filter(|(game, _)| Exploration::counts(game.terms().visibility, game.result()))
        .map(|(game, _)| game.id().0)
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
