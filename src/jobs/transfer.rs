//! Export of all games and import of files, for the commands, with a callback for their progress.

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
        records::{
            import::{self, Stored, Whole},
            verify,
        },
    },
    domain::{GameId, Import, ImportRejection, Ply, Visibility},
    rules::notation::{BYTE_ORDER_MARK, Splitter},
};

/// An id before those of all games.
pub const FIRST: GameId = GameId(Uuid::nil());

/// How many games one part of an export has.
const GAMES_READ: u32 = 200;

/// The most games that one part of an import has; it is stored in one transaction.
const GAMES_STORED: usize = 500;

/// The size at which a part of an import ends, even with fewer games.
const PART_BYTES: u64 = 32 * 1024 * 1024;

/// How many parts are in work concurrently: while one waits for the database, another is replayed or written.
const CONCURRENT_PARTS: usize = 3;

/// The longest game that an import reads, in bytes: as JSON, about ten thousand plies.
const GAME_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Appends a game to a text.
pub type WriteGame = Arc<dyn Fn(&mut String, &SeatedGame, &[Ply]) + Send + Sync>;

/// Why an export or an import ended early.
#[derive(Debug, Error)]
pub enum TransferError {
    #[error(transparent)]
    Database(#[from] DbError),
    #[error(transparent)]
    File(#[from] io::Error),
}

/// Writes all games after `after`, oldest first. Calls `on_progress` after each part with its number of games and its last game.
pub async fn export_all(
    pool: &PgPool,
    mut after: GameId,
    write: WriteGame,
    mut output: impl Write,
    on_progress: impl Fn(u64, GameId),
) -> Result<(), TransferError> {
    let mut parts: VecDeque<JoinHandle<Result<String, DbError>>> = VecDeque::new();
    let mut sizes = VecDeque::new();
    let mut is_last = false;
    loop {
        while !is_last && parts.len() < CONCURRENT_PARTS {
            let games = verify::list_batch(pool, after, GAMES_READ).await?.games;
            is_last = games.len() < GAMES_READ as usize;
            let Some(last) = games.last() else { break };
            after = *last;
            sizes.push_back((games.len() as u64, after));
            parts.push_back(tokio::spawn(text_of(pool.clone(), games, write.clone())));
        }
        let (Some(part), Some((games, last))) = (parts.pop_front(), sizes.pop_front()) else { break };
        output.write_all(part.await.expect("writing games does not panic")?.as_bytes())?;
        on_progress(games, last);
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

/// Reads one game from its text: whether it is JSON, and now. The error has the line, maybe the column (both from 1), and the cause.
pub type ReadGame =
    Arc<dyn Fn(bool, &[u8], OffsetDateTime) -> Result<Import, (usize, Option<usize>, String)> + Send + Sync>;

/// The progress of an import.
#[derive(Clone, Copy, Debug)]
pub enum ImportProgress<'a> {
    /// This many more bytes were read, and games imported.
    Advanced { bytes: u64, games: u64 },
    /// A game was refused. The place is that of the error if it is known, otherwise the game's first line.
    Refused { line: usize, column: Option<usize>, cause: &'a str },
}

/// Receives the progress.
pub type OnImportProgress = Arc<dyn Fn(ImportProgress<'_>) + Send + Sync>;

/// Imports the games of a file. If its first line begins with a brace, each line is a game as JSON; otherwise the file has text
/// records. Each game is imported whole or refused, independently of the others.
pub async fn import_all(
    pool: &PgPool,
    input: impl BufRead,
    visibility: Visibility,
    now: OffsetDateTime,
    read: ReadGame,
    on_progress: OnImportProgress,
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
        let part =
            ImportChunk { games, is_json: reader.is_json == Some(true), bytes: std::mem::take(&mut reader.bytes) };
        parts.push_back(tokio::spawn(part.import(pool.clone(), visibility, now, read.clone(), on_progress.clone())));
        while parts.len() >= CONCURRENT_PARTS || is_last && !parts.is_empty() {
            if let Some(part) = parts.pop_front() {
                part.await.expect("importing games does not panic")?;
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Some games of the file.
struct ImportChunk {
    games: Vec<Raw>,
    is_json: bool,
    bytes: u64,
}

/// The text of a game, and the number of its first line, from 1.
struct Raw {
    line: usize,
    text: Vec<u8>,
    /// Whether the game is longer than the limit and `text` holds only its beginning.
    is_cut: bool,
}

impl ImportChunk {
    async fn import(
        self,
        pool: PgPool,
        visibility: Visibility,
        now: OffsetDateTime,
        read: ReadGame,
        on_progress: OnImportProgress,
    ) -> Result<(), DbError> {
        let refused = |line, column, cause: &str| on_progress(ImportProgress::Refused { line, column, cause });
        let (mut lines, mut imports) = (vec![], vec![]);
        for Raw { line, text, is_cut } in self.games {
            if is_cut {
                refused(line, None, &format!("a game of more than {GAME_BYTES_MAX} bytes is refused"));
                continue;
            }
            match read(self.is_json, &text, now) {
                Ok(import) => {
                    lines.push(line);
                    imports.push(import);
                }
                Err((within, column, cause)) => refused(line + within - 1, column, &cause),
            }
        }
        let imports: Arc<[Import]> = imports.into();
        let (played, refusals) = loop {
            let played = import::play(&pool, imports.clone(), None, visibility, now).await?;
            let (whole, refusals) = separate(lines.iter().copied().zip(played));
            // A concurrent part may create players with the same names; each name is created once, so this ends.
            match import::store(&pool, &whole, None, None, now).await? {
                Stored::PlayersChanged => {}
                Stored::Whole | Stored::KeyUsed | Stored::OverQuota(_) | Stored::NoPlayer => {
                    break (whole.len(), refusals);
                }
            }
        };
        for (line, ImportRejection { location, error }) in refusals {
            let line = location.map_or(line, |at| line + at.line - 1);
            refused(line, location.map(|at| at.column), &error.to_string());
        }
        on_progress(ImportProgress::Advanced { bytes: self.bytes, games: played as u64 });
        Ok(())
    }
}

/// The games that can have been played, and why the others cannot, each with its line.
fn separate(
    played: impl Iterator<Item = (usize, Result<Whole, ImportRejection>)>,
) -> (Vec<Whole>, Vec<(usize, ImportRejection)>) {
    let (mut whole, mut refusals) = (vec![], vec![]);
    for (line, played) in played {
        match played {
            Ok(game) => whole.push(game),
            Err(rejection) => refusals.push((line, rejection)),
        }
    }
    (whole, refusals)
}

/// Reads a file game by game.
struct Reader<R> {
    input: R,
    /// The number of lines read.
    line: usize,
    is_json: Option<bool>,
    splitter: Splitter,
    /// A text record that may have more lines.
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

    /// The next line, with its line end; only the beginning of a line that is too long.
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

    /// Skips the rest of a line without keeping it in memory.
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
