//! Why a move may not be played (R4). Knows the reasons of all games, and not which one holds where.

use super::Pit;

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
    /// There is no extra move to decline.
    #[error("only an optional extra move can be passed")]
    NoPass,
    /// It is not North's first choice, or the game has no pie rule.
    #[error("only North's first choice under the pie rule can be a swap")]
    NoSwap,
    /// The game has no agreed end.
    #[error("this game cannot be ended by agreement")]
    NoAgree,
}

impl IllegalMove {
    /// The words of all reasons.
    pub const REASONS: [&str; 10] = [
        "not_your_pit",
        "empty_pit",
        "burnt_pit",
        "no_such_pit",
        "must_feed",
        "grand_slam",
        "no_pass",
        "no_swap",
        "no_agree",
        "game_over",
    ];

    /// One stable word for the reason, as the table in R4 lists them.
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
            Self::NoPass => "no_pass",
            Self::NoSwap => "no_swap",
            Self::NoAgree => "no_agree",
        }
    }
}

#[cfg(test)]
mod tests {
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
        ];
        let others = [IllegalMove::GameOver, IllegalMove::NoPass, IllegalMove::NoSwap, IllegalMove::NoAgree];
        let reasons: Vec<_> = of_pits.map(|of| of(pit)).iter().chain(&others).map(IllegalMove::reason).collect();
        assert_eq!(reasons.len(), IllegalMove::REASONS.len());
        assert!(reasons.iter().all(|reason| IllegalMove::REASONS.contains(reason)), "{reasons:?}");
    }
}
