//! A position of Omweso: its parts, and its text. `action` plays moves, and `legal` finds the legal ones.

use std::fmt;

use super::{
    Options, Reverse, Setup as Start,
    captures::{captured, captures_downward, is_reverse_pit, lap_captures_downward},
};
use crate::{
    AnyBoard, BySide, Direction, EndReason, Game, GameSpec, History, IllegalMove, Move, MoveList, Outcome, PITS_MAX,
    ParsePositionError, Pending, Pit, Side,
    effect::EffectSink,
    four_row::{
        Board, ParsePositionError as Refused,
        board::{SEEDS, SEEDS_PER_SIDE},
        frame::{End, Frame},
        pit::RingPit,
        refusals,
        setup::{Captures, Flags, OpenChoice, Running, Setup},
    },
};

/// A position of Omweso with its options.
///
/// ```
/// use mancala_rules::{Game, History, four_row::omweso};
///
/// let opening = omweso::Position::opening(omweso::Preset::Standard.options());
/// let (position, _) = opening.play("J".parse()?, &History::default())?;
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
    /// The seeds.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.frame.board
    }

    /// R22: the seeds that a game with these options can have. Neither houses nor blocked pits are marked.
    fn check_board(&self, flags: Flags) -> Result<(), ParsePositionError> {
        let board = &self.frame.board;
        if Side::ALL.iter().any(|&side| board.owns_house(side)) {
            return Err(Refused::House.into());
        }
        if board.blocked().is_some() {
            return Err(Refused::Blocked.into());
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
            return Err(Refused::Reserve { max }.into());
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
            return Err(Refused::FirstTurn.into());
        }
        self.phase = match (arranging, choice) {
            (None, None) if captures == Captures::default() => Phase::Sowing,
            (Some(pit), None) if captures == Captures::default() && self.can_arrange(pit) => Phase::Arranging(pit),
            (None, Some(OpenChoice { pit, hand, direction: None })) => {
                let choice = Choice { pit, hand, captures };
                if !self.can_choose(choice) {
                    return Err(Refused::Choice.into());
                }
                Phase::Choice(choice)
            }
            (Some(_), _) => return Err(Refused::Arranging.into()),
            (None, _) => return Err(Refused::Choice.into()),
        };
        Ok(())
    }

    /// R22: whether the side to move can be at this pit while it arranges its seeds.
    fn can_arrange(&self, pit: Pit) -> bool {
        let board = &self.frame.board;
        let (side, other) = (pit.side, !pit.side);
        let others = match side {
            Side::South => SEEDS_PER_SIDE,
            Side::North => 0,
        };
        self.options.setup == Start::Arrange
            && usize::from(pit.index) + 1 < PITS_MAX
            && Pit::all(side).skip(pit.index.into()).all(|pit| board.seeds(pit) == 0)
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
            && (!captures.any || self.captured[pit.side])
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

impl Game for Position {
    type Options = Options;

    const SPEC: GameSpec = GameSpec {
        title: "Omweso",
        aliases: &["Mweso", "Coro"],
        rules: include_str!("omweso.md"),
        rows_per_side: 2,
        is_drawn_from_the_right: true,
        refusals: refusals::ALL,
        ..GameSpec::TWO_ROWS
    };

    /// The opening (R28).
    fn opening(options: Options) -> Self {
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

    /// The position of a position text (R22), ended where the rules end it (R31).
    fn parse(options: Options, text: &str) -> Result<Self, ParsePositionError> {
        let Setup { board, turn, flags, plies } = Setup::of(text)?;
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

    /// Without the plies.
    fn essence(&self) -> Self {
        Self { frame: Frame { plies: 0, ..self.frame }, ..*self }
    }

    fn options(&self) -> Options {
        self.options
    }

    fn plies_max(&self) -> Option<u32> {
        Some(self.options.max_plies.into())
    }

    fn any_board(&self) -> AnyBoard {
        AnyBoard::FourRow(self.frame.board)
    }

    fn turn(&self) -> Side {
        self.frame.turn
    }

    fn plies(&self) -> u32 {
        self.frame.plies
    }

    fn outcome(&self) -> Option<Outcome> {
        self.frame.outcome()
    }

    /// The legal moves, in order (R21).
    fn legal_moves(&self) -> MoveList {
        let is_legal = |m: &Move| self.check(*m).is_ok();
        match self.phase {
            Phase::Arranging(pit) => {
                // A reserve holds at most 32 seeds.
                let left = u8::try_from(self.frame.board.reserve(pit.side)).unwrap_or(u8::MAX);
                (0..=left).map(|seeds| Move::Place { pit, seeds }).filter(is_legal).collect()
            }
            Phase::Sowing | Phase::Choice(_) => self.words().filter(is_legal).collect(),
        }
    }

    /// Checks a move in the order of R32.
    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        match m {
            _ if self.frame.is_over() => Err(IllegalMove::GameOver),
            m => {
                self.frame.check_form(m)?;
                match m {
                    Move::Sow(pit) => self.check_sow(pit, None),
                    Move::SowTo { pit, direction } => self.check_sow(pit, Some(direction)),
                    Move::Place { pit, seeds } => self.check_place(pit, seeds.into()),
                    _ => Err(IllegalMove::WrongForm),
                }
            }
        }
    }

    /// The one implementation of a move.
    fn act(&mut self, m: Move, _: &History, effects: &mut impl EffectSink) {
        self.frame.count_ply();
        match (m, self.phase) {
            (Move::Place { seeds, .. }, Phase::Arranging(pit)) => self.arrange(pit, seeds.into(), effects),
            (Move::Sow(pit), Phase::Sowing | Phase::Choice(_)) if pit.side == self.frame.turn => {
                self.sow_out(pit, Direction::Up, effects);
            }
            (Move::SowTo { pit, direction }, Phase::Sowing | Phase::Choice(_)) if pit.side == self.frame.turn => {
                self.sow_out(pit, direction, effects);
            }
            // No such move is legal.
            _ => {}
        }
    }

    /// The pit from which the mover may continue in either direction, inside a turn (R30).
    fn pending(&self) -> Option<Pending> {
        match self.phase {
            Phase::Choice(Choice { pit, hand: Some(hand), .. }) => Some(Pending { pit, hand }),
            Phase::Choice(Choice { pit, hand: None, .. }) => Some(Pending { pit, hand: 0 }),
            Phase::Sowing | Phase::Arranging(_) => None,
        }
    }

    /// The next pit to be filled, while the side to move arranges its seeds (R28).
    fn arranging(&self) -> Option<Pit> {
        match self.phase {
            Phase::Arranging(pit) => Some(pit),
            Phase::Sowing | Phase::Choice(_) => None,
        }
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
