//! Rebuilding the explorer, beside the one that is in use.
//!
//! 1. [`begin`](state::begin) empties the tables of the new explorer, or [`take_over`](state::take_over) goes on with what another
//!    process has left.
//! 2. All games are [read](reading), and their visits to positions are stored in batches, divided by position.
//! 3. The visits of one range of positions after the other are [loaded](loading) in their order: no page is changed at random.
//! 4. [`swap`](swap::swap) puts the new tables into the place of the former ones, in one transaction.
//!
//! Until then servers count games into the former tables, and readers see them. Each step is repeated without harm, and a
//! process that was replaced by another one stores nothing more.

pub mod loading;
pub mod reading;
pub mod state;
pub mod swap;
mod visits;
