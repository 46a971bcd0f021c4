//! Lists of games, in pages.
//!
//! Every page is two queries: the ids, read off an index in the order of the list, then all of their games. What an index
//! does not answer is looked at row by row, `SCAN_MAX` of them and no more; a page that ends for this reason may be
//! short, or empty, and the next one goes on from there. So the cost of a page is bounded whatever is asked for.
//!
//! Places in a list are compared as rows and never `null or …`: a plan is made once for all values, and only what is
//! always compared can be looked up.

mod condition;
mod filter;
pub mod invitations;
mod list;
mod of_player;
mod of_position;
mod page;
mod public;
mod scan;

pub use filter::{Ended, Filter, Of, Order, Whose};
pub use list::list;
pub use page::{Page, PageKey};
