//! The audit of a stored game: it must be the fold of its log, and its log must follow the rules. It finds damage.

use mancala_rules::{AnyPosition, Move};
use thiserror::Error;

use crate::{
    Analysis, BySeat, Event, Fact, Game, GameId, GameResult, GameState, Moved, PLIES_ANALYSED_MAX, PLIES_MAX,
    PlyAction, Reason, ReplayError, Seat, game::Increments, seat::seat_to_move,
};

/// Something in a stored game that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Flaw {
    /// The log has no fold.
    #[error("the log is broken: {0}")]
    Log(ReplayError),
    /// An event is older than its predecessor.
    #[error("event {seq} is dated before the one before it")]
    Backwards {
        /// The event.
        seq: u32,
    },
    /// Plies are not numbered 1, 2, 3, …
    #[error("event {seq} has ply {found}, and the ply before was {before}")]
    Number {
        /// The event.
        seq: u32,
        /// The number of the ply before it.
        before: u32,
        /// Its own number.
        found: u32,
    },
    /// A move is illegal.
    #[error("the rules do not allow {mv}, event {seq}")]
    Illegal {
        /// The event.
        seq: u32,
        /// The played move.
        mv: PlyAction,
    },
    /// A move leads to another position.
    #[error("the rules lead from the position before event {seq} to {expected}, and {found} is stored")]
    Position {
        /// The event.
        seq: u32,
        /// The position that follows by the rules.
        expected: String,
        /// The stored value.
        found: String,
    },
    /// A takeback names a ply that does not exist.
    #[error("event {seq} takes back to a ply that was not played")]
    Takeback {
        /// The event.
        seq: u32,
    },
    /// A ply was played by the player that was not to move.
    #[error("event {seq} was played from the other seat")]
    Seat {
        /// The event.
        seq: u32,
    },
    /// A ply follows the end of the game.
    #[error("event {seq} plays on after the end")]
    AfterTheEnd {
        /// The event.
        seq: u32,
    },
    /// The rules give the game another result.
    #[error("event {seq} says how the game ended, and the rules say otherwise")]
    Result {
        /// The event.
        seq: u32,
    },
    /// The rules end the game, and no event does.
    #[error("the rules have ended the game with event {seq}, and the log has not")]
    NotEnded {
        /// The event of the last ply.
        seq: u32,
    },
    /// The stored analysis does not fit the game.
    #[error("the analysis of the game {detail}")]
    Analysis {
        /// The description of the flaw.
        detail: &'static str,
    },
    /// The game as it is stored beside its log is not the fold of the log.
    #[error("{field} of the stored game is not what its log tells")]
    Row {
        /// The field of [`GameState`] that differs.
        field: &'static str,
    },
}

impl Flaw {
    /// The number of the event with the flaw; `None` if no single event has it.
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

/// All flaws of a game, by its whole log and by the game that is stored beside it, if that can be read. They are in the
/// order of the log, then of the game's fields.
pub fn audit(id: GameId, log: &[Event], stored: Option<&Game>) -> Vec<Flaw> {
    let mut flaws = flaws_of_log(log);
    flaws.extend(flaws_of_increments(id, log));
    match (Game::replay(id, log), stored) {
        (Ok(fold), Some(stored)) => flaws.extend(differing_fields(stored.state(), fold.state())),
        (Ok(_), None) => {}
        (Err(error), _) => flaws.push(Flaw::Log(error)),
    }
    flaws
}

/// The flaw of a game's analysis, by the game's log. An analysis that is stored before its event is no flaw.
pub fn audit_analysis(log: &[Event], game: &Game, analysis: Option<&Analysis>) -> Option<Flaw> {
    let Some(analysis) = analysis else {
        return game.analysed_at().map(|_| Flaw::Analysis { detail: "is not there, and its log says that it is" });
    };
    let played = |event: &Event| match &event.fact {
        Fact::Moved(moved) if moved.ply <= analysis.ply => Some((moved.ply, moved.seat, moved.mv)),
        _ => None,
    };
    let plies: Vec<_> = log.iter().filter_map(played).collect();
    let last = &plies[plies.len().saturating_sub(PLIES_ANALYSED_MAX as usize)..];
    let moves = last.iter().filter_map(|(ply, seat, mv)| match mv {
        PlyAction::Move(mv) => Some((*ply, *seat, *mv)),
        PlyAction::Takeback { .. } => None,
    });
    let judged: Vec<(u32, Seat, Move)> = analysis.plies.iter().map(|ply| (ply.number, ply.seat, ply.mv)).collect();
    let is_of_it = moves.eq(judged) && analysis.ply <= game.ply();
    (!is_of_it).then_some(Flaw::Analysis { detail: "is of other plies than those of its log" })
}

/// Plays each ply again, from the stored position before it, so that a wrong ply is reported once.
fn flaws_of_log(log: &[Event]) -> Vec<Flaw> {
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
                flaws.extend(flaw_of_ply(&position, &positions, moved, seq));
                if moved.seat != seat_to_play(&position, moved) {
                    flaws.push(Flaw::Seat { seq });
                }
                // The history is kept, except that of a wrong position.
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
                if !is_possible(result, &position, positions.len() - 1) {
                    flaws.push(Flaw::Result { seq });
                }
            }
            Fact::Aborted { .. } | Fact::Declined | Fact::Expired => is_over = true,
            _ => {}
        }
    }
    flaws
}

/// The takebacks whose increments differ from those of the turns that they undo. A takeback of a release that keeps increments takes none
/// back.
fn flaws_of_increments(id: GameId, log: &[Event]) -> Vec<Flaw> {
    let taken = |event: &Event| match event.fact {
        Fact::Moved(Moved { mv: PlyAction::Takeback { to_ply, increments }, .. }) => {
            Some((to_ply, increments)).filter(|_| increments != BySeat::default())
        }
        _ => None,
    };
    // Few logs have any, and the fold takes time.
    if log.iter().all(|event| taken(event).is_none()) {
        return vec![];
    }
    let Some((first, rest)) = log.split_first() else { return vec![] };
    let Ok(mut game) = Game::replay(id, [first]) else { return vec![] };
    let returns = matches!(&first.fact, Fact::Created(created) if created.returns_increments);
    let (mut given, mut flaws) = (Increments::default(), vec![]);
    for event in rest {
        if let Some((to_ply, increments)) = taken(event)
            && !(returns && increments == given.since(to_ply))
        {
            flaws.push(Flaw::Takeback { seq: event.seq });
        }
        // Another flaw, which is reported as such.
        if given.follow(&mut game, event).is_err() {
            break;
        }
    }
    flaws
}

fn flaw_of_ply(before: &AnyPosition, positions: &[AnyPosition], moved: &Moved, seq: u32) -> Option<Flaw> {
    let last = u32::try_from(positions.len() - 1).unwrap_or(u32::MAX);
    if moved.ply != last + 1 {
        return Some(Flaw::Number { seq, before: last, found: moved.ply });
    }
    let Some(expected) = next(before, positions, moved) else {
        return Some(match moved.mv {
            PlyAction::Move(_) => Flaw::Illegal { seq, mv: moved.mv },
            PlyAction::Takeback { .. } => Flaw::Takeback { seq },
        });
    };
    let (expected, found) = (expected.to_string(), moved.position.to_string());
    (expected != found).then_some(Flaw::Position { seq, expected, found })
}

/// The seat that may play a ply: the seat to move, or the seat that is to move again after its takeback.
fn seat_to_play(before: &AnyPosition, moved: &Moved) -> Seat {
    match moved.mv {
        PlyAction::Move(_) => seat_to_move(before),
        PlyAction::Takeback { .. } => seat_to_move(&moved.position),
    }
}

/// The position that the rules lead to; `None` if they do not allow the ply.
fn next(before: &AnyPosition, positions: &[AnyPosition], moved: &Moved) -> Option<AnyPosition> {
    match moved.mv {
        PlyAction::Move(mv) => before.play(mv).ok().map(|(next, _)| next),
        PlyAction::Takeback { to_ply, .. } => positions.get(usize::try_from(to_ply).ok()?).map(AnyPosition::afresh),
    }
}

/// Whether a game with this number of plies may end with that result in a position. An agreement is a move that ends the game by the rules,
/// or leaves the position unchanged.
fn is_possible(result: &GameResult, position: &AnyPosition, plies: usize) -> bool {
    match (position.outcome(), result.reason) {
        (Some(outcome), reason @ (Reason::Rules(_) | Reason::Agreement | Reason::PlyLimit)) => {
            (outcome.winner, outcome.score) == (result.winner, result.score)
                && outcome.reason.is_none_or(|of| Reason::from(of) == reason)
        }
        (None, Reason::Resignation | Reason::Timeout | Reason::Agreement | Reason::Unknown) => true,
        (None, Reason::PlyLimit) => result.winner.is_none() && plies >= PLIES_MAX as usize,
        _ => false,
    }
}

/// The fields in which a stored game differs from the fold of its log.
fn differing_fields(stored: &GameState, fold: &GameState) -> Vec<Flaw> {
    let GameState {
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
        ("terms", *terms == fold.terms),
        ("version", *version == fold.version),
        ("status", *status == fold.status),
        ("players", *players == fold.players),
        ("moved", *moved == fold.moved),
        ("ply", *ply == fold.ply),
        ("position", *position == fold.position),
        ("history_from_seq", *history_from_seq == fold.history_from_seq),
        ("time", *time == fold.time),
        ("offers", *offers == fold.offers),
        ("rematch", *rematch == fold.rematch),
        ("result", *result == fold.result),
        ("created_at", *created_at == fold.created_at),
        ("started_at", *started_at == fold.started_at),
        ("updated_at", *updated_at == fold.updated_at),
        ("finished_at", *finished_at == fold.finished_at),
        ("analysed_at", *analysed_at == fold.analysed_at),
        ("expires_at", *expires_at == fold.expires_at),
    ];
    fields.into_iter().filter(|(_, is_same)| !is_same).map(|(field, _)| Flaw::Row { field }).collect()
}
