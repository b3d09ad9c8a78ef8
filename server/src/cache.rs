//! What caches may do with an answer: one closed list, turned into headers in one place.
//!
//! A handler chooses a [`CachePolicy`] and puts it into the extensions of its response; [`apply`] writes the
//! headers, makes the entity tag, and answers `304` where the client has the bytes. An answer without a policy is
//! not stored, so forgetting one is slow, never wrong.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH};
use schema::Digest;

/// Whether and how long an answer may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CachePolicy {
    /// The URL contains a digest of the bytes: they cannot change. `public`, for every registry is.
    Immutable,
    /// A pointer: may be kept, must be asked about each time. Carries an entity tag of its representation, so the
    /// question is cheap.
    Revalidate,
    /// Answers to POST, errors, and the state of the server.
    NoStore,
}

impl CachePolicy {
    /// The value of `Cache-Control`.
    pub(crate) const fn header(self) -> HeaderValue {
        match self {
            CachePolicy::Immutable => HeaderValue::from_static("public, max-age=31536000, immutable"),
            CachePolicy::Revalidate => HeaderValue::from_static("no-cache"),
            CachePolicy::NoStore => HeaderValue::from_static("no-store"),
        }
    }
}

/// A strong entity tag for these bytes: 128 bits of their SHA-256.
pub(crate) fn entity_tag(body: &[u8]) -> HeaderValue {
    tag_of(&Digest::of(body), "")
}

/// A strong entity tag for bytes whose digest is known. `coding` tells representations of one thing apart.
pub(crate) fn tag_of(digest: &Digest, coding: &str) -> HeaderValue {
    let text = format!("\"{}{coding}\"", &digest.hex()[..32]);
    HeaderValue::from_maybe_shared(Bytes::from(text))
        .expect("quotes, hexadecimal digits and a plain word are header text")
}

/// Whether the client already holds the representation with this tag (`If-None-Match`, weak comparison as RFC 9110
/// section 13.1.2 has it).
pub(crate) fn client_has(request: &HeaderMap, tag: &HeaderValue) -> bool {
    let tag = tag.as_bytes();
    request.get_all(IF_NONE_MATCH).iter().any(|value| {
        let mut candidates = value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        candidates
            .any(|candidate| candidate == b"*" || candidate.strip_prefix(b"W/").unwrap_or(candidate) == tag)
    })
}

/// Writes the headers of a policy. The tag is made by who knows the bytes.
pub(crate) fn apply(headers: &mut HeaderMap, policy: CachePolicy, tag: Option<HeaderValue>) {
    headers.insert(CACHE_CONTROL, policy.header());
    if let Some(tag) = tag {
        headers.insert(ETAG, tag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_compare_as_lists_and_weakly() {
        let tag = entity_tag(b"x");
        let asks = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, value.parse().unwrap());
            client_has(&headers, &tag)
        };
        let tag = tag.to_str().unwrap();
        assert!(asks(tag));
        assert!(asks(&format!("\"other\", W/{tag}")));
        assert!(asks("*"));
        assert!(!asks("\"other\""));
        assert!(!asks(&tag[1..tag.len() - 1]));
    }
}
