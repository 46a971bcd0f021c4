//! Why a move may not be played (R4, R32). Knows the reasons that all games share; a game has its own in its folder.

use std::fmt;

use super::{Move, Pit};

/// Why a move may not be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IllegalMove {
    /// The game is over.
    GameOver,
    /// The board has fewer pits.
    NoSuchPit(Pit),
    /// The other side is to move.
    NotYourPit(Pit),
    /// There is nothing to sow.
    EmptyPit(Pit),
    /// Nothing could be captured, or captures are no choice (R5).
    NoDecline(Pit),
    /// There is no extra move to decline.
    NoPass,
    /// The swap is not North's first choice, or the game has no pie rule.
    NoSwap,
    /// The game has no agreed end.
    NoAgree,
    /// The game has no such words, or not here: a pit with a direction or a number, or one without.
    WrongForm,
    /// A rule of the game forbids it. The pit is the one that would be sown.
    Rule(&'static Refusal, Option<Pit>),
}

/// A rule of a game that forbids moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// A stable word for the reason.
    pub reason: &'static str,
    /// The reason in words. `{pit}` stands for the pit.
    pub sentence: &'static str,
}

/// Defines refusals of a game, and lists them as `ALL`.
macro_rules! refusals {
    ($( $(#[$about:meta])+ $name:ident = $reason:literal, $sentence:literal; )+) => {
        $( $(#[$about])+ pub(crate) const $name: $crate::Refusal = $crate::Refusal { reason: $reason, sentence: $sentence }; )+

        /// All of them, in the order in which they are looked for.
        pub(crate) const ALL: &[$crate::Refusal] = &[$($name),+];
    };
}

/// The words of the reasons that all games share.
pub(crate) const SHARED: [&str; 9] = [
    "not_your_pit",
    "empty_pit",
    "no_such_pit",
    "no_decline",
    "no_pass",
    "no_swap",
    "no_agree",
    "game_over",
    "wrong_form",
];

impl IllegalMove {
    /// A stable word for the reason, as the tables in R4 and R32 list them.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::GameOver => "game_over",
            Self::NoSuchPit(_) => "no_such_pit",
            Self::NotYourPit(_) => "not_your_pit",
            Self::EmptyPit(_) => "empty_pit",
            Self::NoDecline(_) => "no_decline",
            Self::NoPass => "no_pass",
            Self::NoSwap => "no_swap",
            Self::NoAgree => "no_agree",
            Self::WrongForm => "wrong_form",
            Self::Rule(refusal, _) => refusal.reason,
        }
    }

    /// Why a game without moves of this form refuses one.
    pub(crate) const fn of_unknown_form(m: Move) -> Self {
        match m {
            Move::Decline(pit) => Self::NoDecline(pit),
            Move::Pass => Self::NoPass,
            Move::Swap => Self::NoSwap,
            Move::Agree => Self::NoAgree,
            Move::Sow(_) | Move::SowTo { .. } | Move::Place { .. } => Self::WrongForm,
        }
    }
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GameOver => f.write_str("the game is over"),
            Self::NoSuchPit(pit) => write!(f, "there is no pit {pit} on this board"),
            Self::NotYourPit(pit) => write!(f, "pit {pit} is not on the side to move"),
            Self::EmptyPit(pit) => write!(f, "pit {pit} is empty"),
            Self::NoDecline(pit) => write!(f, "sowing pit {pit} offers no capture to decline"),
            Self::NoPass => f.write_str("only an optional extra move can be passed"),
            Self::NoSwap => f.write_str("only North's first choice under the pie rule can be a swap"),
            Self::NoAgree => f.write_str("this game cannot be ended by agreement"),
            Self::WrongForm => f.write_str("the move does not have the form that this game has here"),
            Self::Rule(refusal, None) => f.write_str(refusal.sentence),
            Self::Rule(refusal, Some(pit)) => f.write_str(&refusal.sentence.replace("{pit}", &pit.to_string())),
        }
    }
}

impl std::error::Error for IllegalMove {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    #[test]
    fn each_reason_is_listed() {
        let pit = Pit { side: Side::South, index: 0 };
        let of_pits = [IllegalMove::NoSuchPit, IllegalMove::NotYourPit, IllegalMove::EmptyPit, IllegalMove::NoDecline];
        let others = [
            IllegalMove::GameOver,
            IllegalMove::NoPass,
            IllegalMove::NoSwap,
            IllegalMove::NoAgree,
            IllegalMove::WrongForm,
        ];
        let mut shared: Vec<_> = of_pits.map(|of| of(pit)).into_iter().chain(others).map(|why| why.reason()).collect();
        let mut listed = SHARED.to_vec();
        shared.sort_unstable();
        listed.sort_unstable();
        assert_eq!(shared, listed);
    }
}
