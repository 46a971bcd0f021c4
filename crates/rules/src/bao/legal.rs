//! Which words are legal in a position of Bao (R24, R26, R27), and why others are not (R32).

use super::{
    Endless, Position, Singletons,
    captures::{facing_seeds, first_capture, forced_direction, is_working_house},
    refusals,
};
use crate::{Direction, IllegalMove, Move, Pit, four_row::refusals as shared};

impl Position {
    /// Whether the side to move has a legal move.
    pub(super) fn has_legal_move(&self) -> bool {
        self.choice.is_some() || self.legal_words().next().is_some()
    }

    pub(super) fn legal_words(&self) -> impl Iterator<Item = (Pit, Direction)> {
        let words = (!self.frame.is_over()).then(|| Words::of(self));
        words.into_iter().flat_map(|words| {
            // No other pit can be sown.
            let filled = Pit::all(self.frame.turn).filter(|&pit| self.frame.board.seeds(pit) > 0);
            let all = filled.flat_map(|pit| Direction::ALL.map(|direction| (pit, direction)));
            all.filter(move |&(pit, direction)| words.refusal(pit, direction).is_none())
        })
    }
}

/// The facts that decide which words are legal in a position.
pub(super) struct Words<'a> {
    position: &'a Position,
    /// The side to move is in its first stage.
    first_stage: bool,
    duty: Duty,
    /// How many pits of the own front row hold seeds.
    filled: usize,
    /// A front pit that is not blocked holds two seeds or more.
    fuller: bool,
}

/// The duty that the legal words of a position fulfil.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Duty {
    /// No word captures.
    Nothing,
    /// A word captures, so each must.
    Capture,
    /// A word captures the blocked pit, so each must (R27).
    Take,
}

impl<'a> Words<'a> {
    pub(super) fn of(position: &'a Position) -> Self {
        let board = &position.frame.board;
        let side = position.frame.turn;
        let mut words =
            Self { position, first_stage: position.is_first_stage(), duty: Duty::Nothing, filled: 0, fuller: false };
        for pit in Pit::all(side) {
            let seeds = board.seeds(pit);
            let is_blocked = board.blocked() == Some(pit);
            if pit.is_front() && seeds > 0 {
                words.filled += 1;
                words.fuller |= seeds >= 2 && !is_blocked;
            }
            if !is_blocked {
                for captured in Direction::ALL.map(|direction| words.capture(pit, direction)).into_iter().flatten() {
                    let duty = if board.blocked() == Some(captured) { Duty::Take } else { Duty::Capture };
                    words.duty = words.duty.max(duty);
                }
            }
        }
        words
    }

    /// The pit that a word captures first.
    fn capture(&self, pit: Pit, direction: Direction) -> Option<Pit> {
        let board = &self.position.frame.board;
        if !self.first_stage {
            first_capture(board, pit, direction)
        } else if board.seeds(pit) > 0 {
            facing_seeds(board, pit)
        } else {
            None
        }
    }

    /// Why a word with a direction may not be played, in the order of R32; `None` if it may.
    pub(super) fn refusal(&self, pit: Pit, direction: Direction) -> Option<IllegalMove> {
        let refusal = match self.position.choice {
            Some(running) => {
                let goes_on = pit == Position::house_of(pit.side) && direction == running;
                (!goes_on).then_some(IllegalMove::Rule(&shared::MUST_CONTINUE, None))
            }
            None => self.refusal_of_opening(pit, direction),
        };
        refusal.or_else(|| self.is_endless(pit, direction).then_some(IllegalMove::Rule(&refusals::ENDLESS, None)))
    }

    fn refusal_of_opening(&self, pit: Pit, direction: Direction) -> Option<IllegalMove> {
        let board = &self.position.frame.board;
        match board.seeds(pit) {
            0 => return Some(IllegalMove::EmptyPit(pit)),
            _ if self.first_stage && !pit.is_front() => return Some(IllegalMove::Rule(&refusals::FRONT_ONLY, None)),
            1 if !self.first_stage => return Some(IllegalMove::Rule(&shared::SINGLE_SEED, None)),
            _ => {}
        }
        match self.capture(pit, direction) {
            None if self.duty != Duty::Nothing => Some(IllegalMove::Rule(&refusals::MUST_CAPTURE, None)),
            None if self.first_stage => self.refusal_of_first_takata(pit).or_else(|| self.lone_kichwa(pit, direction)),
            None => self.refusal_of_second_takata(pit).or_else(|| self.lone_kichwa(pit, direction)),
            Some(_) if self.first_stage && forced_direction(pit).is_some_and(|forced| forced != direction) => {
                Some(IllegalMove::Rule(&refusals::WRONG_DIRECTION, None))
            }
            Some(captured) if self.duty == Duty::Take && board.blocked() != Some(captured) => {
                Some(IllegalMove::Rule(&refusals::MUST_TAKE, None))
            }
            Some(_) => (board.blocked() == Some(pit)).then_some(IllegalMove::Rule(&refusals::BLOCKED_PIT, None)),
        }
    }

    /// R24: a takata of the first stage.
    fn refusal_of_first_takata(&self, pit: Pit) -> Option<IllegalMove> {
        let board = &self.position.frame.board;
        let house = Position::house_of(pit.side);
        let works = is_working_house(board, house);
        if pit == house && works && self.filled > 1 {
            return Some(IllegalMove::Rule(&refusals::HOUSE_KEPT, None));
        }
        let rests = match self.position.options.singletons {
            Singletons::HouseLost => !board.owns_house(pit.side),
            Singletons::NoHouse => !works,
        };
        (board.seeds(pit) == 1 && rests && self.fuller).then_some(IllegalMove::Rule(&shared::SINGLE_SEED, None))
    }

    /// R26, R27: a takata of the second stage.
    fn refusal_of_second_takata(&self, pit: Pit) -> Option<IllegalMove> {
        if self.position.frame.board.blocked() == Some(pit) {
            Some(IllegalMove::Rule(&refusals::BLOCKED_PIT, None))
        } else {
            (!pit.is_front() && self.fuller).then_some(IllegalMove::Rule(&refusals::FRONT_FIRST, None))
        }
    }

    /// R24: the front pit that alone holds seeds, if it is a kichwa, may not be sown straight into the back row.
    fn lone_kichwa(&self, pit: Pit, direction: Direction) -> Option<IllegalMove> {
        let leaves = matches!((pit.index, direction), (0, Direction::Down) | (7, Direction::Up));
        (leaves && self.filled == 1).then_some(IllegalMove::Rule(&refusals::EMPTIES_FRONT, None))
    }

    /// R31: whether a word counts as endless, and the options forbid it.
    fn is_endless(&self, pit: Pit, direction: Direction) -> bool {
        self.position.options.endless == Endless::Illegal
            && self.position.sows_endlessly(Move::SowTo { pit, direction })
    }
}
