//! The rules of Bao and Omweso that forbid moves (R32). Knows not which one holds where.

refusals! {
    /// There is no choice at the house.
    NO_PASS = "no_pass", "only a turn that has come to a choice at the house can be passed";
    /// The game has no pie rule.
    NO_SWAP = "no_swap", "this game has no pie rule";
    /// Arranging: it is not the next pit.
    OUT_OF_ORDER = "out_of_order", "the pits are filled in order, and this is not the next one";
    /// Arranging: the reserve has fewer seeds.
    TOO_MANY = "too_many", "the reserve has fewer seeds";
    /// A choice is open, and the move is not among it.
    MUST_CONTINUE = "must_continue", "a choice is open, and the move is not among it";
    /// Bao, first stage: it is a pit of the back row.
    FRONT_ONLY = "front_only", "while there is a reserve, only pits of the front row are played";
    /// The pit holds a single seed.
    SINGLE_SEED = "single_seed", "a single seed may not be played here";
    /// Omweso: the pit may not be sown downward.
    NO_REVERSE = "no_reverse", "this pit may not be sown downward here";
    /// Omweso: the downward sowing does not capture.
    REVERSE_NO_CAPTURE = "reverse_no_capture", "a sowing downward must capture, and this one does not";
    /// Bao: another move captures, and this one does not.
    MUST_CAPTURE = "must_capture", "another move captures, and this one does not";
    /// Bao, first stage: a capture at a kimbi is sown the other way.
    WRONG_DIRECTION = "wrong_direction", "a capture at this pit is sown the other way";
    /// Bao: another move captures the blocked pit, and this one does not.
    MUST_TAKE = "must_take", "another move captures the blocked pit, and this one does not";
    /// Bao, first stage: it is the working house, and another front pit holds seeds.
    HOUSE_KEPT = "house_kept", "the working house is kept while another front pit holds seeds";
    /// Bao: the pit is blocked by takasia.
    BLOCKED_PIT = "blocked_pit", "the pit is blocked by takasia in this turn";
    /// Bao, second stage: a front pit holds two seeds or more, and this is a pit of the back row.
    FRONT_FIRST = "front_first", "a front pit holds two seeds or more, and this pit is in the back row";
    /// Bao: the front row would be empty while the seeds are sown.
    EMPTIES_FRONT = "empties_front", "the front row would be empty while the seeds are sown";
    /// The sowing would count as endless.
    ENDLESS = "endless", "the sowing would count as endless";
}
