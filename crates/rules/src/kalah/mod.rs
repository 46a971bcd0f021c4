//! Kalah, complete: its options, its presets, its rules. To be read beside `docs/rules.md`, whose sections R1 to R12
//! the comments name.

use std::{borrow::Cow, fmt};

use arrayvec::ArrayVec;

use super::{
    Board, BySide, Contradiction, Effect, EndReason, IllegalMove, Move, MoveList, OptionBounds, OptionSpec,
    OptionValue, OptionsError, Outcome, PLIES_MAX, ParsePositionError, Pit, Place, PresetSpec, SEEDS_MAX, Side,
    Variant,
    effect::Witness,
    options::{check_contradictions, choice, integer, switched_off},
    ring::Spots,
    setup::{Flag, Flags, Setup},
    sowing,
};

/// A position of Kalah with the options that it is played under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    options: Options,
    board: Board,
    turn: Side,
    flags: Flags,
    plies: u32,
    /// Which rule ended the game; `None` while it runs, and where it was imported as finished.
    reason: Option<EndReason>,
}

impl Position {
    /// Every pit filled alike, the stores empty, South to move (R2).
    #[must_use]
    pub fn opening(options: Options) -> Self {
        let mut board = Board::empty(options.pits);
        for side in Side::ALL {
            board.pits_mut(side).fill(options.seeds.into());
        }
        let mut flags = Flags::default();
        if options.pie {
            flags.raise(Flag::Pie);
        }
        Self { options, board, turn: Side::South, flags, plies: 0, reason: None }
    }

    /// The options that it is played under.
    #[must_use]
    pub const fn options(&self) -> Options {
        self.options
    }

    /// The seeds.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// The side to move; once the game is over, the side to move when that was noticed (R8).
    #[must_use]
    pub const fn turn(&self) -> Side {
        self.turn
    }

    /// Actions so far.
    #[must_use]
    pub const fn plies(&self) -> u32 {
        self.plies
    }

    /// Whether the people have changed seats (R7).
    #[must_use]
    pub const fn swapped(&self) -> bool {
        self.flags.has(Flag::Swapped)
    }

    /// The result, once the game is over: more seeds in store wins (R8).
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.is_over().then(|| Outcome::of(self.board.stores(), self.reason))
    }

    /// The pits that may be sown, in order, then `pass` on an optional extra move, then `swap` at North's first choice
    /// (R4).
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        if self.is_over() {
            return moves;
        }
        let side = self.turn;
        for (index, &seeds) in (0..).zip(self.board.pits(side)) {
            if seeds > 0 {
                moves.push(Move::Sow(Pit { side, index }));
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

    /// The position after a move, and what happened in between, in order.
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

    /// Takes over what a position string says, and ends what the rules end (R8, R12).
    pub(super) fn from_setup(options: Options, setup: &Setup) -> Result<Self, ParsePositionError> {
        let position = Self::from_setup_with_any_total(options, setup)?;
        let (expected, found) = (options.total(), setup.board.total());
        if found == expected { Ok(position) } else { Err(ParsePositionError::SeedTotal { expected, found }) }
    }

    /// The same for a made-up position with more or fewer seeds than the options say.
    pub(super) fn from_setup_with_any_total(options: Options, setup: &Setup) -> Result<Self, ParsePositionError> {
        if setup.board.pits_per_side() != options.pits {
            return Err(ParsePositionError::PitsPerSide { expected: options.pits });
        }
        if setup.board.total() > SEEDS_MAX {
            return Err(ParsePositionError::SeedTotal { expected: options.total(), found: setup.board.total() });
        }
        setup.check_single_round()?;
        options.check_flags(setup)?;
        let &Setup { board, turn, flags, plies, .. } = setup;
        let mut position = Self { options, board, turn, flags, plies, reason: None };
        if !position.is_over() {
            match position.end_of_sowing() {
                Some(reason) => position.finish(reason, &mut ()),
                None => position.begin_choice(&mut ()),
            }
        }
        Ok(position)
    }

    /// Whether the side to move is on an extra move (R7).
    pub(super) const fn is_extra(&self) -> bool {
        self.flags.has(Flag::Extra)
    }

    /// Whether North still has its right to swap (R7).
    pub(super) const fn has_pie(&self) -> bool {
        self.flags.has(Flag::Pie)
    }

    const fn is_over(&self) -> bool {
        self.flags.has(Flag::Over)
    }

    fn may_pass(&self) -> bool {
        self.flags.has(Flag::Extra) && self.options.extra_turn == ExtraTurn::Optional
    }

    /// The flag falls with North's first action, so this is North's first choice.
    fn may_swap(&self) -> bool {
        self.flags.has(Flag::Pie) && self.turn == Side::North
    }

    fn check(&self, m: Move) -> Result<(), IllegalMove> {
        match m {
            _ if self.is_over() => Err(IllegalMove::GameOver),
            Move::Sow(pit) if pit.index >= self.options.pits => Err(IllegalMove::NoSuchPit(pit)),
            Move::Sow(pit) if pit.side != self.turn => Err(IllegalMove::NotYourPit(pit)),
            Move::Sow(pit) if self.board.seeds(pit) == 0 => Err(IllegalMove::EmptyPit(pit)),
            Move::Pass if !self.may_pass() => Err(IllegalMove::NoPass),
            Move::Swap if !self.may_swap() => Err(IllegalMove::NoSwap),
            Move::Agree => Err(IllegalMove::NoAgree),
            Move::Sow(_) | Move::Pass | Move::Swap => Ok(()),
        }
    }

    /// The one implementation of a move.
    fn act(&mut self, m: Move, witness: &mut impl Witness) {
        self.plies = self.plies.saturating_add(1).min(PLIES_MAX);
        if self.turn == Side::North {
            self.flags.clear(Flag::Pie);
        }
        match m {
            Move::Sow(pit) => self.sow(pit, witness),
            Move::Pass => self.pass(witness),
            Move::Swap => self.swap(witness),
            Move::Agree => {}
        }
    }

    /// R3, R5, R7: sow; a last seed in the own store gives an extra move, one in an empty pit may capture.
    fn sow(&mut self, pit: Pit, witness: &mut impl Witness) {
        let skipped = match self.options.sow_stores {
            SowStores::Own => Spots::NONE.with(self.board.ring().store(!self.turn)),
            SowStores::Both => Spots::NONE,
        };
        let extra = match sowing::sow(&mut self.board, pit, skipped, witness) {
            Place::Store(side) => side == self.turn && self.options.extra_turn != ExtraTurn::None,
            Place::Pit(last) => {
                self.capture(last, witness);
                false
            }
        };
        if let Some(reason) = self.end_of_sowing() {
            return self.finish(reason, witness);
        }
        if extra {
            self.flags.raise(Flag::Extra);
        } else {
            self.pass_turn();
        }
        self.begin_choice(witness);
    }

    /// R5. A pit that holds one seed after the last drop was empty before it, also where the sowing went all round.
    fn capture(&mut self, last: Pit, witness: &mut impl Witness) {
        let row_allowed = match self.options.capture_land {
            CaptureLand::Own => last.side == self.turn,
            CaptureLand::Opponent => last.side != self.turn,
            CaptureLand::Any => true,
        };
        if self.options.capture == Capture::None || !row_allowed || self.board.seeds(last) != 1 {
            return;
        }
        let ring = self.board.ring();
        let facing = ring.facing(last);
        let mut from = ArrayVec::from_iter([last]);
        if self.board.seeds(facing) > 0 {
            from.push(facing);
        } else if !self.options.empty_capture {
            return;
        }
        let seeds = from.iter().filter_map(|&pit| ring.pit(pit)).map(|spot| self.board.lift(spot)).sum();
        self.board.bank(self.turn, seeds);
        witness.note(Effect::Capture { from, seeds, to: self.turn });
    }

    fn pass(&mut self, witness: &mut impl Witness) {
        witness.note(Effect::Pass);
        self.pass_turn();
        self.begin_choice(witness);
    }

    /// R7: the people change seats; the board, the stores and the side to move stay.
    fn swap(&mut self, witness: &mut impl Witness) {
        witness.note(Effect::Swap);
        self.flags.raise(Flag::Swapped);
    }

    fn pass_turn(&mut self) {
        self.flags.clear(Flag::Extra);
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

    /// R8, step 4: the side to act chooses, or the game ends because it has nothing to sow. An optional extra move that
    /// cannot be made lapses first (R7).
    fn begin_choice(&mut self, witness: &mut impl Witness) {
        if self.may_pass() && self.board.row_is_empty(self.turn) {
            self.pass_turn();
        }
        if self.board.row_is_empty(self.turn) {
            self.finish(EndReason::NoMove, witness);
        } else if self.flags.has(Flag::Extra) {
            witness.note(Effect::ExtraTurn);
        }
    }

    /// R8: gives the seeds left in pits to whom they belong, and closes the game.
    fn finish(&mut self, reason: EndReason, witness: &mut impl Witness) {
        let heirs = self.heirs(reason);
        for side in Side::ALL {
            let Some(to) = heirs[side] else { continue };
            let seeds = self.board.sweep(side, to);
            if seeds > 0 {
                witness.note(Effect::Sweep { side, seeds, to });
            }
        }
        self.flags.clear(Flag::Extra);
        self.flags.clear(Flag::Pie);
        self.flags.raise(Flag::Over);
        self.reason = Some(reason);
        witness.note(Effect::GameOver { reason });
    }

    /// Whose store the seeds left in each row go to; `None` where they stay in their pits.
    fn heirs(&self, reason: EndReason) -> BySide<Option<Side>> {
        let nobody = BySide::default();
        let owners = BySide { south: Some(Side::South), north: Some(Side::North) };
        match reason {
            EndReason::Majority => match self.options.majority_remaining {
                MajorityRemaining::Leave => nobody,
                MajorityRemaining::Sweep => owners,
            },
            // The other reasons are those of other games.
            _ => match self.options.remaining {
                Remaining::SideOwner => owners,
                Remaining::Emptier => {
                    let emptier = Side::ALL.into_iter().find(|&side| self.board.row_is_empty(side));
                    BySide { south: emptier, north: emptier }
                }
                Remaining::Discard => nobody,
            },
        }
    }
}

/// The position string (R12).
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { board, turn, flags, plies, .. } = self;
        Setup { board, turn, flags, plies, round: 1, opener: Side::South }.fmt(f)
    }
}

/// The options of Kalah (R1). Always within bounds and free of contradictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    pub(super) preset: Preset,
    pub(super) pits: u8,
    pub(super) seeds: u8,
    pub(super) sow_stores: SowStores,
    pub(super) extra_turn: ExtraTurn,
    pub(super) capture: Capture,
    pub(super) capture_land: CaptureLand,
    pub(super) empty_capture: bool,
    pub(super) end: End,
    pub(super) remaining: Remaining,
    pub(super) majority_end: bool,
    pub(super) majority_remaining: MajorityRemaining,
    pub(super) pie: bool,
}

worded_enum! {
    /// Which stores receive seeds while sowing.
    pub enum SowStores {
        /// The mover's; the other is passed over.
        Own = "own",
        /// Both.
        Both = "both",
    }
}

worded_enum! {
    /// What a last seed in the own store brings.
    pub enum ExtraTurn {
        /// The same side must act again.
        Mandatory = "mandatory",
        /// The same side may act again, or pass.
        Optional = "optional",
        /// Nothing.
        None = "none",
    }
}

worded_enum! {
    /// Whether there are captures.
    pub enum Capture {
        /// The last seed and the seeds facing it.
        Opposite = "opposite",
        /// No captures.
        None = "none",
    }
}

worded_enum! {
    /// On whose row the last seed must lie to capture.
    pub enum CaptureLand {
        /// The mover's.
        Own = "own",
        /// The other side's.
        Opponent = "opponent",
        /// Either.
        Any = "any",
    }
}

worded_enum! {
    /// What ends the game.
    pub enum End {
        /// One row is empty, whichever, even in the middle of a turn.
        SideEmpty = "side_empty",
        /// The side to act has nothing to sow.
        NoMove = "no_move",
    }
}

worded_enum! {
    /// Who gets the seeds left in pits when a row is empty.
    pub enum Remaining {
        /// Each row goes to its own store.
        SideOwner = "side_owner",
        /// All go to the side whose row is empty.
        Emptier = "emptier",
        /// Nobody; they stay in their pits.
        Discard = "discard",
    }
}

worded_enum! {
    /// Who gets the seeds left in pits at a majority.
    pub enum MajorityRemaining {
        /// Nobody; they stay in their pits.
        Leave = "leave",
        /// Each row goes to its own store.
        Sweep = "sweep",
    }
}

worded_enum! {
    /// A named set of options (R11).
    pub enum Preset {
        /// What most descriptions share.
        Standard = "standard",
        /// Board Game Arena's game.
        Bga = "bga",
        /// The instructions of a boxed Kalaha.
        Manual = "manual",
        /// The last seed is captured also where it faces an empty pit.
        EmptyCapture = "empty_capture",
        /// Board Game Arena's game without captures.
        NoCapture = "no_capture",
        /// Board Game Arena's game with seeds in both stores.
        BothStores = "both_stores",
        /// Board Game Arena's game with captures from either row.
        SelfCapture = "self_capture",
    }
}

impl Preset {
    /// What it is called and what it limits.
    #[must_use]
    pub fn spec(self) -> &'static PresetSpec {
        &PRESETS[self as usize]
    }

    /// The options that it stands for.
    #[must_use]
    pub const fn options(self) -> Options {
        const STANDARD: Options = Options {
            preset: Preset::Standard,
            pits: 6,
            seeds: 4,
            sow_stores: SowStores::Own,
            extra_turn: ExtraTurn::Mandatory,
            capture: Capture::Opposite,
            capture_land: CaptureLand::Own,
            empty_capture: false,
            end: End::SideEmpty,
            remaining: Remaining::SideOwner,
            majority_end: false,
            majority_remaining: MajorityRemaining::Leave,
            pie: false,
        };
        const BGA: Options = Options { preset: Preset::Bga, end: End::NoMove, majority_end: true, ..STANDARD };
        let preset = self;
        match preset {
            Self::Standard => STANDARD,
            Self::Bga => BGA,
            Self::Manual => Options { preset, extra_turn: ExtraTurn::Optional, ..STANDARD },
            Self::EmptyCapture => Options { preset, empty_capture: true, ..STANDARD },
            Self::NoCapture => Options { preset, capture: Capture::None, ..BGA },
            Self::BothStores => Options { preset, sow_stores: SowStores::Both, ..BGA },
            Self::SelfCapture => Options { preset, capture_land: CaptureLand::Any, ..BGA },
        }
    }
}

impl Options {
    /// The preset that they started from.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// All seeds of a game with these options.
    fn total(&self) -> u16 {
        2 * u16::from(self.pits) * u16::from(self.seeds)
    }

    /// A preset with overrides, which are known to be right each by itself.
    pub(super) fn new(preset: Preset, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        let mut options = preset.options();
        for (name, value) in overrides {
            let unknown = || OptionsError::UnknownOption { variant: Variant::Kalah, option: name.clone() };
            options.set(name, value).ok_or_else(unknown)?;
        }
        check_contradictions(&CONTRADICTIONS, &options.values(), overrides)?;
        Ok(options)
    }

    /// Sets one option; `None` if there is no such option or it is of another kind.
    fn set(&mut self, name: &str, value: &OptionValue) -> Option<()> {
        match name {
            "pits" => self.pits = value.integer()?,
            "seeds" => self.seeds = value.integer()?,
            "sow_stores" => self.sow_stores = value.choice()?,
            "extra_turn" => self.extra_turn = value.choice()?,
            "capture" => self.capture = value.choice()?,
            "capture_land" => self.capture_land = value.choice()?,
            "empty_capture" => self.empty_capture = value.boolean()?,
            "end" => self.end = value.choice()?,
            "remaining" => self.remaining = value.choice()?,
            "majority_end" => self.majority_end = value.boolean()?,
            "majority_remaining" => self.majority_remaining = value.choice()?,
            "pie" => self.pie = value.boolean()?,
            _ => return None,
        }
        Some(())
    }

    /// The value of every option, in the order of [`OPTIONS`].
    #[must_use]
    pub fn values(&self) -> [(&'static str, OptionValue); OPTIONS.len()] {
        [
            ("pits", self.pits.into()),
            ("seeds", self.seeds.into()),
            ("sow_stores", self.sow_stores.word().into()),
            ("extra_turn", self.extra_turn.word().into()),
            ("capture", self.capture.word().into()),
            ("capture_land", self.capture_land.word().into()),
            ("empty_capture", self.empty_capture.into()),
            ("end", self.end.word().into()),
            ("remaining", self.remaining.word().into()),
            ("majority_end", self.majority_end.into()),
            ("majority_remaining", self.majority_remaining.word().into()),
            ("pie", self.pie.into()),
        ]
    }

    /// Refuses flags that no game with these options has, alone or together (R12).
    fn check_flags(&self, setup: &Setup) -> Result<(), ParsePositionError> {
        let has = |flag| setup.flags.has(flag);
        let by_options =
            [(Flag::Extra, self.extra_turn == ExtraTurn::None), (Flag::Pie, !self.pie), (Flag::Swapped, !self.pie)];
        // North's first action ends its right to swap, and the end of the game clears both flags.
        let by_position = [
            (Flag::Extra, has(Flag::Over)),
            (Flag::Pie, has(Flag::Over) || has(Flag::Swapped)),
            (Flag::Pie, has(Flag::Extra) && setup.turn == Side::North),
        ];
        let refused = |&(flag, impossible): &(Flag, bool)| impossible && has(flag);
        if let Some((flag, _)) = by_options.into_iter().find(refused) {
            return Err(ParsePositionError::FlagByOptions { flag: flag.letter() });
        }
        if let Some((flag, _)) = by_position.into_iter().find(refused) {
            return Err(ParsePositionError::FlagByPosition { flag: flag.letter() });
        }
        Ok(())
    }
}

/// What can be chosen (R1).
pub static OPTIONS: [OptionSpec; 12] = [
    integer("pits", (1, 12), 6, "Pits per side."),
    integer("seeds", (1, 12), 4, "Seeds per pit at the start."),
    choice("sow_stores", SowStores::WORDS, "Which stores receive seeds while sowing: the mover's own, or both."),
    choice(
        "extra_turn",
        ExtraTurn::WORDS,
        "Whether the side whose last seed falls in its own store must, may or does not act again.",
    ),
    choice("capture", Capture::WORDS, "Whether a last seed in an empty pit captures itself and the seeds facing it."),
    choice("capture_land", CaptureLand::WORDS, "On whose row the last seed must lie to capture."),
    switched_off("empty_capture", "Whether the last seed is captured even when the facing pit is empty."),
    choice(
        "end",
        End::WORDS,
        "Whether the game ends as soon as one row is empty, or when the side to act has nothing to sow.",
    ),
    choice(
        "remaining",
        Remaining::WORDS,
        "Who gets the seeds left in pits at such an end: the owner of the row, the side whose row is empty, or nobody.",
    ),
    switched_off("majority_end", "Whether the game stops once a store holds more than half of all seeds."),
    choice(
        "majority_remaining",
        MajorityRemaining::WORDS,
        "Whether the seeds left in pits at a majority stay there or go to the owner of the row.",
    ),
    switched_off("pie", "Whether North may answer South's first turn by changing seats."),
];

/// What contradicts each other: the two say opposite things about the same seeds (R1).
pub static CONTRADICTIONS: [Contradiction; 1] = [Contradiction {
    option: "majority_remaining",
    value: Some(OptionValue::Word(Cow::Borrowed(MajorityRemaining::Sweep.word()))),
    other: "remaining",
    other_value: OptionValue::Word(Cow::Borrowed(Remaining::Discard.word())),
}];

/// The presets, in the order of [`Preset::ALL`] (R11).
pub static PRESETS: [PresetSpec; Preset::ALL.len()] = [
    PresetSpec {
        name: Preset::Standard.word(),
        title: "Standard",
        description: "The game that most descriptions share, among them Wikipedia's and OpenSpiel's.",
        source: "A mobile app's description, Wikipedia's standard game, OpenSpiel",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Bga.word(),
        title: "Board Game Arena",
        description: "By Board Game Arena's help page: the game ends when the side to move cannot, or at a majority.",
        source: "Board Game Arena's help page",
        bounds: BGA_BOUNDS,
    },
    PresetSpec {
        name: Preset::Manual.word(),
        title: "Boxed game",
        description: "By the instruction manual of a boxed Kalaha in eleven languages: an extra move may be declined.",
        source: "The instruction manual of a boxed Kalaha",
        bounds: &[OptionBounds { option: "seeds", min: 4, max: 4 }],
    },
    PresetSpec {
        name: Preset::EmptyCapture.word(),
        title: "Empty capture",
        description: "By the patent of 1955 as FairKalah tells it: the last seed is captured even when it faces an empty pit.",
        source: "The patent of 1955 by FairKalah's account; Irving, Donkers and Uiterwijk, Solving Kalah (2000)",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::NoCapture.word(),
        title: "No capture",
        description: "Board Game Arena's game without captures, a variant that its help page names.",
        source: "Board Game Arena's help page, notes on variants",
        bounds: BGA_BOUNDS,
    },
    PresetSpec {
        name: Preset::BothStores.word(),
        title: "Both stores",
        description: "Board Game Arena's game with seeds sown in both stores, a variant that its help page names.",
        source: "Board Game Arena's help page, notes on variants",
        bounds: BGA_BOUNDS,
    },
    PresetSpec {
        name: Preset::SelfCapture.word(),
        title: "Self capture",
        description: "Board Game Arena's game with captures from either row, our reading of a variant that its help page names.",
        source: "Board Game Arena's help page, notes on variants",
        bounds: BGA_BOUNDS,
    },
];

/// Board Game Arena offers three to six seeds.
const BGA_BOUNDS: &[OptionBounds] = &[OptionBounds { option: "seeds", min: 3, max: 6 }];
