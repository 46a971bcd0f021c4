//! Whether a stored game is what its log tells, and its log what the rules allow: for those who have to know that nothing was damaged.

use mancala_rules::{AnyPosition, Move};
use thiserror::Error;

use crate::{
    Analysis, Event, Fact, Game, GameId, GameResult, Moved, PLIES_ANALYSED_MAX, Played, Reason, ReplayError, Seat,
    history::seat_to_move,
};

/// Something about a stored game that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Flaw {
    #[error("the log is broken: {0}")]
    Log(ReplayError),
    #[error("event {seq} is dated before the one before it")]
    Backwards { seq: u32 },
    #[error("event {seq} has ply {found}, and the ply before was {before}")]
    Number { seq: u32, before: u32, found: u32 },
    #[error("the rules do not allow {mv}, event {seq}")]
    Illegal { seq: u32, mv: Played },
    #[error("the rules lead from the position before event {seq} to {expected}, and {found} is stored")]
    Position { seq: u32, expected: String, found: String },
    #[error("event {seq} takes back to a ply that was not played")]
    Takeback { seq: u32 },
    #[error("event {seq} was played from the other seat")]
    Seat { seq: u32 },
    #[error("event {seq} plays on after the end")]
    AfterTheEnd { seq: u32 },
    #[error("event {seq} says how the game ended, and the rules say otherwise")]
    Result { seq: u32 },
    #[error("the rules have ended the game with event {seq}, and the log has not")]
    NotEnded { seq: u32 },
    /// What is stored of what its plies were worth.
    #[error("the analysis of the game {detail}")]
    Analysis { detail: &'static str },
    /// The game as it is stored beside its log has another value there.
    #[error("{field} of the stored game is not what its log tells")]
    Row { field: &'static str },
}

impl Flaw {
    /// The event that it is about, if it is one.
    pub const fn seq(&self) -> Option<u32> {
        match self {
            Flaw::Backwards { seq }
            | Flaw::Number { seq, .. }
            | Flaw::Illegal { seq, .. }
            | Flaw::Position { seq, .. }
            | Flaw::Takeback { seq }
            | Flaw::Seat { seq }
            | Flaw::AfterTheEnd { seq }
            | Flaw::Result { seq }
            | Flaw::NotEnded { seq }
            | Flaw::Log(ReplayError::Gap { found: seq, .. } | ReplayError::CreatedTwice { seq }) => Some(*seq),
            Flaw::Log(ReplayError::NotCreated) => Some(1),
            Flaw::Analysis { .. } | Flaw::Row { .. } => None,
        }
    }
}

/// All that is wrong with a game, by its whole log and as it is stored beside it, if that can be read; in the order of the log, and then of
/// the game.
pub fn flaws(id: GameId, log: &[Event], stored: Option<&Game>) -> Vec<Flaw> {
    let mut flaws = of_log(log);
    match (Game::replay(id, log), stored) {
        (Ok(told), Some(stored)) => flaws.extend(of_row(stored, &told)),
        (Ok(_), None) => {}
        (Err(error), _) => flaws.push(Flaw::Log(error)),
    }
    flaws
}

/// What is wrong with the analysis of a game, by its log. One that is stored and not told of yet is none.
pub fn flaw_of_analysis(log: &[Event], game: &Game, analysis: Option<&Analysis>) -> Option<Flaw> {
    let Some(analysis) = analysis else {
        return game.analysed_at.map(|_| Flaw::Analysis { detail: "is not there, and its log says that it is" });
    };
    let played = |event: &Event| match &event.fact {
        Fact::Moved(moved) if moved.ply <= analysis.ply => Some((moved.ply, moved.seat, moved.mv)),
        _ => None,
    };
    let plies: Vec<_> = log.iter().filter_map(played).collect();
    let last = &plies[plies.len().saturating_sub(PLIES_ANALYSED_MAX as usize)..];
    let told = last.iter().filter_map(|(ply, seat, mv)| match mv {
        Played::Move(mv) => Some((*ply, *seat, *mv)),
        Played::Takeback { .. } => None,
    });
    let judged: Vec<(u32, Seat, Move)> = analysis.plies.iter().map(|ply| (ply.number, ply.seat, ply.mv)).collect();
    let is_of_it = told.eq(judged) && analysis.ply <= game.ply;
    (!is_of_it).then_some(Flaw::Analysis { detail: "is of other plies than those of its log" })
}

/// Each ply is played again, from the stored position: one that is wrong is told once.
fn of_log(log: &[Event]) -> Vec<Flaw> {
    let Some(Event { fact: Fact::Created(created), .. }) = log.first() else { return vec![] };
    let mut flaws = vec![];
    let mut position = created.terms.opening();
    let mut positions = vec![position.clone()];
    let mut is_over = false;
    for (n, event) in log.iter().enumerate() {
        let seq = event.seq;
        if n > 0 && event.at < log[n - 1].at {
            flaws.push(Flaw::Backwards { seq });
        }
        match &event.fact {
            Fact::Moved(moved) => {
                if is_over {
                    flaws.push(Flaw::AfterTheEnd { seq });
                }
                flaws.extend(of_ply(&position, &positions, moved, seq));
                if moved.seat != seat_to_play(&position, moved) {
                    flaws.push(Flaw::Seat { seq });
                }
                // The history goes along, but for that of a position that is not what it should be.
                position = next(&position, &positions, moved)
                    .filter(|next| next.to_string() == moved.position.to_string())
                    .unwrap_or_else(|| moved.position.clone());
                positions.push(position.clone());
                let ends = log.get(n + 1).is_some_and(|next| matches!(next.fact, Fact::Finished(_)));
                if position.outcome().is_some() && !ends {
                    flaws.push(Flaw::NotEnded { seq });
                }
            }
            Fact::Finished(result) => {
                is_over = true;
                if !is_right(result, &position) {
                    flaws.push(Flaw::Result { seq });
                }
            }
            Fact::Aborted { .. } | Fact::Declined | Fact::Expired => is_over = true,
            _ => {}
        }
    }
    flaws
}

fn of_ply(before: &AnyPosition, positions: &[AnyPosition], moved: &Moved, seq: u32) -> Option<Flaw> {
    let last = u32::try_from(positions.len() - 1).unwrap_or(u32::MAX);
    if moved.ply != last + 1 {
        return Some(Flaw::Number { seq, before: last, found: moved.ply });
    }
    let Some(expected) = next(before, positions, moved) else {
        return Some(match moved.mv {
            Played::Move(_) => Flaw::Illegal { seq, mv: moved.mv },
            Played::Takeback { .. } => Flaw::Takeback { seq },
        });
    };
    let (expected, found) = (expected.to_string(), moved.position.to_string());
    (expected != found).then_some(Flaw::Position { seq, expected, found })
}

/// Whose ply it is: of the side that is to move, or that is to move again because it has taken back.
fn seat_to_play(before: &AnyPosition, moved: &Moved) -> Seat {
    match moved.mv {
        Played::Move(_) => seat_to_move(before),
        Played::Takeback { .. } => seat_to_move(&moved.position),
    }
}

/// Where the rules lead; nowhere if they do not allow it.
fn next(before: &AnyPosition, positions: &[AnyPosition], moved: &Moved) -> Option<AnyPosition> {
    match moved.mv {
        Played::Move(mv) => before.play(mv).ok().map(|(next, _)| next),
        Played::Takeback { to_ply } => positions.get(usize::try_from(to_ply).ok()?).map(AnyPosition::afresh),
    }
}

/// Whether a game may end so in a position. An agreement may be a move, which ends the game by the rules, or leave it as it is.
fn is_right(result: &GameResult, position: &AnyPosition) -> bool {
    match (position.outcome(), result.reason) {
        (Some(outcome), reason @ (Reason::Rules(_) | Reason::Agreement)) => {
            (outcome.winner, outcome.score) == (result.winner, result.score)
                && outcome.reason.is_none_or(|of| Reason::from(of) == reason)
        }
        (None, Reason::Resignation | Reason::Timeout | Reason::Agreement | Reason::Unknown) => true,
        _ => false,
    }
}

/// What differs between a game as it is stored and as its log tells it.
fn of_row(stored: &Game, told: &Game) -> Vec<Flaw> {
    let Game {
        id: _,
        terms,
        version,
        status,
        players,
        moved,
        ply,
        position,
        history_from_seq,
        time,
        offers,
        rematch,
        result,
        created_at,
        started_at,
        updated_at,
        finished_at,
        analysed_at,
        expires_at,
    } = stored;
    let fields = [
        ("terms", *terms == told.terms),
        ("version", *version == told.version),
        ("status", *status == told.status),
        ("players", *players == told.players),
        ("moved", *moved == told.moved),
        ("ply", *ply == told.ply),
        ("position", *position == told.position),
        ("history_from_seq", *history_from_seq == told.history_from_seq),
        ("time", *time == told.time),
        ("offers", *offers == told.offers),
        ("rematch", *rematch == told.rematch),
        ("result", *result == told.result),
        ("created_at", *created_at == told.created_at),
        ("started_at", *started_at == told.started_at),
        ("updated_at", *updated_at == told.updated_at),
        ("finished_at", *finished_at == told.finished_at),
        ("analysed_at", *analysed_at == told.analysed_at),
        ("expires_at", *expires_at == told.expires_at),
    ];
    fields.into_iter().filter(|(_, is_same)| !is_same).map(|(field, _)| Flaw::Row { field }).collect()
}
