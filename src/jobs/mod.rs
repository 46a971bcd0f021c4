//! What no request does: settling games whose time has run out, ending those of the erased, deleting what nobody needs any more,
//! telling those who want to be told, playing for the computer, analysing games, and filling the explorer; and, by commands, comparing all games
//! with their logs, writing all of them to a file, taking in those of files, and filling the explorer anew.
//!
//! Every process does the former; what one has done another finds done. This module knows the database, the domain, the engine and
//! the rules; it knows nothing of HTTP.

pub mod analyses;
pub mod computers;
pub mod deadlines;
pub mod erasure;
pub mod explorer;
mod pace;
pub mod purge;
pub mod transfer;
pub mod verification;
pub mod webhooks;

use std::{sync::Arc, time::Duration};

use sqlx::postgres::PgConnectOptions;

use crate::{
    clock::now,
    db::{self, Writers},
};

/// How long between two rounds: whoever was erased is gone from all games within minutes, whatever happened meanwhile.
const PAUSE: Duration = Duration::from_mins(1);

/// How long between two looks at the games whose time may have run out.
const DEADLINES_PAUSE: Duration = Duration::from_secs(1);

/// Settles games until it is dropped, over a connection of its own: whatever else there is to do does not keep it.
pub async fn run_deadlines(database: PgConnectOptions, writers: Arc<Writers>) {
    let pool = db::pool(database, 1);
    let mut failing = false;
    loop {
        tokio::time::sleep(DEADLINES_PAUSE).await;
        let settled = deadlines::settle(&pool, &writers, now()).await;
        if let (Err(error), false) = (&settled, failing) {
            tracing::warn!("games whose time has run out are not settled until the database answers again: {error}");
        }
        failing = settled.is_err();
    }
}

/// Works until it is dropped. A round that fails is logged, and the next one tries again.
pub async fn run(database: PgConnectOptions, writers: Arc<Writers>, settings: purge::Settings) {
    let pool = db::pool(database, 1);
    let mut guests = purge::Guests::default();
    loop {
        tokio::time::sleep(PAUSE).await;
        if let Err(error) = erasure::end_games(&pool, &writers, now()).await {
            tracing::warn!("the games of erased players are not all ended: {error}");
        }
        if let Err(error) = purge::run(&pool, settings, &mut guests, now()).await {
            tracing::warn!("not everything that has expired is deleted: {error}");
        }
    }
}

/// The lowest priority: thinking takes no time from moves.
#[cfg(target_os = "linux")]
const NICE: i32 = 19;

/// Lowers the priority of the calling thread, and of those that it will make.
pub fn be_nice() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::warn!("the engine thinks at the priority of everything else: {error}");
    }
}
