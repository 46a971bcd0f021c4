//! Why a move may not be played (R4, R32). Knows the reasons of all games, and not which one holds where.

use super::{Pit, four_row};

/// Why a move may not be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IllegalMove {
    /// The game is over.
    #[error("the game is over")]
    GameOver,
    /// The board has fewer pits.
    #[error("there is no pit {0} on this board")]
    NoSuchPit(Pit),
    /// The other side is to move.
    #[error("pit {0} is not on the side to move")]
    NotYourPit(Pit),
    /// There is nothing to sow.
    #[error("pit {0} is empty")]
    EmptyPit(Pit),
    /// The other row is empty, and this sowing would leave it empty (R4).
    #[error("the other row is empty, and pit {0} would not feed it")]
    MustFeed(Pit),
    /// The sowing would capture every seed of the other row, which the options forbid (R6).
    #[error("pit {0} would capture every seed of the other row")]
    GrandSlam(Pit),
    /// The pit is out of play in this round (R9).
    #[error("pit {0} is burnt in this round")]
    BurntPit(Pit),
    /// Nothing could be captured, or captures are no choice (R5).
    #[error("sowing pit {0} offers no capture to decline")]
    NoDecline(Pit),
    /// There is no extra move to decline.
    #[error("only an optional extra move can be passed")]
    NoPass,
    /// The swap is not North's first choice, or the game has no pie rule.
    #[error("only North's first choice under the pie rule can be a swap")]
    NoSwap,
    /// The game has no agreed end.
    #[error("this game cannot be ended by agreement")]
    NoAgree,
    /// The game has no such words, or not here: a pit with a direction or a number, or one without.
    #[error("the move does not have the form that this game has here")]
    WrongForm,
    /// A rule of the games with four rows forbids it (R32).
    #[error("{}", .0.sentence())]
    FourRow(four_row::IllegalMove),
}

impl IllegalMove {
    /// The words of all reasons.
    pub const REASONS: [&str; 27] = [
        "not_your_pit",
        "empty_pit",
        "burnt_pit",
        "no_such_pit",
        "must_feed",
        "grand_slam",
        "no_decline",
        "no_pass",
        "no_swap",
        "no_agree",
        "game_over",
        "wrong_form",
        "out_of_order",
        "too_many",
        "must_continue",
        "front_only",
        "single_seed",
        "no_reverse",
        "reverse_no_capture",
        "must_capture",
        "wrong_direction",
        "must_take",
        "house_kept",
        "blocked_pit",
        "front_first",
        "empties_front",
        "endless",
    ];

    /// A stable word for the reason, as the tables in R4 and R32 list them.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::GameOver => "game_over",
            Self::NoSuchPit(_) => "no_such_pit",
            Self::NotYourPit(_) => "not_your_pit",
            Self::EmptyPit(_) => "empty_pit",
            Self::MustFeed(_) => "must_feed",
            Self::GrandSlam(_) => "grand_slam",
            Self::BurntPit(_) => "burnt_pit",
            Self::NoDecline(_) => "no_decline",
            Self::NoPass => "no_pass",
            Self::NoSwap => "no_swap",
            Self::NoAgree => "no_agree",
            Self::WrongForm => "wrong_form",
            Self::FourRow(reason) => reason.reason(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Side;

    #[test]
    fn each_reason_is_listed() {
        let pit = Pit { side: Side::South, index: 0 };
        let of_pits = [
            IllegalMove::NoSuchPit,
            IllegalMove::NotYourPit,
            IllegalMove::EmptyPit,
            IllegalMove::MustFeed,
            IllegalMove::GrandSlam,
            IllegalMove::BurntPit,
            IllegalMove::NoDecline,
        ];
        let others = [IllegalMove::GameOver, IllegalMove::NoPass, IllegalMove::NoSwap, IllegalMove::NoAgree];
        let of_four_rows = four_row::IllegalMove::ALL.map(IllegalMove::FourRow);
        let all = of_pits.map(|of| of(pit)).into_iter().chain(others).chain(of_four_rows);
        let reasons: BTreeSet<_> = all.map(|illegal| illegal.reason()).collect();
        assert_eq!(reasons, IllegalMove::REASONS.into());
    }
}
