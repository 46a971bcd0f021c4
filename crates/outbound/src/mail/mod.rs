//! Mail: what its texts say, where their links lead, and one attempt to send. It does not know which mails wait, nor how often one is tried.

mod sender;
mod settings;
mod texts;

pub use sender::{Sender, Unsent};
pub use settings::{Links, Misconfigured, Settings};
pub use texts::{Letter, Subject};
