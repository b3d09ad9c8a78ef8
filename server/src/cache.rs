//! What caches may do with an answer: one closed list, turned into headers in one place.
//!
//! A handler chooses a [`CachePolicy`] and puts it into the extensions of its response; [`apply`] writes the
//! headers, makes the entity tag, and answers `304` where the client has the bytes. An answer without a policy is
//! not stored, so forgetting one is slow, never wrong.

use bytes::Bytes;
use catalog::Visibility;
use http::header::{CACHE_CONTROL, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, VARY};
use schema::Digest;

use crate::access::Caller;
use crate::compress::Coding;

/// Whether and how long an answer may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CachePolicy {
    /// The URL contains a digest of the bytes, and anybody may have them: they cannot change.
    Immutable,
    /// The URL contains a digest of the bytes, and not everybody may have them: for the reader's own cache.
    PrivateImmutable,
    /// A pointer: may be kept, must be asked about each time. Carries an entity tag of its representation, so the
    /// question is cheap.
    Revalidate,
    /// The same, in an answer to somebody who is known: for the reader's own cache.
    PrivateRevalidate,
    /// Answers to POST, errors, and the state of the server.
    NoStore,
}

impl CachePolicy {
    /// The policy of a pointer in an answer to this caller.
    pub(crate) const fn pointer(caller: &Caller) -> CachePolicy {
        if caller.is_anybody() { CachePolicy::Revalidate } else { CachePolicy::PrivateRevalidate }
    }

    /// The policy of bytes by their digest, from a registry of this visibility.
    pub(crate) const fn content(visibility: Visibility) -> CachePolicy {
        match visibility {
            Visibility::Public => CachePolicy::Immutable,
            Visibility::Private => CachePolicy::PrivateImmutable,
        }
    }

    /// What it is in an answer to this caller: nothing that is made for somebody is for a cache that others use.
    pub(crate) fn seen_by(self, caller: &Caller) -> CachePolicy {
        if self == CachePolicy::Revalidate { CachePolicy::pointer(caller) } else { self }
    }

    /// Whether the bytes are always these.
    pub(crate) const fn is_immutable(self) -> bool {
        matches!(self, CachePolicy::Immutable | CachePolicy::PrivateImmutable)
    }

    /// Whether another caller may get another answer at the same address.
    const fn depends_on_caller(self) -> bool {
        matches!(
            self,
            CachePolicy::Revalidate | CachePolicy::PrivateRevalidate | CachePolicy::PrivateImmutable
        )
    }

    /// The value of `Cache-Control`.
    pub(crate) const fn header(self) -> HeaderValue {
        match self {
            CachePolicy::Immutable => HeaderValue::from_static("public, max-age=31536000, immutable"),
            CachePolicy::PrivateImmutable => HeaderValue::from_static("private, max-age=31536000, immutable"),
            CachePolicy::Revalidate => HeaderValue::from_static("no-cache"),
            CachePolicy::PrivateRevalidate => HeaderValue::from_static("private, no-cache"),
            CachePolicy::NoStore => HeaderValue::from_static("no-store"),
        }
    }
}

/// A strong entity tag for these bytes: 128 bits of their SHA-256.
pub(crate) fn entity_tag(body: &[u8]) -> HeaderValue {
    tag_of(&Digest::of(body))
}

/// A strong entity tag for bytes whose digest is known.
pub(crate) fn tag_of(digest: &Digest) -> HeaderValue {
    let text = format!("\"{}\"", &digest.hex()[..32]);
    HeaderValue::from_maybe_shared(Bytes::from(text)).expect("quotes and hexadecimal digits are header text")
}

/// The tag of a representation in a coding, from the tag of the bytes as they are.
pub(crate) fn coded_tag(tag: &HeaderValue, coding: Coding) -> HeaderValue {
    let inner = tag.to_str().unwrap_or_default().trim_end_matches('"');
    HeaderValue::from_maybe_shared(Bytes::from(format!("{inner}{}\"", coding.tag_suffix())))
        .expect("a tag and a plain word are header text")
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
    if policy.depends_on_caller() {
        headers.append(VARY, HeaderValue::from_static("authorization, cookie"));
    }
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
