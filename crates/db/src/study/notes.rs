//! Notes that players write on games for themselves.

use mancala_domain::{GameId, NoteText, PlayerId};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, statement},
    games::columns::{column, number},
};

/// How many notes a player has at most: on every ply of some two hundred games. Counting them, or deleting them with
/// their player, takes some ten milliseconds.
pub const NOTES_MAX: u32 = 10_000;

/// A player's note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The game.
    pub game: GameId,
    /// 0 is the start of the game.
    pub ply: u32,
    /// The text.
    pub text: NoteText,
    /// When its text last changed.
    pub updated_at: OffsetDateTime,
}

/// Whether a note is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A new note on this ply.
    Added(Note),
    /// In place of another note, or of the same.
    Replaced(Note),
    /// The player has reached the limit.
    TooMany,
    /// The player is deleted.
    NoPlayer,
    /// The game is deleted.
    NoGame,
}

struct Row {
    game_id: Uuid,
    ply: i32,
    text: String,
    updated_at: OffsetDateTime,
}

impl TryFrom<Row> for Note {
    type Error = DbError;

    fn try_from(row: Row) -> Result<Self, DbError> {
        Ok(Self {
            game: GameId(row.game_id),
            ply: number("note", "ply", row.game_id, row.ply)?,
            text: NoteText::from_stored(row.text),
            updated_at: row.updated_at,
        })
    }
}

/// Stores a player's note in place of the one on that ply, if there is one. Idempotent: the same text again changes
/// nothing. Several new notes at once may exceed the limit by a few.
pub async fn write(pool: &PgPool, player: PlayerId, mut note: Note) -> Result<Written, DbError> {
    // An erasure locks the player's row. So the player is either deleted already, or the cleanup after the erasure finds this note. In the
    // same way a deletion locks the game's row. Only imported games are deleted: the rows of others are not locked, because moves change
    // them.
    let row = sqlx::query!(
        r#"
        with writer as (
            select id from player where id = $1 and kind <> 'deleted' for no key update
        ), imported as (
            select id from game where id = $2 and opponent = 'imported' for key share
        ), present as (
            select from imported union all select from game where id = $2 and opponent <> 'imported'
        ), before as (
            select from note where player_id = $1 and game_id = $2 and ply = $3
        ), stored as (
            insert into note as kept (player_id, game_id, ply, text, updated_at)
            select writer.id, $2, $3, $4, $5 from writer
            where exists (select from present) and (exists (select from before)
                or (select count(*) from (select from note where player_id = $1 limit $6) counted) < $6)
            on conflict (player_id, game_id, ply) do update
            set text = excluded.text,
                updated_at = case when kept.text = excluded.text then kept.updated_at else excluded.updated_at end
            -- This transaction has locked a row that it updates: so "xmax" says whether the row existed, even if
            -- another transaction stored it a moment ago.
            returning updated_at, xmax <> '0' as was_there
        )
        select exists (select from writer) as "player_exists!", exists (select from present) as "game_exists!", (select was_there from stored) as was_there,
            (select updated_at from stored) as updated_at
        "#,
        player.0,
        note.game.0,
        column(note.ply),
        note.text.as_str(),
        note.updated_at,
        i64::from(NOTES_MAX),
    )
    .fetch_one(pool)
    .instrument(statement("insert note"))
    .await?;
    Ok(match row.updated_at {
        Some(updated_at) => {
            note.updated_at = updated_at;
            if row.was_there == Some(true) { Written::Replaced(note) } else { Written::Added(note) }
        }
        None if !row.player_exists => Written::NoPlayer,
        None if !row.game_exists => Written::NoGame,
        None => Written::TooMany,
    })
}

/// Up to `limit` notes of a player on a game, in the order of plies, after a ply if one is given.
pub async fn list(
    pool: &PgPool,
    player: PlayerId,
    game: GameId,
    after: Option<u32>,
    limit: u32,
) -> Result<Vec<Note>, DbError> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select game_id, ply, text, updated_at from note
        where player_id = $1 and game_id = $2 and ply > $3 order by ply limit $4
        "#,
        player.0,
        game.0,
        place(after),
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select notes on a game"))
    .await?;
    rows.into_iter().map(Note::try_from).collect()
}

/// Up to `limit` notes of a player on all games, the oldest games first. If a ply of a game is given, they are those
/// after its note.
pub async fn list_all(
    pool: &PgPool,
    player: PlayerId,
    after: Option<(GameId, u32)>,
    limit: u32,
) -> Result<Vec<Note>, DbError> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select game_id, ply, text, updated_at from note
        where player_id = $1 and (game_id, ply) > ($2, $3) order by game_id, ply limit $4
        "#,
        player.0,
        after.map_or(Uuid::nil(), |(game, _)| game.0),
        place(after.map(|(_, ply)| ply)),
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select notes of a player"))
    .await?;
    rows.into_iter().map(Note::try_from).collect()
}

/// The ply after which a list begins; -1 for the whole list.
fn place(after: Option<u32>) -> i32 {
    after.map_or(-1, |ply| i32::try_from(ply).unwrap_or(i32::MAX))
}

/// Deletes a player's note, if there is one.
pub async fn delete(pool: &PgPool, player: PlayerId, game: GameId, ply: u32) -> Result<(), DbError> {
    sqlx::query!("delete from note where player_id = $1 and game_id = $2 and ply = $3", player.0, game.0, column(ply),)
        .execute(pool)
        .instrument(statement("delete note"))
        .await?;
    Ok(())
}

/// Deletes the notes of players who were erased since a moment: notes that were written during the erasure.
pub async fn delete_of_erased(pool: &PgPool, since: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!("delete from note using player where player.id = player_id and player.erased_at >= $1", since)
        .execute(pool)
        .instrument(statement("delete notes of erased players"))
        .await?;
    Ok(())
}
