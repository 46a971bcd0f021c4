//! A position of Oware, and what a move does to it: the rules of the game. Knows no other game.

use std::fmt;

use arrayvec::ArrayVec;

use super::{GrandSlam, Options, RepetitionAward, refusals};
use crate::{
    AnyBoard, Board, BySide, Effect, EndReason, Game, GameSpec, History, IllegalMove, Move, MoveList, Outcome,
    PLIES_MAX, ParsePositionError, Pit, Place, Side, Total,
    effect::EffectSink,
    options::MajorityRemaining,
    ring::{ROW_MAX, Spots},
    setup::{Flag, Flags, Setup, Written},
    sowing,
    sweep::{OWNERS, sweep},
};

/// A position of Oware with its options.
///
/// A position does not hold the [`History`] that the rule against repetition needs (R8): the caller passes it in.
/// [`AnyPosition`](crate::AnyPosition) keeps the two together.
///
/// ```
/// use mancala_rules::{Game, History, oware};
///
/// let opening = oware::Position::opening(oware::Preset::Standard.options());
/// let (position, _) = opening.play("C".parse()?, &History::default())?;
/// assert_eq!(position.to_string(), "4,4,0,5,5,5/5,4,4,4,4,4 0-0 N - 1 1S");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    options: Options,
    board: Board,
    turn: Side,
    over: bool,
    plies: u32,
    /// Which rule ended the game; `None` while it runs, and if it was imported as finished.
    reason: Option<EndReason>,
}

/// The pits that a sowing captures, walking back from the last seed (R6).
type Chain = ArrayVec<Pit, ROW_MAX>;

impl Position {
    /// The seeds.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// R8, steps 2 to 4, for a position that no move led to.
    fn end_if_over(&mut self) {
        if self.has_majority() {
            self.finish(EndReason::Majority, &mut ());
        } else {
            self.begin_choice(&History::default(), &mut ());
        }
    }

    fn legal_pits(&self) -> impl Iterator<Item = Pit> {
        self.board.filled_pits(self.turn).filter(|&pit| self.forbidden(pit).is_none())
    }

    /// R4: why a pit that holds seeds may not be sown; `None` if it may.
    fn forbidden(&self, pit: Pit) -> Option<IllegalMove> {
        let barred = match self.options.grand_slam {
            GrandSlam::Illegal => self.is_grand_slam(pit),
            GrandSlam::Avoid => {
                self.is_grand_slam(pit) && !self.board.filled_pits(self.turn).all(|other| self.is_grand_slam(other))
            }
            _ => false,
        };
        if barred {
            Some(IllegalMove::Rule(&refusals::GRAND_SLAM, Some(pit)))
        } else if self.options.must_feed && self.board.row_is_empty(!self.turn) && !self.feeds(pit) {
            Some(IllegalMove::Rule(&refusals::MUST_FEED, Some(pit)))
        } else {
            None
        }
    }

    /// Whether sowing this pit would be a grand slam (R6).
    fn is_grand_slam(&self, pit: Pit) -> bool {
        let mut after = *self;
        let last = after.sow_seeds(pit, &mut ());
        after.takes_all(&after.chain(last))
    }

    /// Whether the other row holds a seed after this pit was sown, captures included (R4).
    fn feeds(&self, pit: Pit) -> bool {
        let mut after = *self;
        let last = after.sow_seeds(pit, &mut ());
        after.capture(last, &mut ());
        !after.board.row_is_empty(!self.turn)
    }

    /// R3, R6, R8: sow, capture, and end the game where a rule does.
    fn sow(&mut self, pit: Pit, history: &History, effects: &mut impl EffectSink) {
        let last = self.sow_seeds(pit, effects);
        let grand_slam = self.capture(last, effects);
        if grand_slam && self.options.grand_slam == GrandSlam::ForfeitRest {
            return self.finish(EndReason::GrandSlamForfeit, effects);
        }
        if self.has_majority() {
            return self.finish(EndReason::Majority, effects);
        }
        self.turn = !self.turn;
        self.begin_choice(history, effects);
    }

    /// R3: the sowing skips both stores and, on every lap, the pit that was lifted.
    fn sow_seeds(&mut self, pit: Pit, effects: &mut impl EffectSink) -> Place {
        let ring = self.board.ring();
        let stores = Spots::NONE.with(ring.store(Side::South)).with(ring.store(Side::North));
        let skipped = ring.pit(pit).map_or(stores, |origin| stores.with(origin));
        sowing::sow(&mut self.board, pit, skipped, effects)
    }

    /// R6: captures the chain, as far as the rule on grand slams allows. Returns whether it was a grand slam.
    fn capture(&mut self, last: Place, effects: &mut impl EffectSink) -> bool {
        let mut from = self.chain(last);
        let grand_slam = self.takes_all(&from);
        if grand_slam {
            match self.options.grand_slam {
                GrandSlam::Capture | GrandSlam::Avoid | GrandSlam::ForfeitRest => {}
                GrandSlam::NoCapture | GrandSlam::Illegal => from.clear(),
                // The chain runs from the pit of the last seed to the first pit of the row. A chain of one pit captures
                // nothing.
                GrandSlam::LeaveLanding => drop(from.pop_at(0)),
                GrandSlam::LeaveFirst => drop(from.pop()),
            }
        }
        if !from.is_empty() {
            let ring = self.board.ring();
            let seeds = from.iter().filter_map(|&pit| ring.pit(pit)).map(|spot| self.board.lift(spot)).sum();
            self.board.bank(self.turn, seeds);
            effects.record(Effect::Capture { from, seeds, to: self.turn });
        }
        grand_slam
    }

    /// R6: the pits back from the last seed, as long as they are on the other row and hold two or three seeds.
    fn chain(&self, last: Place) -> Chain {
        let Place::Pit(Pit { side, index }) = last else { return Chain::new() };
        if side == self.turn {
            return Chain::new();
        }
        let back = (0..=index).rev().map(|index| Pit { side, index });
        back.take_while(|&pit| matches!(self.board.seeds(pit), 2 | 3)).take(ROW_MAX).collect()
    }

    /// Whether a chain holds every seed of the other row; `false` for an empty chain.
    fn takes_all(&self, chain: &Chain) -> bool {
        let taken: u16 = chain.iter().map(|&pit| self.board.seeds(pit)).sum();
        taken > 0 && taken == self.board.pits(!self.turn).iter().sum::<u16>()
    }

    /// R8, step 2: whether a store holds more than half of all seeds.
    fn has_majority(&self) -> bool {
        let half_passed = |side| 2 * self.board.store(side) > self.board.total();
        self.options.majority_end && Side::ALL.into_iter().any(half_passed)
    }

    /// R8, steps 4 and 5: the side to act chooses. If it has no legal move, or the position has come too often, the
    /// game ends.
    fn begin_choice(&mut self, history: &History, effects: &mut impl EffectSink) {
        if self.legal_pits().next().is_none() {
            let must_feed = self.options.must_feed && self.board.row_is_empty(!self.turn);
            let no_feeding_move = must_feed && !self.board.row_is_empty(self.turn);
            let reason = if no_feeding_move { EndReason::NoFeedingMove } else { EndReason::NoMove };
            self.finish(reason, effects);
        } else if history.count(&self.board, self.turn) + 1 >= usize::from(self.options.repetition) {
            self.finish(EndReason::Repetition, effects);
        }
    }

    /// R8: moves the seeds left in pits to the stores that the options name, and closes the game.
    fn finish(&mut self, reason: EndReason, effects: &mut impl EffectSink) {
        if reason == EndReason::Repetition && self.options.repetition_award == RepetitionAward::Split {
            self.split(effects);
        } else {
            let recipients = self.recipients(reason);
            sweep(&mut self.board, recipients, effects);
        }
        self.over = true;
        self.reason = Some(reason);
        effects.record(Effect::GameOver { reason });
    }

    /// The side whose store gets the seeds left in each row; `None` where they stay in their pits.
    fn recipients(&self, reason: EndReason) -> BySide<Option<Side>> {
        match reason {
            EndReason::Majority if self.options.majority_remaining == MajorityRemaining::Leave => BySide::default(),
            EndReason::GrandSlamForfeit => BySide { south: Some(!self.turn), north: Some(!self.turn) },
            _ => OWNERS,
        }
    }

    /// R8: each side gets half of the seeds left. An odd seed stays in pit 0 of the side that moved last.
    fn split(&mut self, effects: &mut impl EffectSink) {
        let mut lift_row = |side| self.board.pits_mut(side).iter_mut().map(std::mem::take).sum::<u16>();
        let left = lift_row(Side::South) + lift_row(Side::North);
        let seeds = left / 2;
        for side in Side::ALL {
            self.board.bank(side, seeds);
        }
        let odd = (left % 2 == 1).then_some(Pit { side: !self.turn, index: 0 });
        if let Some(spot) = odd.and_then(|pit| self.board.ring().pit(pit)) {
            self.board.drop(spot, 1);
        }
        effects.record(Effect::Split { seeds, odd });
    }
}

impl Game for Position {
    type Options = Options;

    const SPEC: GameSpec = GameSpec {
        title: "Oware",
        aliases: &[
            "Awalé", "Awélé", "Awari", "Wari", "Warri", "Ayo", "Ayoayo", "Ouri", "Ouril", "Uril", "Wali", "Adji",
            "Abapa",
        ],
        rules: include_str!("oware.md"),
        refusals: &[refusals::ALL],
        ..GameSpec::PLAIN
    };

    /// The opening: every pit holds the same number of seeds, the stores are empty, and South is to move (R2). With one
    /// pit a side, one seed a pit and illegal grand slams there is no legal move, so the game is over.
    fn opening(options: Options) -> Self {
        let board = Board::filled(options.pits, options.seeds.into());
        let mut position = Self { options, board, turn: Side::South, over: false, plies: 0, reason: None };
        position.end_if_over();
        position
    }

    /// The position of a position text (R12), ended where the rules end it (R8).
    fn parse(options: Options, text: &str, total: Total) -> Result<Self, ParsePositionError> {
        let setup = Setup::of(text)?;
        let board = setup.two_rows(options.pits, None)?;
        setup.check_single_round()?;
        let over = Flags::read(setup.flags, &[Flag::OVER])?.has(Flag::OVER);
        total.check(&board, options.total())?;
        let mut position = Self { options, board, turn: setup.turn, over, plies: setup.plies, reason: None };
        if !position.over {
            position.end_if_over();
        }
        Ok(position)
    }

    /// Without the plies.
    fn essence(&self) -> Self {
        Self { plies: 0, ..*self }
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
        self.over.then(|| Outcome::of(self.board.stores(), self.reason))
    }

    /// The pits that may be sown, in order (R4). An agreed end is never listed.
    fn legal_moves(&self) -> MoveList {
        if self.over { MoveList::new() } else { self.legal_pits().map(Move::Sow).collect() }
    }

    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        match m {
            _ if self.over => Err(IllegalMove::GameOver),
            Move::Sow(pit) if pit.index >= self.options.pits => Err(IllegalMove::NoSuchPit(pit)),
            Move::Sow(pit) if pit.side != self.turn => Err(IllegalMove::NotYourPit(pit)),
            Move::Sow(pit) if self.board.seeds(pit) == 0 => Err(IllegalMove::EmptyPit(pit)),
            Move::Sow(pit) => self.forbidden(pit).map_or(Ok(()), Err),
            Move::Agree if self.options.agree_end => Ok(()),
            other => Err(IllegalMove::of_unknown_form(other)),
        }
    }

    /// The one implementation of a move.
    fn act(&mut self, m: Move, history: &History, effects: &mut impl EffectSink) {
        self.plies = self.plies.saturating_add(1).min(PLIES_MAX);
        match m {
            Move::Sow(pit) => self.sow(pit, history, effects),
            Move::Agree => self.finish(EndReason::Agreement, effects),
            _ => {}
        }
    }

    fn recurring(&self) -> Option<(&Board, u8)> {
        Some((&self.board, self.options.repetition))
    }
}

/// The position string (R12).
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { board, turn, plies, .. } = self;
        let mut flags = Flags::default();
        if self.over {
            flags.raise(Flag::OVER);
        }
        f.write_str(&Written::of(&board, None, turn).flags(flags, &[Flag::OVER]).plies(plies).single_round())
    }
}
