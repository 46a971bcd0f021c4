//! Why a move may not be played (R32). Knows the reasons of both games, and not which one holds where.

worded_enum! {
    /// Why a move may not be played; the first that applies, in this order (R32).
    pub enum IllegalMove {
        /// The game is over.
        GameOver = "game_over",
        /// There is no choice at the house.
        NoPass = "no_pass",
        /// The game has no pie rule.
        NoSwap = "no_swap",
        /// The game has no agreed end.
        NoAgree = "no_agree",
        /// The pit is not on the side to move.
        NotYourPit = "not_your_pit",
        /// The word has not the form that the game has here: with a direction in Bao, with a number while arranging.
        WrongForm = "wrong_form",
        /// Arranging: it is not the next pit.
        OutOfOrder = "out_of_order",
        /// Arranging: the reserve has fewer seeds.
        TooMany = "too_many",
        /// A choice is open, and the move is not among it.
        MustContinue = "must_continue",
        /// There is nothing to sow.
        EmptyPit = "empty_pit",
        /// Bao, first stage: it is a pit of the back row.
        FrontOnly = "front_only",
        /// The pit holds a single seed.
        SingleSeed = "single_seed",
        /// Omweso: the pit may not be sown downward.
        NoReverse = "no_reverse",
        /// Omweso: the downward sowing does not capture.
        ReverseNoCapture = "reverse_no_capture",
        /// Bao: another move captures, and this one does not.
        MustCapture = "must_capture",
        /// Bao, first stage: a capture at a kimbi is sown the other way.
        WrongDirection = "wrong_direction",
        /// Bao: another move captures the blocked pit, and this one does not.
        MustTake = "must_take",
        /// Bao, first stage: it is the working house, and another front pit holds seeds.
        HouseKept = "house_kept",
        /// Bao: the pit is blocked by takasia.
        BlockedPit = "blocked_pit",
        /// Bao, second stage: a front pit holds two seeds or more, and this is a pit of the back row.
        FrontFirst = "front_first",
        /// Bao: the front row would be empty while the seeds are sown.
        EmptiesFront = "empties_front",
        /// The sowing would count as endless.
        Endless = "endless",
    }
}

impl IllegalMove {
    /// A stable word for the reason (R32).
    #[must_use]
    pub const fn reason(self) -> &'static str {
        self.word()
    }

    /// The reason in words.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::GameOver => "the game is over",
            Self::NoPass => "only a turn that has come to a choice at the house can be passed",
            Self::NoSwap => "this game has no pie rule",
            Self::NoAgree => "this game cannot be ended by agreement",
            Self::NotYourPit => "the pit is not on the side to move",
            Self::WrongForm => "the move does not have the form that this game has here",
            Self::OutOfOrder => "the pits are filled in order, and this is not the next one",
            Self::TooMany => "the reserve has fewer seeds",
            Self::MustContinue => "a choice is open, and the move is not among it",
            Self::EmptyPit => "the pit is empty",
            Self::FrontOnly => "while there is a reserve, only pits of the front row are played",
            Self::SingleSeed => "a single seed may not be played here",
            Self::NoReverse => "this pit may not be sown downward here",
            Self::ReverseNoCapture => "a sowing downward must capture, and this one does not",
            Self::MustCapture => "another move captures, and this one does not",
            Self::WrongDirection => "a capture at this pit is sown the other way",
            Self::MustTake => "another move captures the blocked pit, and this one does not",
            Self::HouseKept => "the working house is kept while another front pit holds seeds",
            Self::BlockedPit => "the pit is blocked by takasia in this turn",
            Self::FrontFirst => "a front pit holds two seeds or more, and this pit is in the back row",
            Self::EmptiesFront => "the front row would be empty while the seeds are sown",
            Self::Endless => "the sowing would count as endless",
        }
    }
}

impl std::error::Error for IllegalMove {}
