//! `names`: the operators' list of words that no name may have.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Read},
    path::Path,
};

use mancala_server::{
    clock::now,
    config::{Names, Serve},
    db::{
        migrations,
        operators::{keys::COMMAND_LINE, name_filter::replace},
        players::name_filter,
    },
    domain::{NameFilter, NameFilterError},
};
use sqlx::PgPool;

use super::{
    database::with_database,
    failure::Failure,
    output::{counted, print},
};

/// How many names are read at once.
const NAMES_AT_ONCE: u32 = 1000;

pub fn names(options: &Serve, names: &Names) -> Result<(), Failure> {
    // The file is read before the database is opened, so that an unreadable file changes nothing.
    let new = match names {
        Names::Load { file } => Some(read(file)?),
        _ => None,
    };
    let text = with_database(options, async |database, pool| {
        migrations::run(database).await?;
        let stored = name_filter::find(&pool).await.map_err(Failure::new)?.list;
        match (names, &new) {
            (Names::Check { name }, _) => check(&parsed(&stored)?, name),
            (Names::Matches, _) => matches(&pool, &parsed(&stored)?).await,
            (Names::Load { .. }, Some((list, filter))) => {
                let stored = replace(&pool, COMMAND_LINE, list, filter.len(), now()).await;
                stored.map_err(Failure::new)?;
                let entries = counted(filter.len() as u64, "entry refuses", "entries refuse");
                Ok(format!("{entries} names; servers know it within seconds\n"))
            }
            (Names::Load { .. } | Names::Show, _) => Ok(stored),
        }
    })?;
    print(&text)
}

/// Reads the list of a file. Returns its text, and the filter that it defines.
fn read(file: &Path) -> Result<(String, NameFilter), Failure> {
    // A longer text is no list, so reading stops just beyond the bound.
    let limit = NameFilter::BYTES_MAX as u64 + 1;
    let mut bytes = vec![];
    let read = if file == Path::new("-") {
        io::stdin().take(limit).read_to_end(&mut bytes)
    } else {
        fs::File::open(file).and_then(|opened| opened.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::of_file(file, &error))?;
    if bytes.len() > NameFilter::BYTES_MAX {
        return Err(Failure::of_file(file, &NameFilterError::Length));
    }
    let list = String::from_utf8(bytes).map_err(|_| Failure::of_file(file, &"it is no text in UTF-8"))?;
    let filter = list.parse().map_err(|error| Failure::of_file(file, &error))?;
    Ok((list, filter))
}

fn parsed(stored: &str) -> Result<NameFilter, Failure> {
    stored.parse().map_err(|error| Failure::new(format!("the stored list cannot be read: {error}")))
}

fn check(filter: &NameFilter, name: &str) -> Result<String, Failure> {
    match filter.refusing(name) {
        Some(entry) => Err(Failure::damaged(format!("refused by `{entry}`"))),
        None => Ok("allowed\n".to_owned()),
    }
}

/// The guests and accounts with names that the list refuses, one in a line.
async fn matches(pool: &PgPool, filter: &NameFilter) -> Result<String, Failure> {
    let (mut text, mut after) = (String::new(), None);
    loop {
        let found = name_filter::list_names(pool, after, NAMES_AT_ONCE).await.map_err(Failure::new)?;
        for (player, name) in &found {
            if let Some(entry) = filter.refusing(name) {
                writeln!(text, "{}  {name}  {entry}", player.0).expect("writing to a string does not fail");
            }
        }
        match found.last() {
            Some((last, _)) => after = Some(*last),
            None => return Ok(text),
        }
    }
}
