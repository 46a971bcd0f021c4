//! The value of an option that several games have: what happens to the seeds left at a majority (R8, R45).

worded_enum! {
    /// Where the seeds left in pits go at a majority.
    pub enum MajorityRemaining {
        /// The seeds stay in their pits and count for neither side.
        Leave = "leave",
        /// Each row goes to its own store.
        Sweep = "sweep",
    }
}
