//! A position of the toy, and what a move does to it: the rules of the game. Knows no other game.

use std::fmt;

use arrayvec::ArrayVec;

use super::{Options, refusals};
use crate::{
    AnyBoard, Board, Effect, EndReason, Game, GameSpec, History, IllegalMove, Move, MoveList, Outcome, OwnEffect,
    PLIES_MAX, ParsePositionError, Pit, Place, Side, Total,
    effect::EffectSink,
    ring::Spots,
    setup::{Flag, Flags, Setup, Written},
    sowing,
    sweep::{OWNERS, sweep},
};

/// Pits per side.
const PITS: u8 = 4;

/// `h`: the last move was a harvest, so this one cannot be.
const HARVESTED: Flag = Flag::own(0, 'h');

/// The flags of the toy, in their order.
const FLAGS: [Flag; 2] = [Flag::OVER, HARVESTED];

/// A position of the toy with its options.
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
    /// Whether a single seed in this pit stays there.
    fn is_lone_seed(&self, pit: Pit) -> bool {
        pit.index + 1 == PITS && self.board.seeds(pit) == 1
    }

    /// A last seed that makes an even number in an own pit is harvested with the others.
    fn harvest(&mut self, last: Place, effects: &mut impl EffectSink) {
        let may_harvest = !self.flags.has(HARVESTED);
        self.flags.clear(HARVESTED);
        let Place::Pit(pit) = last else { return };
        let seeds = self.board.seeds(pit);
        if may_harvest && pit.side == self.turn && seeds > 0 && seeds.is_multiple_of(2) {
            self.board.pits_mut(pit.side)[usize::from(pit.index)] = 0;
            self.board.bank(self.turn, seeds);
            self.flags.raise(HARVESTED);
            effects.record(Effect::Capture { from: ArrayVec::from_iter([pit]), seeds, to: self.turn });
            let (pit, side) = (Some(pit), Some(self.turn));
            effects.record(Effect::Own(OwnEffect { kind: "harvest", pit, side, seeds: None }));
        }
    }

    /// The side to move has no move: each row goes to its owner.
    fn end_if_stuck(&mut self, effects: &mut impl EffectSink) {
        if !self.legal_moves().is_empty() || self.flags.has(Flag::OVER) {
            return;
        }
        sweep(&mut self.board, OWNERS, effects);
        self.flags = Flags::default();
        self.flags.raise(Flag::OVER);
        self.reason = Some(EndReason::NoMove);
        effects.record(Effect::GameOver { reason: EndReason::NoMove });
    }
}

impl Options {
    /// How many seeds a game with these options has.
    fn total(self) -> u16 {
        2 * u16::from(PITS) * u16::from(self.seeds)
    }
}

impl Game for Position {
    type Options = Options;

    const SPEC: GameSpec = GameSpec {
        title: "Toy",
        aliases: &["Example"],
        rules: include_str!("toy.md"),
        refusals: &[refusals::ALL],
        ..GameSpec::PLAIN
    };

    fn opening(options: Options) -> Self {
        let board = Board::filled(PITS, options.seeds.into());
        let mut position = Self { options, board, turn: Side::South, flags: Flags::default(), plies: 0, reason: None };
        position.end_if_stuck(&mut ());
        position
    }

    /// The position of a position text, ended where the rules end it.
    fn parse(options: Options, text: &str, total: Total) -> Result<Self, ParsePositionError> {
        let setup = Setup::of(text)?;
        let board = setup.two_rows(PITS, None)?;
        setup.check_single_round()?;
        let flags = Flags::read(setup.flags, &FLAGS)?;
        if flags.has(Flag::OVER) && flags.has(HARVESTED) {
            return Err(ParsePositionError::FlagByPosition { flag: HARVESTED.letter });
        }
        total.check(&board, options.total())?;
        let mut position = Self { options, board, turn: setup.turn, flags, plies: setup.plies, reason: None };
        position.end_if_stuck(&mut ());
        Ok(position)
    }

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

    fn outcome(&self) -> Option<Outcome> {
        self.flags.has(Flag::OVER).then(|| Outcome::of(self.board.stores(), self.reason))
    }

    fn legal_moves(&self) -> MoveList {
        let side = self.turn;
        let moves = (0..PITS).map(|index| Move::Sow(Pit { side, index }));
        moves.filter(|&m| self.check(m).is_ok()).collect()
    }

    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        match m {
            _ if self.flags.has(Flag::OVER) => Err(IllegalMove::GameOver),
            Move::Sow(pit) if pit.index >= PITS => Err(IllegalMove::NoSuchPit(pit)),
            Move::Sow(pit) if pit.side != self.turn => Err(IllegalMove::NotYourPit(pit)),
            Move::Sow(pit) if self.board.seeds(pit) == 0 => Err(IllegalMove::EmptyPit(pit)),
            Move::Sow(pit) if self.is_lone_seed(pit) => Err(IllegalMove::Rule(&refusals::LONE_SEED, Some(pit))),
            Move::Sow(_) => Ok(()),
            other => Err(IllegalMove::of_unknown_form(other)),
        }
    }

    fn act(&mut self, m: Move, _: &History, effects: &mut impl EffectSink) {
        let Move::Sow(pit) = m else { return };
        self.plies = self.plies.saturating_add(1).min(PLIES_MAX);
        let skipped = Spots::NONE.with(self.board.ring().store(!self.turn));
        let last = sowing::sow(&mut self.board, pit, skipped, effects);
        self.harvest(last, effects);
        self.turn = !self.turn;
        self.end_if_stuck(effects);
    }
}

/// The position text.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { board, turn, flags, plies, .. } = self;
        f.write_str(&Written::of(&board, None, turn).flags(flags, &FLAGS).plies(plies).single_round())
    }
}
