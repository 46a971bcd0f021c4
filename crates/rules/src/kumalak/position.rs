//! A position of Toguz Kumalak or Bestemshe, and what a move does to it: the rules of both games. Knows no other game.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use arrayvec::ArrayVec;

use super::{
    End, RepetitionAward, TuzdykSymmetry,
    rules::{KumalakOptions, Rules},
};
use crate::{
    AnyBoard, Board, Effect, EndReason, Game, GameSpec, HISTORY_MAX, History, IllegalMove, Move, MoveList, Outcome,
    PLIES_MAX, ParsePositionError, Pit, Place, Side, Total,
    effect::EffectSink,
    options::MajorityRemaining,
    ring::Ring,
    setup::{Flag, Flags, Setup, Written},
    sweep::{OWNERS, sweep},
};

/// The letter of a tuzdyk, which is marked on the board; its owner is the other side (R44).
const TUZDYK: char = 't';

/// What tuzdyks must be like (R44).
const TUZDYKS: &str = "a row has at most one tuzdyk, not in its last pit, and not where the other one bars it";

/// A position of Toguz Kumalak or Bestemshe with its options.
///
/// A position does not hold the [`History`] that the rule against repetition needs (R45): the caller passes it in.
/// [`AnyPosition`](crate::AnyPosition) keeps the two together.
///
/// ```
/// use mancala_rules::{Game, History, toguz_kumalak::{Position, Preset}};
///
/// let opening = Position::opening(Preset::Standard.options());
/// let (position, effects) = opening.play("I".parse()?, &History::default())?;
/// assert_eq!(position.to_string(), "9,9,9,9,9,9,9,9,1/10,10,10,10,10,10,10,0,9 10-0 N - 1 1S");
/// assert_eq!(effects.len(), 11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position<O> {
    options: O,
    board: Board,
    turn: Side,
    over: bool,
    plies: u32,
    /// Which rule ended the game; `None` while it runs, and if it was imported as finished.
    reason: Option<EndReason>,
}

impl<O: KumalakOptions> Position<O> {
    /// The seeds and the tuzdyks.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// R45, steps 1 to 3, for a position that no move led to. No side has moved, so the side to move stays.
    fn end_if_over(&mut self) {
        if let Some(reason) = self.end_of_a_move() {
            self.finish(reason, &mut ());
        } else if self.board.row_is_empty(self.turn) {
            self.finish(EndReason::NoMove, &mut ());
        }
    }

    /// R42: lifts all seeds of a pit and drops them one by one. A single seed goes into the next pit. If there are several, the
    /// first one goes into the pit itself. Returns the pit that the last seed reached; `None` if there was nothing to sow.
    ///
    /// The hand holds at most [`SEEDS_MAX`](crate::SEEDS_MAX) seeds, and each turn of the loop drops one of them.
    fn sow(&mut self, pit: Pit, effects: &mut impl EffectSink) -> Option<Pit> {
        let ring = self.board.ring();
        let origin = ring.pit(pit)?;
        let hand = self.board.lift(origin);
        effects.record(Effect::Lift { pit, seeds: hand });
        let mut at = (origin, pit);
        let mut last = None;
        for dropped in 0..hand {
            if dropped > 0 || hand == 1 {
                at = next_pit(ring, at.0)?;
            }
            let (spot, pit) = at;
            self.drop(spot, pit, effects);
            last = Some(pit);
        }
        last
    }

    /// Drops a seed in a pit. A tuzdyk passes it on to the store of its owner (R44).
    fn drop(&mut self, spot: u8, pit: Pit, effects: &mut impl EffectSink) {
        if self.board.is_marked(pit) {
            let owner = !pit.side;
            self.board.bank(owner, 1);
            effects.record(Effect::Sow { to: Place::Store(owner) });
        } else {
            self.board.drop(spot, 1);
            effects.record(Effect::Sow { to: Place::Pit(pit) });
        }
    }

    /// R43, R44: an even number of seeds on the other row is captured. Three seeds are captured if their pit may become
    /// the mover's tuzdyk, and it does.
    fn capture(&mut self, last: Pit, effects: &mut impl EffectSink) {
        if last.side == self.turn || self.board.is_marked(last) {
            return;
        }
        let Some(spot) = self.board.ring().pit(last) else { return };
        let seeds = self.board.at(spot);
        let is_even = seeds.is_multiple_of(2) && (seeds > 2 || self.options.rules().capture_two);
        let becomes_tuzdyk = seeds == 3 && self.may_become_tuzdyk(last);
        if !is_even && !becomes_tuzdyk {
            return;
        }
        let seeds = self.board.lift(spot);
        self.board.bank(self.turn, seeds);
        effects.record(Effect::Capture { from: ArrayVec::from_iter([last]), seeds, to: self.turn });
        if becomes_tuzdyk {
            self.board.mark(spot);
            effects.record(Effect::Tuzdyk { pit: last, side: self.turn });
        }
    }

    /// R44: the mover has no tuzdyk yet, the pit is not the last of its row, and the other side's tuzdyk does not bar it.
    fn may_become_tuzdyk(&self, pit: Pit) -> bool {
        let rules = self.options.rules();
        let Some(symmetry) = rules.tuzdyk else { return false };
        let is_barred = |other| bars(rules.pits, symmetry, other, pit);
        self.tuzdyk(self.turn).is_none()
            && pit.index + 1 < rules.pits
            && !self.tuzdyk(!self.turn).is_some_and(is_barred)
    }

    /// R45, steps 1 and 2: the end that does not ask who is to move next.
    fn end_of_a_move(&self) -> Option<EndReason> {
        let rules = self.options.rules();
        let half_passed = |side| 2 * self.board.store(side) > self.board.total();
        if rules.majority_end && Side::ALL.into_iter().any(half_passed) {
            Some(EndReason::Majority)
        } else if rules.end == End::SideEmpty && Side::ALL.into_iter().any(|side| self.board.row_is_empty(side)) {
            Some(EndReason::SideEmpty)
        } else {
            None
        }
    }

    /// R45, step 4: the position has come as often as it may, or no store has changed for so long that the history is
    /// full. The second bound makes every game end. Stores change at least once in [`HISTORY_MAX`] + 1 plies. A store
    /// can grow at most as often as there are seeds.
    fn goes_in_circles(&self, history: &History) -> bool {
        let limit = usize::from(self.options.rules().repetition);
        history.len() >= HISTORY_MAX || history.count(&self.board, self.turn) + 1 >= limit
    }

    /// R45: moves the seeds left in pits to the stores that the options name, and closes the game.
    fn finish(&mut self, reason: EndReason, effects: &mut impl EffectSink) {
        let rules = self.options.rules();
        match (reason, rules.majority_remaining, rules.repetition_award) {
            (EndReason::Majority, MajorityRemaining::Leave, _) => {}
            (EndReason::Repetition, _, RepetitionAward::Split) => self.split(effects),
            (EndReason::Repetition, _, RepetitionAward::Draw) => self.level(effects),
            _ => sweep(&mut self.board, OWNERS, effects),
        }
        self.over = true;
        self.reason = Some(reason);
        effects.record(Effect::GameOver { reason });
    }

    /// R45: each side gets half of the seeds left.
    fn split(&mut self, effects: &mut impl EffectSink) {
        let left = self.lift_all();
        let seeds = left / 2;
        for side in Side::ALL {
            self.board.bank(side, seeds);
        }
        let odd = self.leave_odd(left - 2 * seeds);
        effects.record(Effect::Split { seeds, odd });
    }

    /// R45: each side gets as many of the seeds left as its store lacks of half of all seeds. No store holds more than
    /// half, because the options that make a draw stop at a majority.
    fn level(&mut self, effects: &mut impl EffectSink) {
        let half = self.board.total() / 2;
        let left = self.lift_all();
        let lacking = self.board.stores().map(|store| half.saturating_sub(store).min(left));
        for side in Side::ALL {
            self.board.bank(side, lacking[side]);
        }
        let odd = self.leave_odd(left.saturating_sub(lacking.south + lacking.north));
        effects.record(Effect::Level { south: lacking.south, north: lacking.north, odd });
    }

    /// Takes all seeds out of the pits.
    fn lift_all(&mut self) -> u16 {
        Side::ALL.into_iter().map(|side| self.board.pits_mut(side).iter_mut().map(std::mem::take).sum::<u16>()).sum()
    }

    /// An odd seed stays in the first pit of the side that moved last that is no tuzdyk. The last pit of a row is none.
    fn leave_odd(&mut self, seeds: u16) -> Option<Pit> {
        let side = !self.turn;
        let mut row = (0..self.board.pits_per_side()).map(|index| Pit { side, index });
        let pit = row.find(|&pit| !self.board.is_marked(pit)).filter(|_| seeds > 0)?;
        self.board.drop(self.board.ring().pit(pit)?, seeds);
        Some(pit)
    }
}

impl<O: KumalakOptions> Game for Position<O> {
    type Options = O;

    const SPEC: GameSpec = O::SPEC;

    /// The opening: every pit holds the same number of seeds, the stores are empty, and South is to move (R39).
    fn opening(options: O) -> Self {
        let Rules { pits, seeds, .. } = options.rules();
        let board = Board::filled(pits, seeds.into());
        Self { options, board, turn: Side::South, over: false, plies: 0, reason: None }
    }

    /// The position of a position text (R12), ended where the rules end it (R8).
    fn parse(options: O, text: &str, total: Total) -> Result<Self, ParsePositionError> {
        let rules = options.rules();
        let setup = Setup::of(text)?;
        let board = setup.two_rows(rules.pits, rules.tuzdyk.map(|_| TUZDYK))?;
        setup.check_single_round()?;
        check_tuzdyks(rules, &board)?;
        let over = Flags::read(setup.flags, &[Flag::OVER])?.has(Flag::OVER);
        total.check(&board, rules.total())?;
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

    fn hash_essence(&self, hasher: &mut impl Hasher) {
        (self.board, self.turn, self.over).hash(hasher);
    }

    fn options(&self) -> O {
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

    /// The result, once the game is over: more seeds in store wins (R45).
    fn outcome(&self) -> Option<Outcome> {
        self.over.then(|| Outcome::of(self.board.stores(), self.reason))
    }

    /// The pits that may be sown, in order: all of the side to move that hold seeds (R42).
    fn legal_moves(&self) -> MoveList {
        if self.over { MoveList::new() } else { self.board.filled_pits(self.turn).map(Move::Sow).collect() }
    }

    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        match m {
            _ if self.over => Err(IllegalMove::GameOver),
            Move::Sow(pit) if pit.index >= self.board.pits_per_side() => Err(IllegalMove::NoSuchPit(pit)),
            Move::Sow(pit) if pit.side != self.turn => Err(IllegalMove::NotYourPit(pit)),
            Move::Sow(pit) if self.board.seeds(pit) == 0 => Err(IllegalMove::EmptyPit(pit)),
            Move::Sow(_) => Ok(()),
            other => Err(IllegalMove::of_unknown_form(other)),
        }
    }

    /// The one implementation of a move (R42 to R45): sow, capture, and end the game where a rule does.
    fn act(&mut self, m: Move, history: &History, effects: &mut impl EffectSink) {
        let Move::Sow(pit) = m else { return };
        self.plies = self.plies.saturating_add(1).min(PLIES_MAX);
        let stores_before = self.board.stores();
        if let Some(last) = self.sow(pit, effects) {
            self.capture(last, effects);
        }
        if let Some(reason) = self.end_of_a_move() {
            return self.finish(reason, effects);
        }
        self.turn = !self.turn;
        if self.board.row_is_empty(self.turn) {
            self.finish(EndReason::NoMove, effects);
        } else if self.board.stores() == stores_before && self.goes_in_circles(history) {
            self.finish(EndReason::Repetition, effects);
        }
    }

    fn tuzdyk(&self, owner: Side) -> Option<Pit> {
        tuzdyk(&self.board, owner)
    }

    fn recurring(&self) -> Option<(&Board, u8)> {
        Some((&self.board, self.options.rules().repetition))
    }
}

/// The next pit in sowing order and its spot. Both stores are passed over, which never lie side by side.
fn next_pit(ring: Ring, spot: u8) -> Option<(u8, Pit)> {
    let mut spot = spot;
    for _ in 0..2 {
        spot = ring.after(spot);
        if let Place::Pit(pit) = ring.place(spot) {
            return Some((spot, pit));
        }
    }
    None
}

/// R44: whether the tuzdyk `other` keeps `pit`, on the other row, from becoming one.
const fn bars(pits: u8, symmetry: TuzdykSymmetry, other: Pit, pit: Pit) -> bool {
    match symmetry {
        TuzdykSymmetry::SameNumber => other.index == pit.index,
        TuzdykSymmetry::Facing => (Ring { pits }).facing(other).index == pit.index,
    }
}

/// The tuzdyk that this side owns.
fn tuzdyk(board: &Board, owner: Side) -> Option<Pit> {
    let mut row = (0..board.pits_per_side()).map(|index| Pit { side: !owner, index });
    row.find(|&pit| board.is_marked(pit))
}

/// Refuses tuzdyks that no game with these rules has (R41).
fn check_tuzdyks(rules: Rules, board: &Board) -> Result<(), ParsePositionError> {
    let Some(symmetry) = rules.tuzdyk else { return Ok(()) };
    let count = |side| (0..rules.pits).filter(|&index| board.is_marked(Pit { side, index })).count();
    let tuzdyks = Side::ALL.map(|side| tuzdyk(board, side));
    let is_last = |pit: Pit| pit.index + 1 == rules.pits;
    let wrong = Side::ALL.into_iter().any(|side| count(side) > 1)
        || tuzdyks.into_iter().flatten().any(is_last)
        || matches!(tuzdyks, [Some(one), Some(other)] if bars(rules.pits, symmetry, one, other));
    if wrong { Err(ParsePositionError::Rule(TUZDYKS)) } else { Ok(()) }
}

/// The position string (R41).
impl<O: KumalakOptions> fmt::Display for Position<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { board, turn, plies, .. } = self;
        let mut flags = Flags::default();
        if self.over {
            flags.raise(Flag::OVER);
        }
        f.write_str(&Written::of(&board, Some(TUZDYK), turn).flags(flags, &[Flag::OVER]).plies(plies).single_round())
    }
}
