//! What is done without being asked: ending the games of the erased, and deleting what nobody needs any more.
//!
//! Every process does it; what one has done another finds done. This module knows the database and the domain; it knows
//! nothing of HTTP.

pub mod erasure;
pub mod purge;

use std::{sync::Arc, time::Duration};

use sqlx::postgres::PgConnectOptions;

use crate::{
    clock::now,
    db::{self, Writers},
};

/// How long between two rounds: whoever was erased is gone from all games within minutes, whatever happened meanwhile.
const PAUSE: Duration = Duration::from_mins(1);

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
