//! Export of all games and import of files, for the commands, with a callback for their progress.

use std::{
    collections::{HashMap, VecDeque},
    io::{self, BufRead, Read, Write},
    sync::Arc,
};

use mancala_db::{
    DbError,
    games::{self, SeatedGame},
    records::{
        import::{self, Whole},
        verify_batch,
    },
};
use mancala_domain::{GameId, Import, ImportRejection, Ply, Visibility};
use mancala_rules::notation::{BYTE_ORDER_MARK, Splitter};
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use thiserror::Error;
use time::OffsetDateTime;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::lasting::{Pace, Patience};

/// An id before those of all games.
pub const FIRST: GameId = GameId(Uuid::nil());

/// How many games one part of an export has.
const GAMES_READ: u32 = 200;

/// The most games that one part of an import has; it is stored in one transaction.
const GAMES_STORED: u32 = 500;

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

/// The progress of an export.
#[derive(Clone, Copy, Debug)]
pub enum ExportProgress<'a> {
    /// All games up to `last` are written: the games and bytes since the last report. They may still be in a buffer.
    Written { games: u64, bytes: u64, last: GameId },
    /// A game cannot be read, and was left out.
    Damaged { game: GameId, cause: &'a DbError },
}

/// Writes all games after `after`, oldest first. A game that cannot be read is reported and left out. `on_progress` gets the output
/// after each part.
pub async fn export_all<W: Write>(
    pool: &PgPool,
    mut after: GameId,
    write: WriteGame,
    mut output: W,
    patience: &Patience,
    mut pace: Pace,
    mut on_progress: impl FnMut(&mut W, ExportProgress<'_>) -> io::Result<()>,
) -> Result<(), TransferError> {
    let mut parts: VecDeque<JoinHandle<Result<ExportPart, DbError>>> = VecDeque::new();
    let mut ends = VecDeque::new();
    let mut is_last = false;
    loop {
        while !is_last && parts.len() < CONCURRENT_PARTS {
            let limit = pace.batch(GAMES_READ);
            let batch = patience.retry(|| verify_batch::list_batch(pool, after, limit)).await?;
            pace.take(batch.games.len()).await;
            (is_last, after) = (batch.is_last, batch.last());
            ends.push_back(after);
            let (pool, write, patience) = (pool.clone(), write.clone(), patience.clone());
            let part = async move { patience.retry(|| export_part(&pool, &batch.games, &write)).await };
            parts.push_back(tokio::spawn(part));
        }
        let (Some(part), Some(last)) = (parts.pop_front(), ends.pop_front()) else { break };
        let ExportPart { text, games, damaged } = part.await.expect("writing games does not panic")?;
        output.write_all(text.as_bytes())?;
        for (game, cause) in &damaged {
            on_progress(&mut output, ExportProgress::Damaged { game: *game, cause })?;
        }
        on_progress(&mut output, ExportProgress::Written { games, bytes: text.len() as u64, last })?;
    }
    Ok(output.flush()?)
}

/// A part of an export: some games as they are written.
#[derive(Default)]
struct ExportPart {
    text: String,
    games: u64,
    damaged: Vec<(GameId, DbError)>,
}

async fn export_part(pool: &PgPool, ids: &[GameId], write: &WriteGame) -> Result<ExportPart, DbError> {
    let mut part = ExportPart::default();
    match part.add(pool, ids, write).await {
        // A game that cannot be read fails the statement for all, so each game is read alone.
        Err(error) if error.is_data_error() => {
            part = ExportPart::default();
            for id in ids {
                match part.add(pool, &[*id], write).await {
                    Err(error) if error.is_data_error() => part.damaged.push((*id, error)),
                    added => added?,
                }
            }
        }
        added => added?,
    }
    Ok(part)
}

impl ExportPart {
    async fn add(&mut self, pool: &PgPool, ids: &[GameId], write: &WriteGame) -> Result<(), DbError> {
        let mut found = games::find_all(pool, ids).await?;
        found.reverse();
        let histories = games::histories(pool, &found).await?;
        for (seated, plies) in found.iter().zip(&histories) {
            write(&mut self.text, seated, plies);
        }
        self.games += found.len() as u64;
        Ok(())
    }
}

/// Reads one game from its text: whether it is JSON, and now. The error has the line, maybe the column (both from 1), and the cause.
pub type ReadGame =
    Arc<dyn Fn(bool, &[u8], OffsetDateTime) -> Result<Import, (usize, Option<usize>, String)> + Send + Sync>;

/// The progress of an import.
#[derive(Clone, Copy, Debug)]
pub enum ImportProgress<'a> {
    /// This many more bytes were read, games imported, and games found to be imported before.
    Advanced { bytes: u64, games: u64, known: u64 },
    /// A game was refused. The place is that of the error if it is known, otherwise the first line of the game.
    Refused { line: usize, column: Option<usize>, cause: &'a str },
}

/// Receives the progress.
pub type OnImportProgress = Arc<dyn Fn(ImportProgress<'_>) + Send + Sync>;

/// How games are imported.
#[derive(Clone)]
pub struct ImportTerms {
    pub visibility: Visibility,
    pub now: OffsetDateTime,
    pub read: ReadGame,
    /// The salt of the games' keys. A run with the salt of an earlier one stores no game with the same text again.
    pub salt: Vec<u8>,
    pub patience: Patience,
    pub on_progress: OnImportProgress,
}

/// Imports the games of a file. If its first line begins with a brace, each line is a game as JSON; otherwise the file has text
/// records. Each game is imported whole or refused, independently of the others.
pub async fn import_all(
    pool: &PgPool,
    input: impl BufRead,
    terms: &ImportTerms,
    pace: &mut Pace,
) -> Result<(), TransferError> {
    let mut parts: VecDeque<JoinHandle<Result<(), DbError>>> = VecDeque::new();
    let mut reader = Reader { input, line: 0, is_json: None, splitter: Splitter::default(), begun: None, bytes: 0 };
    let mut occurrences = Occurrences::default();
    let games_max = pace.batch(GAMES_STORED) as usize;
    loop {
        let (mut games, mut is_last) = (vec![], false);
        while games.len() < games_max && reader.bytes < PART_BYTES {
            let Some(game) = reader.next_game()? else {
                is_last = true;
                break;
            };
            games.push((occurrences.key(&game.text, terms), game));
        }
        pace.take(games.len()).await;
        let part =
            ImportChunk { games, is_json: reader.is_json == Some(true), bytes: std::mem::take(&mut reader.bytes) };
        parts.push_back(tokio::spawn(part.import(pool.clone(), terms.clone())));
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

/// A chunk of the file's games.
struct ImportChunk {
    /// Each with its key.
    games: Vec<(Uuid, Raw)>,
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

/// How often each text has occurred in a file, by the beginning of its hash. It takes about 32 bytes a game.
#[derive(Default)]
struct Occurrences(HashMap<[u8; 16], u32>);

impl Occurrences {
    /// The key under which the next game with this text is imported once. A file may have the same game twice, so that its
    /// number among equal ones is part of the key. Blanks around the text are not.
    fn key(&mut self, text: &[u8], terms: &ImportTerms) -> Uuid {
        let text = beginning(Sha256::new().chain_update(text.trim_ascii()));
        let nth = self.0.entry(text).or_default();
        *nth = nth.saturating_add(1);
        let hash = Sha256::new()
            .chain_update(terms.visibility.as_str())
            .chain_update([0])
            .chain_update(&terms.salt)
            .chain_update(nth.to_be_bytes())
            .chain_update(text);
        Uuid::from_bytes(beginning(hash))
    }
}

fn beginning(hash: Sha256) -> [u8; 16] {
    let hash = hash.finalize();
    let (first, _) = hash.split_first_chunk().expect("a SHA-256 has 32 bytes");
    *first
}

/// A game that was read, with its line and its key.
struct Given {
    line: usize,
    key: Uuid,
}

/// Games that the rules refuse, each with its first line.
type Refusals = Vec<(usize, ImportRejection)>;

impl ImportChunk {
    async fn import(self, pool: PgPool, terms: ImportTerms) -> Result<(), DbError> {
        let on_progress = &terms.on_progress;
        let refused = |line, column, cause: &str| on_progress(ImportProgress::Refused { line, column, cause });
        let keys: Vec<_> = self.games.iter().map(|(key, _)| *key).collect();
        let known = terms.patience.retry(|| import::find_keys(&pool, &keys)).await?;
        let (mut given, mut imports) = (vec![], vec![]);
        for (key, Raw { line, text, is_cut }) in self.games {
            if known.contains(&key) {
                continue;
            }
            if is_cut {
                refused(line, None, &format!("a game of more than {GAME_BYTES_MAX} bytes is refused"));
                continue;
            }
            match (terms.read)(self.is_json, &text, terms.now) {
                Ok(import) => {
                    given.push(Given { line, key });
                    imports.push(import);
                }
                Err((within, column, cause)) => refused(line + within - 1, column, &cause),
            }
        }
        let imports: Arc<[Import]> = imports.into();
        let (stored, refusals) = terms.patience.retry(|| store(&pool, &imports, &given, &terms)).await?;
        for (line, ImportRejection { location, error }) in refusals {
            let line = location.map_or(line, |at| line + at.line - 1);
            refused(line, location.map(|at| at.column), &error.to_string());
        }
        on_progress(ImportProgress::Advanced { bytes: self.bytes, games: stored as u64, known: known.len() as u64 });
        Ok(())
    }
}

/// Plays the games and stores them under their keys. Returns how many are stored, and why the others are refused. A second call
/// after one whose answer was lost stores nothing twice.
async fn store(
    pool: &PgPool,
    imports: &Arc<[Import]>,
    given: &[Given],
    terms: &ImportTerms,
) -> Result<(usize, Refusals), DbError> {
    loop {
        let played = import::play(pool, imports.clone(), None, terms.visibility, terms.now).await?;
        let (whole, refusals) = separate(given.iter().zip(played));
        let games = whole.len();
        // A concurrent part may create players with the same names; each name is created once, so this ends.
        if import::store_once(pool, whole, terms.now).await? {
            return Ok((games, refusals));
        }
    }
}

/// The games that can have been played, each with its key, and why the others cannot, each with its line.
fn separate<'a>(
    played: impl Iterator<Item = (&'a Given, Result<Whole, ImportRejection>)>,
) -> (Vec<(Uuid, Whole)>, Refusals) {
    let (mut whole, mut refusals) = (vec![], vec![]);
    for (given, played) in played {
        match played {
            Ok(game) => whole.push((given.key, game)),
            Err(rejection) => refusals.push((given.line, rejection)),
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
