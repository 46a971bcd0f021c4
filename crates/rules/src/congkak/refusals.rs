//! The rule of Congkak that forbids moves (R4).

refusals! {
    /// The pit is out of play in this round (R9).
    BURNT_PIT = "burnt_pit", "pit {pit} is burnt in this round";
}
