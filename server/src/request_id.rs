//! Request ids: one word that finds a request in the answer, the log and a bug report.
//!
//! A client's own id is kept if it is a short plain word, so that ids of a proxy in front of us go through.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

/// The header, in and out.
pub(crate) static HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longest id that is taken from a client.
const LONGEST: usize = 64;

/// Makes ids: a random word for the process, then a count.
#[derive(Debug)]
pub(crate) struct RequestIds {
    prefix: u64,
    next: AtomicU64,
}

impl RequestIds {
    /// Ids that differ from those of any other process.
    pub(crate) fn new() -> RequestIds {
        let mut random = [0; 8];
        // Without the system's generator two processes may use the same ids; that costs clarity, nothing else.
        if getrandom::fill(&mut random).is_err() {
            random = std::process::id().to_le_bytes().repeat(2).try_into().unwrap_or_default();
        }
        RequestIds { prefix: u64::from_le_bytes(random), next: AtomicU64::new(0) }
    }

    /// The id of a request.
    pub(crate) fn of(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(&HEADER) {
            Some(id) if is_plain(id.as_bytes()) => id.clone(),
            _ => self.fresh(),
        }
    }

    fn fresh(&self) -> HeaderValue {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        let mut text = [0; 24];
        for (index, byte) in text.iter_mut().enumerate() {
            let (word, digit) = if index < 12 { (self.prefix, index) } else { (count, 23 - index) };
            *byte = DIGITS[(word >> (4 * digit) & 15) as usize];
        }
        HeaderValue::from_maybe_shared(Bytes::copy_from_slice(&text))
            .expect("hexadecimal digits are header text")
    }
}

fn is_plain(id: &[u8]) -> bool {
    (1..=LONGEST).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_ids_go_through_and_others_are_replaced() {
        let ids = RequestIds::new();
        let with = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(&HEADER, value.parse().unwrap());
            ids.of(&headers)
        };
        assert_eq!(with("trace-1.2:3_4"), "trace-1.2:3_4");
        for bad in ["", "a b", "\"quoted\"", &"x".repeat(65)] {
            assert_eq!(with(bad).len(), 24, "{bad}");
        }
        assert_ne!(ids.of(&HeaderMap::new()), ids.of(&HeaderMap::new()));
    }
}
