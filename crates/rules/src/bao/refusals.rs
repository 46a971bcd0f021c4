//! The rules of Bao that forbid moves (R32).

refusals! {
    /// In the first stage, it is a pit of the back row.
    FRONT_ONLY = "front_only", "while there is a reserve, only pits of the front row are played";
    /// Another move captures, and this one does not.
    MUST_CAPTURE = "must_capture", "another move captures, and this one does not";
    /// In the first stage, a capture at a kimbi is sown the other way.
    WRONG_DIRECTION = "wrong_direction", "a capture at this pit is sown the other way";
    /// Another move captures the blocked pit, and this one does not.
    MUST_TAKE = "must_take", "another move captures the blocked pit, and this one does not";
    /// In the first stage, it is the working house, and another front pit holds seeds.
    HOUSE_KEPT = "house_kept", "the working house is kept while another front pit holds seeds";
    /// The pit is blocked by takasia.
    BLOCKED_PIT = "blocked_pit", "the pit is blocked by takasia in this turn";
    /// In the second stage, a front pit holds two seeds or more, and this is a pit of the back row.
    FRONT_FIRST = "front_first", "a front pit holds two seeds or more, and this pit is in the back row";
    /// The front row would be empty while the seeds are sown.
    EMPTIES_FRONT = "empties_front", "the front row would be empty while the seeds are sown";
    /// The sowing would count as endless.
    ENDLESS = "endless", "the sowing would count as endless";
}
