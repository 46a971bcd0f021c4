//! Why a command is refused.

use mancala_rules::{AnyPosition, IllegalMove, ParseMoveError};
use thiserror::Error;

use super::OFFERS_MAX;
use crate::{RUNNING_GAMES_MAX, TooManyComputerGames};

/// The reason for which a command is refused. The game stays unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The player may not see the game.
    #[error("there is no such game, or it is a private game of others")]
    Unknown,
    /// The player may see the game, and has no seat.
    #[error("the caller does not sit in this game")]
    NotSeated,
    /// The join code is missing or wrong.
    #[error("this game is joined with the code that its creator holds")]
    WrongJoinCode,
    /// The game is for another player.
    #[error("the caller is not invited to this game")]
    NotInvited,
    /// The player has created the game.
    #[error("the caller has created this game: another player joins it")]
    OwnGame,
    /// The game has no join code, or the player is not its creator.
    #[error("only the creator of a game by link can give it another code")]
    NoCode,
    /// The player has too many games to begin another.
    #[error("a player has at most {RUNNING_GAMES_MAX} games that are not over")]
    TooManyGames,
    /// Either player has too many games to begin a rematch.
    #[error("one of the players has {RUNNING_GAMES_MAX} games that are not over")]
    TooManyGamesForRematch,
    /// The player, or those who share a limit with it, have too many games against the computer.
    #[error("{0}")]
    TooManyComputerGames(#[from] TooManyComputerGames),
    /// The game can no longer be aborted.
    #[error("the caller has already moved; an active game can be resigned")]
    AlreadyMoved,
    /// The game's version is none of those that the command names.
    #[error("the game is at version {version}")]
    OtherVersion {
        /// The game's version.
        version: u32,
    },
    /// Both seats are taken.
    #[error("the seat is taken")]
    SeatTaken,
    /// A seat is free.
    #[error("the game waits for an opponent")]
    NotStarted,
    /// The game has ended.
    #[error("the game is over")]
    Over,
    /// The ply has another number than the next one.
    #[error("the next ply is {next}")]
    StalePly {
        /// The number of the next ply.
        next: u32,
    },
    /// The game is no practice.
    #[error("hints are for practice against the computer only")]
    NoPractice,
    /// The opponent is to move.
    #[error("it is the opponent's turn")]
    NotYourTurn,
    /// No offer of that kind is pending that the player may answer so.
    #[error("there is no such offer, or the caller cannot answer it")]
    NoSuchOffer,
    /// The opponent has offered another takeback.
    #[error("the opponent asks to take back a turn: that is answered first")]
    OfferPending,
    /// This kind of offer is not possible in this game now.
    #[error("{0}")]
    NothingToOffer(#[from] NothingToOffer),
    /// The rules do not allow the move.
    #[error("{0}")]
    Illegal(#[from] IllegalMove),
    /// The text is no move of the game, or is an agreed end, which takes an offer.
    #[error("{0}")]
    NotAMove(ParseMoveError),
    /// A ply of a turn is refused, so no ply of the turn is played.
    #[error("move {index}: {refusal}")]
    InTurn {
        /// Which of the moves, from 0.
        index: usize,
        /// The position before it.
        position: Box<AnyPosition>,
        /// The refusal of that ply.
        refusal: Box<Refusal>,
    },
}

/// The reason for which something cannot be offered in a game now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NothingToOffer {
    /// The game has no other human player.
    #[error("there is no opponent to offer it to")]
    Alone,
    /// The opponent's account was erased.
    #[error("the opponent's account was erased")]
    OpponentGone,
    /// A block is between the two players.
    #[error("the opponent takes no such offer")]
    NotTaken,
    /// The player has no turn that could be taken back.
    #[error("the caller has no turn to take back")]
    NoTurn,
    /// The takeback would leave a player without time.
    #[error("without the increments of the undone turns, a player would have no time left")]
    NoTime,
    /// Time is unlimited.
    #[error("no time runs in this game")]
    NoClock,
    /// The clock is stopped for a suspended player, and players cannot start it again.
    #[error("the clock stands as long as a player of the game is suspended")]
    ClockHeld,
    /// The rules have no agreed end.
    #[error("the rules of this game know no agreed end")]
    NoAgreedEnd,
    /// The game's log has reached its greatest length.
    #[error("too much was offered in this game already")]
    LogFull,
    /// The player has offered it too often since the last ply.
    #[error("the caller has offered this {OFFERS_MAX} times since the last ply")]
    Often,
    /// The game is not finished yet.
    #[error("a rematch is offered when the game is finished")]
    NotOver,
}
