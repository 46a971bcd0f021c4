//! The rules of Omweso that forbid moves (R32).

refusals! {
    /// The pit is arranged, but it is not the next pit.
    OUT_OF_ORDER = "out_of_order", "the pits are filled in order, and this is not the next one";
    /// While arranging, the reserve has fewer seeds.
    TOO_MANY = "too_many", "the reserve has fewer seeds";
    /// The pit may not be sown downward.
    NO_REVERSE = "no_reverse", "this pit may not be sown downward here";
    /// The downward sowing does not capture.
    REVERSE_NO_CAPTURE = "reverse_no_capture", "a sowing downward must capture, and this one does not";
}
