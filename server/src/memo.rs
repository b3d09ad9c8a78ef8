//! Answers to questions that go through much of the catalogue, kept for as long as nothing changes.
//!
//! What is kept is of one generation of the catalogue and for one caller; who has a token has answers of their own.

use std::sync::Arc;

use moka::sync::Cache;

use crate::access::Caller;

/// Answers kept of one question.
const KEPT: u64 = 512;

/// Answers of one question, by caller and subject.
pub(crate) struct Memo<T>(Cache<String, Arc<(u64, T)>>);

impl<T: Send + Sync + 'static> Memo<T> {
    /// Nothing yet.
    pub(crate) fn new() -> Memo<T> {
        Memo(Cache::new(KEPT))
    }

    /// The answer for a caller about a subject at a generation, made if it is not there.
    pub(crate) fn get(
        &self,
        caller: &Caller,
        subject: &str,
        generation: u64,
        make: impl FnOnce() -> T,
    ) -> Arc<(u64, T)> {
        let who = caller.grant().map_or_else(String::new, |grant| grant.id());
        // No id of a token has a space in it.
        let key = format!("{who} {subject}");
        if let Some(kept) = self.0.get(&key).filter(|kept| kept.0 == generation) {
            return kept;
        }
        let made = Arc::new((generation, make()));
        self.0.insert(key, Arc::clone(&made));
        made
    }
}
