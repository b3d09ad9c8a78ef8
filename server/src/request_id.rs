//! Request ids: one word that finds a request in the answer, the log and a bug report; and the trace it is part of.
//!
//! A client's own id is kept if it is a short plain word, so that ids of a proxy in front of us go through. A trace
//! that began elsewhere (W3C Trace Context) goes on in the logs: its id and the span that asked stand beside the
//! request's own id, which is our span in it.

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

/// The header a trace is told by.
static TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");

/// The trace a request is part of: `traceparent` as it came, once it was found to be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trace(HeaderValue);

impl Trace {
    /// The trace of a request, if it is told of one. What is malformed is as good as nothing, as the standard has it.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Trace> {
        let mut values = headers.get_all(&TRACE_PARENT).iter();
        let value = values.next().filter(|value| is_trace_parent(value.as_bytes()))?;
        values.next().is_none().then(|| Trace(value.clone()))
    }

    /// The id of the trace: 32 digits.
    pub(crate) fn id(&self) -> &str {
        self.part(3..35)
    }

    /// The id of the span that asked: 16 digits.
    pub(crate) fn parent(&self) -> &str {
        self.part(36..52)
    }

    fn part(&self, range: std::ops::Range<usize>) -> &str {
        self.0.to_str().ok().and_then(|text| text.get(range)).unwrap_or_default()
    }
}

/// `00-<32 digits>-<16 digits>-<2 digits>`, ids not all zero; a later version may have more behind another dash.
fn is_trace_parent(value: &[u8]) -> bool {
    let digits = |range: std::ops::Range<usize>| {
        value.get(range).is_some_and(|part| part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
    };
    let zero = |range: std::ops::Range<usize>| value[range].iter().all(|byte| *byte == b'0');
    let version = value.get(..2).filter(|version| *version != b"ff");
    let ended =
        value.len() == 55 || version.is_some_and(|version| version != b"00") && value.get(55) == Some(&b'-');
    version.is_some()
        && ended
        && value.get(2) == Some(&b'-')
        && value.get(35) == Some(&b'-')
        && value.get(52) == Some(&b'-')
        && digits(0..2)
        && digits(3..35)
        && digits(36..52)
        && digits(53..55)
        && !zero(3..35)
        && !zero(36..52)
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

    #[test]
    fn traces_are_told_by_the_standard() {
        let of = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(&TRACE_PARENT, value.parse().unwrap());
            Trace::of(&headers).map(|trace| (trace.id().to_owned(), trace.parent().to_owned()))
        };
        let (id, parent) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
        let found = Some((id.to_owned(), parent.to_owned()));
        assert_eq!(of(&format!("00-{id}-{parent}-01")), found);
        assert_eq!(of(&format!("01-{id}-{parent}-01-more")), found);
        for bad in [
            "".to_owned(),
            "00".to_owned(),
            format!("ff-{id}-{parent}-01"),
            format!("00-{id}-{parent}-01-more"),
            format!("00-{}-{parent}-01", "0".repeat(32)),
            format!("00-{id}-{}-01", "0".repeat(16)),
            format!("00-{}-{parent}-01", id.to_uppercase()),
            format!("00-{id}-{parent}-0"),
        ] {
            assert_eq!(of(&bad), None, "{bad}");
        }
    }
}
