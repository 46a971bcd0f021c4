//! Players, their accounts, sign-ins, blocks, mutes, friends, settings and reports, and counts of their games.

mod accounts;
pub mod blocks;
mod counts;
mod erasure;
pub mod friends;
mod guests;
pub mod identities;
pub mod invitation_counts;
pub mod kept_suspensions;
pub mod listed;
pub mod mutes;
pub mod name_claims;
pub mod name_filter;
mod networks;
pub mod people;
pub mod personal_data;
mod persons;
pub mod player_keys;
pub mod recovery;
pub mod refresh_tokens;
pub mod report_quotas;
pub mod reports;
pub mod revocations;
mod rows;
pub mod settings;
pub mod sign_in_networks;
pub mod stats;
pub mod summary;
pub mod suspensions;

pub(crate) use accounts::update_within;
pub use accounts::{
    FirstCredentials, IdentityChoice, Leftovers, Named, Updated, WebhookChoice, find, find_account, insert, sign_out,
    update,
};
pub use counts::{Counts, count_games};
pub use erasure::{
    erase, erase_imported_players, list_erased_importers, list_guests_of_erased, list_unfinished_erased,
};
pub use guests::purge_guests;
pub use networks::{Established, Network, establish, forget_networks, network};
pub(crate) use networks::{HASHES_END, Requester, lock_requester};
pub use refresh_tokens::SignIn;
pub use rows::OwnPlayer;
pub(crate) use rows::PlayerRow;
