//! Appends the events that time has caused, such as a timeout, and counts appends in the metrics.

use std::time::Instant;

use mancala_db::{
    DbError,
    games::{self, Appended},
};
use mancala_domain::Game;
use mancala_http::{answer::problem::Problem, state::AppState};
use mancala_process::{clock::now, metrics::AppendOutcome};

/// Appends the events that are due. A version conflict needs no retry: the concurrent call has appended the same events.
pub async fn settle(state: &AppState, game: &Game) -> Result<(), Problem> {
    let due = game.due(now());
    let mut next = game.clone();
    due.iter().try_for_each(|event| next.apply(event)).map_err(Problem::internal)?;
    let begun = Instant::now();
    let outcome = games::append(&state.writers, &next, &due).await;
    count(state, &outcome, begun);
    outcome?;
    Ok(())
}

/// Counts the outcome of an append, and lets the log know when none can be stored.
pub fn count(state: &AppState, outcome: &Result<Appended, DbError>, begun: Instant) {
    let counted = match outcome {
        Ok(Appended::Stored) => AppendOutcome::Stored,
        Ok(Appended::Conflict | Appended::KeyUsed) => AppendOutcome::Conflict,
        Err(_) => AppendOutcome::Failed,
    };
    state.metrics.append_ended(counted, begun.elapsed());
    match outcome {
        Ok(_) => state.append_outage.works(),
        Err(error @ (DbError::ConnectionLost(_) | DbError::Unreachable(_) | DbError::OutOfService(_))) => {
            state.append_outage.failed(&error.to_string());
        }
        // The failure concerns this game only, or there are too many requests.
        Err(_) => {}
    }
}
