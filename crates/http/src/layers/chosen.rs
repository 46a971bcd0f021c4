//! A limit of which an operator may choose another quota for a caller. Knows no caller.

use std::{convert::Infallible, num::NonZeroU32, sync::Arc};

use quick_cache::sync::Cache;

/// How many different quotas are counted at a time: more than an operator chooses.
const QUOTAS_MAX: usize = 64;

/// The usual limit, and one for each chosen quota, made when it is needed.
#[derive(Debug)]
pub(super) struct Chosen<L> {
    usual: Arc<L>,
    chosen: Cache<NonZeroU32, Arc<L>>,
}

impl<L> Chosen<L> {
    pub(super) fn new(usual: L) -> Self {
        Self { usual: Arc::new(usual), chosen: Cache::new(QUOTAS_MAX) }
    }

    /// The limit with a quota. A caller begins with a whole quota when it gets another one.
    pub(super) fn of(&self, quota: Option<NonZeroU32>, make: impl FnOnce(&L, NonZeroU32) -> L) -> Arc<L> {
        let Some(quota) = quota else { return self.usual.clone() };
        let make = || Ok::<_, Infallible>(Arc::new(make(&self.usual, quota)));
        let Ok(limit) = self.chosen.get_or_insert_with(&quota, make);
        limit
    }
}
