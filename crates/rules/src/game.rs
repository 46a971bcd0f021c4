//! What every game implements: its positions, its moves, and what is the same in all of them. Knows no game.

use std::{
    fmt::{Debug, Display},
    hash::{Hash, Hasher},
};

use crate::{
    AnyBoard, Board, Effect, History, House, IllegalMove, Lockstep, Move, MoveList, Outcome, ParsePositionError,
    Pending, Pit, Refusal, Round, Side, Total, effect::EffectSink, options::GameOptions,
};

/// What is the same in all positions of a game.
#[derive(Clone, Copy, Debug)]
pub struct GameSpec {
    /// The name to display.
    pub title: &'static str,
    /// Other names of the game and of its close relatives, as people look for them; `docs/rules.md` has their sources. A
    /// name may stand for two games.
    pub aliases: &'static [&'static str],
    /// The version of the rules. It rises when the same moves no longer lead to the same positions.
    pub rules_version: u16,
    /// The rules for beginners, as Markdown. The numbers in them are sections of `docs/rules.md`.
    pub rules: &'static str,
    /// How many rows each side has. With one row there are stores, and their seeds decide; with two rows there are
    /// reserves, and a score decides nothing (R31).
    pub rows_per_side: u8,
    /// Whether a board is drawn with `A` at its owner's right end: upward is then counter-clockwise (R19).
    pub is_drawn_from_the_right: bool,
    /// The rules that forbid moves, beside those of every game.
    pub refusals: &'static [&'static [Refusal]],
    /// Whether a pit can be blocked (R27).
    pub can_block: bool,
    /// Whether a side can win a pit of the other side (R44).
    pub has_tuzdyks: bool,
}

impl GameSpec {
    /// A single row for each side, and none of the features that only some games have.
    pub(crate) const PLAIN: Self = Self {
        title: "",
        aliases: &[],
        rules_version: 1,
        rules: "",
        rows_per_side: 1,
        is_drawn_from_the_right: false,
        refusals: &[],
        can_block: false,
        has_tuzdyks: false,
    };
}

/// A game: the type of its positions, which hold their options. Either a position has a legal move or the game is over.
///
/// A game with a rule against repetition takes the [`History`] of the position from the caller (R8, R45). The others do not
/// look at it. [`AnyPosition`](crate::AnyPosition) keeps the two together.
pub trait Game: Copy + Debug + Display + Eq + Hash + 'static {
    /// The options of the game.
    type Options: GameOptions;

    /// What is the same in all positions.
    const SPEC: GameSpec;

    /// The position in which a game with these options begins.
    fn opening(options: Self::Options) -> Self;

    /// Reads a position text, and ends the game where the rules do. Games with four rows have one total.
    ///
    /// # Errors
    ///
    /// The text is not a position text, or no game with these options has this position.
    fn parse(options: Self::Options, text: &str, total: Total) -> Result<Self, ParsePositionError>;

    /// The same position without the parts that do not affect the rest of the game, such as the plies.
    #[must_use]
    fn essence(&self) -> Self;

    /// Feeds a hasher with what decides the rest of the game, beside the options. A search does it for each position.
    fn hash_essence(&self, hasher: &mut impl Hasher) {
        self.essence().hash(hasher);
    }

    /// The options of the game.
    fn options(&self) -> Self::Options;

    /// The seeds, and the marks on the board.
    fn any_board(&self) -> AnyBoard;

    /// The side to move; once the game is over, the side that the rules name.
    fn turn(&self) -> Side;

    /// How many actions were played so far.
    fn plies(&self) -> u32;

    /// The result, once the game is over.
    fn outcome(&self) -> Option<Outcome>;

    /// The legal moves of the side to move, in the order of R4 and R21. An agreed end is never listed.
    fn legal_moves(&self) -> MoveList;

    /// Why a move is refused, if it is; the first reason that applies, in the order of R4 and R32.
    ///
    /// # Errors
    ///
    /// The move is not legal here.
    fn check(&self, m: Move) -> Result<(), IllegalMove>;

    /// Plays a legal move in place. Any other move does not panic, but may leave a position that no game has.
    fn act(&mut self, m: Move, history: &History, effects: &mut impl EffectSink);

    /// Plays a move. Returns the position after it, and its effects in order.
    ///
    /// # Errors
    ///
    /// The move is not legal here.
    fn play(&self, m: Move, history: &History) -> Result<(Self, Vec<Effect>), IllegalMove> {
        self.check(m)?;
        let (mut next, mut effects) = (*self, Vec::new());
        next.act(m, history, &mut effects);
        Ok((next, effects))
    }

    /// What a rule against repetition counts: the board, and how often it may come with the same side to move. `None` in a
    /// game without such a rule (R8, R31).
    fn recurring(&self) -> Option<(&Board, u8)> {
        None
    }

    /// Whether the players have changed seats (R7).
    fn swapped(&self) -> bool {
        false
    }

    /// Whether North may still swap, now or later (R7).
    fn has_pie(&self) -> bool {
        false
    }

    /// The ply that ends the game with a draw; `None` in a game without that rule (R31).
    fn plies_max(&self) -> Option<u32> {
        None
    }

    /// The number of the round and the side that opened it; `None` in a game of a single round (R9).
    fn round(&self) -> Option<Round> {
        None
    }

    /// Whether pits can be burnt in this game (R9).
    fn can_burn(&self) -> bool {
        false
    }

    /// Whether this pit is burnt: out of play for a round, because there were no seeds to fill it (R9).
    fn is_burnt(&self, _: Pit) -> bool {
        false
    }

    /// The tuzdyk that this side owns; it lies on the other row (R44).
    fn tuzdyk(&self, _: Side) -> Option<Pit> {
        None
    }

    /// The pit that is blocked by takasia (R27).
    fn blocked(&self) -> Option<Pit> {
        None
    }

    /// The lockstep opening, as long as no seed has been sown in it (R10).
    fn lockstep(&self) -> Option<Lockstep> {
        None
    }

    /// The pending choice of the side to move inside a turn, if any (R23).
    fn pending(&self) -> Option<Pending> {
        None
    }

    /// The next pit to be filled, while the side to move arranges its seeds (R28).
    fn arranging(&self) -> Option<Pit> {
        None
    }

    /// The house of this side; `None` in a game without houses (R24).
    fn house(&self, _: Side) -> Option<House> {
        None
    }
}
