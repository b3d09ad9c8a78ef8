//! Which deliveries were here before, as far as that is remembered: the newest few thousand, in memory and in the store.
//!
//! Only what was taken counts. A delivery that was refused may come again, which is how a host is told to try again.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use catalog::WEBHOOK_DELIVERIES;

use super::envelope::Host;

type Key = (Host, String);

#[derive(Default)]
pub(super) struct Seen(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    known: HashSet<Key>,
    oldest_first: VecDeque<Key>,
}

impl Seen {
    pub(super) fn new() -> Seen {
        Seen::default()
    }

    /// Takes a delivery for the first time; `false` if it was taken before.
    pub(super) fn claim(&self, host: Host, id: &str) -> bool {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host, id.to_owned());
        if !seen.known.insert(key.clone()) {
            return false;
        }
        seen.oldest_first.push_back(key);
        if seen.oldest_first.len() > WEBHOOK_DELIVERIES
            && let Some(oldest) = seen.oldest_first.pop_front()
        {
            seen.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_taken_once_a_host() {
        let seen = Seen::new();
        assert!(seen.claim(Host::Github, "a"));
        assert!(!seen.claim(Host::Github, "a"));
        assert!(seen.claim(Host::Gitlab, "a"));
        for number in 0..WEBHOOK_DELIVERIES {
            seen.claim(Host::Gitea, &number.to_string());
        }
        assert!(seen.claim(Host::Github, "a"), "the oldest is forgotten");
        assert_eq!(seen.0.lock().unwrap().known.len(), WEBHOOK_DELIVERIES);
    }
}
