//! The rule of the toy that forbids moves.

refusals! {
    /// The pit next to the own store is not sown with a single seed.
    LONE_SEED = "lone_seed", "pit {pit} lies at the store, and a single seed stays there";
}
