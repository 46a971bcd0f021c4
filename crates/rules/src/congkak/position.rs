//! A position of Congkak, and what a move does to it: the rules of the game. Knows no other game.

use std::fmt;

use arrayvec::ArrayVec;

use super::{MatchVictory, Opening, Options, RefillFrom, RoundStarter, Rounds, refusals};
use crate::{
    AnyBoard, Board, BySide, Effect, EndReason, Game, GameSpec, History, IllegalMove, Lockstep, Move, MoveList,
    Outcome, PLIES_MAX, ParsePositionError, Pit, Place, Round, Side, Total,
    effect::EffectSink,
    ring::{ROW_MAX, Spots},
    setup::{Flag, Flags, Setup, Written, parse_number, parse_pair},
    sowing,
    sweep::{OWNERS, sweep},
};

/// The letter of a burnt pit, which is marked on the board (R9).
const BURNT: char = 'x';

/// `l`: both sides choose a pit to sow at once (R10). The pit of South follows, while it waits for North's choice.
const LOCKSTEP: Flag = Flag::own(0, 'l');

/// The flags of Congkak, in their order.
const FLAGS: [Flag; 3] = [Flag::EXTRA, Flag::OVER, LOCKSTEP];

/// A position of Congkak with its options.
///
/// ```
/// use mancala_rules::{Game, History, congkak};
///
/// let opening = congkak::Position::opening(congkak::Preset::Six.options());
/// let (position, effects) = opening.play("A".parse()?, &History::default())?;
/// assert_eq!(position.to_string(), "0,7,7,7,7,7/6,6,6,6,6,6 1-0 S e 1 1S");
/// assert_eq!(effects.len(), 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    options: Options,
    pub(super) board: Board,
    pub(super) turn: Side,
    flags: Flags,
    /// A lockstep opening in which no seed has been sown yet.
    pub(super) lockstep: Option<Lockstep>,
    plies: u32,
    /// The number of the round, from 1.
    round: u32,
    /// The side that opened the round.
    opener: Side,
    /// The points of each side; 0 where they do not decide the match.
    points: BySide<u16>,
    /// Which rule ended the last round; `None` while the game runs, and if it was imported as finished.
    reason: Option<EndReason>,
}

impl Position {
    /// The seeds and the burnt pits.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Refuses a lockstep opening that is none (R10, R12). Its options are others, its round is a later one, or it has
    /// other flags too. Or the wrong side is to move, or a pit is chosen that cannot be sown.
    fn check_lockstep(&self) -> Result<(), ParsePositionError> {
        let Some(Lockstep { chosen }) = self.lockstep else { return Ok(()) };
        let flag = LOCKSTEP.letter;
        if self.options.opening != Opening::Lockstep {
            return Err(ParsePositionError::FlagByOptions { flag });
        }
        let is_first = self.flags == Flags::default() && (self.round, self.opener) == (1, Side::South);
        let chooser = if chosen.is_some() { Side::North } else { Side::South };
        let is_sown = chosen.is_none_or(|pit| self.board.seeds(pit) > 0);
        if is_first && self.turn == chooser && is_sown {
            Ok(())
        } else {
            Err(ParsePositionError::FlagByPosition { flag })
        }
    }

    /// Whether the side to move is on an extra move (R7).
    pub(crate) const fn is_extra(&self) -> bool {
        self.flags.has(Flag::EXTRA)
    }

    const fn is_over(&self) -> bool {
        self.flags.has(Flag::OVER)
    }

    /// R3, R5, R7: sow, lap after lap. A last seed in the own store gives an extra move, and one in an empty pit may
    /// capture.
    fn sow(&mut self, pit: Pit, effects: &mut impl EffectSink) {
        let banked_before = self.board.store(self.turn);
        let skipped = self.board.marked().with(self.board.ring().store(!self.turn));
        let extra = match sowing::sow_in_laps(&mut self.board, pit, skipped, effects) {
            Place::Store(_) => true,
            Place::Pit(last) => {
                // A sowing reaches the other row only through the own store, and leaves a seed there.
                let reached_other_row = self.board.store(self.turn) > banked_before;
                self.end_in_pit(self.turn, last, reached_other_row, effects);
                false
            }
        };
        if self.round_is_over() {
            self.finish_round(effects);
        } else if extra {
            self.flags.raise(Flag::EXTRA);
            effects.record(Effect::ExtraTurn);
        } else {
            self.flags.clear(Flag::EXTRA);
            self.turn = !self.turn;
        }
    }

    /// R5: a last seed in an empty pit may capture for the side that sowed it.
    pub(super) fn end_in_pit(&mut self, side: Side, last: Pit, reached_other_row: bool, effects: &mut impl EffectSink) {
        if reached_other_row || !self.options.capture_needs_lap {
            self.capture(side, last, effects);
        }
    }

    /// R5. A pit that holds one seed after the last drop was empty before it, even after a sowing of a full lap. A
    /// burnt pit counts as an empty one for the pit that faces it.
    fn capture(&mut self, side: Side, last: Pit, effects: &mut impl EffectSink) {
        if last.side != side || self.board.seeds(last) != 1 {
            return;
        }
        let ring = self.board.ring();
        let facing = ring.facing(last);
        let facing_is_empty = self.board.seeds(facing) == 0;
        if facing_is_empty && !self.options.empty_capture {
            return;
        }
        let mut from = ArrayVec::new();
        if self.options.take_own_seed {
            from.push(last);
        }
        if !facing_is_empty {
            from.push(facing);
        }
        let seeds = from.iter().filter_map(|&pit| ring.pit(pit)).map(|spot| self.board.lift(spot)).sum();
        self.board.bank(side, seeds);
        effects.record(Effect::Capture { from, seeds, to: side });
    }

    /// R8: either row is empty, even inside a turn. So the side to act always has seeds to sow.
    pub(super) fn round_is_over(&self) -> bool {
        Side::ALL.into_iter().any(|side| self.board.row_is_empty(side))
    }

    /// R8: each row goes to its owner's store. Then the next round begins, or the game ends (R9).
    pub(super) fn finish_round(&mut self, effects: &mut impl EffectSink) {
        sweep(&mut self.board, OWNERS, effects);
        self.flags.clear(Flag::EXTRA);
        self.lockstep = None;
        if self.options.rounds == Rounds::Multi {
            self.award_points();
            let points = self.options.has_points().then_some(self.points);
            effects.record(Effect::RoundOver { round: self.round, score: self.board.stores(), points });
            if self.another_round_follows() {
                return self.open_round(effects);
            }
        }
        let reason = EndReason::SideEmpty;
        self.flags.raise(Flag::OVER);
        self.reason = Some(reason);
        effects.record(Effect::GameOver { reason });
    }

    /// R9: the points of a round that is over, by its stores.
    fn award_points(&mut self) {
        let winner = Outcome::of(self.board.stores(), None).winner;
        for side in Side::ALL {
            let points = match self.options.match_victory {
                MatchVictory::LastRound => 0,
                MatchVictory::RoundsWon => u16::from(winner == Some(side)),
                MatchVictory::PitsBurnt => u16::from(self.options.pits - self.pits_to_fill(!side)),
            };
            self.points[side] = self.points[side].saturating_add(points);
        }
    }

    /// R9: a match ends after its last round, or when a side cannot fill one pit. It also ends when a side has won so
    /// many rounds that the other cannot come level.
    fn another_round_follows(&self) -> bool {
        let rounds_left = u32::from(self.options.max_rounds).saturating_sub(self.round);
        let lead = u32::from(self.points.south.abs_diff(self.points.north));
        let is_decided = self.options.match_victory == MatchVictory::RoundsWon && lead > rounds_left;
        rounds_left > 0 && !is_decided && Side::ALL.into_iter().all(|side| self.pits_to_fill(side) > 0)
    }

    /// How many pits the store of this side fills when all seeds are in the stores; the rest stays in the store.
    fn pits_to_fill(&self, side: Side) -> u8 {
        let pits = self.board.store(side) / u16::from(self.options.seeds);
        u8::try_from(pits).map_or(self.options.pits, |pits| pits.min(self.options.pits))
    }

    /// R9: fills the pits from the stores, burns those that stay empty unless the options forbid it, and gives the move to
    /// the new opener.
    fn open_round(&mut self, effects: &mut impl EffectSink) {
        let opener = self.next_opener();
        self.board.set_marked(Spots::NONE);
        for side in Side::ALL {
            self.refill(side, effects);
        }
        self.round += 1;
        self.opener = opener;
        self.turn = opener;
    }

    fn refill(&mut self, side: Side, effects: &mut impl EffectSink) {
        let (ring, seeds) = (self.board.ring(), u16::from(self.options.seeds));
        let (pits, count) = (self.options.pits, self.pits_to_fill(side));
        let filled = match self.options.refill_from {
            RefillFrom::Store => pits - count..pits,
            RefillFrom::Far => 0..count,
        };
        let (mut burnt, mut named) = (self.board.marked(), ArrayVec::new());
        let mut store = self.board.lift(ring.store(side));
        for index in 0..pits {
            let spot = ring.row(side) + index;
            if filled.contains(&index) {
                store -= seeds;
                self.board.drop(spot, seeds);
                named.push(Pit { side, index });
            } else if self.options.burnt_pits {
                burnt = burnt.with(spot);
            }
        }
        self.board.bank(side, store);
        self.board.set_marked(burnt);
        effects.record(Effect::Refill { side, pits: named, seeds });
    }

    /// R9: by the stores of the round that is over. After a tie the other side opens, whatever `round_starter` is.
    fn next_opener(&self) -> Side {
        match (self.options.round_starter, Outcome::of(self.board.stores(), None).winner) {
            (RoundStarter::Alternate, _) | (_, None) => !self.opener,
            (RoundStarter::Loser, Some(winner)) => !winner,
            (RoundStarter::Winner, Some(winner)) => winner,
        }
    }
}

impl Game for Position {
    type Options = Options;

    const SPEC: GameSpec = GameSpec {
        title: "Congkak",
        aliases: &[
            "Congklak",
            "Congka",
            "Main Congkak",
            "Main Chongkak",
            "Chongkak",
            "Tjongklak",
            "Jogklak",
            "Dakon",
            "Dhakon",
            "Sungka",
            "Chongka",
            "Chonka",
            "Tsjoncka",
            "Kunggit",
            "Naranj",
            "Ohvalhu",
            "Mak Khom",
        ],
        rules: include_str!("congkak.md"),
        refusals: &[refusals::ALL],
        ..GameSpec::PLAIN
    };

    /// The opening: every pit holds the same number of seeds, the stores are empty, and South is to move (R2).
    fn opening(options: Options) -> Self {
        let board = Board::filled(options.pits, options.seeds.into());
        let lockstep = (options.opening == Opening::Lockstep).then_some(Lockstep { chosen: None });
        Self {
            options,
            board,
            turn: Side::South,
            flags: Flags::default(),
            lockstep,
            plies: 0,
            round: 1,
            opener: Side::South,
            points: BySide::default(),
            reason: None,
        }
    }

    /// The position of a position text (R12), ended where the rules end it (R8).
    fn parse(options: Options, text: &str, total: Total) -> Result<Self, ParsePositionError> {
        let setup = Setup::of(text)?;
        let mark = (options.rounds == Rounds::Multi && options.burnt_pits).then_some(BURNT);
        let board = setup.two_rows(options.pits, mark)?;
        let (mut flags, chosen) = read_flags(setup.flags)?;
        let (round, opener, points) = read_round(options, &setup, flags)?;
        let (turn, plies) = (setup.turn, setup.plies);
        if flags.has(Flag::EXTRA) && flags.has(Flag::OVER) {
            return Err(ParsePositionError::FlagByPosition { flag: Flag::EXTRA.letter });
        }
        let lockstep = flags.has(LOCKSTEP).then_some(Lockstep { chosen });
        flags.clear(LOCKSTEP);
        total.check(&board, options.total())?;
        let mut position = Self { options, board, turn, flags, lockstep, plies, round, opener, points, reason: None };
        position.check_lockstep()?;
        if !position.is_over() && position.round_is_over() {
            position.finish_round(&mut ());
        }
        Ok(position)
    }

    /// Without the plies and the extra move, which cannot be declined.
    fn essence(&self) -> Self {
        let mut essence = Self { plies: 0, ..*self };
        essence.flags.clear(Flag::EXTRA);
        essence
    }

    fn options(&self) -> Options {
        self.options
    }

    fn any_board(&self) -> AnyBoard {
        AnyBoard::TwoRow(self.board)
    }

    /// The side to move; once the game is over, the side that moved last (R8).
    fn turn(&self) -> Side {
        self.turn
    }

    /// How many actions were played so far, in all rounds together.
    fn plies(&self) -> u32 {
        self.plies
    }

    /// The result, once the game is over. More seeds in store win, in a match after its last round. Where points decide
    /// a match, more points win (R8, R9).
    fn outcome(&self) -> Option<Outcome> {
        let by_stores = || Outcome::of(self.board.stores(), self.reason);
        let by_points = || Outcome { winner: Outcome::of(self.points, None).winner, ..by_stores() };
        self.is_over().then(|| if self.options.has_points() { by_points() } else { by_stores() })
    }

    /// The pits that may be sown, in order (R4).
    fn legal_moves(&self) -> MoveList {
        if self.is_over() { MoveList::new() } else { self.board.filled_pits(self.turn).map(Move::Sow).collect() }
    }

    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        match m {
            _ if self.is_over() => Err(IllegalMove::GameOver),
            Move::Sow(pit) if pit.index >= self.options.pits => Err(IllegalMove::NoSuchPit(pit)),
            Move::Sow(pit) if pit.side != self.turn => Err(IllegalMove::NotYourPit(pit)),
            Move::Sow(pit) if self.board.is_marked(pit) => Err(IllegalMove::Rule(&refusals::BURNT_PIT, Some(pit))),
            Move::Sow(pit) if self.board.seeds(pit) == 0 => Err(IllegalMove::EmptyPit(pit)),
            Move::Sow(_) => Ok(()),
            other => Err(IllegalMove::of_unknown_form(other)),
        }
    }

    /// The one implementation of a move.
    fn act(&mut self, m: Move, _: &History, effects: &mut impl EffectSink) {
        let Move::Sow(pit) = m else { return };
        self.plies = self.plies.saturating_add(1).min(PLIES_MAX);
        match self.lockstep.take() {
            None => self.sow(pit, effects),
            Some(Lockstep { chosen: None }) => self.choose(pit, effects),
            Some(Lockstep { chosen: Some(south) }) => self.sow_in_lockstep(south, pit, effects),
        }
    }

    fn round(&self) -> Option<Round> {
        let &Self { round: number, opener, points, .. } = self;
        let points = self.options.has_points().then_some(points);
        (self.options.rounds == Rounds::Multi).then_some(Round { number, opener, points })
    }

    fn is_burnt(&self, pit: Pit) -> bool {
        self.board.is_marked(pit)
    }

    fn can_burn(&self) -> bool {
        self.options.rounds == Rounds::Multi && self.options.burnt_pits
    }

    fn lockstep(&self) -> Option<Lockstep> {
        self.lockstep
    }
}

/// Reads the flags, and the pit that follows `l`.
fn read_flags(text: &str) -> Result<(Flags, Option<Pit>), ParsePositionError> {
    let (letters, chosen) = text.split_at(text.find(LOCKSTEP.letter).map_or(text.len(), |at| at + 1));
    let flags = Flags::read(letters, &FLAGS)?;
    let chosen = if chosen.is_empty() { None } else { Some(chosen.parse().map_err(|_| ParsePositionError::Flags)?) };
    let is_of_south = chosen.is_none_or(|pit: Pit| pit.side == Side::South && usize::from(pit.index) < ROW_MAX);
    if is_of_south { Ok((flags, chosen)) } else { Err(ParsePositionError::Flags) }
}

/// Reads the round, the side that opened it, and points if there are any. Refuses what no game with these options has (R12).
fn read_round(options: Options, setup: &Setup, flags: Flags) -> Result<(u32, Side, BySide<u16>), ParsePositionError> {
    let divided = |side: Side| Some((side, setup.round.split_once(side.letter())?));
    let (opener, (round, points)) = Side::ALL.into_iter().find_map(divided).ok_or(ParsePositionError::Round)?;
    let round = parse_number(round).filter(|&round| round > 0).ok_or(ParsePositionError::Round)?;
    let number = |text: &str| parse_number(text).and_then(|points| u16::try_from(points).ok());
    let points = match points {
        "" => None,
        points => Some(parse_pair(points, number).ok_or(ParsePositionError::Round)?),
    };
    if options.rounds == Rounds::Single {
        setup.check_single_round()?;
    } else if round > options.max_rounds.into() {
        return Err(ParsePositionError::RoundNumber { max: options.max_rounds });
    }
    let rounds_over = if flags.has(Flag::OVER) { round } else { round - 1 };
    let is_possible = match points {
        None => !options.has_points(),
        Some((south, north)) => match options.match_victory {
            MatchVictory::LastRound => false,
            MatchVictory::RoundsWon => u32::from(south) + u32::from(north) <= rounds_over,
            MatchVictory::PitsBurnt => u32::from(south.max(north)) <= rounds_over * u32::from(options.pits),
        },
    };
    let (south, north) = points.unwrap_or_default();
    if is_possible { Ok((round, opener, BySide { south, north })) } else { Err(ParsePositionError::Points) }
}

/// The position string (R12).
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut flags = self.flags;
        if self.lockstep.is_some() {
            flags.raise(LOCKSTEP);
        }
        let mut text = Written::of(&self.board, Some(BURNT), self.turn).flags(flags, &FLAGS);
        let chosen = self.lockstep.and_then(|lockstep| lockstep.chosen);
        if let Some(pit) = chosen.filter(|pit| usize::from(pit.index) < ROW_MAX) {
            text.push(char::from(b'A' + pit.index));
        }
        let mut text = text.plies(self.plies);
        text.number(self.round);
        text.push(self.opener.letter());
        if self.options.has_points() {
            text.pair(self.points.south, self.points.north);
        }
        f.write_str(text.as_str())
    }
}
