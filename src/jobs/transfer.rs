//! Carrying all games out of the database, and games into it: for commands, which say how far they are.

use std::{
    collections::VecDeque,
    io::{self, BufRead, Read, Write},
    sync::Arc,
};

use sqlx::PgPool;
use thiserror::Error;
use time::OffsetDateTime;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::{
    db::{
        DbError,
        games::{self, SeatedGame},
        records::{import, verify},
    },
    domain::{GameId, Import, ImportRejection, Ply, Visibility},
    rules::notation::{BYTE_ORDER_MARK, Splitter},
};

/// How many games are read from the database at once.
const GAMES_READ: u32 = 200;

/// How many games are stored at once.
const GAMES_STORED: usize = 500;

/// How many bytes are read at once, unless a game alone has more.
const PART_BYTES: u64 = 32 * 1024 * 1024;

/// How many such parts are worked on at once: while one waits for the database, another is played or written.
const PARTS_AT_ONCE: usize = 3;

/// The longest game that is read, in bytes: as JSON, some ten thousand plies.
const GAME_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Writes a game as text.
pub type WriteGame = Arc<dyn Fn(&mut String, &SeatedGame, &[Ply]) + Send + Sync>;

/// Why not all games were carried.
#[derive(Debug, Error)]
pub enum TransferError {
    #[error(transparent)]
    Database(#[from] DbError),
    #[error(transparent)]
    File(#[from] io::Error),
}

/// Writes all games, in the order of their creation, beginning after one; tells after each part how many there were in it, and the
/// last of them.
pub async fn export_all(
    pool: &PgPool,
    mut after: GameId,
    write: WriteGame,
    mut output: impl Write,
    written: impl Fn(u64, GameId),
) -> Result<(), TransferError> {
    let mut parts: VecDeque<JoinHandle<Result<String, DbError>>> = VecDeque::new();
    let mut told = VecDeque::new();
    let mut is_last = false;
    loop {
        while !is_last && parts.len() < PARTS_AT_ONCE {
            let games = verify::list_batch(pool, after, GAMES_READ).await?.games;
            is_last = games.len() < GAMES_READ as usize;
            let Some(last) = games.last() else { break };
            after = *last;
            told.push_back((games.len() as u64, after));
            parts.push_back(tokio::spawn(text_of(pool.clone(), games, write.clone())));
        }
        let (Some(part), Some((games, last))) = (parts.pop_front(), told.pop_front()) else { break };
        output.write_all(part.await.expect("writing games does not panic")?.as_bytes())?;
        written(games, last);
    }
    Ok(output.flush()?)
}

async fn text_of(pool: PgPool, ids: Vec<GameId>, write: WriteGame) -> Result<String, DbError> {
    let mut found = games::find_all(&pool, &ids).await?;
    found.reverse();
    let histories = games::histories(&pool, &found).await?;
    let mut text = String::new();
    for (seated, plies) in found.iter().zip(&histories) {
        write(&mut text, seated, plies);
    }
    Ok(text)
}

/// Reads the game that a text is; whether it is JSON, is known. If it cannot, says where (a line and maybe a column, from 1) and why.
pub type ReadGame = fn(is_json: bool, &[u8], now: OffsetDateTime) -> Result<Import, (usize, Option<usize>, String)>;

/// What is told of an import while it goes on.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// So many more bytes were read, and so many games imported.
    Advanced { bytes: u64, games: u64 },
    /// The game that begins with this line was not imported, or that has this place.
    Refused { line: usize, column: Option<usize>, why: &'a str },
}

/// Takes what is told.
pub type Tell = Arc<dyn Fn(Told<'_>) + Send + Sync>;

/// Imports the games of a file: each line is one if the first begins with a brace, and otherwise they are text records. Each is
/// imported whole or refused, whatever becomes of the others.
pub async fn import_all(
    pool: &PgPool,
    input: impl BufRead,
    visibility: Visibility,
    now: OffsetDateTime,
    read: ReadGame,
    tell: Tell,
) -> Result<(), TransferError> {
    let mut parts: VecDeque<JoinHandle<Result<(), DbError>>> = VecDeque::new();
    let mut reader = Reader { input, line: 0, is_json: None, splitter: Splitter::default(), begun: None, bytes: 0 };
    loop {
        let (mut games, mut is_last) = (vec![], false);
        while games.len() < GAMES_STORED && reader.bytes < PART_BYTES {
            let Some(game) = reader.next_game()? else {
                is_last = true;
                break;
            };
            games.push(game);
        }
        let part = Part { games, is_json: reader.is_json == Some(true), bytes: std::mem::take(&mut reader.bytes) };
        parts.push_back(tokio::spawn(part.import(pool.clone(), visibility, now, read, tell.clone())));
        while parts.len() >= PARTS_AT_ONCE || is_last && !parts.is_empty() {
            if let Some(part) = parts.pop_front() {
                part.await.expect("importing games does not panic")?;
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Some games as they stand in the file.
struct Part {
    games: Vec<Raw>,
    is_json: bool,
    bytes: u64,
}

/// A game as it stands in the file, and the line with which it begins, from 1.
struct Raw {
    line: usize,
    text: Vec<u8>,
    /// It goes on beyond what is read.
    is_cut: bool,
}

impl Part {
    async fn import(
        self,
        pool: PgPool,
        visibility: Visibility,
        now: OffsetDateTime,
        read: ReadGame,
        tell: Tell,
    ) -> Result<(), DbError> {
        let refused = |line, column, why: &str| tell(Told::Refused { line, column, why });
        let (mut lines, mut imports) = (vec![], vec![]);
        for Raw { line, text, is_cut } in self.games {
            if is_cut {
                refused(line, None, &format!("a game of more than {GAME_BYTES_MAX} bytes is not read"));
                continue;
            }
            match read(self.is_json, &text, now) {
                Ok(import) => {
                    lines.push(line);
                    imports.push(import);
                }
                Err((within, column, why)) => refused(line + within - 1, column, &why),
            }
        }
        let mut whole = vec![];
        for (line, played) in lines.into_iter().zip(import::play(&pool, imports, None, visibility, now).await?) {
            match played {
                Ok(game) => whole.push(game),
                Err(ImportRejection { location: Some(at), error }) => {
                    refused(line + at.line - 1, Some(at.column), &error.to_string());
                }
                Err(error) => refused(line, None, &error.to_string()),
            }
        }
        import::store(&pool, &whole, None, now).await?;
        tell(Told::Advanced { bytes: self.bytes, games: whole.len() as u64 });
        Ok(())
    }
}

/// Reads a file game by game.
struct Reader<R> {
    input: R,
    /// Lines read.
    line: usize,
    is_json: Option<bool>,
    splitter: Splitter,
    /// A text record that may go on.
    begun: Option<Raw>,
    bytes: u64,
}

impl<R: BufRead> Reader<R> {
    fn next_game(&mut self) -> io::Result<Option<Raw>> {
        loop {
            let Some(line) = self.next_line()? else { return Ok(self.begun.take()) };
            let is_blank = !line.is_cut && line.text.trim_ascii().is_empty();
            if is_blank && self.begun.is_none() {
                continue;
            }
            if *self.is_json.get_or_insert(line.text.trim_ascii_start().starts_with(b"{")) {
                return Ok(Some(line));
            }
            let begins = self.splitter.begins_record(&String::from_utf8_lossy(&line.text));
            match &mut self.begun {
                Some(begun) if !begins => {
                    begun.is_cut |= line.is_cut || begun.text.len() + line.text.len() > GAME_BYTES_MAX;
                    if !begun.is_cut {
                        begun.text.extend(line.text);
                    }
                }
                begun => {
                    if let Some(whole) = begun.replace(line) {
                        return Ok(Some(whole));
                    }
                }
            }
        }
    }

    /// The next line, with its end; of one that is too long, the beginning.
    fn next_line(&mut self) -> io::Result<Option<Raw>> {
        let mut text = vec![];
        let read = (&mut self.input).take(GAME_BYTES_MAX as u64).read_until(b'\n', &mut text)?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        self.bytes += read as u64;
        if self.line == 1 && text.starts_with(BYTE_ORDER_MARK.to_string().as_bytes()) {
            text.drain(..BYTE_ORDER_MARK.len_utf8());
        }
        let is_cut = read == GAME_BYTES_MAX && !text.ends_with(b"\n");
        if is_cut {
            self.skip_line()?;
        }
        Ok(Some(Raw { line: self.line, text, is_cut }))
    }

    /// Passes over the rest of a line, however long.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let piece = self.input.fill_buf()?;
            let end = piece.iter().position(|&byte| byte == b'\n');
            let used = end.map_or(piece.len(), |end| end + 1);
            self.input.consume(used);
            self.bytes += used as u64;
            if end.is_some() || used == 0 {
                return Ok(());
            }
        }
    }
}

/// Before all games.
pub const FIRST: GameId = GameId(Uuid::nil());
