//! Appends the events that the passing of time has caused.

use std::time::Instant;

use crate::{
    clock::now,
    db::{
        DbError,
        games::{self, Appended},
    },
    domain::Game,
    http::{answer::problem::Problem, state::AppState},
    metrics::AppendOutcome,
};

/// Counts what became of an append.
pub(crate) fn count(state: &AppState, outcome: &Result<Appended, DbError>, begun: Instant) {
    let counted = match outcome {
        Ok(Appended::Stored) => AppendOutcome::Stored,
        Ok(Appended::Conflict | Appended::KeyUsed) => AppendOutcome::Conflict,
        Err(_) => AppendOutcome::Failed,
    };
    state.metrics.append_ended(counted, begun.elapsed());
}

/// Takes into the log what the passing of time has led to. Whoever else did it at the same time has done the same.
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
