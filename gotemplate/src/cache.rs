//! Parsed programs kept for the next render, up to a total weight; the one not used for longest goes first.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use crate::program::Program;

struct Kept {
    program: Arc<Program>,
    weight: usize,
    used: u64,
}

struct Inner<K> {
    programs: HashMap<K, Kept>,
    weight: usize,
    /// Counts look-ups: what orders the programs by last use.
    now: u64,
}

/// A cache of parsed programs under keys of the caller's choice, such as a digest of their texts with the profile.
pub struct ProgramCache<K> {
    inner: Mutex<Inner<K>>,
    most: usize,
}

impl<K> std::fmt::Debug for ProgramCache<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgramCache").field("most", &self.most).finish_non_exhaustive()
    }
}

impl<K: Eq + Hash + Clone> ProgramCache<K> {
    /// A cache for programs of at most this many bytes together, by [`Program::weight`].
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { inner: Mutex::new(Inner { programs: HashMap::new(), weight: 0, now: 0 }), most }
    }

    /// The program under `key`, made by `make` if it is not there. What cannot be made is not kept.
    ///
    /// # Errors
    /// What `make` returns.
    pub fn get_or_parse<E>(
        &self,
        key: &K,
        make: impl FnOnce() -> Result<Program, E>,
    ) -> Result<Arc<Program>, E> {
        {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.now += 1;
            let now = inner.now;
            if let Some(kept) = inner.programs.get_mut(key) {
                kept.used = now;
                return Ok(Arc::clone(&kept.program));
            }
        }
        // Parsing happens outside the lock; two that parse the same text at once do it twice, and one result stays.
        let program = Arc::new(make()?);
        let weight = program.weight();
        if weight > self.most {
            return Ok(program);
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let used = inner.now;
        let kept = Kept { program: Arc::clone(&program), weight, used };
        if let Some(old) = inner.programs.insert(key.clone(), kept) {
            inner.weight -= old.weight;
        }
        inner.weight += weight;
        while inner.weight > self.most {
            let oldest =
                inner.programs.iter().filter(|(other, _)| *other != key).min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            if let Some(gone) = inner.programs.remove(&oldest) {
                inner.weight -= gone.weight;
            }
        }
        Ok(program)
    }

    /// How many programs are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).programs.len()
    }

    /// Whether none is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, profile};

    #[test]
    fn the_one_not_used_for_longest_goes() {
        let parse = |text: &str| Program::parse("t", text, &profile::TEXT);
        let one = parse("{{.}}").expect("it parses").weight();
        let cache: ProgramCache<u8> = ProgramCache::new(one * 2 + one / 2);
        for key in [1, 2, 1, 3] {
            cache.get_or_parse::<Box<Error>>(&key, || parse("{{.}}")).expect("it parses");
        }
        assert_eq!(cache.len(), 2);
        let kept = |key: u8| cache.get_or_parse::<&str>(&key, || Err("parsed again")).is_ok();
        assert!(kept(1) && kept(3) && !kept(2));
        assert!(cache.get_or_parse(&9, || parse("{{")).is_err());
    }
}
