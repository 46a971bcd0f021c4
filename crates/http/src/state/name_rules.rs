//! Which names no player may take: reserved ones, and those that the operators' list refuses, as this process has last read it.

use std::sync::{Arc, PoisonError, RwLock};

use mancala_domain::{NameFilter, PlayerName, ReservedNames};

/// Which names no player may take.
#[derive(Debug)]
pub struct NameRules {
    reserved: Arc<ReservedNames>,
    filter: RwLock<Arc<NameFilter>>,
}

impl NameRules {
    /// Until a list is read, only reserved names are refused.
    pub fn new(reserved: Arc<ReservedNames>) -> Self {
        Self { reserved, filter: RwLock::default() }
    }

    /// The reserved names alone.
    pub const fn reserved(&self) -> &Arc<ReservedNames> {
        &self.reserved
    }

    /// The reason why a name is refused, if it is. The reason does not name the refused word.
    pub fn refusal(&self, name: &PlayerName) -> Option<&'static str> {
        if self.reserved.contains(name.as_str()) {
            return Some("this name, or one that reads alike, is reserved");
        }
        let filter = self.filter.read().unwrap_or_else(PoisonError::into_inner).clone();
        filter.refusing(name.as_str()).map(|_| "the operators of the server allow no such name")
    }

    /// Replaces the list. A list that cannot be read was stored by a newer server, and is ignored.
    pub fn set_filter(&self, list: &str) {
        match list.parse() {
            Ok(filter) => *self.filter.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(filter),
            Err(error) => {
                tracing::warn!("the stored list of refused names cannot be read, and is left as it was: {error}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_cannot_be_read_leaves_the_one_before() {
        let rules = NameRules::new(Arc::new(ReservedNames::new(["admin"])));
        let refused = |name: &str| rules.refusal(&name.parse().expect("a name")).is_some();
        assert_eq!(["damn", "Admin", "Ana"].map(refused), [false, true, false]);
        rules.set_filter("damn");
        assert_eq!(["damn", "Admin", "Ana"].map(refused), [true, true, false]);
        rules.set_filter("~like~");
        assert_eq!(["damn", "Admin", "Ana"].map(refused), [true, true, false]);
        rules.set_filter("");
        assert_eq!(["damn", "Admin", "Ana"].map(refused), [false, true, false]);
    }
}
