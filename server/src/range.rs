//! Ranges of files and archives (RFC 9110, section 14): one range of bytes, for clients that go on where they broke off.
//!
//! Several ranges in one request, other units and what cannot be read are answered with everything, as the standard
//! allows; a range behind the end is an error that says how long the bytes are.

use std::ops::Range;

use http::Method;
use http::header::{HeaderMap, HeaderValue, IF_RANGE, RANGE};

/// What of the bytes an answer is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selected {
    /// All of them.
    Whole,
    /// These.
    Part(Range<usize>),
    /// What is asked for is behind the end.
    BehindTheEnd,
}

/// What a request for so many bytes with this entity tag selects.
pub(crate) fn select(method: &Method, request: &HeaderMap, length: usize, tag: &HeaderValue) -> Selected {
    let Some(range) = request.get(RANGE).filter(|_| *method == Method::GET) else { return Selected::Whole };
    // A strong comparison: a date or a weak tag never matches, and then the client has other bytes to start from.
    if request.get(IF_RANGE).is_some_and(|condition| condition != tag) {
        return Selected::Whole;
    }
    let Some(spec) = range.to_str().ok().and_then(|range| range.trim().strip_prefix("bytes=")) else {
        return Selected::Whole;
    };
    parse(spec, length)
}

fn parse(spec: &str, length: usize) -> Selected {
    let number = |text: &str| {
        let text = text.trim();
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // More digits than a number holds are behind every end.
        digits.then(|| text.parse::<usize>().unwrap_or(usize::MAX))
    };
    let Some((first, last)) = spec.split_once('-') else { return Selected::Whole };
    let range = match (first.trim(), last.trim()) {
        ("", suffix) => match number(suffix) {
            Some(0) => return Selected::BehindTheEnd,
            Some(suffix) => length.saturating_sub(suffix)..length,
            None => return Selected::Whole,
        },
        (first, last) => {
            let Some(first) = number(first) else { return Selected::Whole };
            let end = match last {
                "" => length,
                last => match number(last) {
                    Some(last) if last >= first => last.saturating_add(1).min(length),
                    _ => return Selected::Whole,
                },
            };
            first..end
        }
    };
    if range.start >= length { Selected::BehindTheEnd } else { Selected::Part(range) }
}

/// The value of `Content-Range` for a part.
pub(crate) fn content_range(part: &Range<usize>, length: usize) -> HeaderValue {
    let text = format!("bytes {}-{}/{length}", part.start, part.end - 1);
    HeaderValue::from_str(&text).expect("words and digits are header text")
}

/// The value of `Content-Range` when there is no such part.
pub(crate) fn no_range(length: usize) -> HeaderValue {
    HeaderValue::from_str(&format!("bytes */{length}")).expect("words and digits are header text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_read_and_everything_else_is_the_whole() {
        for (spec, selected) in [
            ("0-0", Selected::Part(0..1)),
            ("2-4", Selected::Part(2..5)),
            ("2-", Selected::Part(2..10)),
            ("2-99", Selected::Part(2..10)),
            ("-3", Selected::Part(7..10)),
            ("-99", Selected::Part(0..10)),
            ("0-99999999999999999999999999", Selected::Part(0..10)),
            ("10-", Selected::BehindTheEnd),
            ("99999999999999999999999999-", Selected::BehindTheEnd),
            ("-0", Selected::BehindTheEnd),
            ("4-2", Selected::Whole),
            ("0-1,3-4", Selected::Whole),
            ("-", Selected::Whole),
            ("a-b", Selected::Whole),
            ("+1-2", Selected::Whole),
            ("", Selected::Whole),
        ] {
            assert_eq!(parse(spec, 10), selected, "{spec}");
        }
        assert_eq!(parse("0-", 0), Selected::BehindTheEnd);
        assert_eq!(content_range(&(2..5), 10), "bytes 2-4/10");
    }

    #[test]
    fn a_range_of_other_bytes_is_not_given() {
        let tag = HeaderValue::from_static("\"a\"");
        let asked = |method: Method, condition: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(RANGE, HeaderValue::from_static("bytes=1-"));
            headers.extend(condition.map(|value| (IF_RANGE, HeaderValue::from_static(value))));
            select(&method, &headers, 10, &tag)
        };
        assert_eq!(asked(Method::GET, None), Selected::Part(1..10));
        assert_eq!(asked(Method::GET, Some("\"a\"")), Selected::Part(1..10));
        for other in ["\"b\"", "W/\"a\"", "Sat, 21 Nov 2026 00:00:00 GMT"] {
            assert_eq!(asked(Method::GET, Some(other)), Selected::Whole, "{other}");
        }
        assert_eq!(asked(Method::HEAD, None), Selected::Whole);
    }
}
