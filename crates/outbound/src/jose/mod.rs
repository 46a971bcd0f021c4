//! Tokens that others have signed (JOSE): their signatures, and the keys of those who sign. What else a token must say its readers know: ID tokens
//! of sign-ins, and tokens of apps' issuers.

mod claims;
mod jws;
mod key_sets;
mod keys;

pub use claims::{Audiences, Times, Untimely, seconds};
pub use jws::{JwsError, Misfit, Signed};
pub use key_sets::{KeySets, NoKeys};
pub use keys::{Algorithm, KEY_SET_BYTES_MAX, KeySet};
