//! A position of Kalah, and what a move does to it: the rules of the game. Knows no other game.

use std::fmt;

use arrayvec::ArrayVec;

use super::{Capture, CaptureLand, End, ExtraTurn, MajorityRemaining, Options, Remaining, SowStores};
use crate::{
    AnyBoard, Board, BySide, Effect, EndReason, Game, GameSpec, History, IllegalMove, Move, MoveList, Outcome,
    PLIES_MAX, ParsePositionError, Pit, Place, ROW_MAX, Side, Total,
    effect::EffectSink,
    ring::Spots,
    setup::{Flag, Flags, Setup, Written},
    sowing,
    sweep::{OWNERS, sweep},
};

/// `p`: North may still answer with a swap at its first choice.
const PIE: Flag = Flag::own(0, 'p');

/// `w`: the players have changed seats.
const SWAPPED: Flag = Flag::own(1, 'w');

/// The flags of Kalah, in their order.
const FLAGS: [Flag; 4] = [Flag::EXTRA, PIE, SWAPPED, Flag::OVER];

/// A position of Kalah with its options.
///
/// ```
/// use mancala_rules::{Game, History, Move, kalah};
///
/// let opening = kalah::Position::opening(kalah::Preset::Manual.options());
/// let (position, _) = opening.play("C".parse()?, &History::default())?;
/// assert_eq!(position.to_string(), "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S");
/// assert_eq!(position.legal_moves().last(), Some(&Move::Pass));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    options: Options,
    board: Board,
    turn: Side,
    flags: Flags,
    plies: u32,
    /// Which rule ended the game; `None` while it runs, and if it was imported as finished.
    reason: Option<EndReason>,
}

impl Position {
    /// The seeds.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Whether the side to move is on an extra move (R7).
    pub(crate) const fn is_extra(&self) -> bool {
        self.flags.has(Flag::EXTRA)
    }

    const fn is_over(&self) -> bool {
        self.flags.has(Flag::OVER)
    }

    fn may_pass(&self) -> bool {
        self.flags.has(Flag::EXTRA) && self.options.extra_turn == ExtraTurn::Optional
    }

    /// Whether captures are a choice and sowing this pit, which holds seeds, would capture (R5).
    fn may_decline(&self, pit: Pit) -> bool {
        if self.options.capture != Capture::Optional {
            return false;
        }
        let mut sown = *self;
        matches!(sown.drop_seeds(pit, &mut ()), Place::Pit(last) if sown.captured_pits(last).is_some())
    }

    /// The position loses the flag with North's first action, so this is North's first choice.
    fn may_swap(&self) -> bool {
        self.flags.has(PIE) && self.turn == Side::North
    }

    /// R3, R5, R7: sow; a last seed in the own store gives an extra move, one in an empty pit may capture.
    fn sow(&mut self, pit: Pit, takes: Takes, effects: &mut impl EffectSink) {
        let extra = match self.drop_seeds(pit, effects) {
            Place::Store(side) => side == self.turn && self.options.extra_turn != ExtraTurn::None,
            Place::Pit(last) => {
                if takes == Takes::Capture {
                    self.capture(last, effects);
                }
                false
            }
        };
        if let Some(reason) = self.end_of_sowing() {
            return self.finish(reason, effects);
        }
        if extra {
            self.flags.raise(Flag::EXTRA);
        } else {
            self.pass_turn();
        }
        self.begin_choice(effects);
    }

    /// R3: sows the seeds of a pit, and returns where the last one falls.
    fn drop_seeds(&mut self, pit: Pit, effects: &mut impl EffectSink) -> Place {
        let skipped = match self.options.sow_stores {
            SowStores::Own => Spots::NONE.with(self.board.ring().store(!self.turn)),
            SowStores::Both => Spots::NONE,
        };
        sowing::sow(&mut self.board, pit, skipped, effects)
    }

    /// R5: captures with the last seed, if it can.
    fn capture(&mut self, last: Pit, effects: &mut impl EffectSink) {
        let Some(from) = self.captured_pits(last) else { return };
        let ring = self.board.ring();
        let seeds = from.iter().filter_map(|&pit| ring.pit(pit)).map(|spot| self.board.lift(spot)).sum();
        self.board.bank(self.turn, seeds);
        effects.record(Effect::Capture { from, seeds, to: self.turn });
    }

    /// R5: the pits that a last seed captures. A pit that holds one seed after the last drop was empty before it, even
    /// after a sowing of a full lap.
    fn captured_pits(&self, last: Pit) -> Option<ArrayVec<Pit, ROW_MAX>> {
        let row_allowed = match self.options.capture_land {
            CaptureLand::Own => last.side == self.turn,
            CaptureLand::Opponent => last.side != self.turn,
            CaptureLand::Any => true,
        };
        if self.options.capture == Capture::None || !row_allowed || self.board.seeds(last) != 1 {
            return None;
        }
        let facing = self.board.ring().facing(last);
        let mut from = ArrayVec::from_iter([last]);
        if self.board.seeds(facing) > 0 {
            from.push(facing);
        } else if !self.options.empty_capture {
            return None;
        }
        Some(from)
    }

    fn pass(&mut self, effects: &mut impl EffectSink) {
        effects.record(Effect::Pass);
        self.pass_turn();
        self.begin_choice(effects);
    }

    /// R7: the players change seats; the board, the stores and the side to move stay.
    fn swap(&mut self, effects: &mut impl EffectSink) {
        effects.record(Effect::Swap);
        self.flags.raise(SWAPPED);
    }

    fn pass_turn(&mut self) {
        self.flags.clear(Flag::EXTRA);
        self.turn = !self.turn;
    }

    /// R8, steps 2 and 3: what ends the game right after a sowing, even inside a turn.
    fn end_of_sowing(&self) -> Option<EndReason> {
        let half_passed = |side| 2 * self.board.store(side) > self.board.total();
        if self.options.majority_end && Side::ALL.into_iter().any(half_passed) {
            return Some(EndReason::Majority);
        }
        let row_empty = |side| self.board.row_is_empty(side);
        if self.options.end == End::SideEmpty && Side::ALL.into_iter().any(row_empty) {
            return Some(EndReason::SideEmpty);
        }
        None
    }

    /// R8, step 4: the side to act chooses, or the game ends because that side has nothing to sow. Before that, an
    /// optional extra move without seeds to sow lapses (R7).
    fn begin_choice(&mut self, effects: &mut impl EffectSink) {
        if self.may_pass() && self.board.row_is_empty(self.turn) {
            self.pass_turn();
        }
        if self.board.row_is_empty(self.turn) {
            self.finish(EndReason::NoMove, effects);
        } else if self.flags.has(Flag::EXTRA) {
            effects.record(Effect::ExtraTurn);
        }
    }

    /// R8: moves the seeds left in pits to the stores that the options name, and closes the game.
    fn finish(&mut self, reason: EndReason, effects: &mut impl EffectSink) {
        let recipients = self.recipients(reason);
        sweep(&mut self.board, recipients, effects);
        self.flags.clear(Flag::EXTRA);
        self.flags.clear(PIE);
        self.flags.raise(Flag::OVER);
        self.reason = Some(reason);
        effects.record(Effect::GameOver { reason });
    }

    /// The side whose store gets the seeds left in each row; `None` where they stay in their pits.
    fn recipients(&self, reason: EndReason) -> BySide<Option<Side>> {
        let neither = BySide::default();
        match reason {
            EndReason::Majority => match self.options.majority_remaining {
                MajorityRemaining::Leave => neither,
                MajorityRemaining::Sweep => OWNERS,
            },
            // `SideEmpty` and `NoMove`; the other reasons belong to other games.
            _ => match self.options.remaining {
                Remaining::SideOwner => OWNERS,
                Remaining::Emptier => {
                    let emptier = Side::ALL.into_iter().find(|&side| self.board.row_is_empty(side));
                    BySide { south: emptier, north: emptier }
                }
                Remaining::Discard => neither,
            },
        }
    }
}

impl Game for Position {
    type Options = Options;

    const SPEC: GameSpec = GameSpec {
        title: "Kalah",
        aliases: &["Kalaha", "Mancala", "Mankala", "Awalé", "Калах"],
        rules: include_str!("kalah.md"),
        ..GameSpec::PLAIN
    };

    /// The opening: every pit holds the same number of seeds, the stores are empty, and South is to move (R2).
    fn opening(options: Options) -> Self {
        let board = Board::filled(options.pits, options.seeds.into());
        let mut flags = Flags::default();
        if options.pie {
            flags.raise(PIE);
        }
        Self { options, board, turn: Side::South, flags, plies: 0, reason: None }
    }

    /// The position of a position text (R12), ended where the rules end it (R8).
    fn parse(options: Options, text: &str, total: Total) -> Result<Self, ParsePositionError> {
        let setup = Setup::of(text)?;
        let board = setup.two_rows(options.pits, None)?;
        setup.check_single_round()?;
        let flags = Flags::read(setup.flags, &FLAGS)?;
        check_flags(options, flags, setup.turn)?;
        total.check(&board, options.total())?;
        let mut position = Self { options, board, turn: setup.turn, flags, plies: setup.plies, reason: None };
        if !position.is_over() {
            match position.end_of_sowing() {
                Some(reason) => position.finish(reason, &mut ()),
                None => position.begin_choice(&mut ()),
            }
        }
        Ok(position)
    }

    /// Without the plies, the change of seats, and an extra move that cannot be declined.
    fn essence(&self) -> Self {
        let mut essence = Self { plies: 0, ..*self };
        essence.flags.clear(SWAPPED);
        if !self.may_pass() {
            essence.flags.clear(Flag::EXTRA);
        }
        essence
    }

    fn options(&self) -> Options {
        self.options
    }

    fn any_board(&self) -> AnyBoard {
        AnyBoard::TwoRow(self.board)
    }

    fn turn(&self) -> Side {
        self.turn
    }

    fn plies(&self) -> u32 {
        self.plies
    }

    /// The result, once the game is over: more seeds in store wins (R8).
    fn outcome(&self) -> Option<Outcome> {
        self.is_over().then(|| Outcome::of(self.board.stores(), self.reason))
    }

    /// The pits that may be sown, in order. Each that could capture comes also with the capture declined, if that is a
    /// choice. Then come `pass` on an optional extra move, and `swap` at North's first choice (R4).
    fn legal_moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        if self.is_over() {
            return moves;
        }
        for pit in self.board.filled_pits(self.turn) {
            moves.push(Move::Sow(pit));
            if self.may_decline(pit) {
                moves.push(Move::Decline(pit));
            }
        }
        if self.may_pass() {
            moves.push(Move::Pass);
        }
        if self.may_swap() {
            moves.push(Move::Swap);
        }
        moves
    }

    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        match m {
            _ if self.is_over() => Err(IllegalMove::GameOver),
            Move::Sow(pit) | Move::Decline(pit) if pit.index >= self.options.pits => Err(IllegalMove::NoSuchPit(pit)),
            Move::Sow(pit) | Move::Decline(pit) if pit.side != self.turn => Err(IllegalMove::NotYourPit(pit)),
            Move::Sow(pit) | Move::Decline(pit) if self.board.seeds(pit) == 0 => Err(IllegalMove::EmptyPit(pit)),
            Move::Decline(pit) if !self.may_decline(pit) => Err(IllegalMove::NoDecline(pit)),
            Move::Pass if !self.may_pass() => Err(IllegalMove::NoPass),
            Move::Swap if !self.may_swap() => Err(IllegalMove::NoSwap),
            Move::Sow(_) | Move::Decline(_) | Move::Pass | Move::Swap => Ok(()),
            other => Err(IllegalMove::of_unknown_form(other)),
        }
    }

    /// The one implementation of a move.
    fn act(&mut self, m: Move, _: &History, effects: &mut impl EffectSink) {
        self.plies = self.plies.saturating_add(1).min(PLIES_MAX);
        if self.turn == Side::North {
            self.flags.clear(PIE);
        }
        match m {
            Move::Sow(pit) => self.sow(pit, Takes::Capture, effects),
            Move::Decline(pit) => self.sow(pit, Takes::Nothing, effects),
            Move::Pass => self.pass(effects),
            Move::Swap => self.swap(effects),
            _ => {}
        }
    }

    fn has_pie(&self) -> bool {
        self.flags.has(PIE)
    }

    fn swapped(&self) -> bool {
        self.flags.has(SWAPPED)
    }
}

/// The effect of a sowing where it can capture (R5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Capture,
    Nothing,
}

/// Refuses flags that no game with these options has, alone or together (R12).
fn check_flags(options: Options, flags: Flags, turn: Side) -> Result<(), ParsePositionError> {
    let has = |flag| flags.has(flag);
    let by_options =
        [(Flag::EXTRA, options.extra_turn == ExtraTurn::None), (PIE, !options.pie), (SWAPPED, !options.pie)];
    // North's first action ends its right to swap, and the end of the game clears both flags.
    let by_position = [
        (Flag::EXTRA, has(Flag::OVER)),
        (PIE, has(Flag::OVER) || has(SWAPPED)),
        (PIE, has(Flag::EXTRA) && turn == Side::North),
    ];
    let refused = |&(flag, impossible): &(Flag, bool)| impossible && has(flag);
    if let Some((flag, _)) = by_options.into_iter().find(refused) {
        return Err(ParsePositionError::FlagByOptions { flag: flag.letter });
    }
    if let Some((flag, _)) = by_position.into_iter().find(refused) {
        return Err(ParsePositionError::FlagByPosition { flag: flag.letter });
    }
    Ok(())
}

/// The position string (R12).
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { board, turn, flags, plies, .. } = self;
        f.write_str(&Written::of(&board, None, turn).flags(flags, &FLAGS).plies(plies).single_round())
    }
}
