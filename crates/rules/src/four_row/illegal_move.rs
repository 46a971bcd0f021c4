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
        /// It is a single seed.
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
    /// One stable word for the reason (R32).
    #[must_use]
    pub const fn reason(self) -> &'static str {
        self.word()
    }
}

impl std::error::Error for IllegalMove {}
