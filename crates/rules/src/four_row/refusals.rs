//! The rules that forbid moves in each game with such a board (R32).

refusals! {
    /// There is no choice at the house.
    NO_PASS = "no_pass", "only a turn that has come to a choice at the house can be passed";
    /// The game has no pie rule.
    NO_SWAP = "no_swap", "this game has no pie rule";
    /// A choice is open, and the move is not among it.
    MUST_CONTINUE = "must_continue", "a choice is open, and the move is not among it";
    /// The pit holds a single seed.
    SINGLE_SEED = "single_seed", "a single seed may not be played here";
}
