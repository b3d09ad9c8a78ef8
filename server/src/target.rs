//! What a path under `/api/v1/templates/`, `/api/v1/content/` or `/` is about.
//!
//! References contain slashes, so a route cannot be a pattern. `/-/` ends a reference: no segment of one begins with
//! a dash. The raw path is split first and decoded after, so an escaped slash never makes a new segment.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use schema::{Digest, RegistryName};

/// What separates a reference from what is asked about it.
const SEPARATOR: &str = "/-/";

/// What is behind it for the archive of a version.
pub(crate) const ARCHIVE: &str = "archive.tar.gz";

/// What is behind a digest for the archive of its content. No digest ends so, and no path begins so.
const ARCHIVED: &str = ".tar.gz";

/// A reference and what is asked about it, decoded; neither is parsed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    pub(crate) reference: Cow<'a, str>,
    pub(crate) aspect: Option<Aspect<'a>>,
}

/// What stands behind `/-/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Aspect<'a> {
    /// `files/`
    FileList,
    /// `files/<path>`
    File(Cow<'a, str>),
    /// `parameters`
    Parameters,
    /// `process`
    Process,
    /// `versions`
    Versions,
    /// `history`
    History,
    /// `try`
    Try,
    /// `archive.tar.gz`
    Archive,
    /// `renovate`
    Renovate,
    /// `feed.atom`
    Feed,
    /// Anything else.
    Unknown,
}

/// Splits the part of a raw path behind the prefix of the route. `None` if it is not UTF-8 once decoded.
pub(crate) fn split(raw: &str) -> Option<Target<'_>> {
    let (reference, aspect) = match raw.split_once(SEPARATOR) {
        Some((reference, aspect)) => (reference, Some(aspect)),
        None => (raw, None),
    };
    let aspect = match aspect {
        None => None,
        Some("files" | "files/") => Some(Aspect::FileList),
        Some("parameters") => Some(Aspect::Parameters),
        Some("process") => Some(Aspect::Process),
        Some("versions") => Some(Aspect::Versions),
        Some("history") => Some(Aspect::History),
        Some("try") => Some(Aspect::Try),
        Some(ARCHIVE) => Some(Aspect::Archive),
        Some("renovate") => Some(Aspect::Renovate),
        Some("feed.atom") => Some(Aspect::Feed),
        Some(other) => match other.strip_prefix("files/") {
            Some(path) => Some(Aspect::File(decode(path)?)),
            None => Some(Aspect::Unknown),
        },
    };
    Some(Target { reference: decode(reference)?, aspect })
}

/// What is asked of a content by its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    /// The listing of its files.
    Listing,
    /// One of its files.
    File(Cow<'a, str>),
    /// All of them, in an archive.
    Archive,
}

/// `<registry>/sha256:…/<path>`: a file by the digest of its version; an empty path is the listing, and
/// `<registry>/sha256:….tar.gz` the archive.
pub(crate) fn split_content(raw: &str) -> Option<(RegistryName, Digest, Content<'_>)> {
    let raw_digest =
        raw.find("/sha256:").or_else(|| raw.find("/sha256%3A")).or_else(|| raw.find("/sha256%3a"))?;
    let registry = decode(&raw[..raw_digest])?.parse().ok()?;
    let rest = &raw[raw_digest + 1..];
    let (digest, content) = match rest.split_once('/') {
        Some((digest, "")) => (digest, Content::Listing),
        Some((digest, path)) => (digest, Content::File(decode(path)?)),
        None => match rest.strip_suffix(ARCHIVED) {
            Some(digest) => (digest, Content::Archive),
            None => (rest, Content::Listing),
        },
    };
    Some((registry, decode(digest)?.parse().ok()?, content))
}

/// Percent-decodes; `None` if the result is not UTF-8.
pub(crate) fn decode(raw: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(raw).decode_utf8().ok()
}

/// What must be escaped in a path besides controls and what is not ASCII, so that a URL says the same everywhere it
/// is written: in JSON, in HTML, in a shell's single quotes.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'\'')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Escapes a path whose slashes are slashes.
pub(crate) fn encode_path(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}

/// Escapes a value of a query.
pub(crate) fn encode_query(value: &str) -> String {
    const QUERY: &AsciiSet = &PATH.add(b'&').add(b'+').add(b'=');
    utf8_percent_encode(value, QUERY).to_string()
}

/// What may stand behind a reference in the API, as the description of the API writes it. A test holds it to [`split`].
#[cfg(test)]
pub(crate) const ASPECTS: [&str; 8] =
    ["files/", "files/{path}", ARCHIVE, "parameters", "versions", "history", "renovate", "process"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_aspect_is_told_apart() {
        let raw = ASPECTS.map(|aspect| format!("a/-/{aspect}").replace(['{', '}'], ""));
        let told = raw.each_ref().map(|raw| target(raw).1);
        assert!(told.iter().all(|aspect| !matches!(aspect, None | Some(Aspect::Unknown))));
        for (at, one) in told.iter().enumerate() {
            assert!(!told[..at].contains(one), "{one:?}");
        }
    }

    fn target(raw: &str) -> (String, Option<Aspect<'_>>) {
        let target = split(raw).unwrap();
        (target.reference.into_owned(), target.aspect)
    }

    #[test]
    fn the_first_separator_ends_the_reference() {
        assert_eq!(target("a/b:v1"), ("a/b:v1".into(), None));
        assert_eq!(target("a/b:v1/-/files/"), ("a/b:v1".into(), Some(Aspect::FileList)));
        assert_eq!(target("a:v1/-/files/x/-/y"), ("a:v1".into(), Some(Aspect::File("x/-/y".into()))));
        assert_eq!(target("a%3A%5Ev1/-/process"), ("a:^v1".into(), Some(Aspect::Process)));
        assert_eq!(target("a/-/history"), ("a".into(), Some(Aspect::History)));
        assert_eq!(target("a/-/versions"), ("a".into(), Some(Aspect::Versions)));
        assert_eq!(target("a:v1/-/archive.tar.gz"), ("a:v1".into(), Some(Aspect::Archive)));
        assert_eq!(target("a/-/nothing"), ("a".into(), Some(Aspect::Unknown)));
        // An escaped slash is a slash within a name, which no name has; it does not move the separator.
        assert_eq!(target("a%2F-%2Ffiles"), ("a/-/files".into(), None));
        assert_eq!(split("a%ff"), None);
    }

    #[test]
    fn content_is_a_registry_a_digest_and_a_path() {
        let digest = Digest::of(b"x");
        let raw = format!("github.com/a/b/{digest}/dir/f%20g.yaml");
        let content = |raw: &str| {
            let (registry, found, content) = split_content(raw).unwrap();
            assert_eq!((registry.as_str(), found), ("github.com/a/b", digest));
            format!("{content:?}")
        };
        assert_eq!(content(&raw), r#"File("dir/f g.yaml")"#);
        assert_eq!(content(&format!("github.com/a/b/{digest}")), "Listing");
        assert_eq!(content(&format!("github.com/a/b/{digest}/")), "Listing");
        assert_eq!(content(&format!("github.com/a/b/{digest}.tar.gz")), "Archive");
        assert!(split_content("github.com/a/b/sha256:12/x").is_none());
        assert!(split_content("github.com/a/b/x").is_none());
    }

    #[test]
    fn escaped_paths_come_back() {
        for path in ["a b/c#d?e", "é/ü", "x'y\"z", "100%", "[a]{b}^`|\\"] {
            assert_eq!(decode(&encode_path(path)).unwrap(), path);
            assert_eq!(decode(&encode_query(path)).unwrap(), path);
        }
    }
}
