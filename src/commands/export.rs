//! `export`: writes all games to a file.

use std::{
    cell::RefCell,
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf, absolute},
    sync::Arc,
};

use mancala_server::{
    config::{Export, GameForm, Serve},
    db::records::verify::count,
    domain::GameId,
    http::{self, ListForm},
    jobs::{
        lasting::Pace,
        transfer::{ExportProgress, TransferError, WriteGame, export_all},
    },
};

use super::{
    database::with_database,
    failure::Failure,
    output::{counted, print},
    progress::Progress,
    resume::{Position, ResumeFile, Work},
};

pub fn export(options: &Serve, export: &Export) -> Result<(), Failure> {
    if export.after.is_some() && export.resume.is_some() {
        return Err(Failure::misuse("--after and --resume are not used together"));
    }
    if export.resume.as_ref().is_some_and(|resume| is_one_file(&export.file, resume)) {
        return Err(Failure::misuse("the output and the file of --resume are one: name another file"));
    }
    let (form, format) = match export.format {
        GameForm::Ndjson => (ListForm::Ndjson, "ndjson"),
        GameForm::Text => (ListForm::Text, "text"),
    };
    let output = absolute(&export.file).map_err(|error| Failure::of_file(&export.file, &error))?;
    let work = Work { command: "export".to_owned(), output: Some(output), format: Some(format.to_owned()) };
    let write: WriteGame = Arc::new(move |text, seated, plies| {
        http::write_game(text, form, seated, plies, None, None);
    });
    let position = with_database(options, async |_, pool| {
        let count = count(&pool).await.map_err(Failure::new)?;
        let (resume, begin) = ResumeFile::open(export.resume.as_ref(), &pool, work).await?;
        // The database answers: only now may the file lose its content.
        let file = open(export, &begin).map_err(|error| Failure::of_file(&export.file, &error))?;
        let template = "games, about {len}; {per_sec}, {eta} left; the last is {msg}";
        let progress = Progress::start(count, begin.games, "games", template)?;
        let patience = progress.patience(export.lasting.outage_s);
        let state = RefCell::new((resume, begin));
        let on_progress = |output: &mut BufWriter<File>, step: ExportProgress<'_>| {
            let (resume, position) = &mut *state.borrow_mut();
            match step {
                ExportProgress::Written { games, bytes, last } => {
                    position.games = position.games.saturating_add(games);
                    position.bytes = position.bytes.saturating_add(bytes);
                    position.after = last.0;
                    progress.advance(games);
                    progress.show(last.0.to_string());
                    if resume.is_due() {
                        // The position may name only games that are on the disk.
                        output.flush()?;
                        output.get_ref().sync_data()?;
                        resume.write(position)?;
                    }
                }
                ExportProgress::Damaged { game, cause } => {
                    position.damaged = position.damaged.saturating_add(1);
                    progress.print(&format!("game {}: {cause}", game.0));
                }
            }
            Ok(())
        };
        let after = GameId(export.after.unwrap_or(state.borrow().1.after));
        let pace = Pace::new(export.lasting.pace);
        let done = export_all(&pool, after, write, BufWriter::new(file), &patience, pace, on_progress).await;
        done.map_err(|error| failure(export, error))?;
        progress.finish();
        let (resume, position) = state.into_inner();
        resume.remove();
        Ok(position)
    })?;
    print(&format_args!("{} exported\n", counted(position.games, "game was", "games were")))?;
    match position.damaged {
        0 => Ok(()),
        damaged => {
            let said =
                counted(damaged, "game cannot be read: it was left out", "games cannot be read: they were left out");
            Err(Failure::damaged(said))
        }
    }
}

/// Why the export ended early. A full disk is named by the file; what the file of --resume refuses names that file already.
fn failure(export: &Export, error: TransferError) -> Failure {
    match &error {
        TransferError::File(cause) if cause.get_ref().is_none() => Failure::of_file(&export.file, cause),
        _ => Failure::new(error),
    }
}

/// The mode of the file.
const OWNER_ONLY: u32 = 0o600;

/// Opens the file at the position where the output continues.
fn open(export: &Export, begin: &Position) -> io::Result<File> {
    let is_new = export.after.is_none() && begin.bytes == 0;
    let goes_on = export.after.is_none() && !is_new;
    let mut options = OpenOptions::new();
    let mut file =
        options.read(goes_on).write(true).create(true).truncate(is_new).mode(OWNER_ONLY).open(&export.file)?;
    // The export has private games, and an existing file may have been readable for others. A device or a pipe is left unchanged.
    if file.metadata()?.is_file() {
        file.set_permissions(fs::Permissions::from_mode(OWNER_ONLY))?;
    }
    if export.after.is_some() {
        file.seek(SeekFrom::End(0))?;
    } else if goes_on {
        if file.metadata()?.len() < begin.bytes {
            return Err(io::Error::other("it is shorter than it was: it is not the file of the interrupted export"));
        }
        let mut end = [0];
        file.seek(SeekFrom::Start(begin.bytes - 1))?;
        file.read_exact(&mut end)?;
        if end != *b"\n" {
            return Err(io::Error::other("no line ends at the position: it is not the file of the interrupted export"));
        }
        // The bytes after the position are written again.
        file.set_len(begin.bytes)?;
        file.seek(SeekFrom::End(0))?;
    }
    Ok(file)
}

/// Whether both names lead to one file, which may not be there yet.
fn is_one_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => place(one).is_some_and(|one| Some(one) == place(other)),
    }
}

/// The place of a file, with the real name of its folder.
fn place(path: &Path) -> Option<PathBuf> {
    let path = absolute(path).ok()?;
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}
