//! A position of any game, for code that does not care which. Knows no game, and no rule.

use std::{
    any::Any,
    fmt,
    hash::{Hash, Hasher},
    mem,
};

use crate::{
    AnyBoard, AnyOptions, Board, Effect, Game, History, House, IllegalMove, Lockstep, Move, MoveList, Outcome,
    ParseMoveError, ParsePositionError, Pending, Pit, Round, Side, State, Total, Variant,
};

/// A position of one of the games, with its options. Either it has a legal move or the game is over (R13).
///
/// Two positions are equal if all their parts are equal: options, seeds, turn, flags, plies, the reason of an end, and
/// the history.
///
/// **History.** A game with a rule against repetition depends on the earlier positions (R8). Playing a move keeps them;
/// a position string does not hold them. To restore a position with its history, read the positions since the last
/// capture and join them with [`AnyPosition::follow`].
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct AnyPosition {
    state: State,
    /// Empty in a game without a rule against repetition.
    history: History,
}

impl AnyPosition {
    /// The position in which a game with these options begins.
    #[must_use]
    pub fn opening(options: &AnyOptions) -> Self {
        for_game!(options, AnyOptions, options, Position => Self::of(Position::opening(*options)))
    }

    /// Reads a position string (R12, R22) and ends the game where the rules do. A made-up position in which the game is over
    /// comes back swept and flagged `o` (R8).
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Kalah, "standard", "")?;
    /// let position = AnyPosition::parse(&options, "0,0,0,0,0,0/0,2,0,0,3,0 21-22 N - 40 1S")?;
    /// assert_eq!(position.to_string(), "0,0,0,0,0,0/0,0,0,0,0,0 21-27 N o 40 1S");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is not a position string, or no game with these options has this position.
    pub fn parse(options: &AnyOptions, text: &str) -> Result<Self, ParsePositionError> {
        for_game!(options, AnyOptions, options, Position => {
            Position::parse(*options, text, Total::OfOptions).map(Self::of)
        })
    }

    /// Reads a position string as [`AnyPosition::parse`] does, but with any number of seeds up to
    /// [`SEEDS_MAX`](crate::SEEDS_MAX): for made-up positions with seeds added or removed. The seeds of the position
    /// are then all seeds of the game. With four rows the number is fixed.
    ///
    /// # Errors
    ///
    /// As [`AnyPosition::parse`], but any total up to that bound is accepted.
    pub fn parse_with_any_total(options: &AnyOptions, text: &str) -> Result<Self, ParsePositionError> {
        for_game!(options, AnyOptions, options, Position => {
            Position::parse(*options, text, Total::Any).map(Self::of)
        })
    }

    /// Advances to the position that came right after this one in a game, and keeps the history.
    ///
    /// This restores the history of positions that were read one by one. The first of them must have an empty history:
    /// the start of the game, or a position right after a capture.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Oware, "standard", "")?;
    /// let mut position = AnyPosition::parse(&options, "1,0,0,0,0,0/1,0,0,0,0,0 23-23 S - 40 1S")?;
    /// let (after, _) = position.play("A".parse()?)?;
    /// position.follow(AnyPosition::parse(&options, &after.to_string())?);
    /// assert_eq!(position, after);
    /// assert_eq!(after.history().map(|history| history.len()), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn follow(&mut self, next: Self) {
        if mem::discriminant(&self.state) == mem::discriminant(&next.state) {
            let before = self.recurring();
            for_game!(&next.state, State, position => remember(before, position, &mut self.history));
            self.state = next.state;
        } else {
            *self = next;
        }
    }

    /// The same position without its history, as [`AnyPosition::parse`] reads it.
    #[must_use]
    pub fn afresh(&self) -> Self {
        Self { state: self.state, history: History::EMPTY }
    }

    /// The earlier positions since the last capture; `None` in a game without a rule against repetition (R13, R31).
    #[must_use]
    pub fn history(&self) -> Option<&History> {
        self.recurring().map(|_| &self.history)
    }

    /// The position of a game in that game's own type; `None` if it is of another game.
    #[must_use]
    pub fn of_game<G: Game>(&self) -> Option<&G> {
        for_game!(&self.state, State, position => (position as &dyn Any).downcast_ref())
    }

    /// Which game it is of.
    #[must_use]
    pub fn variant(&self) -> Variant {
        self.state.variant()
    }

    /// The options of the game.
    #[must_use]
    pub fn options(&self) -> AnyOptions {
        for_game!(&self.state, State, position => position.options().into())
    }

    /// The seeds.
    #[must_use]
    pub fn board(&self) -> AnyBoard {
        for_game!(&self.state, State, position => position.any_board())
    }

    /// The house of this side; `None` in a game without houses (R24).
    #[must_use]
    pub fn house(&self, side: Side) -> Option<House> {
        for_game!(&self.state, State, position => position.house(side))
    }

    /// Whether a pit can be blocked in this game: in Bao (R27).
    #[must_use]
    pub fn can_block(&self) -> bool {
        self.variant().spec().can_block
    }

    /// Whether a side can win a pit of the other side in this game: in Toguz Kumalak (R44).
    #[must_use]
    pub fn has_tuzdyks(&self) -> bool {
        self.variant().spec().has_tuzdyks
    }

    /// Reads a word of a move. A word that only games with other boards have is none here.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// let opening = |variant| AnyOptions::parse(variant, "standard", "").map(|options| AnyPosition::opening(&options));
    /// assert!(opening(Variant::Bao)?.read_move("EU").is_ok());
    /// assert!(opening(Variant::Kalah)?.read_move("EU").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is no move in any position of the game.
    pub fn read_move(&self, word: &str) -> Result<Move, ParseMoveError> {
        let rows = self.variant().rows_per_side();
        let unknown = ParseMoveError::of_rows(rows);
        let m: Move = word.parse().map_err(|_| unknown)?;
        if m.has_rows(rows) { Ok(m) } else { Err(unknown) }
    }

    /// The pending choice of the side to move inside a turn, if any (R23).
    #[must_use]
    pub fn pending(&self) -> Option<Pending> {
        for_game!(&self.state, State, position => position.pending())
    }

    /// All seeds of the game: those on the board, and those in the hand between two actions of a turn.
    #[must_use]
    pub fn total(&self) -> u16 {
        self.board().total() + self.pending().map_or(0, |pending| pending.hand)
    }

    /// The lockstep opening, as long as no seed has been sown in it; `None` elsewhere (R10).
    #[must_use]
    pub fn lockstep(&self) -> Option<Lockstep> {
        for_game!(&self.state, State, position => position.lockstep())
    }

    /// Whether pits can be burnt in this game: in a match whose options do not forbid it (R9).
    #[must_use]
    pub fn can_burn(&self) -> bool {
        for_game!(&self.state, State, position => position.can_burn())
    }

    /// Whether this pit is burnt: out of play for a round, because there were no seeds to fill it (R9).
    #[must_use]
    pub fn is_burnt(&self, pit: Pit) -> bool {
        for_game!(&self.state, State, position => position.is_burnt(pit))
    }

    /// The tuzdyk that this side owns; it lies on the other row (R44).
    #[must_use]
    pub fn tuzdyk(&self, owner: Side) -> Option<Pit> {
        for_game!(&self.state, State, position => position.tuzdyk(owner))
    }

    /// The pit that is blocked by takasia (R27).
    #[must_use]
    pub fn blocked(&self) -> Option<Pit> {
        for_game!(&self.state, State, position => position.blocked())
    }

    /// The next pit to be filled, while the side to move arranges its seeds (R28).
    #[must_use]
    pub fn arranging(&self) -> Option<Pit> {
        for_game!(&self.state, State, position => position.arranging())
    }

    /// The side to move; once the game is over, the side to move when a rule ended it (R8).
    #[must_use]
    pub fn turn(&self) -> Side {
        for_game!(&self.state, State, position => position.turn())
    }

    /// How many actions were played so far.
    #[must_use]
    pub fn plies(&self) -> u32 {
        for_game!(&self.state, State, position => position.plies())
    }

    /// Whether the players have changed seats (R7).
    #[must_use]
    pub fn swapped(&self) -> bool {
        for_game!(&self.state, State, position => position.swapped())
    }

    /// The number of the round and the side that opened it; `None` in a game of a single round (R9).
    #[must_use]
    pub fn round(&self) -> Option<Round> {
        for_game!(&self.state, State, position => position.round())
    }

    /// The legal moves of the side to move, in the order of R4 and R21; empty exactly when the game is over. An agreed end is never listed.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        for_game!(&self.state, State, position => position.legal_moves())
    }

    /// Plays a move. Returns the position after it, and its effects in order.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, Effect, Place, Side, Variant};
    ///
    /// let opening = AnyPosition::opening(&AnyOptions::parse(Variant::Congkak, "standard", "")?);
    /// let (position, effects) = opening.play("A".parse()?)?;
    /// assert_eq!(position.turn(), Side::South);
    /// assert_eq!(effects[7..], [Effect::Sow { to: Place::Store(Side::South) }, Effect::ExtraTurn]);
    /// assert_eq!(position.play("a".parse()?).unwrap_err().reason(), "not_your_pit");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The move is not legal here.
    pub fn play(&self, m: Move) -> Result<(Self, Vec<Effect>), IllegalMove> {
        for_game!(&self.state, State, position => {
            let (next, effects) = position.play(m, &self.history)?;
            let mut history = self.history.clone();
            remember(recurring(position), &next, &mut history);
            Ok((Self { state: next.into(), history }, effects))
        })
    }

    /// As [`AnyPosition::play`], for a move of a stored game: `recorded` is the position string after the move, and
    /// this position may lack its history. An end by repetition is then taken from `recorded`. The caller compares the
    /// result with `recorded`.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, EndReason, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Oware, "standard", "")?;
    /// let before = AnyPosition::parse(&options, "1,0,0,0,0,0/1,0,0,0,0,0 23-23 S - 41 1S")?;
    /// let recorded = "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N o 42 1S";
    /// let (after, _) = before.replay("A".parse()?, recorded)?;
    /// assert_eq!(after.to_string(), recorded);
    /// assert_eq!(after.outcome().and_then(|outcome| outcome.reason), Some(EndReason::Repetition));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The move is not legal here.
    pub fn replay(&self, m: Move, recorded: &str) -> Result<(Self, Vec<Effect>), IllegalMove> {
        let played = self.play(m)?;
        if self.history().is_none() || played.0.to_string() == recorded {
            return Ok(played);
        }
        for_game!(&self.state, State, position => {
            let (next, effects) = play_into_repetition(position, m)?;
            Ok((Self::of(next), effects))
        })
    }

    /// Plays a legal move in place, without collecting effects. Only a history may allocate memory.
    ///
    /// The move must be one of [`AnyPosition::legal_moves`]. Any other move does not panic, but leaves a position that
    /// no game has.
    pub fn play_unchecked(&mut self, m: Move) {
        for_game!(&mut self.state, State, position => {
            let before = recurring(position);
            position.act(m, &self.history, &mut ());
            remember(before, position, &mut self.history);
        });
    }

    /// The position string (R12, R22) without the parts that do not affect the rest of the game. It has 0 plies, no `w`,
    /// and no `e` unless the extra move may be declined or the turn has a choice. [`AnyPosition::parse`] reads it.
    ///
    /// Positions with the same options and essence have the same legal moves, and so have the positions after the same
    /// moves. The exceptions are ends by repetition, which depend on the earlier positions, and by the ply limit.
    ///
    /// ```
    /// use mancala_rules::{AnyOptions, AnyPosition, Variant};
    ///
    /// let options = AnyOptions::parse(Variant::Kalah, "standard", "")?;
    /// let position = AnyPosition::parse(&options, "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S")?;
    /// assert_eq!(position.essence(), "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S - 0 1S");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn essence(&self) -> String {
        for_game!(&self.state, State, position => position.essence().to_string())
    }

    /// Feeds a hasher with what decides the rest of the game, beside the options.
    pub fn hash_essence(&self, hasher: &mut impl Hasher) {
        for_game!(&self.state, State, position => position.hash_essence(hasher));
    }

    /// Whether North may still swap, now or later (R7).
    #[must_use]
    pub fn has_pie(&self) -> bool {
        for_game!(&self.state, State, position => position.has_pie())
    }

    /// The ply that ends the game with a draw; `None` in a game without that rule (R31).
    #[must_use]
    pub fn plies_max(&self) -> Option<u32> {
        for_game!(&self.state, State, position => position.plies_max())
    }

    /// The result, once the game is over.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        for_game!(&self.state, State, position => position.outcome())
    }

    /// The board and the side to move, which can come again; `None` in a game without a rule against repetition.
    pub(super) fn recurring(&self) -> Option<(Board, Side)> {
        for_game!(&self.state, State, position => recurring(position))
    }

    /// The position after a legal move, without its history. `history` is that of this position.
    pub(super) fn after(&self, m: Move, history: &History) -> Self {
        let mut after = self.afresh();
        for_game!(&mut after.state, State, position => position.act(m, history, &mut ()));
        after
    }

    fn of(position: impl Into<State>) -> Self {
        Self { state: position.into(), history: History::EMPTY }
    }
}

fn recurring(position: &impl Game) -> Option<(Board, Side)> {
    position.recurring().map(|(board, _)| (*board, position.turn()))
}

/// Updates the history of the position `before` to that of the `next` one, which came right after it (R8, R45).
fn remember(before: Option<(Board, Side)>, next: &impl Game, history: &mut History) {
    let Some(((board, turn), (after, _))) = before.zip(next.recurring()) else { return };
    if next.outcome().is_some() || after.stores() != board.stores() {
        history.clear();
    } else {
        history.push(board, turn);
    }
}

/// Plays a move that leads to a position which has come as often as it may. The game then ends by repetition, unless
/// another rule ends it first.
fn play_into_repetition<G: Game>(position: &G, m: Move) -> Result<(G, Vec<Effect>), IllegalMove> {
    let (next, _) = position.play(m, &History::EMPTY)?;
    let mut history = History::EMPTY;
    if let Some((board, most)) = next.recurring() {
        for _ in 1..most {
            history.push(*board, next.turn());
        }
    }
    position.play(m, &history)
}

/// As derived, but `clone_from` copies the history into the memory of the target, so that searching and counting do not
/// allocate for every position.
impl Clone for AnyPosition {
    fn clone(&self) -> Self {
        Self { state: self.state, history: self.history.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.state = source.state;
        self.history.clone_from(&source.history);
    }
}

/// The position string (R12, R22), which [`AnyPosition::parse`] reads back.
impl fmt::Display for AnyPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for_game!(&self.state, State, position => position.fmt(f))
    }
}
