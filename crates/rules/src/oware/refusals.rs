//! The rules of Oware that forbid moves (R4).

refusals! {
    /// The other row is empty, and this sowing would leave it empty (R4).
    MUST_FEED = "must_feed", "the other row is empty, and pit {pit} would not feed it";
    /// The sowing would capture every seed of the other row, which the options forbid (R6).
    GRAND_SLAM = "grand_slam", "pit {pit} would capture every seed of the other row";
}
