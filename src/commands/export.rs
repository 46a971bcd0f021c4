//! `export`: writes all games to a file.

use std::{cell::Cell, fs::OpenOptions, io::BufWriter, sync::Arc};

use mancala_server::{
    config::{Export, GameForm, Serve},
    db::records::verify::count,
    domain::GameId,
    http::{self, ListForm},
    jobs::transfer::{FIRST, WriteGame, export_all},
};

use super::{database::with_database, failure::Failure, output::print, progress::bar};

pub fn export(options: &Serve, export: &Export) -> Result<(), Failure> {
    let after = export.after.map_or(FIRST, GameId);
    let is_continued = export.after.is_some();
    let file =
        OpenOptions::new().write(true).create(true).append(is_continued).truncate(!is_continued).open(&export.file);
    let file = file.map_err(|error| Failure::of_file(&export.file, &error))?;
    let output = BufWriter::new(file);
    let form = match export.format {
        GameForm::Ndjson => ListForm::Ndjson,
        GameForm::Text => ListForm::Text,
    };
    let write: WriteGame = Arc::new(move |text, seated, plies| {
        http::write_game(text, form, seated, plies, None, None);
    });
    let games = with_database(options, "stopped before it was done", async |_, pool| {
        let count = count(&pool).await.map_err(Failure::new)?;
        let bar = bar(count, "games, about {len}; {per_sec}, {eta} left; the last is {msg}")?;
        let count = Cell::new(0);
        let on_progress = |games, last: GameId| {
            count.set(count.get() + games);
            bar.inc(games);
            bar.set_message(last.0.to_string());
        };
        export_all(&pool, after, write, output, on_progress).await.map_err(Failure::new)?;
        bar.finish_and_clear();
        Ok(count.get())
    })?;
    print(&format_args!("{games} games were exported\n"))
}
