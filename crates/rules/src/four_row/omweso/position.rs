//! A position of Omweso: its parts, and its text. `action` plays moves, and `legal` finds the legal ones.

use std::fmt;

use super::{
    Options, Reverse, Setup as Start,
    captures::{captured, captures_downward, is_reverse_pit, lap_captures_downward},
};
use crate::{
    BySide, EndReason, Outcome, Side,
    four_row::{
        Board, Effect, IllegalMove, Move, ParsePositionError, Pending, Pit,
        board::{SEEDS, SEEDS_PER_SIDE},
        effect::EffectSink,
        frame::{End, Frame},
        pit::PITS,
        setup::{Captures, Flags, OpenChoice, Running, Setup},
    },
};

/// A position of Omweso with its options.
///
/// ```
/// use mancala_rules::four_row::omweso;
///
/// let opening = omweso::Position::opening(omweso::Preset::Standard.options());
/// let (position, _) = opening.play("J".parse()?)?;
/// assert_eq!(
///     position.to_string(),
///     "1,1,1,0,0,0,0,0,4,0,5,5,5,0,5,5/0,0,0,0,0,0,0,0,4,4,4,4,4,4,4,4 0-0 N - 1 1S",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub(super) options: Options,
    pub(super) frame: Frame,
    pub(super) phase: Phase,
    /// Whether each side has captured in some turn; only with `akakyala` (R31).
    pub(super) captured: BySide<bool>,
    /// Whether each side still has its first turn before it, in which it captures nothing. Used only without `first_turn_captures`, and
    /// once the seeds are arranged (R29).
    pub(super) first_turns: BySide<bool>,
}

/// The phase of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// The side begins a turn.
    Sowing,
    /// The side arranges its seeds; this is the next pit (R28).
    Arranging(Pit),
    /// The side is inside a turn (R30).
    Choice(Choice),
}

/// The seeds of a pit, or those in the hand, may be sown either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Choice {
    pub pit: Pit,
    /// Captured seeds; `None` if the seeds of the pit are sown.
    pub hand: Option<u16>,
    /// The captures of the turn.
    pub captures: Captures,
}

impl Position {
    /// The opening (R28).
    #[must_use]
    pub fn opening(options: Options) -> Self {
        let mut board = Board::default();
        for side in Side::ALL {
            match options.setup {
                Start::Outer => Pit::all(side).filter(|pit| !pit.is_front()).for_each(|pit| board.drop(pit, 4)),
                Start::Even => Pit::all(side).for_each(|pit| board.drop(pit, 2)),
                Start::Arrange => board.set_reserve(side, SEEDS_PER_SIDE),
            }
        }
        let phase = match options.setup {
            Start::Arrange => Phase::Arranging(Pit::at(Side::South, 0)),
            Start::Outer | Start::Even => Phase::Sowing,
        };
        let first_turns = if phase == Phase::Sowing { options.first_turns() } else { BySide::default() };
        Self { options, frame: Frame::opening(board), phase, captured: BySide::default(), first_turns }
    }

    /// The options of the game.
    #[must_use]
    pub const fn options(&self) -> Options {
        self.options
    }

    /// The seeds.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.frame.board
    }

    /// The side to move; once the game is over, the side that R31 names.
    #[must_use]
    pub const fn turn(&self) -> Side {
        self.frame.turn
    }

    /// How many actions were played so far.
    #[must_use]
    pub const fn plies(&self) -> u32 {
        self.frame.plies
    }

    /// The same position, as if no action had been played.
    pub(in crate::four_row) const fn without_plies(mut self) -> Self {
        self.frame.plies = 0;
        self
    }

    /// The result, once the game is over (R31).
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.frame.outcome()
    }

    /// The pit from which the mover may continue in either direction, inside a turn (R30).
    #[must_use]
    pub const fn pending(&self) -> Option<Pending> {
        match self.phase {
            Phase::Choice(Choice { pit, hand: Some(hand), .. }) => Some(Pending { pit, hand }),
            Phase::Choice(Choice { pit, hand: None, .. }) => Some(Pending { pit, hand: 0 }),
            Phase::Sowing | Phase::Arranging(_) => None,
        }
    }

    /// The next pit to be filled, while the side to move arranges its seeds (R28).
    #[must_use]
    pub const fn arranging(&self) -> Option<Pit> {
        match self.phase {
            Phase::Arranging(pit) => Some(pit),
            Phase::Sowing | Phase::Choice(_) => None,
        }
    }

    /// Plays a move. Returns the position after it, and its effects in order.
    ///
    /// # Errors
    ///
    /// The move is not legal here.
    pub fn play(&self, m: Move) -> Result<(Self, Vec<Effect>), IllegalMove> {
        self.check(m)?;
        let (mut next, mut effects) = (*self, Vec::new());
        next.act(m, &mut effects);
        Ok((next, effects))
    }

    /// Plays a legal move in place. Any other move does not panic, but leaves a position that no game has.
    pub fn play_unchecked(&mut self, m: Move) {
        self.act(m, &mut ());
    }

    /// The position of a position text (R22), ended where the rules end it (R31).
    pub(in crate::four_row) fn from_setup(options: Options, setup: &Setup) -> Result<Self, ParsePositionError> {
        let &Setup { board, turn, flags, plies } = setup;
        let frame = Frame { board, turn, plies, end: None };
        let (phase, captured, first_turns) = (Phase::Sowing, BySide::default(), BySide::default());
        let mut position = Self { options, frame, phase, captured, first_turns };
        position.check_board(flags)?;
        match flags {
            Flags::Over(winner) => position.frame.end = Some(End { winner, reason: None }),
            Flags::Running(flags) => {
                position.read_flags(flags)?;
                position.end_if_over();
            }
        }
        Ok(position)
    }

    /// R22: the seeds that a game with these options can have. Neither houses nor blocked pits are marked.
    fn check_board(&self, flags: Flags) -> Result<(), ParsePositionError> {
        let board = &self.frame.board;
        if Side::ALL.iter().any(|&side| board.owns_house(side)) {
            return Err(ParsePositionError::House);
        }
        if board.blocked().is_some() {
            return Err(ParsePositionError::Blocked);
        }
        let (hand, is_over) = match flags {
            Flags::Running(Running { choice: Some(OpenChoice { hand: Some(hand), .. }), .. }) => (hand, false),
            Flags::Running(_) => (0, false),
            Flags::Over(_) => (0, true),
        };
        let found = board.total() + hand;
        if found != SEEDS {
            return Err(ParsePositionError::SeedTotal { expected: SEEDS, found });
        }
        let max = if self.options.setup == Start::Arrange { SEEDS_PER_SIDE } else { 0 };
        if !is_over && Side::ALL.iter().any(|&side| board.reserve(side) > max) {
            return Err(ParsePositionError::Reserve { max });
        }
        Ok(())
    }

    /// R22: the flags that a running game of Omweso can have.
    fn read_flags(&mut self, flags: Running) -> Result<(), ParsePositionError> {
        let Running { arranging, choice, captures, captured, first_turns } = flags;
        let Options { akakyala, two_heads, first_turn_captures, .. } = self.options;
        let foreign = [
            (captures.any && !akakyala, 'c'),
            (captures.at_a && !two_heads, 'x'),
            (captures.at_h && !two_heads, 'y'),
            (captured.south && !akakyala, 'K'),
            (captured.north && !akakyala, 'k'),
            (first_turns.south && first_turn_captures, 'F'),
            (first_turns.north && first_turn_captures, 'f'),
        ];
        if let Some(&(_, flag)) = foreign.iter().find(|(is_refused, _)| *is_refused) {
            return Err(ParsePositionError::FlagByOptions { flag });
        }
        (self.captured, self.first_turns) = (captured, first_turns);
        // Nothing is captured before, and no choice is open. The side that does not move is never alone before its first turn.
        let are_alone = flags == Running { first_turns, ..Running::default() };
        if first_turns != BySide::default() && !(are_alone && self.is_in_first_turn()) {
            return Err(ParsePositionError::FirstTurn);
        }
        self.phase = match (arranging, choice) {
            (None, None) if captures == Captures::default() => Phase::Sowing,
            (Some(pit), None) if captures == Captures::default() && self.can_arrange(pit) => Phase::Arranging(pit),
            (None, Some(OpenChoice { pit, hand, direction: None })) => {
                let choice = Choice { pit, hand, captures };
                if !self.can_choose(choice) {
                    return Err(ParsePositionError::Choice);
                }
                Phase::Choice(choice)
            }
            (Some(_), _) => return Err(ParsePositionError::Arranging),
            (None, _) => return Err(ParsePositionError::Choice),
        };
        Ok(())
    }

    /// R22: whether the side to move can be at this pit while it arranges its seeds.
    fn can_arrange(&self, pit: Pit) -> bool {
        let board = &self.frame.board;
        let (side, other) = (pit.side(), !pit.side());
        let others = match side {
            Side::South => SEEDS_PER_SIDE,
            Side::North => 0,
        };
        self.options.setup == Start::Arrange
            && usize::from(pit.index()) + 1 < PITS
            && Pit::all(side).skip(pit.index().into()).all(|pit| board.seeds(pit) == 0)
            && board.score()[side] == SEEDS_PER_SIDE
            && board.reserve(side) > 0
            && board.reserve(other) == others
    }

    /// R22: whether a turn can stop at this choice.
    fn can_choose(&self, choice: Choice) -> bool {
        let Choice { pit, hand, captures } = choice;
        let board = self.frame.board;
        let Options { reverse, akakyala, .. } = self.options;
        let can_stop = match hand {
            Some(hand) => hand >= 2 && captures_downward(board, pit, hand),
            None => board.seeds(pit) >= 2 && captured(&board, pit).is_none() && lap_captures_downward(board, pit),
        };
        let has_captured = hand.is_some() || captures.at_a || captures.at_h;
        matches!(reverse, Reverse::Full | Reverse::Any)
            && is_reverse_pit(pit)
            && can_stop
            && (!captures.any || self.captured[pit.side()])
            && (!akakyala || !has_captured || captures.any)
            && !(captures.at_a && captures.at_h)
    }

    /// R31, for a position that no move led to.
    fn end_if_over(&mut self) {
        let turn = self.frame.turn;
        if self.phase == Phase::Sowing && !self.has_legal_sowing() {
            self.finish(EndReason::NoMove, Some(!turn), 0, &mut ());
        } else if self.is_at_ply_limit() {
            let hand = self.pending().map_or(0, |pending| pending.hand);
            self.finish(EndReason::PlyLimit, None, hand, &mut ());
        }
    }

    /// Ends the game, and resets the state that only a running game has.
    pub(super) fn finish(&mut self, reason: EndReason, winner: Option<Side>, hand: u16, effects: &mut impl EffectSink) {
        (self.phase, self.captured, self.first_turns) = (Phase::Sowing, BySide::default(), BySide::default());
        self.frame.finish(reason, winner, hand, effects);
    }

    /// Whether the side to move is in its first turn, and captures nothing in it (R29).
    pub(super) fn is_in_first_turn(&self) -> bool {
        self.first_turns[self.frame.turn]
    }

    pub(super) fn is_at_ply_limit(&self) -> bool {
        self.frame.plies >= self.options.max_plies.into()
    }
}

/// The position text (R22).
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Frame { board, turn, plies, end } = self.frame;
        let mut running = Running { captured: self.captured, first_turns: self.first_turns, ..Running::default() };
        match self.phase {
            Phase::Sowing => {}
            Phase::Arranging(pit) => running.arranging = Some(pit),
            Phase::Choice(Choice { pit, hand, captures }) => {
                running.choice = Some(OpenChoice { pit, hand, direction: None });
                running.captures = captures;
            }
        }
        let flags = end.map_or(Flags::Running(running), |End { winner, .. }| Flags::Over(winner));
        Setup { board, turn, flags, plies }.fmt(f)
    }
}
