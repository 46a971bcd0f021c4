//! Lists of games, in pages.
//!
//! Every page takes two queries: the ids, read off an index in the order of the list, then their games. Conditions that
//! the index does not answer are checked row by row, on at most `SCAN_MAX` rows. A page that ends for this reason may
//! be short, or empty, and the next one continues there. So the cost of a page is bounded for every filter.
//!
//! Pages follow each other by keyset. Keys are compared as rows and never with `null or …`: one plan serves all values. A plan can use an
//! index only for comparisons that are always made.

mod condition;
mod filter;
pub mod invitations;
mod list;
mod of_player;
mod of_position;
mod page;
mod public;
mod scan;
mod scope;

pub use filter::{Ended, Filter, GameScope, Order, PlayerGames, Statuses};
pub use list::list;
pub use page::{Listed, Page, PageKey};
