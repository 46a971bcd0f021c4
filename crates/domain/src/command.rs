//! What a player can ask of a game, and how it can be refused.

use mancala_rules::IllegalMove;
use thiserror::Error;

use crate::{Answer, GameId, OfferKind, PlayerId, Ply, RUNNING_GAMES_MAX};

/// A player's wish to change a game.
#[derive(Clone, Debug)]
pub struct Command<'a> {
    /// Who asks.
    pub player: PlayerId,
    /// The versions under which the player wants it done; none given: any.
    pub if_version: Option<&'a [u32]>,
    pub action: Action<'a>,
}

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Take the free seat.
    Join {
        join_code: Option<&'a str>,
        /// How many games the player has that are not over.
        running: u32,
    },
    /// Give an open game by link another code: who holds only the old one cannot join any more.
    RenewCode { join_code: &'a str },
    /// Turn an invitation down.
    Decline,
    /// Play a ply.
    Play {
        /// The number that it will bear.
        ply: u32,
        /// The move as the player wrote it.
        word: &'a str,
        /// What the log holds under that number, if anything: so that a repeated request is known as one.
        recorded: Option<&'a Ply>,
    },
    /// Propose something to the other player. If the other has proposed the same, that is accepted.
    Offer { kind: OfferKind, circumstances: Circumstances<'a> },
    /// Answer what the other player has proposed, or take back the own proposal.
    Answer { kind: OfferKind, answer: Answer, circumstances: Circumstances<'a> },
    /// Give the game up.
    Resign,
    /// End, without a result, a game that has not really begun.
    Abort,
    /// Go for good: abort or decline what is open, give up what is active.
    Leave,
}

/// What must be known beyond the game to decide about an offer.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// Of a takeback: the newest plies, oldest first.
    pub plies: &'a [Ply],
    /// Of a rematch: the id that its game would have.
    pub rematch: GameId,
}

/// Why a command is not carried out. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("there is no such game, or it is a private game of others")]
    Unknown,
    #[error("the caller does not sit in this game")]
    NotSeated,
    #[error("this game is joined with the code that its creator holds")]
    WrongJoinCode,
    #[error("the caller is not invited to this game")]
    NotInvited,
    #[error("only the creator of a game by link can give it another code")]
    NoCode,
    #[error("a player has at most {RUNNING_GAMES_MAX} games that are not over")]
    TooManyGames,
    #[error("the caller has already moved; an active game can be resigned")]
    AlreadyMoved,
    #[error("the game is at version {version}")]
    OtherVersion { version: u32 },
    #[error("the seat is taken")]
    SeatTaken,
    #[error("the game waits for an opponent")]
    NotStarted,
    #[error("the game is over")]
    Over,
    #[error("the next ply is {next}")]
    StalePly { next: u32 },
    #[error("it is the opponent's turn")]
    NotYourTurn,
    #[error("there is no such offer, or it is not the caller's to answer")]
    NoSuchOffer,
    #[error("the opponent asks to take back a turn: that is answered first")]
    OfferPending,
    #[error("{0}")]
    NothingToOffer(#[from] NothingToOffer),
    #[error("{0}")]
    Illegal(#[from] IllegalMove),
    /// The text is no move of any board.
    #[error("a move is a pit's letter, or one of the words \"pass\" and \"swap\"")]
    NotAMove,
}

/// Why something cannot be offered in a game as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NothingToOffer {
    #[error("there is nobody to offer it to")]
    Alone,
    #[error("the opponent's account was erased")]
    OpponentGone,
    #[error("the caller has no turn to take back")]
    NoTurn,
    #[error("no time runs in this game")]
    NoClock,
    #[error("the rules of this game know no agreed end")]
    NoAgreedEnd,
    #[error("a rematch is offered when the game is finished")]
    NotOver,
}
