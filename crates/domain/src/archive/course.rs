//! The state that follows from a log so far, for writer and reader alike. It has the position, the seat to move, and the number of the ply.

use std::collections::HashMap;

use mancala_rules::{AnyOptions, AnyPosition, Move, MoveList};

use crate::{Created, Moved, PlyAction, Seat, seat::seat_to_move};

/// The course of a game up to an event.
pub(super) struct Course {
    options: AnyOptions,
    /// The position, with its history where the rules need one.
    position: AnyPosition,
    ply: u32,
    /// Whether takebacks record the increments that they take back.
    pub(super) returns_increments: bool,
    /// The positions after the plies, without their histories, and the opening as ply 0.
    positions: HashMap<u32, AnyPosition>,
}

impl Course {
    pub(super) fn of(created: &Created) -> Self {
        let position = created.terms.opening();
        let positions = HashMap::from([(0, position.afresh())]);
        let returns_increments = created.returns_increments;
        Self { options: created.terms.options, position, ply: 0, returns_increments, positions }
    }

    pub(super) const fn options(&self) -> &AnyOptions {
        &self.options
    }

    pub(super) fn legal_moves(&self) -> MoveList {
        self.position.legal_moves()
    }

    /// The ply that a legal move is, if nothing is unusual: the next number, the seat to move, the position after it.
    pub(super) fn usual(&self, mv: Move) -> Option<Moved> {
        let ply = self.ply.checked_add(1)?;
        let mut position = self.position.clone();
        position.play_unchecked(mv);
        Some(Moved { ply, seat: self.seat_to_move(), mv: PlyAction::Move(mv), position })
    }

    /// Plays a legal move of the usual kind. The position of the ply is without its history.
    pub(super) fn play(&mut self, mv: Move) -> Option<Moved> {
        let (ply, seat) = (self.ply.checked_add(1)?, self.seat_to_move());
        self.position.play_unchecked(mv);
        self.ply = ply;
        let position = self.position.afresh();
        self.positions.insert(ply, position.clone());
        Some(Moved { ply, seat, mv: PlyAction::Move(mv), position })
    }

    fn seat_to_move(&self) -> Seat {
        seat_to_move(&self.position)
    }

    /// The position after an action, if it follows from the rules or an earlier ply.
    pub(super) fn after(&self, action: PlyAction) -> Option<AnyPosition> {
        match action {
            PlyAction::Move(mv) => self.position.play(mv).ok().map(|(position, _)| position),
            PlyAction::Takeback { to_ply, .. } => self.positions.get(&to_ply).cloned(),
        }
    }

    /// Advances by a ply. `moved` has the new position with its history.
    pub(super) fn follow(&mut self, moved: &Moved) {
        self.ply = moved.ply;
        self.positions.insert(moved.ply, moved.position.afresh());
        self.position.clone_from(&moved.position);
    }
}
